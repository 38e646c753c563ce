"""Confidence as a chance: monotone in its evidence, fitted with few weights, measured on documents left out."""

import json
import random

import pytest
import yaml
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.calibrate import Judged, command, fit, judged, left_out, reliability
from hwdoc_ingest.calibration import Calibration, Evidence, gather, shipped
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError
from metainfer_core.spec.draft import Candidate

PLAIN = Evidence(0.85, 1)


def readings(documents=12, each=40, seed=0):
    """Readings of which the crowd tells the truth, and the weighed sureness nothing."""
    rng = random.Random(seed)
    made = []
    for document in range(documents):
        for _ in range(each):
            crowd = rng.choice((1, 2, 4, 10))
            right = rng.random() < 1 / crowd**0.5
            made.append(Judged(f"d{document}", False, Evidence(rng.choice((0.8, 0.9)), crowd), right))
    return made


def test_the_chance_never_falls_with_better_evidence():
    calibration = shipped()
    for better, worse in (
        (Evidence(0.95, 1), Evidence(0.7, 1)),
        (Evidence(0.95, 1), Evidence(0.95, 12)),
        (Evidence(0.95, 1), Evidence(0.95, 1, confirmed=False)),
    ):
        assert calibration.chance(better) >= calibration.chance(worse)
    assert min(calibration.weights) >= 0
    chances = [chance for _, chance in calibration.steps]
    assert chances == sorted(chances)
    assert all(0 < chance < 1 for chance in chances)


def test_the_best_evidence_is_accepted_and_the_worst_is_not():
    calibration = shipped()
    assert calibration.chance(Evidence(0.97, 1)) >= 0.98
    assert calibration.chance(Evidence(0.97, 1, confirmed=False)) <= 0.95
    assert calibration.chance(Evidence(0.6, 10)) <= 0.6


def test_a_score_below_the_first_step_has_the_lowest_chance():
    calibration = Calibration(weights=(1.0, 0.0), steps=((0.0, 0.6), (2.0, 0.99)))
    assert calibration.chance(Evidence(0.3, 1)) == 0.6
    assert calibration.chance(Evidence(0.6, 1)) == 0.6
    assert calibration.chance(Evidence(0.9, 1)) == 0.99


def test_the_fit_finds_what_tells_and_gives_no_weight_to_what_does_not():
    weights = fit(readings()).weights
    assert weights[1] > 0.5
    assert weights[1] > 3 * weights[0]


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


def test_a_crowd_is_the_number_of_readings_of_a_field_but_for_lists_of_addresses():
    def candidate(field, value):
        return Candidate(field=field, value=value, source="k", confidence=0.9)

    candidates = [candidate("power.supply_v", v) for v in (1.0, 1.8, 3.3)] + [
        candidate("mmio.base", v) for v in ("0x1000", "0x2000")
    ]
    gathered = gather(candidates, [False, True, False, False, False])
    assert [each.crowd for each in gathered] == [3, 3, 3, 1, 1]
    assert [each.confirmed for each in gathered] == [False, True, False, False, False]


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
    command(folder, out=out)
    written = Calibration.from_plain(yaml.safe_load(out.read_text()))
    assert written == fit(judged(folder, "", "", no_progress))
    with pytest.raises(InputError, match="too little to fit to"):
        command(folder, only="a.pdf")
