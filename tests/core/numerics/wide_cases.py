"""Layers and arithmetic on 16-bit activations, with the integers that their kernels get."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir
from onnx.helper import make_node
from operator_cases import Case, build, conv, draw, one

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.quantize_dequantize import pairs_of, quantize_output, read_in
from metainfer_core.actions.quantize_numbers import QuantizeParams
from metainfer_core.actions.scales import activation_scale
from metainfer_core.actions.wide_integers import wide_rewrite, wide_scale

BASES = (
    conv("wide", (2, 6, 7, 40), (5, 6, 3, 3), pads=[1, 0, 1, 1]),
    conv("wide_strided", (1, 4, 9, 11), (6, 2, 3, 2), group=2, strides=[2, 3], dilations=[2, 1], bias=False),
    conv("wide_depthwise", (1, 5, 6, 8), (5, 1, 3, 3), group=5),
    one("wide_gemm", "Gemm", [draw("wg", 3, 20)], [draw("wgw", 37, 20), draw("wgb", 37)], transB=1),
    one("wide_matmul", "MatMul", [draw("wm", 2, 3, 20)], [draw("wmw", 20, 9)]),
)
ARITHMETIC = (
    one("wide_add", "Add", [draw("wa", 2, 3, 5, 7), draw("wb", 3, 1, 7)]),
    one("wide_sub", "Sub", [draw("wsa", 4, 9), draw("wsb", 4, 9)]),
    one("wide_mul", "Mul", [draw("wma", 2, 6, 4), draw("wmb", 2, 6, 1)]),
    one("wide_add_constant", "Add", [draw("wac", 3, 8)], [draw("wad", 8)]),
    one("wide_concat", "Concat", [draw("wca", 2, 3, 4), draw("wcb", 2, 5, 4)], [draw("wcc", 2, 1, 4)], axis=1),
    one("wide_max", "MaxPool", [draw("wx", 1, 3, 6, 7)], kernel_shape=[3, 2], pads=[1, 0, 1, 1]),
    one("wide_greatest", "GlobalMaxPool", [draw("wy", 2, 3, 6, 7)]),
    one("wide_average", "AveragePool", [draw("wv", 1, 3, 6, 7)], kernel_shape=[3, 2], pads=[1, 0, 1, 1]),
    one("wide_mean", "GlobalAveragePool", [draw("wgm", 2, 5, 4, 6)]),
    one("wide_relu", "Relu", [draw("wr", 3, 11)]),
    one("wide_transpose", "Transpose", [draw("wt", 2, 3, 4)], perm=[2, 0, 1]),
    one("wide_pad", "Pad", [draw("wp", 2, 3)], [np.array([0, 1, 1, 2], np.int64)]),
)
SPANS = {"x0": (-5.0, 5.0), "x1": (-4.0, 4.3), "y": (-9.0, 9.0)}


def wide_model(
    case: Case, scheme: str = "channel_wise", spans: dict[str, tuple[float, float]] | None = None
) -> ir.Model:
    """The model with INT16 activations and INT8 weights."""
    model = case.model()
    (node,) = model.graph
    form = integer_form(node)
    assert isinstance(form, IntegerForm)
    spans = spans or SPANS
    wide_rewrite(model, QuantizeParams.from_plain({"scheme": scheme, "ranges": spans}), node, form)
    return model


def both_widths() -> tuple[Case, ir.Model]:
    """A Relu on 8-bit codes of an input that is read in 16 bits too, its result read in 16 and in 8 bits."""
    nodes = [make_node(op, [of], [to], op) for op, of, to in (("Relu", "x", "r"), ("Neg", "r", "y"), ("Abs", "r", "z"))]
    case = build("both", nodes, {"x": draw("both", 5, 40)}, outputs={"y": "float32", "z": "float32"})
    model = case.model()
    first, second, third = model.graph
    read_in(model, first, 0, activation_scale(-3.0, 3.0, False))
    quantize_output(model, first.outputs[0], activation_scale(0.0, 3.0, False), first)
    read_in(model, second, 0, wide_scale(0.0, 3.0), bits=16)
    read_in(model, third, 0, activation_scale(0.0, 3.0, False))
    read_in(model, first, 0, wide_scale(-3.0, 3.0), bits=16)
    first.replace_input_with(0, pairs_of(model.graph.inputs[0])[1].outputs[0])
    return case, model


def both_narrow_widths() -> tuple[Case, ir.Model]:
    """A Relu whose result in 8-bit codes is read in 4 bits too."""
    nodes = [
        make_node(op, [of], [to], op) for op, of, to in (("Relu", "x", "r"), ("Relu", "r", "y"), ("Abs", "r", "z"))
    ]
    case = build("both_narrow", nodes, {"x": draw("both", 5, 40)}, outputs={"y": "float32", "z": "float32"})
    model = case.model()
    first, second, third = model.graph
    read_in(model, first, 0, activation_scale(-3.0, 3.0, False))
    quantize_output(model, first.outputs[0], activation_scale(0.0, 3.0, False), first)
    read_in(model, second, 0, activation_scale(0.0, 3.0, False, bits=4), bits=4)
    quantize_output(model, second.outputs[0], activation_scale(0.0, 3.0, False, bits=4), second, bits=4)
    read_in(model, third, 0, activation_scale(0.0, 3.0, False))
    return case, model


def wide_cases() -> Iterator[tuple[Case, ir.Model]]:
    """Every base with its model."""
    yield from ((case, wide_model(case)) for case in (*BASES, *ARITHMETIC))
    yield both_widths()
    yield both_narrow_widths()


def integers(low: int, high: int, count: int, seed: int) -> np.ndarray:
    """Seeded integers."""
    return np.random.default_rng(seed).integers(low, high, count)
