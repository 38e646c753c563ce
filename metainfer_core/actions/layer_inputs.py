"""What a layer with weights multiplies: rows of its input beside its weights, as one matrix product for each group.

A convolution reads, for each place of its output, a patch of its input; of all places evenly spaced ones are taken. So
how a changed weight moves the layer's outputs is a small matrix product, without running the model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import numbers_of
from metainfer_core.graph.shapes import static_shape

LAYERS = ("Conv", "Gemm", "MatMul")
MOST_NUMBERS = 1 << 22
"""Of all rows of one layer together."""
MOST_ROWS = 2048


@dataclass(frozen=True)
class Layer:
    """Inputs and float weights of one layer."""

    seen: np.ndarray
    """Rows [rows, groups, products] that changes are learned from."""
    held_out: np.ndarray
    """Rows that they are judged on."""
    weight: np.ndarray
    """[groups, outputs of a group, products]."""


def products(node: ir.Node) -> int:
    """How many products one output of the layer sums."""
    return int(as_matrix(node, numbers_of(node.inputs[1])).shape[2])


def rows_in(node: ir.Node, samples: int) -> int:
    """Rows of one sample that are taken, so that those of all samples keep to the limits."""
    groups = node.attributes.get_int("group", 1) if node.op_type == "Conv" else 1
    limit = min(MOST_ROWS, MOST_NUMBERS // (groups * products(node)))
    return max(1, limit // samples)


def as_matrix(node: ir.Node, weight: np.ndarray) -> np.ndarray:
    """A weight as [groups, outputs of a group, products]."""
    if node.op_type == "Conv":
        groups = node.attributes.get_int("group", 1)
        return np.asarray(weight.reshape(groups, weight.shape[0] // groups, -1))
    return np.asarray(weight if _is_transposed(node) else weight.T)[None]


def as_weight(node: ir.Node, matrix: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The weight of that shape out of its matrix."""
    if node.op_type == "Conv":
        return np.asarray(matrix.reshape(shape))
    return np.asarray(matrix[0] if _is_transposed(node) else matrix[0].T)


def _is_transposed(node: ir.Node) -> bool:
    return node.op_type == "Gemm" and bool(node.attributes.get_int("transB", 0))


def rows_of(node: ir.Node, array: np.ndarray, count: int) -> np.ndarray:
    """At most `count` evenly spaced rows [rows, groups, products] of one input of the layer."""
    if node.op_type != "Conv":
        rows = array.reshape(-1, array.shape[-1])
        return np.asarray(rows[_spaced(len(rows), count)][:, None, :])
    groups, places = node.attributes.get_int("group", 1), _places(node, array.shape)
    padded, flat = _padded(node, array), places[_spaced(len(places), count)]
    images = padded.reshape(padded.shape[0], padded.shape[1], -1)
    patches = images[:, :, flat]  # [batch, channels, places, offsets]
    batch, channels, taken, offsets = patches.shape
    grouped = patches.reshape(batch, groups, channels // groups, taken, offsets)
    return np.asarray(grouped.transpose(0, 3, 1, 2, 4).reshape(batch * taken, groups, -1))


def _spaced(length: int, count: int) -> np.ndarray:
    count = min(length, count)
    return (np.arange(count) * length) // count


def _pads(node: ir.Node, axes: int) -> list[tuple[int, int]]:
    pads = list(node.attributes.get_ints("pads", [0] * (2 * axes)))
    return list(zip(pads[:axes], pads[axes:], strict=True))


def _padded(node: ir.Node, array: np.ndarray) -> np.ndarray:
    return np.pad(array, [(0, 0), (0, 0), *_pads(node, array.ndim - 2)])


def _places(node: ir.Node, shape: tuple[int, ...]) -> np.ndarray:
    """[places, offsets]: where in the padded image, flattened, each product of each place reads."""
    axes = len(shape) - 2
    kernel = numbers_of(node.inputs[1]).shape[2:]
    strides = list(node.attributes.get_ints("strides", [1] * axes))
    dilations = list(node.attributes.get_ints("dilations", [1] * axes))
    extents = [extent + sum(pads) for extent, pads in zip(shape[2:], _pads(node, axes), strict=True)]
    output = static_shape(node.outputs[0])
    assert output is not None
    places, offsets = np.zeros(1, np.int64), np.zeros(1, np.int64)
    for axis in range(axes):
        step = np.arange(output[2 + axis]) * strides[axis]
        inside = np.arange(kernel[axis]) * dilations[axis]
        places = (places[:, None] * extents[axis] + step).reshape(-1)
        offsets = (offsets[:, None] * extents[axis] + inside).reshape(-1)
    return places[:, None] + offsets[None, :]
