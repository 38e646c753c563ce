"""Confidence as a chance: monotone in its evidence, fitted with few weights, measured on documents left out."""

import json
import random
from dataclasses import replace

import pytest
import yaml
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.binding.witnesses import reads_the_same
from hwdoc_ingest.calibrate import Judged, command, fit, judged, left_out, reliability
from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.rules import PARAMETERS
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.statement import sentence
from hwdoc_ingest.statements.tagger import RuleTagger
from hwdoc_ingest.sureness.calibration import Calibration, Evidence, gather, shipped
from hwdoc_ingest.sureness.confidence import Weighed
from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.draft import Candidate

PLAIN = Evidence(0.9)


def readings(documents=12, each=40, seed=0):
    """Readings of which a half with siblings is wrong, and one in a hundred of the others."""
    rng = random.Random(seed)
    made = []
    for document in range(documents):
        for _ in range(each):
            siblings = rng.choice((0, 0, 0, 2))
            right = rng.random() < (0.5 if siblings else 0.99)
            made.append(Judged(f"d{document}", False, Evidence(0.9, siblings), right))
    return made


def test_the_chance_never_falls_with_better_evidence():
    calibration = shipped()
    worse = [
        replace(PLAIN, **worsened)
        for worsened in (
            {"sureness": 0.5},
            {"siblings": 2},
            {"siblings": 9},
            {"rivals": 1},
            {"contested": True},
            {"confirmed": False},
            {"spelled": True},
            {"destroys": True},
            {"guessed": True},
        )
    ]
    assert all(calibration.chance(each) < calibration.chance(PLAIN) for each in worse)
    assert all(calibration.chance(replace(each, seconded=True)) >= calibration.chance(each) for each in worse)
    assert list(calibration.chances) == sorted(calibration.chances, reverse=True)
    assert all(0 < chance < 1 for chance in calibration.chances)


@pytest.mark.parametrize(
    ("evidence", "nobody_looks"),
    [
        (Evidence(0.9), True),
        (Evidence(0.9, confirmed=False), False),
        (Evidence(0.9, confirmed=False, seconded=True), True),
        (Evidence(0.9, siblings=3), False),
        (Evidence(0.9, siblings=3, seconded=True), True),
        (Evidence(0.9, siblings=4, seconded=True), False),
        (Evidence(0.9, rivals=1, seconded=True), False),
        (Evidence(0.9, contested=True, seconded=True), True),  # the other one was left out as clearly less well founded
        (Evidence(0.9, contested=True, rivals=1, seconded=True), False),
        (Evidence(0.9, spelled=True), False),
        (Evidence(0.9, destroys=True, seconded=True), False),
        (Evidence(0.5, seconded=True), False),
        (Evidence(0.9, guessed=True, seconded=True), False),
    ],
)
def test_what_is_accepted_has_a_witness_and_nothing_against_it(evidence, nobody_looks):
    assert (shipped().chance(evidence) >= 0.98) is nobody_looks


def test_more_doubts_than_are_told_apart_have_the_lowest_chance():
    calibration = Calibration(chances=(0.99, 0.7))
    assert [calibration.chance(each) for each in (PLAIN, Evidence(0.9, rivals=1), Evidence(0.5, rivals=1))] == [
        0.99,
        0.7,
        0.7,
    ]
    assert calibration.chance(Evidence(0.9, contested=True, rivals=1)) == 0.6


def test_the_fit_gives_each_count_its_share_and_never_more_to_more_doubts():
    made = readings()
    alone = [each.right for each in made if not each.evidence.siblings]
    chances = fit(made).chances
    assert chances[0] == round((sum(alone) + 1) / (len(alone) + 2), 3)
    assert 0.4 < chances[1] < 0.6
    turned = [Judged("d", False, each.evidence, not each.right) for each in made]
    pooled = fit(turned).chances
    assert pooled[0] == pooled[1]  # what should count against them did not


def test_the_fit_is_the_same_each_time():
    assert fit(readings()) == fit(readings())


def test_chances_of_documents_left_out_hold():
    report = reliability(left_out(readings()))
    assert report["readings"] == 480
    assert report["expected_calibration_error"] < 0.08


def test_reliability_counts_what_is_sure_and_wrong():
    chances = [(Judged("d", False, PLAIN, True), 0.99)] * 9 + [(Judged("d", False, PLAIN, False), 0.99)]
    report = reliability(chances)
    assert (report["sure_right"], report["sure_wrong"], report["right"]) == (9, 1, 9)
    assert report["expected_calibration_error"] == pytest.approx(0.09)
    assert report["bins"] == [{"from": 0.98, "to": 1.0, "readings": 10, "said": 0.99, "right": 0.9}]


def weighed(field, value, instance=None, places=1, **more):
    candidate = Candidate(field=field, value=value, instance=instance, source="k", confidence=0.9, **more)
    return Weighed(candidate, 0.9, places, contested=False)


def evidence(*readings, confirmed=True, agreed=False):
    return gather(readings, [confirmed] * len(readings), [agreed] * len(readings))


def test_siblings_are_other_things_and_rivals_may_be_the_same():
    named = evidence(
        weighed("power.supply_v", 1.0, "core"), weighed("power.supply_v", 1.8, "I/O"), weighed("power.supply_v", 3.3)
    )
    assert [(each.siblings, each.rivals) for each in named] == [(1, 1), (1, 1), (0, 2)]
    same = evidence(weighed("cpu.clock_hz", 1e9, "Core-0"), weighed("cpu.clock_hz", 1e9), weighed("cpu.cores", 2))
    assert [(each.siblings, each.rivals) for each in same] == [(0, 0), (0, 0), (0, 0)]
    addresses = evidence(*(weighed("mmio.base", f"0x{at}000", name, unit="addr") for at, name in ((1, "a"), (2, "b"))))
    assert [(each.siblings, each.rivals, each.spelled) for each in addresses] == [(0, 0, False), (0, 0, False)]


def test_witnesses_names_limits_and_guesses_are_told():
    assert evidence(weighed("dma.channels", 8), confirmed=False)[0].confirmed is False
    for places, agreed, told in ((1, False, False), (2, False, True), (1, True, True)):
        assert evidence(weighed("dma.channels", 8, places=places), agreed=agreed)[0].seconded is told
    assert evidence(weighed("chip.package", "BGA 256"))[0].spelled
    limits = ("power.supply_v", "must"), ("power.supply_v", None), ("thermal.storage_c", "must")
    assert [evidence(weighed(f, None, max=9.0, strength=s))[0].destroys for f, s in limits] == [True, False, False]
    assert evidence(weighed("dma.channels", 8, method="sentence-lexicon"))[0].guessed


@pytest.mark.parametrize(
    ("text", "field", "value", "same"),
    [
        ("The chip has 64 KB of on-chip SRAM", "memory.sram.size_bytes", 65536, True),
        ("The chip has 64 KB of on-chip SRAM", "memory.rom.size_bytes", 65536, False),
        ("The chip has 64 KB of on-chip SRAM", "memory.sram.size_bytes", 32768, False),
        ("The chip has 64 KB of it", "memory.sram.size_bytes", 65536, False),
    ],
)
def test_the_fallback_reader_is_a_witness_where_it_reads_the_same(text, field, value, same):
    words = [Word(each, (at * 40.0, 0.0, at * 40.0 + 35, 10.0), 10, 9) for at, each in enumerate(text.split())]
    statement = sentence(1, words, ("Features",), by_ocr=False)
    tagged = Tagged(statement, RuleTagger(PARAMETERS).tag([statement])[0])
    assert reads_the_same(tagged, Candidate(field=field, value=value, source="k")) is same


# The command --------------------------------------------------------------------------------------------------------


def corpus(folder, **documents):
    """A folder of one-page PDF files, each with its lines and its known facts."""
    (folder / "docs").mkdir()
    (folder / "truth").mkdir()
    for name, (lines, facts) in documents.items():
        page = Canvas(str(folder / "docs" / f"{name}.pdf"), invariant=1)
        page.setFont("Helvetica-Bold", 16)
        page.drawString(72, 780, "Features")
        page.setFont("Helvetica", 10)
        for at, line in enumerate(lines):
            page.drawString(72, 750 - 20 * at, line)
        page.save()
        known = [{"field": field, "value": value, "page": 1} for field, value in facts.items()]
        (folder / "truth" / f"{name}.json").write_text(
            json.dumps({"doc": f"{name}.pdf", "kind": "pdf", "facts": known})
        )
    return folder


def test_readings_are_judged_by_the_known_facts_and_the_rest_is_left_out(tmp_path):
    lines = ["32 KB boot ROM", "16 DMA channels", "Storage temperature -40 to 125 °C"]
    facts = {"memory.rom.size_bytes": 32768, "dma.channels": 8}
    found = judged(corpus(tmp_path, a=(lines, facts)), "", "", no_progress)
    assert sorted(each.right for each in found) == [False, True]
    assert {each.document for each in found} == {"a.pdf"}
    assert all(each.evidence.confirmed for each in found)


def test_the_command_writes_what_it_fitted_and_needs_two_documents(tmp_path):
    one = (["32 KB boot ROM", "16 DMA channels"], {"memory.rom.size_bytes": 32768, "dma.channels": 8})
    folder = corpus(tmp_path, a=one, b=one)
    out = tmp_path / "calibration.yaml"
    command([folder], out=out)
    written = Calibration.from_plain(yaml.safe_load(out.read_text()))
    assert written == fit(judged(folder, "", "", no_progress))
    with pytest.raises(InputError, match="too little to fit to"):
        command([folder], only="a.pdf")
