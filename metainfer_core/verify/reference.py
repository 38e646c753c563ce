"""The reference: ONNX Runtime with its optimiser off, which shares no code with our kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import onnx_ir as ir
import onnxruntime

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.save import model_bytes
from metainfer_core.graph.shapes import size_bytes
from metainfer_core.numerics.ranges import Calibration, TensorRange
from metainfer_core.verify.samples import Feeds, Outputs, Samples

Progress = Callable[[str, int, int], None]

TENSORS_LIMIT_BYTES = 8 << 30
"""Of all tensors of one run together: each is looked at, so none is given up early."""


def quiet(step: str, done: int, total: int) -> None:
    """A progress callback that says nothing."""


def session(model: ir.Model, optimise: bool = False) -> onnxruntime.InferenceSession:
    """An ONNX Runtime session on one thread. From level BASIC on its optimiser folds batch norms, so it is off.

    Raises:
        UnsupportedError: ONNX Runtime cannot run the model.
    """
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimise else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 4
    try:
        return onnxruntime.InferenceSession(model_bytes(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its exception classes share no base but Exception
        raise UnsupportedError(
            "ONNX Runtime, which gives the reference outputs, cannot run this model.",
            str(error).splitlines()[0],
            "Check the model with another tool; its operators and shapes must be valid ONNX.",
        ) from error


def run_reference(model: ir.Model, feeds: Iterable[Feeds], names: tuple[str, ...] = ()) -> tuple[Outputs, ...]:
    """Outputs of each inference by name; `names` picks some of the graph's outputs."""
    runner = session(model)
    wanted = list(names) or [str(value.name) for value in model.graph.outputs]
    return tuple(_run(runner, wanted, feed) for feed in feeds)


def run_every_tensor(model: ir.Model, feeds: Iterable[Feeds]) -> Iterable[Outputs]:
    """Every tensor that a node of the main graph gives, one inference at a time."""
    _check_size(model)
    exposed = model.clone()
    known = {value.name for value in exposed.graph.outputs}
    values = [value for node in exposed.graph for value in node.outputs if value.name]
    exposed.graph.outputs.extend(value for value in values if value.name not in known)
    runner = session(exposed)
    names = [str(value.name) for value in values]
    for feed in feeds:
        yield _run(runner, names, feed)


def _run(runner: onnxruntime.InferenceSession, names: list[str], feed: Feeds) -> Outputs:
    try:
        return dict(zip(names, runner.run(names, dict(feed)), strict=True))
    except Exception as error:  # its exception classes share no base but Exception
        raise UnsupportedError(
            "ONNX Runtime, which gives the reference outputs, stopped while it ran this model.",
            str(error).splitlines()[0],
            "An index may lie outside of its axis: give data that the model can run on with --calib.",
        ) from error


def _check_size(model: ir.Model) -> None:
    """Refuses a model whose tensors, all kept at once, would fill the memory of the machine."""
    made = (value for node in model.graph for value in node.outputs)
    needed = sum(size_bytes(value) or 0 for value in (*model.graph.inputs, *made))
    if needed > TENSORS_LIMIT_BYTES:
        raise UnsupportedError(
            "The model is too large to be measured here.",
            f"The tensors of one run take {needed:,} bytes; at most {TENSORS_LIMIT_BYTES:,} are handled.",
            "Give smaller input shapes.",
        )


def collect_ranges(model: ir.Model, samples: Samples, progress: Progress = quiet) -> Calibration:
    """Least and greatest value of each float tensor over all samples; none where one is NaN or infinite."""
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    unbounded: set[str] = set()

    def take(name: str, array: np.ndarray) -> None:
        if array.dtype.kind != "f" or array.size == 0:
            return
        low, high = float(array.min()), float(array.max())
        if not (np.isfinite(low) and np.isfinite(high)):
            unbounded.add(name)
            return
        lows[name], highs[name] = min(low, lows.get(name, low)), max(high, highs.get(name, high))

    count = len(samples.feeds)
    tensors = run_every_tensor(model, samples.feeds)
    for index, (feed, outputs) in enumerate(zip(samples.feeds, tensors, strict=True), 1):
        progress("calibrating", index, count)
        for name, array in (*feed.items(), *outputs.items()):
            take(name, array)
    ranges = {name: TensorRange(low=lows[name], high=highs[name]) for name in sorted(lows) if name not in unbounded}
    return Calibration(
        data=samples.label, data_digest=samples.digest, is_random=samples.is_random, samples=count, ranges=ranges
    )
