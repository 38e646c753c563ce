import pytest

from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.registers.svd import bits, number, read_svd
from hwdoc_ingest.registers.xml_lines import parse_xml
from metainfer_core.errors import InputError

DEVICE = """\
<?xml version="1.0" encoding="utf-8"?>
<!-- a chip that nobody made -->
<device schemaVersion="1.3">
  <vendor>Acme</vendor>
  <name>A100</name>
  <cpu><name>CM4</name><nvicPrioBits>4</nvicPrioBits><deviceNumInterrupts>82</deviceNumInterrupts></cpu>
  <width>32</width>
  <peripherals>
    <peripheral derivedFrom="UART0">
      <name>UART1</name>
      <baseAddress>0x40001000</baseAddress>
      <interrupt><name>UART1_RX</name><value>6</value></interrupt>
    </peripheral>
    <peripheral>
      <name>UART0</name>
      <baseAddress>0x40000000</baseAddress>
      <addressBlock><offset>0</offset><size>0x400</size><usage>registers</usage></addressBlock>
      <interrupt><name>UART0</name><value>5</value></interrupt>
      <registers>
        <register>
          <name>CTRL</name>
          <addressOffset>0x10</addressOffset>
          <size>32</size>
          <resetValue>0x3</resetValue>
          <fields>
            <field><name>EN</name><bitOffset>0</bitOffset></field>
            <field><name>DIV</name><bitRange>[15:8]</bitRange></field>
            <field><name>MODE</name><lsb>4</lsb><msb>6</msb></field>
          </fields>
        </register>
        <register derivedFrom="CTRL">
          <name>CTRL2</name>
          <addressOffset>20</addressOffset>
        </register>
        <register>
          <dim>4</dim>
          <dimIncrement>4</dimIncrement>
          <name>FIFO[%s]</name>
          <addressOffset>0x20</addressOffset>
        </register>
        <cluster>
          <name>CH</name>
          <addressOffset>0x100</addressOffset>
          <register><name>LEN</name><addressOffset>0x8</addressOffset></register>
        </cluster>
      </registers>
    </peripheral>
    <peripheral>
      <dim>2</dim><dimIncrement>0x100</dimIncrement><dimIndex>A,B</dimIndex>
      <name>PORT%s</name>
      <baseAddress>0x50000000</baseAddress>
    </peripheral>
    <peripheral><name>LOST</name></peripheral>
  </peripherals>
</device>
"""


def read(tmp_path, text):
    path = tmp_path / "chip.svd"
    path.write_text(text)
    return read_svd(path, "chip", no_progress)


@pytest.mark.parametrize(
    ("field", "instance", "value", "page"),
    [
        ("chip.name", None, "A100", 5),
        ("cpu.core_type", None, "CM4", 6),
        ("interrupts.priority_levels", None, 16, 6),
        ("interrupts.count", None, 82, 6),
        ("cpu.word_bits", None, 32, 7),
        ("peripherals.count", None, 4, 8),
        ("mmio.base", "UART1", "0x40001000", 11),
        ("mmio.base", "PORTB", "0x50000100", 51),
        ("interrupts.irq", "UART1:UART1_RX", 6, 12),
        ("register.offset", "UART0.CTRL", "0x10", 22),
        ("register.offset", "UART0.CTRL2", "0x14", 33),
        ("register.offset", "UART1.CTRL", "0x10", 22),
        ("register.offset", "UART0.CH.LEN", "0x108", 44),
        ("register.offset", "UART0.FIFO[%s]", "0x20", 39),
        ("register.reset", "UART0.CTRL", "0x3", 24),
        ("register.width_bits", "UART0.CTRL2", 32, 23),
        ("register.field", "UART0.CTRL.EN", (0, 1), 26),
        ("register.field", "UART1.CTRL2.DIV", (8, 8), 27),
        ("register.field", "UART0.CTRL.MODE", (4, 3), 28),
    ],
)
def test_values_with_their_lines(tmp_path, field, instance, value, page):
    found = [c for c in read(tmp_path, DEVICE).candidates if (c.field, c.instance) == (field, instance)]
    assert [(c.value, c.page) for c in found] == [(value, page)]


def test_words_and_conditions(tmp_path):
    reading = read(tmp_path, DEVICE)
    by_name = {(c.field, c.instance): c for c in reading.candidates}
    assert by_name["register.offset", "UART0.CTRL"].text == "<addressOffset>0x10</addressOffset>"
    assert by_name["register.offset", "UART1.CTRL"].condition == "inherited from UART0"
    assert by_name["register.offset", "UART0.FIFO[%s]"].condition == "array of 4, every 4 bytes"
    assert by_name["mmio.base", "UART1"].condition == "block of 0x400 bytes"
    assert reading.notes == ("line 53: LOST has no base address that can be read.",)


def test_lines_that_end_as_on_an_old_mac(tmp_path):
    path = tmp_path / "chip.svd"
    path.write_bytes(DEVICE.replace("\n", "\r").encode())
    assert read_svd(path, "chip", no_progress).candidates == read(tmp_path, DEVICE).candidates


def test_a_circle_of_derivations_ends(tmp_path):
    text = """<device><name>X</name><peripherals>
      <peripheral derivedFrom="B"><name>A</name></peripheral>
      <peripheral derivedFrom="A"><name>B</name></peripheral></peripherals></device>"""
    reading = read(tmp_path, text)
    assert [c.field for c in reading.candidates] == ["chip.name", "peripherals.count"]
    assert len(reading.notes) == 2


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("0x1F", 31),
        ("#0101", 5),
        ("0b11", 3),
        ("012", 12),
        ("4k", 4096),
        ("+7", 7),
        ("", None),
        ("x", None),
        ("-1", None),
    ],
)
def test_numbers(words, value):
    assert number(words) == value


@pytest.mark.parametrize("field", ["<bitRange>[3:5]</bitRange>", "<lsb>5</lsb><msb>4</msb>", "<bitWidth>3</bitWidth>"])
def test_bits_that_make_no_sense(tmp_path, field):
    assert bits(parse_xml(f"<field>{field}</field>".encode(), tmp_path)) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('<!DOCTYPE d [<!ENTITY a "aaaa">]>\n<device>&a;</device>', ":1: "),
        ('<?xml version="1.0"?>\n<!DOCTYPE device SYSTEM "file:///etc/passwd"><device/>', ":2: "),
        ("<device>\n<name>X</device>", ":2: "),
        ("<device>\n<name>&nothing;</name></device>", "undefined entity"),
        ("<device>" + "<a>" * 100 + "</a>" * 100 + "</device>", "nested more than 64 deep"),
        ('<?xml version="1.0" encoding="klingon"?><device/>', ":1: "),
    ],
)
def test_hostile_or_broken_xml_names_its_line(tmp_path, text, place):
    with pytest.raises(InputError) as fault:
        read(tmp_path, text)
    assert place in str(fault.value)
