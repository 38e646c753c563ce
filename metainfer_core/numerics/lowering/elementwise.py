"""Operators on one value at a time: activations, arithmetic, comparison, choice and casts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.activations import OPERATORS as ACTIVATIONS
from metainfer_core.numerics.activations import activation_kernel
from metainfer_core.numerics.lowering.broadcast import broadcast_steps, emit_binary, walk_params
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import (
    FloatEnding,
    absorb,
    clip_params,
    float_ending,
    integer_ending,
    refuse_unfused,
)
from metainfer_core.numerics.lowering.half_borders import half_border
from metainfer_core.numerics.lowering.int16 import wide_binary, wide_clamp
from metainfer_core.numerics.lowering.integer_sums import integer_result, table_constant
from metainfer_core.numerics.lowering.model_reader import required, unsupported
from metainfer_core.numerics.lowering.tables import curve_table
from metainfer_core.numerics.program import ELEMENT_BYTES, FLOATS, HALF_FLOATS
from metainfer_core.numerics.requantization import add_multipliers, exact, multiplier_and_shift
from metainfer_core.numerics.signatures import SIGNATURES

UNARY = {
    "Exp": "exp",
    "Log": "log",
    "Sqrt": "sqrt",
    "Reciprocal": "reciprocal",
    "Neg": "neg",
    "Abs": "abs",
    "Erf": "erf",
    "Floor": "floor",
    "Ceil": "ceil",
    "Round": "round",
    "Sign": "sign",
    "Selu": "selu",
    "Softsign": "softsign",
}
BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "Max": "max",
    "Min": "min",
    "Pow": "pow",
    "PRelu": "prelu",
    "Equal": "equal",
    "Less": "less",
    "LessOrEqual": "less_or_equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_or_equal",
    "And": "and",
    "Or": "or",
    "Xor": "xor",
    "Sum": "add",
}
SELU = {"alpha": 1.67326319217681884765625, "beta": 1.05070102214813232421875}


def unary(b: Builder, node: ir.Node) -> None:
    """A function of one value; on int8 a table."""
    refuse_unfused(b, node)
    if wide_clamp(b, node):
        return
    value = required(node, 0)
    if node.op_type in ACTIVATIONS:
        kernel, params = activation_kernel(node), clip_params(b, node)
    else:
        kernel = UNARY[node.op_type]
        params = {}
        if node.op_type == "Selu":
            params = {
                "alpha": float(node.attributes.get_float("alpha", SELU["alpha"])),
                "beta": float(node.attributes.get_float("gamma", SELU["beta"])),
            }
    emit_function(b, node, value, kernel, params)


def emit_function(b: Builder, node: ir.Node, value: ir.Value, kernel: str, params: dict[str, float]) -> None:
    """A unary kernel on `value`, or its table where the value and the result are int8."""
    element = b.element_type(value)
    if f"{kernel}_{element}" not in SIGNATURES:
        raise unsupported(node, f"Its input is {element}; there is no {kernel} kernel for that.")
    size, ending, integers = math.prod(b.shape(value)), integer_ending(b, node), b.integers(value)
    if ending is not None and integers is not None:
        curve = curve_table(f"{kernel}_float32", params, integers.grid, ending.final)
        table = b.constant(f"{node.name}.table", curve)
        b.emit("lookup_int8", ending.nodes, (integers.tensor, table), (integer_result(b, ending),), {"count": size})
        absorb(b, ending.nodes)
        return
    source_tensor = b.tensor(value)
    b.emit(f"{kernel}_{element}", (node,), (source_tensor,), (b.output(node.outputs[0]),), {"count": size, **params})


def binary(b: Builder, node: ir.Node) -> None:
    """An operator on two values, stretched over each other; Max, Min and Sum take more, one after the other."""
    name = BINARY[node.op_type]
    values = [value for value in node.inputs if value is not None]
    if len(values) == 2 and node.op_type in INTEGER and (INTEGER[node.op_type](b, node) or wide_binary(b, node)):
        return
    if node.op_type == "Pow" and _power(b, node):
        return
    element = b.element_type(values[0])
    kernel = f"{name}_{element}"
    if kernel not in SIGNATURES or any(b.element_type(value) != element for value in values):
        raise unsupported(node, f"It has no kernel for {' and '.join(b.element_type(value) for value in values)}.")
    fused = float_ending(b, node) if element in FLOATS and b.element_type(node.outputs[0]) != "bool" else None
    if fused is None:
        refuse_unfused(b, node)
    ending = fused or FloatEnding(node.outputs[0], (node,), {})
    out_shape = b.shape(node.outputs[0])
    if len(values) == 1:
        _identity(b, ending, values[0])
    total, shape = b.tensor(values[0]), b.shape(values[0])
    for index, value in enumerate(values[1:]):
        is_last = index == len(values) - 2
        step_shape = out_shape if is_last else np.broadcast_shapes(shape, b.shape(value))
        target = "" if is_last else b.declare(f"{node.name}.{index}", element, step_shape)
        step_ending = ending if is_last else replace(ending, nodes=(node,), params={})
        emit_binary(b, kernel, step_ending, ((total, shape), (b.tensor(value), b.shape(value))), step_shape, target)
        total, shape = target, step_shape
    absorb(b, ending.nodes)


def _identity(b: Builder, ending: FloatEnding, value: ir.Value) -> None:
    if ending.params:
        raise unsupported(ending.nodes[0], "It has one operand, so there is nothing to fuse into.")
    source = b.tensor(value)
    size = math.prod(b.shape(value)) * element_bits(b, value) // 8
    b.emit("view", ending.nodes, (source,), (b.output(ending.value),), {"bytes": size})


def _power(b: Builder, node: ir.Node) -> bool:
    """x^2 and x^0.5, which need no power."""
    exponent, base = b.array(required(node, 1)), required(node, 0)
    if exponent is None or exponent.size != 1 or b.element_type(base) not in FLOATS:
        return False
    kernel = {2.0: "square", 0.5: "sqrt"}.get(float(exponent.reshape(())))
    if kernel is None or b.shape(base) != b.shape(node.outputs[0]) or b.follower(node) is not None:
        return False
    emit_function(b, node, base, kernel, {})
    return True


def _integer_add(b: Builder, node: ir.Node) -> bool:
    ending, left, right = integer_ending(b, node), b.integers(required(node, 0)), b.integers(required(node, 1))
    if ending is None or left is None or right is None:
        return False
    scale = exact(ending.scale)
    sign = -1 if node.op_type == "Sub" else 1
    a, c, shift = add_multipliers(exact(left.scale) / scale, sign * exact(right.scale) / scale)
    _emit_integer(b, node, "add_int8", {"left_multiplier": a, "right_multiplier": c, "shift": shift})
    return True


def _integer_mul(b: Builder, node: ir.Node) -> bool:
    ending, left, right = integer_ending(b, node), b.integers(required(node, 0)), b.integers(required(node, 1))
    if ending is None or left is None or right is None:
        return False
    factor: Fraction = exact(left.scale) * exact(right.scale) / exact(ending.scale)
    multiplier, shift = multiplier_and_shift(factor)
    _emit_integer(b, node, "mul_int8", {"left_multiplier": multiplier, "shift": shift})
    return True


def _emit_integer(b: Builder, node: ir.Node, kernel: str, params: dict[str, int]) -> None:
    ending = integer_ending(b, node)
    values = required(node, 0), required(node, 1)
    left, right = b.integers(values[0]), b.integers(values[1])
    assert ending is not None and left is not None and right is not None  # noqa: PT018
    out_shape = b.shape(node.outputs[0])
    walk = walk_params(
        out_shape,
        left_step=broadcast_steps(b.shape(values[0]), out_shape),
        right_step=broadcast_steps(b.shape(values[1]), out_shape),
    )
    zero_points = {
        "left_zero_point": left.zero_point,
        "right_zero_point": right.zero_point,
        "output_zero_point": ending.zero_point,
    }
    limits = {"low": ending.low, "high": ending.high}
    inputs = (left.tensor, right.tensor, table_constant(b, ending))
    b.emit(kernel, ending.nodes, inputs, (integer_result(b, ending),), {**walk, **zero_points, **limits, **params})
    absorb(b, ending.nodes)


INTEGER: dict[str, Callable[[Builder, ir.Node], bool]] = {
    "Add": _integer_add,
    "Sub": _integer_add,
    "Mul": _integer_mul,
}


def where(b: Builder, node: ir.Node) -> None:
    """A choice between two values."""
    refuse_unfused(b, node)
    condition, left, right = (required(node, index) for index in range(3))
    bits = element_bits(b, left)
    shape = b.shape(node.outputs[0])
    params = walk_params(
        shape,
        condition_step=broadcast_steps(b.shape(condition), shape),
        left_step=broadcast_steps(b.shape(left), shape),
        right_step=broadcast_steps(b.shape(right), shape),
    )
    inputs = (b.tensor(condition), b.tensor(left), b.tensor(right))
    b.emit(f"where_{bits}", (node,), inputs, (b.output(node.outputs[0]),), params)


def cast(b: Builder, node: ir.Node) -> None:
    """From one element type to another."""
    refuse_unfused(b, node)
    if half_border(b, node):
        return
    value, result = required(node, 0), node.outputs[0]
    source, target = b.element_type(value), b.element_type(result)
    size = math.prod(b.shape(value))
    if source == target:
        b.emit("view", (node,), (b.tensor(value),), (b.output(result),), {"bytes": size * element_bits(b, value) // 8})
        return
    kernel = f"cast_{source}_{target}"
    if source == "float32" and target in HALF_FLOATS:
        kernel = f"narrow_{target}"
    elif source in HALF_FLOATS and target == "float32":
        kernel = f"widen_{source}"
    if kernel not in SIGNATURES:
        raise unsupported(node, f"There is no kernel from {source} to {target}.")
    b.emit(kernel, (node,), (b.tensor(value),), (b.output(result),), {"count": size})


def logical(b: Builder, node: ir.Node) -> None:
    """Not and IsNaN."""
    refuse_unfused(b, node)
    value = required(node, 0)
    kernel = "not_bool" if node.op_type == "Not" else "isnan_float32"
    inputs, outputs = (b.tensor(value),), (b.output(node.outputs[0]),)
    b.emit(kernel, (node,), inputs, outputs, {"count": math.prod(b.shape(value))})


def element_bits(b: Builder, value: ir.Value) -> int:
    """Bits of one element, as movement kernels are named by them."""
    return 8 * ELEMENT_BYTES[b.element_type(value)]


OPERATORS = {
    **dict.fromkeys((*ACTIVATIONS, *UNARY), unary),
    **dict.fromkeys(BINARY, binary),
    "Where": where,
    "Cast": cast,
    "Not": logical,
    "IsNaN": logical,
}
