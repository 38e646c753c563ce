"""Layer by layer: each tensor of the adapted program against the same tensor of the unchanged model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.metrics import OutputEffect, broken_channels, output_effect, sqnr_by_channel
from metainfer_core.numerics.program import HALF_FLOATS, Tensor
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify.reference import run_every_tensor
from metainfer_core.verify.report import Layer
from metainfer_core.verify.samples import Feeds

DIVERGED_DB = 20.0
"""A layer with a channel below this signal-to-noise ratio is said to diverge: one part in ten is noise."""
MOST_CHANNELS = 4096
"""Channels whose figures a report keeps one by one."""


def compare_layers(model: ir.Model, lowered: Lowered, feeds: tuple[Feeds, ...]) -> tuple[Layer, ...]:
    """One row for each step of the program whose output the unchanged model has too, in execution order."""
    simulator = Simulator(lowered)
    reference = list(run_every_tensor(model, feeds))
    actual = [simulator.run(feed, keep=True) for feed in feeds]
    makers = {str(value.name): str(node.name) for node in model.graph for value in node.outputs}
    return tuple(_rows(lowered, makers, reference, actual))


def first_diverging(layers: tuple[Layer, ...]) -> str | None:
    """The first node whose worst channel falls below `DIVERGED_DB`."""
    return next((layer.node_id for layer in layers if _worst_db(layer.figures) < DIVERGED_DB), None)


def _worst_db(figures: OutputEffect) -> float:
    known = [ratio for ratio in (figures.worst_channel_sqnr_db, figures.sqnr_db) if ratio is not None]
    return min(known, default=float("inf"))


def _rows(
    lowered: Lowered,
    makers: Mapping[str, str],
    reference: list[dict[str, np.ndarray]],
    actual: list[dict[str, np.ndarray]],
) -> Iterator[Layer]:
    tensors = {tensor.name: tensor for tensor in lowered.program.tensors}
    seen: set[str] = set()
    for step in lowered.program.steps:
        for name in step.outputs:
            original = _original(name, reference[0])
            if original is None or original in seen or not step.node_ids:
                continue
            tensor = tensors[name]
            values = [_real(sample[name], tensor) for sample in actual]
            expected = [sample[original] for sample in reference]
            if expected[0].dtype.kind != "f" or values[0].size != expected[0].size:
                continue
            seen.add(original)
            stacked = np.stack([array.reshape(expected[0].shape) for array in values])
            figures = output_effect(original, np.stack(expected), stacked)
            several = 1 < figures.channels <= MOST_CHANNELS
            yield Layer(
                node_id=makers[original],
                tensor=name,
                precision=tensor.element_type,
                figures=figures,
                channels_db=_rounded(sqnr_by_channel(np.stack(expected), stacked)) if several else (),
                broken_channels=broken_channels(np.stack(expected), stacked) if several else (),
            )


def _rounded(ratios: tuple[float | None, ...]) -> tuple[float | None, ...]:
    return tuple(round(ratio, 2) if ratio is not None else None for ratio in ratios)


def _original(name: str, reference: Mapping[str, np.ndarray]) -> str | None:
    """The tensor of the unchanged model that `name` stands for: quantized forms carry a suffix."""
    for suffix in ("", ".quantized", ".raw", ".dequantized"):
        if name.endswith(suffix) and name.removesuffix(suffix) in reference:
            return name.removesuffix(suffix)
    return None


def _real(array: np.ndarray, tensor: Tensor) -> np.ndarray:
    """The real numbers that the integers of a quantized tensor stand for."""
    if tensor.quantization is None:
        return array.astype(np.float32) if tensor.element_type in HALF_FLOATS else array
    shape = [1] * array.ndim
    if tensor.quantization.axis is not None:
        shape[tensor.quantization.axis] = -1
    scales = np.reshape(tensor.quantization.scales, shape)
    zero_points = np.reshape(tensor.quantization.zero_points, shape)
    real: np.ndarray = ((array.astype(np.float64) - zero_points) * scales).astype(np.float32)
    return real
