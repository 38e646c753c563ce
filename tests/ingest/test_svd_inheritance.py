"""What an SVD element has from elsewhere: its own parent, another register, a whole peripheral."""

import pytest

from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.registers.svd import bits, number, read_svd
from hwdoc_ingest.registers.xml_lines import parse_xml

DEVICE = """\
<sv:device xmlns:sv="urn:svd" schemaVersion="1.3">
  <name>B7</name>
  <size>32</size>
  <resetValue>0</resetValue>
  <peripherals>
    <peripheral>
      <name>TIMER0</name><baseAddress>0x4000_0000</baseAddress>
      <size>16</size>
      <registers>
        <register><name>CTRL</name><addressOffset>0x0</addressOffset>
          <fields>
            <field><name>EN</name><bitRange>[0]</bitRange></field>
            <field derivedFrom="EN"><name>EN_COPY</name></field>
          </fields>
        </register>
        <register><name>COUNT</name><addressOffset>0x4</addressOffset><size>8</size></register>
        <cluster><name>CH[%s]</name><dim>2</dim><dimIncrement>16</dimIncrement><addressOffset>0x10</addressOffset>
          <size>64</size>
          <register><name>CMP</name><addressOffset>0x8</addressOffset></register>
        </cluster>
      </registers>
    </peripheral>
    <peripheral derivedFrom="TIMER0">
      <name>TIMER1</name><baseAddress>0x40001000</baseAddress>
      <registers>
        <register><name>COUNT</name><addressOffset>0x6</addressOffset></register>
        <register derivedFrom="TIMER0.CTRL"><name>MORE</name><addressOffset>0x8</addressOffset></register>
      </registers>
    </peripheral>
    <peripheral>
      <dim>3</dim><dimIncrement>0x100</dimIncrement><dimIndex>B-D</dimIndex>
      <name>PORT%s</name><baseAddress>0x50000000</baseAddress>
    </peripheral>
    <peripheral>
      <dim>2</dim><dimIncrement>0x100</dimIncrement><dimIndex>4-5</dimIndex>
      <name>SPI%s</name><baseAddress>0x60000000</baseAddress>
    </peripheral>
  </peripherals>
</sv:device>
"""


@pytest.fixture
def said(tmp_path):
    path = tmp_path / "b7.svd"
    path.write_text(DEVICE)
    reading = read_svd(path, "b7", no_progress)
    assert reading.notes == ()
    return {(c.field, c.instance): c for c in reading.candidates}


@pytest.mark.parametrize(
    ("instance", "width", "page", "condition"),
    [
        ("TIMER0.CTRL", 16, 8, "default of TIMER0"),
        ("TIMER0.COUNT", 8, 16, None),
        ("TIMER0.CH[%s].CMP", 64, 18, "default of TIMER0.CH[%s]"),
        ("TIMER1.MORE", 16, 8, "default of TIMER1"),
        ("TIMER1.COUNT", 16, 8, "default of TIMER1"),
    ],
)
def test_a_width_comes_from_the_nearest_that_names_one(said, instance, width, page, condition):
    found = said["register.width_bits", instance]
    assert (found.value, found.page, found.condition) == (width, page, condition)


def test_registers_of_the_origin_are_kept_beside_own_ones_of_other_names(said):
    offsets = {instance: c.value for (field, instance), c in said.items() if field == "register.offset"}
    assert offsets == {
        "TIMER0.CTRL": "0x0",
        "TIMER0.COUNT": "0x4",
        "TIMER0.CH[%s].CMP": "0x18",
        "TIMER1.COUNT": "0x6",
        "TIMER1.MORE": "0x8",
        "TIMER1.CTRL": "0x0",
        "TIMER1.CH[%s].CMP": "0x18",
    }
    assert said["register.offset", "TIMER1.CTRL"].condition == "inherited from TIMER0"
    assert said["register.offset", "TIMER1.COUNT"].condition is None


def test_fields_from_another_peripheral_and_from_a_neighbour(said):
    assert said["register.field", "TIMER1.MORE.EN"].value == (0, 1)
    assert said["register.field", "TIMER0.CTRL.EN_COPY"].value == (0, 1)


def test_a_default_for_all_registers_is_no_reset_value_of_one(said):
    assert not [instance for field, instance in said if field == "register.reset"]


def test_arrays_are_counted_with_letters_and_from_any_number(said):
    bases = {instance: c.value for (field, instance), c in said.items() if field == "mmio.base"}
    assert bases == {
        "TIMER0": "0x40000000",
        "TIMER1": "0x40001000",
        "PORTB": "0x50000000",
        "PORTC": "0x50000100",
        "PORTD": "0x50000200",
        "SPI4": "0x60000000",
        "SPI5": "0x60000100",
    }


@pytest.mark.parametrize(("words", "place"), [("[7]", (7, 1)), ("7:4", (4, 4)), ("[ 31 : 0 ]", (0, 32))])
def test_further_forms_of_a_bit_range(tmp_path, words, place):
    assert bits(parse_xml(f"<field><bitRange>{words}</bitRange></field>".encode(), tmp_path)) == place


def test_numbers_in_groups_of_digits():
    assert number("0x4000_0000") == 0x40000000
    assert number("_1") is None
