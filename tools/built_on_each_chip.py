"""Every model on every spec, adapted to compiled and simulated; writes docs/reference/built_on_each_chip.md.

A case is a model, a spec, a precision and a target. It ends built, refused with a reason, or with a fault: a broken
law, an approved action that was not realised, other bits than the simulator's, or an exception that is none of ours;
or it is not finished within a limit, which says nothing of it and is tried again under a higher limit.
As much as is legal becomes narrow, whatever it costs in accuracy: this tries laws, not quality. Each case is a line in
a journal, and one that is in it already is not run again, so that the tool can be stopped and started at will.

    nice python tools/built_on_each_chip.py MODELS_FOLDER --journal FILE [--only PART] [--minutes 60] [--limit 6]
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from metainfer_core import pipeline
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import DefectError, MetaInferError, ObligationFailed
from metainfer_core.explain.explanation import explain
from metainfer_core.npu.device import devices
from metainfer_core.pipeline.steps import Adapted, Prepared
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.search.half_search import formats
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import entries
from metainfer_core.verify.samples import random_samples

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "built_on_each_chip.md"
SIDE = 64
"""What an open height or width is bound to."""
ANY_ACCURACY = Objective(
    fast=True,
    min_sqnr_db=-300.0,
    min_channel_sqnr_db=-300.0,
    max_dead_channels=1 << 30,
    max_argmax_flips=1.0,
)
VERDICTS = {
    "built": "compiled: no law broken in what was read back or simulated, all that was approved realised, equal bits",
    "refused": "refused with the reason",
    "fault": "a defect of the product",
    "unfinished": "neither: given up after the limit of time, or a fault that was mended and not run again yet",
}


class LateError(BaseException):
    """A step took longer than its limit; no `except Exception` on the way may swallow it."""


@dataclass(frozen=True)
class Outcome:
    """What became of one case."""

    model: str
    spec: str
    precision: str
    target: str
    verdict: str
    reason: str = ""
    actions: int = 0
    limit: float = 0.0
    """Minutes after which a step was given up; of those that are unfinished."""

    @property
    def case(self) -> tuple[str, str, str, str]:
        """What it is of."""
        return (self.model, self.spec, self.precision, self.target)


@contextmanager
def _within(minutes: float) -> Iterator[None]:
    """Raises `LateError` in what runs here once the minutes are over."""

    def late(*_: object) -> None:
        raise LateError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def outcomes(model: Path, spec_file: Path, done: set[tuple[str, str, str, str]], limit: float) -> Iterator[Outcome]:
    """The outcomes of one model on one spec, without those that are known."""
    spec, name = read_spec(spec_file), spec_file.stem
    targets = (
        ("native-cpu", "sim-npu") if any(unit.local_memory for unit in spec.compute_units.values()) else ("native-cpu",)
    )
    precisions = [Precision.INT8, *([Precision.FP16] if formats(spec) else [])]
    for precision in precisions:
        open_targets = [each for each in targets if (model.stem, name, precision.value, each) not in done]
        if not open_targets:
            continue
        try:
            with _within(limit):
                prepared, adapted = _adapted(model, spec, precision)
        except (Exception, LateError) as error:
            for target in open_targets:
                yield _ended(Outcome(model.stem, name, precision.value, target, "built"), error, "adapt", limit)
            continue
        for target in open_targets:
            case = Outcome(model.stem, name, precision.value, target, "built", actions=len(adapted.policy.actions))
            try:
                with _within(limit):
                    found = _faults(prepared, spec, adapted, target)
            except (Exception, LateError) as error:
                yield _ended(case, error, "compile", limit)
            else:
                yield replace(case, verdict="fault", reason=f"{len(found)}: {found[0]}") if found else case


def _adapted(model: Path, spec: HardwareSpec, precision: Precision) -> tuple[Prepared, Adapted]:
    try:
        prepared = pipeline.prepare(model)
    except MetaInferError:
        prepared = pipeline.prepare(model, _bound(model))
    samples = random_samples(prepared.model, 2)
    objective = Objective.from_plain({**ANY_ACCURACY.plain(), "precision": precision.value})
    adapted = pipeline.adapt(prepared, spec, samples, samples, objective)
    if len(explain(adapted.policy, spec)) != len(adapted.policy.actions):
        raise DefectError("An action has no explanation.", f"{prepared.name} on {spec.name}.", "Report it.")
    return prepared, adapted


def _bound(model: Path) -> dict[str, tuple[int, ...]]:
    """Shapes for inputs that leave some open: one sample, and `SIDE` for heights and widths."""
    from metainfer_core.graph.files.load import load_model

    shapes = {}
    for value in load_model(model).model.graph.inputs:
        sizes = [size if isinstance(size, int) else None for size in value.shape or ()]
        shapes[str(value.name)] = tuple(
            size if size is not None else 1 if axis == 0 else SIDE for axis, size in enumerate(sizes)
        )
    return shapes


def _faults(prepared: Prepared, spec: HardwareSpec, adapted: Adapted, target: str) -> list[str]:
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, target, adapted.samples.feeds)
    validation = validate_package(compiled.package)
    found = [f"law: {each}" for each in compiled.violations]
    found += [f"not realised: {each}" for each in compiled.differences]
    found += [f"simulator: {each}" for each in validation.faults]
    found += [] if validation.equal else [f"other bits: {validation.text}"]
    if target == "sim-npu" and not validation.units and devices(spec):
        found.append("the simulator told of no unit")
    return found


def _ended(case: Outcome, error: BaseException, step: str, limit: float) -> Outcome:
    """How a case ended that raised."""
    if isinstance(error, LateError):
        return replace(case, verdict="unfinished", reason=f"{step} not finished in {limit:g} min", limit=limit)
    if isinstance(error, MetaInferError) and not isinstance(error, DefectError | ObligationFailed):
        return replace(case, verdict="refused", reason=" ".join(str(error).split()))
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return replace(case, verdict="fault", reason=f"{type(error).__name__}: {error} ({place})")


def known(journal: Path) -> list[Outcome]:
    """What a journal holds; of a case that was run again, the last."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    return list({found.case: found for found in (Outcome(**json.loads(line)) for line in lines)}.values())


def page(found: Sequence[Outcome], models: Sequence[str], specs: Sequence[str]) -> str:
    """The reference page: counts, a table of all models and specs, the reasons for refusals, faults."""
    counts = Counter(each.verdict for each in found)
    pairs = len({(each.model, each.spec) for each in found})
    lines = [
        "# Built on each chip",
        "",
        "Made by `python tools/built_on_each_chip.py`: real models on specs of `hwspecs/`, each adapted, explained, "
        "compiled, read back, replayed and, where a unit has a local memory, run on `sim-npu`. All that is legal "
        "becomes INT8, or FP16 where the chip has it, whatever it costs in accuracy: this tries laws, not quality.",
        "",
        f"Tried so far: {pairs} of the {len(models) * len(specs)} pairs of a model and a spec, with committed states "
        "of the product that followed one another.",
        "",
        "| cases | verdict |",
        "|---|---|",
        *(f"| {counts[verdict]} | {meaning} |" for verdict, meaning in VERDICTS.items()),
        "",
        "Each cell: built of tried (precisions and targets); a dash was not tried.",
        "",
        f"| spec | {' | '.join(models)} |",
        f"|---|{'---|' * len(models)}",
    ]
    for spec in specs:
        cells = []
        for model in models:
            here = [each.verdict for each in found if (each.model, each.spec) == (model, spec)]
            cells.append(f"{here.count('built')}/{len(here)}" if here else "—")
        lines.append(f"| {spec} | {' | '.join(cells)} |")
    lines += ["", "## Why cases are refused", "", "| cases | reason | for example |", "|---|---|---|"]
    reasons: dict[str, list[Outcome]] = {}
    for each in found:
        if each.verdict == "refused":
            reasons.setdefault(_kind(each.reason), []).append(each)
    for reason, cases in sorted(reasons.items(), key=lambda entry: (-len(entry[1]), entry[0])):
        lines.append(f"| {len(cases)} | {reason} | {' · '.join(min(case.case for case in cases))} |")
    for title, verdict in (("Faults", "fault"), ("Not finished", "unfinished")):
        cases = sorted((each for each in found if each.verdict == verdict), key=lambda each: each.case)
        if cases:
            told = (f"- {' · '.join(each.case)}: {' '.join(each.reason.split())[:200]}" for each in cases)
            lines += ["", f"## {title}", "", *told]
    return "\n".join(lines) + "\n"


def _kind(reason: str) -> str:
    """The first sentence of a reason without numbers and names of tensors, so that equal ones meet."""
    sentence = re.sub(r"^\S+: ", "", reason).split(". ")[0].split(", in which ")[0]
    return re.sub(r"\b\d[\d,]*\b", "…", sentence.replace("|", "/"))[:240].rstrip(" .")


def main() -> int:
    """Runs what is not in the journal yet, and writes the page; status 1 where a case ended in a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, help="The folder of the models, *.onnx.")
    parser.add_argument("--journal", type=Path, required=True, help="Where outcomes are kept, one a line.")
    parser.add_argument("--only", default="", help="Only pairs `model on spec` that contain this.")
    parser.add_argument("--minutes", type=float, default=1e9, help="No case is begun later than this.")
    parser.add_argument("--limit", type=float, default=6, help="Minutes for one adapt or one compile.")
    parser.add_argument("--output", type=Path, default=PAGE, help="The page to write.")
    arguments = parser.parse_args()
    started, limit = time.monotonic(), arguments.limit
    done = {each.case for each in known(arguments.journal) if each.verdict != "unfinished" or each.limit >= limit}
    models = sorted(arguments.models.glob("*.onnx"), key=lambda path: (path.stat().st_size, path.name))
    for model in models:
        for entry in entries(ROOT / "hwspecs"):
            late = time.monotonic() - started > 60 * arguments.minutes
            if late or arguments.only not in f"{model.stem} on {entry.path.stem}":
                continue
            for outcome in outcomes(model, entry.path, done, limit):
                with arguments.journal.open("a") as journal:
                    journal.write(json.dumps(asdict(outcome)) + "\n")
                print(*outcome.case, outcome.verdict, outcome.reason[:300], flush=True)
    found = known(arguments.journal)
    names = [entry.path.stem for entry in entries(ROOT / "hwspecs")]
    arguments.output.write_text(page(found, sorted(model.stem for model in models), names))
    return 1 if any(each.verdict == "fault" for each in found) else 0


if __name__ == "__main__":
    sys.exit(main())
