"""The laws of 16-bit floats on one node: what leaves their range, told before anything is compiled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.half_tensors import half_inputs, model_name
from metainfer_core.actions.rewiring import HALF, INTEGER, KEEP_FLOAT, array_of, is_float, name_of
from metainfer_core.actions.units import NoUnit, limits_against, unit_for
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.half import NORMALISING, OPERATORS, SUMMING, WEIGHTED, HalfFormat, stored
from metainfer_core.spec.hardware_spec import HardwareSpec

LOST_CHANNELS = 0.05
"""Largest share of a weight's channels that the format may be too coarse for."""
COARSEST = 1 / 64
"""Largest relative change of a constant by rounding; beyond it, it is a denormal number with few bits, or zero."""

FACTORS = frozenset(("Mul", "Div", "Pow", "BatchNormalization", *NORMALISING))
"""Operators in which each number of a constant scales a channel of its own."""

Ranges = Mapping[str, tuple[float, float]]


def form_against(node: ir.Node) -> str | None:
    """The operator must have a kernel on 16-bit floats, and the node must compute floats."""
    if node.domain != "" or node.op_type not in OPERATORS:
        return f"{node.op_type} has no kernel on 16-bit floats."
    if not half_inputs(node) or not all(is_float(value) for value in node.outputs if value.uses() or value.name):
        return f"{node.name} does not read and give float32 tensors alone."
    if node.op_type in ("Conv", "Gemm") and any(
        array_of(value) is None for value in node.inputs[1:2] if value is not None
    ):
        return f"{name_of(node.inputs[1])} is computed at run time, which the kernels of {node.op_type} do not take."
    return None


def decided_against(spec: HardwareSpec, nodes: Sequence[ir.Node]) -> str | None:
    """What the spec or an earlier action decided about a node's precision stays."""
    for node in nodes:
        if node.name in spec.sensitive_layers:
            return f"{node.name} is one of the spec's sensitive_layers: its precision must not be lowered."
        if node.metadata_props.get(KEEP_FLOAT) == "1":
            return f"{node.name} was decided to stay float32 by a keep_float action."
        if INTEGER in node.metadata_props:
            return f"{node.name} is computed on integers by its quantize action: switch that one off first."
        if HALF in node.metadata_props:
            return f"{node.name} is computed in {node.metadata_props[HALF]} already."
    return None


def unit_against(spec: HardwareSpec, nodes: Sequence[ir.Node], half: HalfFormat, unit_name: str | None) -> str | None:
    """One unit has the format and runs the node and all that is fused with it."""
    at = unit_name
    for node in nodes:
        unit = unit_for(spec, node.op_type, half.name, at=at, fall_back=unit_name is None and at is None)
        if isinstance(unit, NoUnit):
            return unit.reason
        outside = limits_against(spec, unit, node, half.name)
        if outside is not None:
            return outside
        at = unit
    return None


def numbers_against(
    nodes: Sequence[ir.Node], half: HalfFormat, half_sums: bool, flush: bool, ranges: Ranges
) -> str | None:
    """The first number of a node that the format cannot hold: a constant, a tensor, a sum."""
    for node in nodes:
        checks = (*_constants(node, half, flush), *_tensors(node, nodes, half, half_sums, ranges))
        reason = next(iter(checks), None) or (_sums(node, half, ranges, flush) if half_sums else None)
        if reason is not None:
            return reason
    return None


def _constants(node: ir.Node, half: HalfFormat, flush: bool) -> Iterator[str]:
    """Masks that would become infinite, factors and epsilons that would become zero."""
    for index in half_inputs(node):
        array = array_of(node.inputs[index])
        if array is None or array.size == 0:
            continue
        name = name_of(node.inputs[index])
        finite = array[np.isfinite(array)]
        beyond = finite[np.abs(finite) >= half.infinite_from]
        if beyond.size:
            sign = "-" if beyond[0] < 0 else ""
            yield (
                f"The constant {name} of {node.name} holds {beyond[0]:g}; {half.words} ends at {half.largest:,.6g}, "
                f"so it would become {sign}infinity."
            )
        yield from _vanishing(node, index, name, array, half, flush)


def _vanishing(node: ir.Node, index: int, name: str, array: np.ndarray, half: HalfFormat, flush: bool) -> Iterator[str]:
    real = array.astype(np.float64)
    sized = np.where(np.isfinite(real) & (np.abs(real) < half.infinite_from), real, 0.0)
    kept = stored(sized.astype(np.float32), half, flush).astype(np.float64)
    coarse = np.abs(kept - sized) > np.abs(sized) * COARSEST
    if not coarse.any():
        return
    if node.op_type in WEIGHTED:  # a few small weights beside large ones change no sum
        if index != 1 or array.ndim < 2:
            return
        axis = 0 if node.op_type == "Conv" or node.attributes.get_int("transB", 0) == 1 else array.ndim - 1
        rows = np.moveaxis(np.abs(sized), axis, 0).reshape(array.shape[axis], -1)
        lost = np.moveaxis(coarse, axis, 0).reshape(rows.shape)[np.arange(len(rows)), rows.argmax(axis=1)]
        if lost.sum() > LOST_CHANNELS * lost.size:
            yield (
                f"{int(lost.sum())} of {lost.size} channels of {name} hold only numbers below {half.least_normal:.3g}, "
                f"the least normal number of {half.words}: they would become zero or lose their digits."
            )
        return
    lone = coarse.size == 1
    if not lone and (node.op_type not in FACTORS or coarse.sum() <= LOST_CHANNELS * coarse.size):
        return  # a small number among larger ones
    worst = float(sized.reshape(-1)[coarse.reshape(-1).argmax()])
    after = float(kept.reshape(-1)[coarse.reshape(-1).argmax()])
    yield (
        f"The constant {name} of {node.name} holds {worst:g}, below {half.least_normal:.3g}, the least normal number "
        f"of {half.words}: it would become {after:g}."
    )


def _tensors(
    node: ir.Node, group: Sequence[ir.Node], half: HalfFormat, half_sums: bool, ranges: Ranges
) -> Iterator[str]:
    """Tensors that leave the range of the format on calibration data."""
    inner = {value for member in group[:-1] for value in member.outputs}  # only a sum, never stored
    live = [node.inputs[index] for index in half_inputs(node) if array_of(node.inputs[index]) is None]
    outputs = [value for value in node.outputs if value not in inner or half_sums]
    if half.name == "bfloat16":
        return  # it reaches as far as float32
    for value in (*live, *outputs):
        if value is None or value in inner:
            continue
        name = model_name(value)
        if name not in ranges:
            yield f"The range of {name} is not known: {half.words} needs calibration data that reaches it."
            continue
        low, high = ranges[name]
        if max(-low, high) >= half.infinite_from:
            reach = low if -low > high else high
            yield (
                f"{name} of {node.name} reaches {reach:.6g} on calibration data; {half.words} ends at "
                f"{half.largest:,.6g}, so it would become infinite."
            )


def _sums(node: ir.Node, half: HalfFormat, ranges: Ranges, flush: bool) -> str | None:
    """Sums that are kept in 16 bits and can leave their range on the way."""
    if node.op_type not in (*WEIGHTED, *SUMMING, *NORMALISING) or half.name == "bfloat16":
        return None
    span = _span(node, 0, ranges)
    if span is None:
        return None
    reach = max(-span[0], span[1])
    count = _terms(node)
    if node.op_type in WEIGHTED:
        return _beyond(_product_sum(node, reach, ranges), f"A sum of {node.name}", half)
    if node.op_type in NORMALISING:
        deviation = span[1] - span[0]
        epsilon = node.attributes.get_float("epsilon", 1e-5)
        if stored(np.array([epsilon], np.float32), half, flush)[0] == 0:
            return f"{node.name} adds {epsilon:g} before it divides, which {half.words} holds as 0."
        return (
            _beyond(reach * count, f"The sum over {count:,} elements of {node.name}", half)
            or _beyond(deviation**2, f"The square of the largest deviation in {node.name}, {deviation:g},", half)
            or _beyond(deviation**2 / 4 * count, f"The sum of {count:,} squared deviations of {node.name}", half)
        )
    if node.op_type == "Softmax":
        return _beyond(float(count), f"The sum of {count:,} exponentials of {node.name}", half)
    if node.op_type in ("ReduceL2", "ReduceSumSquare"):
        return _beyond(reach**2 * count, f"The sum of {count:,} squares of {node.name}", half)
    return _beyond(reach * count, f"The sum over {count:,} elements of {node.name}", half)


def _beyond(reach: float, what: str, half: HalfFormat) -> str | None:
    if reach < half.infinite_from:
        return None
    return f"{what} can reach {reach:.6g}; {half.words}, in which it is summed, ends at {half.largest:,.6g}."


def _span(node: ir.Node, index: int, ranges: Ranges) -> tuple[float, float] | None:
    value = node.inputs[index] if index < len(node.inputs) else None
    array = array_of(value)
    if array is not None and array.size:
        return float(array.min()), float(array.max())
    return ranges.get(model_name(value)) if value is not None else None


def _product_sum(node: ir.Node, reach: float, ranges: Ranges) -> float:
    """The greatest |sum| of products that inputs up to `reach` can cause, bias included."""
    weight = array_of(node.inputs[1])
    if weight is None:
        span = _span(node, 1, ranges)
        depth = (static_shape(node.inputs[0]) or (1,))[-1] if node.inputs[0] is not None else 1
        return depth * reach * max(-span[0], span[1]) if span is not None else 0.0
    size = np.abs(weight.astype(np.float64))
    axis = 0 if node.op_type == "Conv" or node.attributes.get_int("transB", 0) == 1 else size.ndim - 1
    sums = np.moveaxis(size, axis, 0).reshape(size.shape[axis], -1).sum(axis=1) * reach
    bias = array_of(node.inputs[2]) if len(node.inputs) > 2 else None
    if bias is not None and bias.size in (1, sums.size):
        sums = sums + np.abs(bias.astype(np.float64)).reshape(-1)
    return float(sums.max(initial=0.0))


def _terms(node: ir.Node) -> int:
    """How many elements one sum of the node adds up."""
    source, result = static_shape(node.inputs[0]) if node.inputs[0] else None, static_shape(node.outputs[0])
    if not source or result is None:
        return 1
    if node.op_type == "Softmax":
        return source[node.attributes.get_int("axis", -1)]
    if node.op_type == "LayerNormalization":
        return math.prod(source[node.attributes.get_int("axis", -1) % len(source) :])
    if node.op_type == "InstanceNormalization":
        return math.prod(source[2:])
    if node.op_type == "GroupNormalization":
        return math.prod(source[1:]) // max(node.attributes.get_int("num_groups", 1), 1)
    if node.op_type == "AveragePool":
        return math.prod(node.attributes.get_ints("kernel_shape", [1]))
    return math.prod(source) // max(math.prod(result), 1)
