"""Models whose activations have a scale a channel before a depthwise convolution, or whose sums hard-swish reads."""

from __future__ import annotations

import numpy as np
from operator_cases import Case, draw
from quantized_cases import Qdq


def channel_pair(g: Qdq, tensor: str, highs: np.ndarray, zero_point: int) -> str:
    """A pair with one scale for each channel and one zero point; channel c reaches from below 0 to `highs[c]`."""
    g.constants[f"{tensor}.scale"] = (highs / (127 - zero_point)).astype(np.float32)
    g.constants[f"{tensor}.zero"] = np.full(highs.shape, zero_point, np.int8)
    names = [f"{tensor}.scale", f"{tensor}.zero"]
    g.node("QuantizeLinear", [tensor, *names], f"{tensor}.q", axis=1)
    return g.node("DequantizeLinear", [f"{tensor}.q", *names], f"{tensor}.dq", axis=1)


def layer(g: Qdq, name: str, source: str, scale_of: str, weight: tuple[int, ...], **attributes: object) -> str:
    """A convolution of a dequantized value, with a bias."""
    w = g.weights(f"{name}w", draw(f"{g.name}{name}w", *weight), 0)
    if g.constants[f"{scale_of}.scale"].size > 1:
        repeated = np.repeat(g.constants[f"{scale_of}.scale"], weight[0] // g.constants[f"{scale_of}.scale"].size)
        g.constants[f"{name}x.scale"] = repeated
    else:
        g.constants[f"{name}x.scale"] = g.constants[f"{scale_of}.scale"]
    b = g.bias(f"{name}b", draw(f"{g.name}{name}b", weight[0]), f"{name}x", f"{name}w")
    return g.node("Conv", [source, w, b], name, **attributes)


def hard_swish_case(
    name: str, shape: tuple[int, ...], weight: tuple[int, ...], high: float, **attributes: object
) -> Case:
    """A convolution whose sums hard-swish reads, with one scale for the whole result."""
    g = Qdq(name)
    x = g.pair(g.input("x", *shape), -3.0, 2.5)
    y = layer(g, "sum", x, "x", weight, **attributes)
    return g.case(g.pair(g.node("HardSwish", [y], "active", "sum"), -0.375, high))


def gemm_hard_swish_case() -> Case:
    """A matrix product whose sums hard-swish reads."""
    g = Qdq("gemm_hard_swish")
    x = g.pair(g.input("x", 3, 19), -2.5, 3.0)
    w = g.weights("w", draw("gemm_hard_swishw", 21, 19), 0)
    y = g.node("Gemm", [x, w, g.bias("b", draw("gemm_hard_swishb", 21), "x", "w")], "sum", transB=1)
    return g.case(g.pair(g.node("HardSwish", [y], "active", "sum"), -0.375, 9.0))


def two_layers_case(
    name: str, activation: str, zero_point: int, filters: int = 1, batch: int = 1, size: int = 12
) -> Case:
    """A convolution whose channels reach from 1/8 to 16, then a depthwise one that takes each by its own scale."""
    g, channels = Qdq(name), 6
    reach = 2.0 ** np.linspace(-3, 4, channels)
    x = g.pair(g.input("x", batch, 3, size, size), -3.0, 2.5)
    weight = draw(f"{name}w", channels, 3, 3, 3) * reach.reshape(-1, 1, 1, 1) / 5
    w = g.weights("aw", weight.astype(np.float32), 0)
    b = g.bias("ab", np.zeros(channels, np.float32), "x", "aw")
    y = g.node("Conv", [x, w, b], "a", pads=[1, 1, 1, 1])
    y = g.node(activation, [y], "active", "a") if activation else y
    y = channel_pair(g, y, reach * 2, zero_point)
    source = "active" if activation else "a"
    y = layer(g, "c", y, source, (channels * filters, 1, 3, 3), group=channels, pads=[1, 1, 1, 1], strides=[2, 2])
    return g.case(g.pair(y, -20.0, 20.0))


def own_input_case() -> Case:
    """The caller's own tensor, quantized by channel."""
    g = Qdq("own_input")
    y = channel_pair(g, g.input("x", 2, 4, 9, 9), np.array([0.5, 1.0, 2.0, 4.0]), -20)
    return g.case(g.pair(layer(g, "c", y, "x", (4, 1, 3, 3), group=4, pads=[1, 1, 1, 1]), -4.0, 4.0))


CHANNEL_CASES: tuple[Case, ...] = (
    hard_swish_case("swish_conv", (1, 3, 9, 21), (8, 3, 3, 3), 12.0, pads=[1, 1, 1, 1]),
    hard_swish_case("swish_far", (1, 3, 9, 21), (8, 3, 3, 3), 40.0, pads=[1, 1, 1, 1]),
    hard_swish_case("swish_rows", (1, 7, 3, 3), (33, 7, 3, 3), 20.0, pads=[1, 1, 1, 1]),
    hard_swish_case("swish_depthwise", (2, 6, 9, 20), (6, 1, 3, 3), 6.0, group=6, pads=[1, 1, 1, 1]),
    gemm_hard_swish_case(),
    two_layers_case("by_channel", "", 0),
    two_layers_case("by_channel_relu", "Relu", -128),
    two_layers_case("by_channel_swish", "HardSwish", -90),
    two_layers_case("by_channel_two_filters", "HardSwish", 0, filters=2, batch=2),
    two_layers_case("by_channel_small", "HardSwish", -100, size=4),
    own_input_case(),
)
