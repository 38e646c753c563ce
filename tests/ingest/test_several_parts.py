"""Documents that tell of several parts: whose a reading is, is said by the whole document."""

import pytest
from phrase_reading import candidates, spoken

from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.sureness.several_parts import said_of_parts


def told(*said):
    """(field, value, instance) of each statement, given as its text and the heading above."""
    found, origins = [], {}
    for text, above in said:
        statement = spoken(text, above)
        for each in candidates(statement):
            found.append(each)
            origins[id(each)] = Tagged(statement, ())
    return {(c.field, c.value, c.instance) for c in said_of_parts(found, lambda c: origins[id(c)])}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("The 70040 integrates 2.1 million transistors.", "Core"), ("The 70060 has 3.5 million transistors.", "Die")),
        (("It has 2.1 million transistors.", "XR4400"), ("It has 3.5 million transistors.", "XR5000")),
        (("It has 2.1 million transistors.", "BoltSPARC: facts"), ("XR50's die: 3.5 million transistors.", "Die")),
        (("In its box, the XR44 has 2.1 million transistors.", "Die"), ("It has 3.5 million transistors.", "XR50")),
    ],
)  # fmt: skip
def test_two_values_are_those_of_the_parts_that_sentences_or_headings_name(one, other):
    found = told(one, other)
    assert {value for _, value, _ in found} == {2_100_000, 3_500_000}
    assert len({name for _, _, name in found if name}) == 2


def test_what_is_said_alike_of_two_parts_keeps_no_name():
    assert told(("It has 2.1 million transistors.", "XR4400"), ("It has 2.1 million transistors.", "XR5000")) == {
        ("chip.transistors", 2_100_000, None)
    }


def test_what_is_said_of_the_lesser_part_alone_gets_its_name_once_parts_differ():
    found = told(
        ("It has 2.1 million transistors.", "XR4400"),
        ("Peak performance: 600 MFLOPS", "XR4400"),
        ("It has 3.5 million transistors.", "XR5000"),
        ("84 MIPS", "XR5000"),
        ("Fabricated in 0.8-micron CMOS", "XR4400"),
    )
    assert ("cpu.mips", 84, "XR5000") in found
    assert ("chip.process_nm", 800, None) in found


def test_an_interface_a_core_and_a_quantity_are_no_parts():
    assert told(("SPI80 has 2.1 million transistors.", "USB20"), ("It has 3.5 million transistors.", "4096 KB")) == {
        ("chip.transistors", 2_100_000, None),
        ("chip.transistors", 3_500_000, None),
    }
