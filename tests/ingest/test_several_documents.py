"""A brief, a manual and an errata sheet of one chip: what corrects stands first, contradictions stay shown."""

import pytest
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.read_many import draft_of
from hwdoc_ingest.reading import no_progress
from metainfer_core.spec.drafting.accept import accept
from metainfer_core.spec.drafting.decisions import Decisions

DOCUMENTS = {
    "QN7_product_brief.pdf": (
        "Features",
        ["Dual-core Cortex-M7 at up to 600 MHz", "128 KB on-chip SRAM", "512 KB boot ROM", "16 DMA channels"],
    ),
    "QN7_reference_manual.pdf": (
        "Features",
        [
            "Dual-core Cortex-M7",
            "128 KB on-chip SRAM",
            "512 KB boot ROM",
            "8 DMA channels",
            "Ambient temperature: -40 to 85 °C (industrial grade)",
            "Ambient temperature: 0 to 70 °C (commercial grade)",
        ],
    ),
    "QN7_errata_rev_B.pdf": (
        "Corrections to the reference manual",
        ["Section 4: the on-chip SRAM has 96 KB, not 128 KB.", "The DMA controller has 6 channels."],
    ),
}


@pytest.fixture(scope="module")
def drafted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("documents")
    for name, (title, lines) in DOCUMENTS.items():
        canvas = Canvas(str(folder / name), invariant=1)
        canvas.setFont("Helvetica-Bold", 16)
        canvas.drawString(72, 780, title)
        canvas.setFont("Helvetica", 10)
        for at, line in enumerate(lines):
            canvas.drawString(72, 750 - 20 * at, line)
        canvas.save()
    return draft_of("QN7", [folder / name for name in DOCUMENTS], no_progress)


def said(drafted, field):
    return [(each.source, each.value) for each in drafted.candidates if each.field == field]


def test_the_errata_stands_before_the_manual_and_the_manual_before_the_brief(drafted):
    errata, manual, brief = "qn7_errata_rev_b", "qn7_reference_manual", "qn7_product_brief"
    assert said(drafted, "dma.channels") == [(errata, 6), (manual, 8), (brief, 16)]
    assert said(drafted, "memory.sram.size_bytes") == [(errata, 98304), (manual, 131072), (brief, 131072)]
    first = f"dma.channels: {errata} (errata) and {manual} (reference manual) differ; {errata} comes first."
    assert first in drafted.notes


def test_a_contradiction_between_documents_waits_for_a_choice(drafted):
    accepted = accept(drafted, Decisions(everything=True, accepted_by="kim"))
    waiting = {conflict.path: conflict.indexes for conflict in accepted.conflicts}
    assert set(waiting) >= {"dma.channels", "memories.sram.size_bytes"}
    assert len(waiting["dma.channels"]) == 3
    assert accepted.spec.memories["boot_rom"].size_bytes is not None
    assert accepted.spec.memories["sram"].size_bytes is None


def test_grades_stand_side_by_side_and_are_told(drafted):
    ranges = [(each.instance, each.min, each.max) for each in drafted.candidates if each.field == "thermal.ambient_c"]
    assert ranges == [("commercial grade", 0, 70), ("industrial grade", -40, 85)]
    told = [note for note in drafted.notes if "depends on the variant" in note]
    assert told == [
        "qn7_reference_manual: thermal.ambient_c depends on the variant (commercial, industrial); "
        "choose the one that is fitted."
    ]
