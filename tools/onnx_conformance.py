"""Runs ONNX's own node tests through import and preprocessing; writes docs/reference/onnx_conformance.md.

Each test is a model of one operator with recorded inputs and outputs. It is imported and preprocessed for the shapes of
its inputs; where that leaves a shape open, small inputs that are not float32 (axes, sizes, counts) are bound to their
recorded values. The result runs on ONNX Runtime with its optimiser off and is held against the recorded outputs.

    python tools/onnx_conformance.py [--only PART_OF_A_NAME] [--output FILE]
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime

from metainfer_core.errors import MetaInferError, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.opset import ONNX_OPSET
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import preprocess

DOCUMENT = Path(__file__).parents[1] / "docs" / "reference" / "onnx_conformance.md"
VERDICTS = {
    "same": "imported, preprocessed, and the recorded outputs came out",
    "as runtime": "ONNX Runtime gives the same for the original and for ours, and both differ from what is recorded",
    "random": "the operator makes random numbers, so there is nothing to compare",
    "not run": "ONNX Runtime cannot run the original either, so there is nothing to compare",
    "refused": "refused with the node or value and the reason",
    "differs": "other outputs than the original: a defect",
    "crashed": "an exception that is none of ours: a defect",
}
RANDOM = ("test_bernoulli", "test_random", "test_multinomial")


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    test: str
    verdict: str
    reason: str = ""


def outcomes(only: str = "") -> list[Outcome]:
    """One outcome for each node test whose name contains `only`."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = collect_testcases(None)
        return [_outcome(case) for case in cases if case.model is not None and only in case.name]


def _outcome(case: Any) -> Outcome:
    try:
        return _held_against_record(case, bind_small=False)
    except UnsupportedError as error:
        if "dynamic shape" not in error.what and "folded" not in error.what:
            return Outcome(case.name, "refused", str(error))
    except MetaInferError as error:
        return Outcome(case.name, "refused", str(error))
    try:
        return _held_against_record(case, bind_small=True)
    except MetaInferError as error:
        return Outcome(case.name, "refused", str(error))


def _held_against_record(case: Any, bind_small: bool) -> Outcome:
    """Raises MetaInferError where the model is refused."""
    inputs, recorded = case.data_sets[0]
    feed = dict(zip((value.name for value in case.model.graph.input), inputs, strict=False))
    arrays = {name: np.asarray(array) for name, array in feed.items() if isinstance(array, np.ndarray | np.generic)}
    small = {
        name for name, array in arrays.items() if array.dtype != np.float32 and array.size <= 64 and array.ndim < 2
    }
    values = {name: arrays[name] for name in small if bind_small}
    shapes = {name: array.shape for name, array in arrays.items() if name not in values and 0 not in array.shape}
    data = case.model.SerializeToString()
    try:
        ours = preprocess(import_model(data, "model").model, shapes, values).model
    except MetaInferError:
        raise
    except Exception as error:
        return Outcome(case.name, "crashed", f"{type(error).__name__}: {error}")
    if case.name.startswith(RANDOM):
        return Outcome(case.name, "random")
    wanted = [value.name for value in ours.graph.inputs]
    try:
        got = _run(model_bytes(ours), {name: feed[name] for name in wanted})
    except Exception as error:
        return Outcome(case.name, "differs" if _runs(data, feed) else "not run", f"{type(error).__name__}: {error}")
    if all(_close(mine, theirs, case.rtol, case.atol) for mine, theirs in zip(got, recorded, strict=False)):
        return Outcome(case.name, "same")
    if not _runs(data, feed):
        return Outcome(case.name, "not run")
    agrees = all(_close(mine, theirs, 1e-5, 1e-6) for mine, theirs in zip(got, _run(data, feed), strict=False))
    return Outcome(case.name, "as runtime" if agrees else "differs")


def _run(data: bytes, feed: dict[str, Any]) -> list[Any]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    running = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return list(running.run(None, feed))


def _runs(data: bytes, feed: dict[str, Any]) -> bool:
    try:
        _run(data, feed)
    except Exception:  # whatever the reason, it is not ours
        return False
    return True


def _close(mine: Any, theirs: Any, relative: float, absolute: float) -> bool:
    if not isinstance(theirs, np.ndarray | np.generic):
        return True
    try:
        left, right = np.asarray(mine, np.float64), np.asarray(theirs, np.float64)
    except (TypeError, ValueError):
        return bool(np.array_equal(mine, theirs))
    return left.shape == right.shape and bool(np.allclose(left, right, relative, absolute, equal_nan=True))


def document(found: Iterable[Outcome]) -> str:
    """The reference page: counts by verdict, then the reasons for refusals."""
    found = list(found)
    counts = Counter(each.verdict for each in found)
    lines = [
        "# Conformance with ONNX's node tests",
        "",
        f"Made by `python tools/onnx_conformance.py` with onnx {onnx.__version__} and ONNX Runtime "
        f"{onnxruntime.__version__}; models are brought to opset {ONNX_OPSET}. {len(found)} tests.",
        "",
        "| tests | verdict |",
        "|---|---|",
        *(f"| {counts[verdict]} | {meaning} |" for verdict, meaning in VERDICTS.items()),
        "",
        "## Why models are refused",
        "",
        "| tests | reason | for example |",
        "|---|---|---|",
    ]
    reasons: dict[str, list[str]] = {}
    for each in found:
        if each.verdict == "refused":
            reasons.setdefault(_kind(each.reason), []).append(each.test)
    for reason, tests in sorted(reasons.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        lines.append(f"| {len(tests)} | {reason} | `{min(tests)}` |")
    return "\n".join(lines) + "\n"


def _kind(reason: str) -> str:
    """The first sentence without names and numbers, so that equal reasons meet; some need their second to tell more."""
    first, second = [*reason.split("\n"), ""][:2]
    if "dynamic shape" in first:
        return "A shape depends on data."
    first = first.removeprefix("model: ")
    text = f"{first} {second}" if "cannot be converted" in first or "cannot be folded" in first else first
    text = re.sub(r"^The node \S+", "The node", text)
    text = re.sub(r"(?<!\w)'[^']*'(?!\w)", "…", text)
    return re.sub(r"\b\d+\b", "…", text).replace("|", "/").strip()[:160]


def main() -> int:
    """Writes the page; status 1 where a test differs or crashed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="Only tests whose name contains this.")
    parser.add_argument("--output", type=Path, default=DOCUMENT, help="The page to write.")
    arguments = parser.parse_args()
    found = outcomes(arguments.only)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(document(found))
    faults = [each for each in found if each.verdict in ("differs", "crashed")]
    for each in faults:
        print(each.test, each.verdict, each.reason[:300])
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
