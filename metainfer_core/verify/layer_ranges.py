"""The range of a layer's input that leaves the least error at the layer's output.

A range that is best for a tensor's own values is ruled by its largest channels. What counts is what the next layer
makes of them: a depthwise convolution may multiply the small channels most. So each range is tried on rows of the
layer's inputs, and every output channel counts by its error as a share of its own variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.integer_operators import range_of
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.rewiring import name_of, nodes_by_id
from metainfer_core.actions.scales import HIGHEST, LOWEST, activation_scale
from metainfer_core.numerics.ranges import WHOLE, Calibration, ChosenRange, TensorRange
from metainfer_core.verify.range_methods import HIGHEST_DB, LEAST_GAIN_DB

METHOD = "layer output"
FRACTIONS = np.linspace(1.0, 0.1, 28)
"""Shares of the whole range that are tried."""
ROWS = 512
NEGLIGIBLE = 0.1
"""A lower end of less than this share of the upper one is not cut: it is the dip of an activation function."""


def with_layer_ranges(model: ir.Model, layers: Mapping[str, Layer], calibration: Calibration) -> Calibration:
    """The calibration, whose chosen ranges are those that are best for the layers that read a tensor.

    Args:
        model: The float model.
        layers: Node id to what the layer reads.
        calibration: Whole ranges, and those chosen by the tensors' own values.
    """
    nodes = nodes_by_id(model)
    readers: dict[str, list[Layer]] = {}
    for name, layer in layers.items():
        readers.setdefault(name_of(nodes[name].inputs[0]), []).append(layer)
    values = {str(value.name): value for node in nodes.values() for value in node.inputs if value is not None}
    chosen, kept = dict(calibration.chosen), dict(calibration.kept)
    for tensor, reading in sorted(readers.items()):
        span = range_of(values[tensor], calibration)
        if span is None or tensor not in calibration.ranges:
            continue
        found = _chosen(reading, TensorRange(low=span[0], high=span[1]), chosen.get(tensor))
        by_values = chosen.pop(tensor, None) or kept.pop(tensor, None)
        told = {"by_values_db": by_values.held_out_db} if by_values is not None else {}
        (kept if found.method == WHOLE else chosen)[tensor] = ChosenRange(**{**dict(found), **told})
    parts = {"chosen": chosen, "kept": kept}
    plain = {key: {name: one.plain() for name, one in sorted(part.items())} for key, part in parts.items()}
    return Calibration.from_plain({**calibration.plain(), **plain})


@dataclass(frozen=True)
class _Rows:
    """Rows that a layer reads, and the variance that each of its output channels has over them without any error."""

    rows: np.ndarray
    weight: np.ndarray
    variance: np.ndarray

    @staticmethod
    def of(rows: np.ndarray, weight: np.ndarray) -> _Rows:
        few = rows[:: max(1, len(rows) // ROWS)]
        return _Rows(few, weight, _outputs(few, weight).var(axis=0))


def _outputs(rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What the layer makes of each row, its output channels side by side."""
    outputs: np.ndarray = np.einsum("rgk,gok->rgo", rows, weight, optimize=True)
    return outputs.reshape(len(rows), -1).astype(np.float64)


def _chosen(layers: list[Layer], whole: TensorRange, before: ChosenRange | None) -> ChosenRange:
    """The best on held-out rows of the whole range, the one chosen before, and the one learned from the seen rows."""
    seen = [_Rows.of(layer.seen, layer.weight) for layer in layers]
    held_out = [_Rows.of(layer.held_out, layer.weight) for layer in layers]
    learned = min(_tried(whole), key=lambda range_: _error(seen, range_))  # of equal ones the widest
    proposals = {WHOLE: whole, METHOD: learned}
    if before is not None:
        proposals[before.method] = TensorRange(low=before.low, high=before.high)
    found = {name: _decibels(_error(held_out, range_)) for name, range_ in proposals.items()}
    best = max(found, key=lambda name: found[name])
    if found[best] < found[WHOLE] + LEAST_GAIN_DB:
        best = WHOLE
    rounded = {name: round(value, 2) for name, value in found.items()}
    return ChosenRange(low=proposals[best].low, high=proposals[best].high, method=best, held_out_db=rounded)


def _tried(whole: TensorRange) -> list[TensorRange]:
    cuts_low = -whole.low > NEGLIGIBLE * whole.high
    found = [TensorRange(low=whole.low, high=whole.high * share) for share in FRACTIONS]
    found += (
        [TensorRange(low=whole.low * share, high=whole.high * share) for share in FRACTIONS[1:]] if cuts_low else []
    )
    return found


def _error(layers: list[_Rows], range_: TensorRange) -> float:
    """The mean over the output channels of all layers of their error's share of their variance."""
    affine = activation_scale(range_.low, range_.high, symmetric=False)
    shares = []
    for layer in layers:
        codes = np.clip(np.rint(layer.rows / affine.scale) + affine.zero_point, LOWEST, HIGHEST)
        wrong = layer.rows - (codes - affine.zero_point).astype(np.float32) * affine.scale
        power = (_outputs(wrong, layer.weight) ** 2).mean(axis=0)
        varies = layer.variance > 0
        shares.append(float((power[varies] / layer.variance[varies]).mean()) if varies.any() else 0.0)
    return float(np.mean(shares))


def _decibels(share: float) -> float:
    return float(np.clip(-10 * np.log10(share), -HIGHEST_DB, HIGHEST_DB)) if share > 0 else HIGHEST_DB
