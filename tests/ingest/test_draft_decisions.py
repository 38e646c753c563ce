"""What is settled between documents: recorded, and nothing lost."""

import pytest

from hwdoc_ingest.drafting.decisions import decisions, kind_of, rank
from hwdoc_ingest.drafting.draft import draft
from hwdoc_ingest.reading import Reading
from metainfer_core.spec.drafting.draft import Candidate, DraftSource


def source(name):
    return DraftSource(title=name.rsplit(".", 1)[0], document_digest="sha256:00", file_name=name)


def said(key, value, field="memory.sram.size_bytes", unit="B", text="128 KB SRAM", **more):
    return Candidate(field=field, value=value, unit=unit, source=key, text=text, **more)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("OX4_errata_rev3.pdf", "errata"),
        ("OX4_datasheet_errata.pdf", "errata"),
        ("OX4 Technical Reference Manual.pdf", "reference manual"),
        ("ox4_trm_ch10.pdf", "reference manual"),
        ("OX4-data-sheet-v2.pdf", "data sheet"),
        ("OX4_product_brief.pdf", "brief"),
        ("ox4.dts", "other"),
        ("alarm_board.pdf", "other"),
    ],
)
def test_kind_of_document(name, kind):
    assert kind_of(source(name)) == kind


def test_order_of_precedence():
    names = ["ox4_brief.pdf", "ox4_datasheet.pdf", "ox4_reference_manual.pdf", "ox4_errata.pdf"]
    assert sorted(names, key=lambda name: rank(source(name))) == names[::-1]


def test_the_document_that_comes_first_stands_first_and_none_is_lost():
    sheet, errata = source("ox4_datasheet.pdf"), source("ox4_errata.pdf")
    made = draft("OX4", [
        Reading(key="sheet", source=sheet, candidates=(said("sheet", 131072),)),
        Reading(key="errata", source=errata, candidates=(said("errata", 98304, text="96 KB SRAM"),)),
    ])  # fmt: skip
    assert [(c.source, c.value) for c in made.candidates] == [("errata", 98304), ("sheet", 131072)]
    assert made.notes == (
        "sheet: K, M and G of bytes are read as 1024, 1024² and 1024³; one size is read so.",
        "errata: K, M and G of bytes are read as 1024, 1024² and 1024³; one size is read so.",
        "memory.sram.size_bytes: errata (errata) and sheet (data sheet) differ; errata comes first.",
    )


def test_documents_that_agree_or_rank_alike_settle_nothing():
    sheets = {"a": source("a_datasheet.pdf"), "b": source("b_datasheet.pdf"), "c": source("c_brief.pdf")}
    plain = {"text": "0x20000 bytes", "unit": "B"}
    assert list(decisions(sheets, [said("a", 1, **plain), said("b", 2, **plain)])) == []
    assert list(decisions(sheets, [said("a", 1, **plain), said("c", 1, **plain)])) == []


def test_speed_grades_are_named_and_other_instances_are_not():
    sheets = {"a": source("a_datasheet.pdf")}
    clock = {"field": "cpu.clock_hz", "unit": "Hz", "text": ""}
    grades = [said("a", 16e6, instance="A-16 MHz", **clock), said("a", 25e6, instance="A-25 MHz", **clock)]
    assert list(decisions(sheets, grades)) == [
        "a: cpu.clock_hz depends on the variant (16 MHz, 25 MHz); choose the one that is fitted."
    ]
    cores = [said("a", 1e9, instance="big cluster", **clock), said("a", 2e9, instance="little cluster", **clock)]
    assert list(decisions(sheets, cores)) == []
