"""Sentences of processor manuals that tell of the instruction and the data side at once."""

import pytest

from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.both_sides import find
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.statement import sentence
from hwdoc_ingest.statements.tagger import RuleTagger

KB = 1024


def tagged(text):
    words = [Word(each, (10.0 * at, 0, 10.0 * at + 9, 9), 9, 8) for at, each in enumerate(text.split())]
    said = sentence(1, words, (), False)
    return Tagged(said, RuleTagger(PARAMETERS).tag([said])[0])


def read(text):
    return {(each.field.removeprefix("cpu."), each.instance, each.value) for each in find(tagged(text))}


@pytest.mark.parametrize(
    "text",
    [
        "Separate instruction and data caches of 32 Kbytes each are physically addressed.",
        "The data and instruction caches hold 32 KB each.",
        "Primary caches, 32 Kbytes each for instructions and data",
        "The instruction cache and the data caches are each 32 KB.",
    ],
)
def test_one_size_is_of_both(text):
    assert read(text) == {("l1i_cache.size_bytes", None, 32 * KB), ("l1d_cache.size_bytes", None, 32 * KB)}


def test_how_they_are_built_is_of_both():
    told = read("The instruction cache and data cache are 8 KB each, direct mapped, with 32-byte blocks.")
    assert {("l1i_cache.ways", None, 1), ("l1d_cache.ways", None, 1)} < told
    assert {("l1i_cache.line_bytes", None, 32), ("l1d_cache.line_bytes", None, 32)} < told
    two = read("Instruction and data caches of 8 KB each, two-way and four-way set associative")
    assert not any("ways" in field for field, _, _ in two)


@pytest.mark.parametrize(
    "text",
    [
        "The instruction and data translation lookaside buffers hold 128 entries each.",
        "Instruction and data TLBs of 128 entries each",
        "128-entry, fully associative instruction and data TLBs",
    ],
)
def test_both_buffers_have_entries(text):
    assert read(text) == {("tlb.entries", "instruction", 128), ("tlb.entries", "data", 128)}


@pytest.mark.parametrize(
    "text",
    [
        "Two banks of 32 Kbytes each hold instructions.",
        "The instruction and data caches share a total of 64 KB, 32 KB each at most.",
        "The L2 cache backs the instruction and data caches with 512 KB each.",
        "The instruction and data TLBs are filled by software.",
    ],
)
def test_what_is_of_something_else_is_left_alone(text):
    assert read(text) == set()


def test_each_buffer_has_the_entries_that_stand_behind_it():
    text = "The data translation buffer has 64 entries and the instruction translation buffer 48 entries."
    found = bind(tagged(text), "d", "rule", QUANTITY_RULES, FIND_RULES)
    assert {(c.instance, c.value) for c in found if c.field == "cpu.tlb.entries"} == {
        ("data translation buffer", 64),
        ("instruction translation buffer", 48),
    }


@pytest.mark.parametrize(
    "text",
    [
        "64-bit multiplexed system bus at up to 100 MHz",
        "The QAD bus is a 32-bit multiplexed address and data bus running at up to 100 MHz, for 400 MB/s",
        "The external bus always runs at 100 MHz.",
    ],
)
def test_the_clock_of_a_bus_is_not_the_processors(text):
    found = bind(tagged(text), "d", "rule", QUANTITY_RULES, FIND_RULES)
    assert not [c for c in found if c.field == "cpu.clock_hz"]
