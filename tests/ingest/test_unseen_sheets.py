"""Sheets in house styles written apart from the rules: most is found, little is wrong, nothing wrong is called sure."""

import pytest
from unseen_sheets import FOLDER, HELD_OUT, pdf, sheet, sheets

from hwdoc_ingest.evaluate import SURE
from hwdoc_ingest.fields import FIELDS, candidate_json
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.reading import no_progress


def read(name):
    of = sheet(FOLDER / f"{name}.sheet")
    candidates = [candidate_json(each) for each in read_pdf_bytes(pdf(of), "doc", name, no_progress).candidates]
    return of.facts, candidates, judge(candidates, of.facts)


def test_every_fact_of_a_sheet_has_a_known_field_and_no_name_is_used_twice():
    known = sheets()
    assert len({each.name for each in known}) == len(known) == 24
    assert sum(each.name.startswith(HELD_OUT) for each in known) == 10
    for each in known:
        assert all(one["field"] in FIELDS for one in each.facts), each.name
        assert each.facts, each.name


@pytest.mark.parametrize(
    ("name", "missed", "wrong"),
    [
        ("d02_zh_mcu", 1, 2),
        ("d08_en_nordic", 4, 0),
        ("d10_en_brief", 2, 1),
        ("d05_en_sparc", 6, 1),
        ("d11_en_prose_soc", 6, 2),
        ("d13_zh_prose_edge", 6, 1),
    ],
)
def test_a_sheet_is_read(name, missed, wrong):
    facts, candidates, judgement = read(name)
    assert len(facts) - len(judgement.found) <= missed
    assert len(judgement.wrong) <= wrong
    assert all(candidates[at]["confidence"] < SURE for at, _ in judgement.wrong)


def test_the_fallback_reader_is_never_sure():
    _, candidates, _ = read("d08_en_nordic")
    guessed = [each for each in candidates if each["field"] == "memory.sram.size_bytes"]
    assert guessed
    of = sheet(FOLDER / "d10_en_brief.sheet")
    said = read_pdf_bytes(pdf(of), "doc", "brief", no_progress).candidates
    assert [each.confidence for each in said if each.method.endswith("lexicon")] != []
    assert all(each.confidence <= 0.85 for each in said if each.method.endswith("lexicon"))
