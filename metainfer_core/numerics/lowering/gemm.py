"""Gemm and MatMul."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.broadcast import emit_binary, expanded
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import FloatEnding, absorb, float_ending
from metainfer_core.numerics.lowering.int16 import wide_sum
from metainfer_core.numerics.lowering.integer_sums import integer_sum
from metainfer_core.numerics.lowering.model_reader import PackedConstant, optional, required, unsupported
from metainfer_core.numerics.lowering.packed_weights import group_of, packed_matrix, packed_weights
from metainfer_core.numerics.lowering.packing import gemm_block, pack_gemm
from metainfer_core.numerics.program import FLOATS, HALF_FLOATS


def gemm(b: Builder, node: ir.Node) -> None:
    """A product with a constant matrix, scaled by alpha, plus beta * C; both factors go into the constants."""
    transposed = node.attributes.get_int("transB", 0) == 1
    plain = node.attributes.get_float("alpha", 1.0) == node.attributes.get_float("beta", 1.0) == 1.0
    if plain and not node.attributes.get_int("transA", 0) and _integer(b, node, 0 if transposed else 1):
        return
    weights = b.array(required(node, 1))
    if weights is None or weights.dtype.name not in FLOATS or node.attributes.get_int("transA", 0) != 0:
        raise unsupported(
            node,
            "Its second operand is computed at run time, holds no floats, or its first is transposed.",
            "Use MatMul.",
        )
    matrix = weights.T if transposed else weights
    alpha = node.attributes.get_float("alpha", 1.0)
    matrix = matrix if alpha == 1.0 else (matrix.astype(np.float32) * np.float32(alpha)).astype(matrix.dtype)
    rows, columns = b.shape(required(node, 0))[0], matrix.shape[1]
    packed = packed_weights(b, node) if alpha == 1.0 else None
    added = optional(node, 2)
    constant = b.array(added)
    beta = np.float32(node.attributes.get_float("beta", 1.0))
    if added is None:
        _emit(b, node, rows, matrix, None, packed, transposed)
    elif constant is not None and constant.size in (1, columns) and (constant.ndim < 2 or constant.shape[0] == 1):
        bias = np.broadcast_to(constant.reshape(-1), columns).astype(np.float32) * beta
        _emit(b, node, rows, matrix, bias, packed, transposed)
    elif beta == 1.0:
        element = b.element_type(node.outputs[0])
        product = b.declare(f"{node.name}.product", element, (rows, columns))
        _emit_float(b, FloatEnding(node.outputs[0], (node,), {}), b.tensor(node.inputs[0]), rows, matrix, None, product)
        ending = float_ending(b, node)
        emit_binary(
            b,
            f"add_{element}",
            ending,
            ((product, (rows, columns)), (b.tensor(added), b.shape(added))),
            (rows, columns),
        )
    else:
        raise unsupported(node, f"It scales what it adds by {beta}, which is computed at run time.", "Add it apart.")
    absorb(b, float_ending(b, node).nodes)


def matmul(b: Builder, node: ir.Node) -> None:
    """A product with a constant matrix, or of two stacks of matrices."""
    left, right = required(node, 0), required(node, 1)
    left_shape, right_shape = b.shape(left), b.shape(right)
    weights = b.array(right)
    if weights is not None and weights.ndim == 2:
        if _integer(b, node, 1):
            return
        _emit(b, node, math.prod(left_shape[:-1]), weights, None, packed_weights(b, node), False)
        absorb(b, float_ending(b, node).nodes)
        return
    ending = float_ending(b, node)
    left_shape = left_shape if len(left_shape) > 1 else (1, *left_shape)
    right_shape = right_shape if len(right_shape) > 1 else (*right_shape, 1)
    element = b.element_type(left)
    if element not in FLOATS or b.element_type(right) != element:
        raise unsupported(node, "A product of integers, or of two types, has no kernel.")
    batch = np.broadcast_shapes(left_shape[:-2], right_shape[:-2])
    rows, depth, columns = left_shape[-2], left_shape[-1], right_shape[-1]
    sides, steps = [], []
    for value, shape in ((left, left_shape), (right, right_shape)):
        own = math.prod(shape[:-2])
        whole = own in (1, math.prod(batch))
        tensor = b.tensor(value)
        sides.append(tensor if whole else expanded(b, node, tensor, shape, (*batch, *shape[-2:]), element))
        steps.append(0 if own == 1 else shape[-2] * shape[-1])
    b.emit(
        f"matmul_{element}",
        ending.nodes,
        sides,
        (b.output(ending.value),),
        {
            "batch": math.prod(batch),
            "rows": rows,
            "columns": columns,
            "depth": depth,
            "left_step": steps[0],
            "right_step": steps[1],
            **({"scratch_bytes": 4 * columns} if element in HALF_FLOATS else {}),
            **ending.params,
        },
    )
    absorb(b, ending.nodes)


def _integer(b: Builder, node: ir.Node, weight_axis: int) -> bool:
    wide = wide_sum(b, node, weight_axis)
    if wide is not None:
        codes = wide.weights.codes if weight_axis == 1 else wide.weights.codes.T
        params = {
            "rows": math.prod(b.shape(required(node, 0))[:-1]),
            "columns": codes.shape[1],
            "depth": codes.shape[0],
        }
        wide.emit(b, "gemm_int16", codes, 1, params)
        return True
    found = integer_sum(b, node, weight_axis)
    if found is None or found.codes.ndim != 2:
        return False
    depth_first = found.codes if weight_axis == 1 else found.codes.T
    depth, columns = depth_first.shape
    rows = math.prod(b.shape(required(node, 0))[:-1])
    block = gemm_block(columns)
    params = {
        "rows": rows,
        "columns": columns,
        "depth": depth,
        "block": block,
        "scratch_bytes": 2 * rows * (depth + depth % 2),
        **found.params(),
    }
    found.emit(b, "gemm_int8", pack_gemm(depth_first, block), params)
    absorb(b, found.ending.nodes)
    return True


def _emit(
    b: Builder,
    node: ir.Node,
    rows: int,
    matrix: np.ndarray,
    bias: np.ndarray | None,
    packed: PackedConstant | None,
    transposed: bool,
) -> None:
    """The whole product, with weights of few bits where they are stored so."""
    ending, source = float_ending(b, node), b.tensor(node.inputs[0])
    if packed is None:
        _emit_float(b, ending, source, rows, matrix, bias)
        return
    depth, columns = matrix.shape
    block, name = gemm_block(columns), str(node.name)
    inputs = (
        source,
        *packed_matrix(b, name, packed, transposed, block),
        b.constant(f"{name}.bias", np.zeros(columns, np.float32) if bias is None else bias),
    )
    params = {
        "rows": rows,
        "columns": columns,
        "depth": depth,
        "block": block,
        "scratch_bytes": 4 * depth * block,
        "weight_group": group_of(packed),
        **ending.params,
    }
    b.emit(f"gemm_float32_int{packed.bits}", ending.nodes, inputs, (b.output(ending.value),), params)


def _emit_float(
    b: Builder,
    ending: FloatEnding,
    source: str,
    rows: int,
    matrix: np.ndarray,
    bias: np.ndarray | None,
    target: str = "",
) -> None:
    depth, columns = matrix.shape
    block, name = gemm_block(columns), str(ending.nodes[0].name)
    inputs: Sequence[str] = (
        source,
        b.constant(f"{name}.weights", pack_gemm(matrix, block)),
        b.constant(f"{name}.bias", np.zeros(columns, np.float32) if bias is None else bias),
    )
    params = {"rows": rows, "columns": columns, "depth": depth, "block": block, **ending.params}
    if matrix.dtype.name in HALF_FLOATS:
        params["scratch_bytes"] = 4 * rows * depth
    b.emit(f"gemm_{matrix.dtype.name}", ending.nodes, inputs, (target or b.output(ending.value),), params)


OPERATORS = {"Gemm": gemm, "MatMul": matmul}
