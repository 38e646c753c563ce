"""The reference: ONNX Runtime with its optimiser off, which shares no code with our kernels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir
import onnxruntime

from metainfer_core.actions.channel_activations import by_depthwise_alone
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.shapes import size_bytes
from metainfer_core.numerics.ranges import WHOLE, Calibration, ChannelRanges, ChosenRange, TensorRange
from metainfer_core.verify.histogram import Histogram
from metainfer_core.verify.range_methods import choose_range
from metainfer_core.verify.samples import Feeds, Outputs, Samples

Progress = Callable[[str, int, int], None]

HELD_OUT = 4
"""One sample of this many is held out: no range is made from it, and the methods are compared on it."""
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


def collect_ranges(
    model: ir.Model, samples: Samples, progress: Progress = quiet, widths: tuple[int, ...] = ()
) -> Calibration:
    """Least and greatest value of each float tensor over all samples; none where one is NaN or infinite.

    And the range of the best calibration method, where that beats them: made on three samples of four, compared on the
    fourth. Scales of 8 bits are what it is best for; for each of `widths`, fewer bits, there is one more.
    """
    seen: dict[str, _Seen] = {}
    channels = {name: _Channels() for name in _read_by_channel(model)}
    count = len(samples.feeds)
    tensors = run_every_tensor(model, samples.feeds)
    for index, (feed, outputs) in enumerate(zip(samples.feeds, tensors, strict=True)):
        progress("calibrating", index, count)
        for name, array in (*feed.items(), *outputs.items()):
            if array.dtype.kind == "f" and array.size:
                seen.setdefault(name, _Seen()).take(array, is_held_out=index % HELD_OUT == HELD_OUT - 1)
                if name in channels:
                    channels[name].take(array)
    bounded = {name: found for name, found in sorted(seen.items()) if found.is_bounded}
    best: dict[int, dict[str, ChosenRange]] = {bits: {} for bits in (8, *widths)}
    for index, (name, found) in enumerate(bounded.items()):
        progress("choosing ranges", index, len(bounded))
        for bits, by_name in best.items():
            if (range_ := found.chosen(bits)) is not None:
                by_name[name] = range_
    return Calibration(
        data=samples.label,
        data_digest=samples.digest,
        is_random=samples.is_random,
        samples=count,
        ranges={name: found.span for name, found in bounded.items()},
        chosen={name: found for name, found in best[8].items() if found.method != WHOLE},
        kept={name: found for name, found in best[8].items() if found.method == WHOLE},
        narrow={str(bits): best[bits] for bits in widths},
        by_channel={name: channels[name].ranges for name in bounded if name in channels},
    )


def _read_by_channel(model: ir.Model) -> set[str]:
    """The tensors that depthwise convolutions read, and nothing else: only these can have a scale a channel."""
    made = (value for node in model.graph for value in node.outputs)
    return {str(value.name) for value in (*model.graph.inputs, *made) if by_depthwise_alone(value)}


@dataclass
class _Channels:
    """Least and greatest value of each channel (axis 1) of one tensor over the samples so far."""

    low: np.ndarray | None = None
    high: np.ndarray | None = None

    @property
    def ranges(self) -> ChannelRanges:
        assert self.low is not None
        assert self.high is not None
        return tuple((float(low), float(high)) for low, high in zip(self.low, self.high, strict=True))

    def take(self, array: np.ndarray) -> None:
        others = tuple(axis for axis in range(array.ndim) if axis != 1)
        low, high = array.min(axis=others), array.max(axis=others)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)


@dataclass
class _Seen:
    """What one tensor was over the samples so far."""

    low: float = math.inf
    high: float = -math.inf
    is_bounded: bool = True
    first: Histogram = field(default_factory=Histogram)
    held_out: Histogram = field(default_factory=Histogram)

    @property
    def span(self) -> TensorRange:
        return TensorRange(low=self.low, high=self.high)

    def take(self, array: np.ndarray, is_held_out: bool) -> None:
        low, high = float(array.min()), float(array.max())
        self.is_bounded = self.is_bounded and math.isfinite(low) and math.isfinite(high)
        if self.is_bounded:
            self.low, self.high = min(self.low, low), max(self.high, high)
            (self.held_out if is_held_out else self.first).add(array)

    def chosen(self, bits: int) -> ChosenRange | None:
        return choose_range(self.first, self.held_out, self.span, bits)
