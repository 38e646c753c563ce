"""Weights as a policy will store them: training sees the rounded numbers, so that it learns to live with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.kinds.store_low_bit import StoreLowBitParams, coded
from metainfer_core.actions.low_bit import LowBitWeight
from metainfer_core.actions.rewiring import name_of, nodes_by_id
from metainfer_core.policy.apply import effective
from metainfer_core.policy.policy import PolicyAction

Rounding = Callable[[np.ndarray], np.ndarray]
"""A weight to the numbers that its codes stand for."""


def roundings(model: ir.Model, lines: Sequence[PolicyAction]) -> dict[str, Rounding]:
    """By the name of a weight, what its store_low_bit action makes of it."""
    nodes = nodes_by_id(model)
    found: dict[str, Rounding] = {}
    for line in lines:
        action = effective(line)
        target = nodes[action.nodes[0]]
        found[name_of(target.inputs[1])] = _rounding(target, StoreLowBitParams.from_plain(action.params))
    return found


def _rounding(target: ir.Node, params: StoreLowBitParams) -> Rounding:
    return lambda weight: real_numbers(coded(target, weight, params))


def real_numbers(weight: LowBitWeight) -> np.ndarray:
    """(code - zero point) * scale for each element, as DequantizeLinear has it."""
    scales, zeros = weight.scales, weight.zero_points
    if weight.axis is not None and weight.group:
        places = np.arange(weight.codes.shape[weight.axis]) // weight.group
        scales, zeros = (np.take(each, places, weight.axis) for each in (scales, zeros))
    elif weight.axis is not None:
        shape = [-1 if axis == weight.axis else 1 for axis in range(weight.codes.ndim)]
        scales, zeros = scales.reshape(shape), zeros.reshape(shape)
    real: np.ndarray = (weight.codes.astype(np.float32) - zeros.astype(np.float32)) * scales.astype(np.float32)
    return real
