"""Two factors of low rank in the place of one weight: by singular values, which keep the most of it at each rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.kernel_taps import Taps, stand_in, taps_of
from metainfer_core.actions.rewiring import array_of, data_of, numbers_of
from metainfer_core.graph.shapes import static_shape

DIGITS = 1 << 16
"""Factors are rounded to this share of their largest number: the last bits of a decomposition differ by machine."""


@dataclass(frozen=True)
class Layer:
    """A layer with a weight that can be written as two: columns and rows of a kernel, or fewer channels between."""

    node: ir.Node
    matrix: np.ndarray
    """The weight as [what the first factor reads, what the second one gives], float64."""
    taps: tuple[Taps, Taps] | None
    """Of the two convolutions; None of a Gemm or MatMul."""
    first_outputs: int
    """Numbers that the first factor gives for each of its channels."""
    second_outputs: int

    @property
    def products(self) -> int:
        """Multiplications of the layer as it is."""
        return int(self.matrix.size) * self.second_outputs

    def products_at(self, rank: int) -> int:
        """Multiplications of the two factors."""
        rows, columns = (int(extent) for extent in self.matrix.shape)
        return rank * (rows * self.first_outputs + columns * self.second_outputs)

    @cached_property
    def lost(self) -> np.ndarray:
        """Share of the weight's energy that each rank leaves out, from rank 0 on."""
        tall = self.matrix if self.matrix.shape[0] >= self.matrix.shape[1] else self.matrix.T
        power = np.maximum(np.linalg.eigvalsh(tall.T @ tall)[::-1], 0.0)
        total = max(float(power.sum()), np.finfo(np.float64).tiny)
        return np.append(np.cumsum(power[::-1])[::-1], 0.0) / total

    def factors(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """[rows, rank] and [rank, columns], float32, of even size; the largest number of each column is positive."""
        left, values, right = np.linalg.svd(self.matrix, full_matrices=False)
        root = np.sqrt(values[:rank])
        first, second = left[:, :rank] * root, right[:rank] * root[:, None]
        peaks = first[np.abs(first).argmax(axis=0), np.arange(rank)]
        signs = np.where(peaks < 0, -1.0, 1.0)
        return _rounded(first * signs), _rounded(second * signs[:, None])

    def convolutions(self, rank: int) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the two convolutions."""
        assert self.taps is not None
        first, second = self.factors(rank)
        channels, outputs = numbers_of(self.node.inputs[1]).shape[1], numbers_of(self.node.inputs[1]).shape[0]
        height, width = self.taps[0].kernel[0], self.taps[1].kernel[1]
        columns = first.T.reshape(rank, channels, height, 1)
        rows = second.reshape(rank, width, outputs).transpose(2, 0, 1).reshape(outputs, rank, 1, width)
        return columns, np.ascontiguousarray(rows)

    def stand_ins(self) -> Sequence[ir.Node]:
        """The two convolutions apart from the model, to be held against limits; none of a Gemm or MatMul."""
        return [stand_in(self.node, taps) for taps in self.taps or ()]


def _rounded(factor: np.ndarray) -> np.ndarray:
    step = 2.0 ** np.ceil(np.log2(max(float(np.abs(factor).max(initial=0.0)), 1e-30))) / DIGITS
    return np.asarray(np.rint(factor / step) * step, np.float32)


def layer_of(node: ir.Node) -> Layer | str:
    """The layer, or the sentence why its weight is not written as two."""
    form = integer_form(node)
    if not isinstance(form, IntegerForm) or form.role != "weighted":
        return form if isinstance(form, str) else f"{node.name} ({node.op_type}) has no weight."
    weight = array_of(node.inputs[1])
    assert weight is not None
    if node.op_type == "Conv":
        return _convolution(node, weight)
    result = static_shape(node.outputs[0])
    if result is None:
        return f"The shapes of {node.name} are not fixed."
    matrix = weight if form.weight_axis == 1 else weight.T
    rows = int(np.prod(result[:-1], dtype=np.int64))
    return Layer(node, matrix.astype(np.float64), None, rows, rows)


def _convolution(node: ir.Node, weight: np.ndarray) -> Layer | str:
    taps = taps_of(node)
    if isinstance(taps, str):
        return taps
    if node.attributes.get_int("group", 1) != 1 or weight.ndim != 4:
        return f"{node.name} has groups or {weight.ndim - 2} spatial axes: only whole 2-D convolutions are factored."
    height, width = taps.kernel
    if (height == 1) != (width == 1):
        return f"{node.name} has a kernel of {height}x{width}, which has one axis already."
    batch = (static_shape(data_of(node)) or (1,))[0]
    middle = (taps.out[0], taps.size[1]) if width > 1 else taps.out
    first = replace(
        taps,
        kernel=(height, 1),
        out=middle,
        strides=taps.strides if width == 1 else (taps.strides[0], 1),
        dilations=(taps.dilations[0], 1),
        begin=taps.begin if width == 1 else (taps.begin[0], 0),
        end=taps.end if width == 1 else (taps.end[0], 0),
    )
    second = replace(
        taps,
        size=middle,
        kernel=(1, width),
        strides=(1, taps.strides[1]) if width > 1 else (1, 1),
        dilations=(1, taps.dilations[1]),
        begin=(0, taps.begin[1]) if width > 1 else (0, 0),
        end=(0, taps.end[1]) if width > 1 else (0, 0),
    )
    outputs, channels = weight.shape[:2]
    matrix = weight.astype(np.float64).transpose(1, 2, 3, 0).reshape(channels * height, width * outputs)
    return Layer(node, matrix, (first, second), batch * int(np.prod(middle)), batch * int(np.prod(taps.out)))
