"""The encoder of the package: what it makes of statements that nobody wrote for it, and that it does so every time."""

import pytest

from hwdoc_ingest.bert import second_opinion
from hwdoc_ingest.bert.context import TOKENS
from hwdoc_ingest.bert.encoder import shipped
from hwdoc_ingest.bert.labels import KINDS, ROLE_LABELS
from hwdoc_ingest.bert.second_opinion import is_same_but_unit, second_opinions
from hwdoc_ingest.fields import FIELDS
from hwdoc_ingest.rules import QUANTITY_RULES
from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.statements.statement import Statement
from metainfer_core.spec.drafting.draft import Candidate

RULES = {rule.field: rule for rule in QUANTITY_RULES}


def statement(text, path=("Features",), cells=()):
    return Statement(1, text, (), (), path, cells)


def second(text, path=("Features",), cells=()):
    return second_opinions(shipped(), [statement(text, path, cells)])[0]


def chance(text, field, printed, path=("Features",)):
    opinion = second(text, path)
    amount = next(a for a in find_amounts(text) if text[a.start : a.end] == printed)
    return opinion.chance(field, amount)


def test_labels_are_those_of_the_code_and_fields_are_canonical():
    encoder = shipped()
    assert encoder.roles == ROLE_LABELS
    assert encoder.kinds == KINDS
    assert set(encoder.fields) <= {"none", *FIELDS}
    assert encoder.training["seed"] == 0


@pytest.mark.parametrize(
    ("text", "printed", "field"),
    [
        ("Each core comes with 32 KB of instruction cache", "32 KB", "cpu.l1i_cache.size_bytes"),
        ("The DMA engine serves 16 channels", "16", "dma.channels"),
        ("storage temperature from -65 to 150 °C", "-65 to 150 °C", "thermal.storage_c"),
        ("boot ROM, 64 KB, mask programmed", "64 KB", "memory.rom.size_bytes"),
        ("crystal oscillator of 24 MHz", "24 MHz", "clock.xtal_hz"),
    ],
)
def test_a_number_is_about_its_field_and_about_no_other(text, printed, field):
    assert chance(text, field, printed) > 0.5
    assert chance(text, "gpu.clock_hz", printed) < 0.2


def test_the_same_words_about_another_chip_count_less():
    own = chance("The chip has a 16 KB data cache", "cpu.l1d_cache.size_bytes", "16 KB")
    other = chance("Unlike the QX4410, which has a 16 KB data cache", "cpu.l1d_cache.size_bytes", "16 KB")
    assert other < own - 0.3


def test_an_opinion_does_not_depend_on_what_is_read_beside_it():
    texts = ["32 KB data cache", "up to 16 DMA channels, each with its own FIFO of 64 bytes and a priority", "1 GHz"]
    alone = [second_opinions(shipped(), [statement(text)])[0].opinion.fields for text in texts]
    together = [each.opinion.fields for each in second_opinions(shipped(), [statement(text) for text in texts])]
    assert [one.tobytes() for one in alone] == [other.tobytes() for other in together]


def test_reading_twice_gives_the_same_bytes():
    texts = [statement(f"{size} KB SRAM and {size} DMA channels") for size in range(1, 40)]
    first, again = (second_opinions(shipped(), texts) for _ in range(2))
    assert all(a.opinion.fields.tobytes() == b.opinion.fields.tobytes() for a, b in zip(first, again, strict=True))


def test_what_stands_too_far_back_gets_no_opinion():
    text = "word " * TOKENS + "16 KB data cache"
    assert chance(text, "cpu.l1d_cache.size_bytes", "16 KB") is None
    assert chance("16 KB data cache", "chip.name", "16 KB") is None


@pytest.mark.parametrize(
    ("text", "value", "confirmed"),
    [
        ("32 KB instruction cache and 8 DMA channels", 32768, True),
        ("32 KB instruction cache and 8 DMA channels", 7, False),
        ("Unlike the QX4410, which has a 32 KB instruction cache", 32768, False),
        ("For example, with a 32 KB instruction cache", 32768, False),
        ("UART with a 32 KB buffer", 32768, False),
    ],
)
def test_a_number_is_confirmed_by_words_that_give_it_to_the_chip(text, value, confirmed):
    candidate = Candidate(field="cpu.l1i_cache.size_bytes", value=value, source="k")
    assert second(text).confirms(candidate) is confirmed


def test_names_and_addresses_are_not_asked_about():
    opinion = second("Unlike the QX4410 at 0x1000, which has 7 of them")
    for field, value in (("cpu.core_type", "QX4410"), ("mmio.base", "0x1000")):
        assert opinion.confirms(Candidate(field=field, value=value, source="k")) is True
    assert opinion.confirms(Candidate(field="dma.max_outstanding", value=7, source="k")) is False


def test_a_document_of_too_many_statements_is_asked_about_in_part(monkeypatch):
    monkeypatch.setattr(second_opinion, "MOST_STATEMENTS", 2)
    statements = [statement("32 KB instruction cache") for _ in range(3)]
    candidates = [Candidate(field="cpu.l1i_cache.size_bytes", value=32768, source="k")] * 3
    assert second_opinion.confirmed(shipped(), candidates, statements) == [True, True, False]


def test_a_statement_of_a_million_words_is_read_to_its_128th_token():
    long = shipped().context(("x" * 10**6,), "word " * 10**6, ())
    assert len(long.ids) == len(long.places) == TOKENS


def test_the_unit_of_another_cell_is_no_hindrance_and_another_number_is():
    assert is_same_but_unit(420.0, 0.42)
    assert is_same_but_unit(64.0, 65536.0)
    assert is_same_but_unit(-40.0, -40.0)
    assert not is_same_but_unit(40.0, -40.0)
    assert not is_same_but_unit(64.0, 640.0)
    assert not is_same_but_unit(0.0, 3.0)


def test_words_that_play_a_role_are_marked_where_they_stand():
    text = "Supports up to 16 DMA channels"
    marked = {(span.role, span.label, text[span.start : span.end]) for span in second(text).spans()}
    assert {("bound", "max", "up to"), ("value", "", "16")} <= marked
    assert any(role == "parameter" and "channels" in words for role, _, words in marked)


def test_the_likeliest_field_of_a_number_comes_with_its_chance():
    text = "storage temperature from -65 to 150 °C"
    field, chance = second(text).likeliest(find_amounts(text)[0])
    assert field == "thermal.storage_c"
    assert chance > 0.5
