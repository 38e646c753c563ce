"""Our scoring against the reference scorer that stands beside the corpus: same figures on the same predictions."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hwdoc_ingest.evaluate import read_truths, score
from hwdoc_ingest.judging.scoring import agrees, judge, same
from metainfer_core.errors import InputError

CORPUS = Path(__file__).parents[2] / ".." / "shared" / "corpus"
SET_ASIDE = "bl808,strongarm_sa110,v853_brief,imx8mp,pulp_cl_dma"


@pytest.fixture(scope="module")
def truths():
    return read_truths(CORPUS / "dev" / "truth", without=SET_ASIDE)


def reference(predicted, folder):
    for name, candidates in predicted.items():
        (folder / f"{name}.json").write_text(json.dumps({"doc": name, "candidates": candidates}))
    command = [sys.executable, str(CORPUS / "score.py"), str(folder), str(CORPUS / "dev" / "truth")]
    done = subprocess.run([*command, "--except", SET_ASIDE, "--json"], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


def perfect(truth):
    keys = ("field", "value", "unit", "min", "typ", "max", "instance", "page")
    known = [fact for fact in truth["facts"] if fact.get("expect") != "unknown"]
    return [{key: fact[key] for key in keys if fact.get(key) is not None} | {"confidence": 0.99} for fact in known]


def perturbed(truth, seed):
    """The true candidates with every kind of fault that a reader makes."""
    chance = random.Random(f"{seed} {truth['doc']}")
    candidates = [dict(candidate) for candidate in perfect(truth) for _ in range(chance.choice((0, 1, 1, 1, 2)))]
    for fact in truth["facts"]:
        if fact.get("expect") == "unknown":
            candidates.append(
                {"field": fact["field"], "value": 17, "instance": fact.get("instance"), "confidence": 0.5}
            )
    for candidate in candidates:
        candidate["confidence"] = chance.choice((0.5, 0.97, 0.98, 0.99))
        fault = chance.randrange(12)
        if fault == 0 and isinstance(candidate.get("value"), int):
            candidate["value"] += chance.choice((1, 4096))
        elif fault == 1:
            candidate.pop("instance", None)
        elif fault == 2:
            candidate["instance"] = chance.choice(candidates).get("instance", "somewhere else")
        elif fault == 3 and isinstance(candidate.get("value"), int | float):
            candidate[chance.choice(("min", "typ", "max"))] = candidate.pop("value")
        elif fault == 4:
            candidate["page"] = 9999
        elif fault == 5 and isinstance(candidate.get("value"), list):
            candidate["value"] = candidate["value"][::-1]
        elif fault == 6 and isinstance(candidate.get("value"), int):
            candidate["value"] = hex(candidate["value"])
        elif fault == 7 and isinstance(candidate.get("value"), str):
            candidate["value"] = candidate["value"].upper() + " ."
        elif fault == 8 and isinstance(candidate.get("value"), list):
            candidate["value"] = candidate["value"][:-1] or ["nothing"]
        elif fault == 9:
            candidate.pop("unit", None)
        elif fault == 10 and candidate.get("max") is not None:
            candidate["max"] = candidate["max"] * 1.0005
            candidate.pop("value", None)
    chance.shuffle(candidates)
    return candidates


def figures(truths, predicted, tmp_path):
    ours = score(truths, predicted)
    assert without_places(ours) == reference(predicted, tmp_path)
    return ours


def without_places(report):
    """The report without what it says of marked boxes and of pages, which the reference does not look at."""
    own = ("box", "boxed", "box_right", "other_page", "shown_right", "empty_boxes")
    if isinstance(report, dict):
        return {key: without_places(value) for key, value in report.items() if key not in own}
    return [without_places(each) for each in report] if isinstance(report, list) else report


def test_perfect_predictions_score_one(truths, tmp_path):
    ours = figures(truths, {name: perfect(truth) for name, truth in truths.items()}, tmp_path)
    assert (ours["recall"], ours["precision"], ours["wrong"]) == (1.0, 1.0, 0)
    assert len(ours["documents"]) == 22


def test_no_predictions_score_nothing(truths, tmp_path):
    ours = figures(truths, {}, tmp_path)
    assert ours["recall"] == 0
    assert ours["not_predicted"] == list(truths)


@pytest.mark.parametrize("seed", range(6))
def test_perturbed_predictions_score_the_same(truths, tmp_path, seed):
    ours = figures(truths, {name: perturbed(truth, seed) for name, truth in truths.items()}, tmp_path)
    assert 0.5 < ours["recall"] < 1
    assert ours["wrong"] > 20
    assert ours["unjudged"] > 20


def test_a_wrong_unit_is_refused(truths):
    name, truth = next((name, truth) for name, truth in truths.items() if truth["facts"][0]["unit"] == "Hz")
    with pytest.raises(InputError, match="unit 'MHz'"):
        score({name: truth}, {name: [{"field": truth["facts"][0]["field"], "value": 1, "unit": "MHz"}]})


@pytest.mark.parametrize(
    ("own", "truth", "equal"),
    [
        (1000.9, 1000, True),
        (1002, 1000, False),
        ("0x10", 16, True),
        ("Cortex-A53", "cortex a53", True),
        ([0, 16], [16, 0], False),
        ([3, 1, 2], [1, 2, 3], True),
        (["LPDDR4", "DDR3", "DDR4", "LPDDR3", "x"], ["ddr3", "ddr4", "lpddr3", "lpddr4"], True),
        (["LPDDR4", "y", "DDR4", "LPDDR3", "x"], ["ddr3", "ddr4", "lpddr3", "lpddr4"], False),
        (True, 1, False),
    ],
)
def test_same(own, truth, equal):
    assert same(own, truth) is equal


def test_a_bound_counts_only_against_the_same_bound():
    assert agrees({"max": 85}, {"max": 85, "min": None, "value": None})
    assert not agrees({"min": 85}, {"max": 85, "value": None})
    assert agrees({"min": -40, "max": 85}, {"value": [-40, 85]})


def test_an_address_must_be_exact():
    fact = {"field": "mmio.base", "unit": "addr", "value": 0xFE000000, "instance": "uart"}
    right = {"field": "mmio.base", "value": "0xfe000000", "instance": "bus:UART"}
    near = {"field": "mmio.base", "value": "0xfe000001", "instance": "uart"}
    other = {"field": "mmio.base", "value": "0xfe000001", "instance": "spi"}
    assert judge([right, near, other], [fact]).found == {0: 0}
    assert judge([right, near, other], [fact]).wrong == ((1, 0),)


def test_the_page_that_a_draft_shows_is_judged_apart_from_all_pages_that_say_the_same():
    fact = {"field": "dma.channels", "value": 8, "unit": "count", "page": 30}
    places = [{"field": "dma.channels", "value": 8, "page": page, "confidence": 0.9} for page in (2, 30)]
    truths = {"a.pdf": {"doc": "a.pdf", "kind": "pdf", "facts": [fact]}}
    assert [score(truths, {"a.pdf": order})["shown_right"] for order in (places, places[::-1])] == [0.0, 1.0]
    assert [score(truths, {"a.pdf": order})["page_right"] for order in (places, places[::-1])] == [1.0, 1.0]
