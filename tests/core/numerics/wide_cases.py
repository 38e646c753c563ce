"""Layers on 16-bit activations, with the integers that their kernels get."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir
from operator_cases import Case, conv, draw, one

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.rewiring import name_of
from metainfer_core.actions.wide_integers import wide_rewrite

BASES = (
    conv("wide", (2, 6, 7, 40), (5, 6, 3, 3), pads=[1, 0, 1, 1]),
    conv("wide_strided", (1, 4, 9, 11), (6, 2, 3, 2), group=2, strides=[2, 3], dilations=[2, 1], bias=False),
    conv("wide_depthwise", (1, 5, 6, 8), (5, 1, 3, 3), group=5),
    one("wide_gemm", "Gemm", [draw("wg", 3, 20)], [draw("wgw", 37, 20), draw("wgb", 37)], transB=1),
    one("wide_matmul", "MatMul", [draw("wm", 2, 3, 20)], [draw("wmw", 20, 9)]),
)


def wide_model(case: Case, scheme: str = "channel_wise") -> ir.Model:
    """The model with INT16 activations and INT8 weights."""
    model = case.model()
    (node,) = model.graph
    form = integer_form(node)
    assert isinstance(form, IntegerForm)
    spans = {name_of(node.inputs[0]): (-5.0, 5.0), name_of(node.outputs[0]): (-9.0, 9.0)}
    wide_rewrite(model, node, form, scheme, spans)
    return model


def wide_cases() -> Iterator[tuple[Case, ir.Model]]:
    """Every base with its model."""
    return ((case, wide_model(case)) for case in BASES)


def integers(low: int, high: int, count: int, seed: int) -> np.ndarray:
    """Seeded integers."""
    return np.random.default_rng(seed).integers(low, high, count)
