"""Models whose nodes have layouts: each kernel on blocks of channels, and the same model in NCHW beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from action_bench import samples_of, spec_of
from npu_bench import adapted

from metainfer_core.numerics.lowering.model_reader import LAYOUT

NET = """
    net (float[2,16,9,7] x, float[48,16,1,1] w_a, float[48] w_ab, float[48,1,3,3] w_d, float[48] w_db,
         float[16,48,1,1] w_p, float[16] w_pb, float[24,16,3,3] w_c, float[24] w_cb, float[24,1,5,3] w_e,
         float w_zero, float w_six) => (float[2,24,1,1] y) {
        [a] a = Conv (x, w_a, w_ab)
        [ar] b = Clip (a, w_zero, w_six)
        [d] d = Conv <group = 48, pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (b, w_d, w_db)
        [dr] e = HardSwish (d)
        [p] p = Conv (e, w_p, w_pb)
        [s] s = Add (p, x)
        [c] c = Conv <pads = [1, 1, 1, 1], strides = [2, 1]> (s, w_c, w_cb)
        [f] f = Conv <group = 24, pads = [2, 1, 2, 1], dilations = [1, 1], strides = [1, 2]> (c, w_e)
        [m] m = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], strides = [2, 2]> (f)
        [v] v = AveragePool <kernel_shape = [2, 2], pads = [0, 0, 1, 1]> (m)
        [t] t = Sigmoid (v)
        [g] y = GlobalAveragePool (t)
    }"""
FIXED = {"w_zero": np.float32(0), "w_six": np.float32(6)}
NODES = ("a", "ar", "d", "dr", "p", "s", "c", "f", "m", "v", "t", "g")
FLOAT_NODES = tuple(node for node in NODES if node not in ("v", "g"))
"""Those with a kernel on blocks of channels in float32."""


@dataclass(frozen=True)
class LayoutCase:
    """A model with layouts, the same without, and inputs."""

    name: str
    usual: ir.Model
    laid_out: ir.Model
    feeds: tuple[dict[str, np.ndarray], ...]


def layout_cases() -> Iterator[LayoutCase]:
    """int8 and float32, channels last and in blocks of 8."""
    for element, kinds, nodes in (
        ("int8", ("fold_batch_norm", "fuse", "quantize"), NODES),
        ("float32", ("fuse",), FLOAT_NODES),
    ):
        model = adapted(NET, spec_of(), kinds, FIXED)
        feeds = tuple(dict(feed) for feed in samples_of(model).feeds[:3])
        for layout in ("nhwc", "nchw8c"):
            yield LayoutCase(f"{element} {layout}", model, marked(model, nodes, layout), feeds)


def marked(model: ir.Model, nodes: tuple[str, ...], layout: str) -> ir.Model:
    """A clone whose nodes have the layout."""
    clone = model.clone()
    for node in clone.graph:
        if node.name in nodes:
            node.metadata_props[LAYOUT] = layout
    return clone
