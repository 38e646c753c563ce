"""How many steps of a vector unit a convolution takes, with pixels in the lanes (NCHW) and with channels there.

A count of what the kernels' loops do (kernels/conv2d.hpp, depthwise_conv2d.hpp, gemm.hpp, blocked.hpp), not of time:
multiply-accumulates with their idle lanes, copies to scratch, and the ends of sums. It only compares the two.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LANE_BITS = 32
"""Sums have so many bits each."""
LATENCY = 4
"""Vectors whose sums must be under way at once for the multipliers to be busy."""
END_OF_PIXELS, END_OF_CHANNELS = 10, 12
"""Steps that round a vector of sums: with one factor for all lanes, and with one a lane."""
FILTERS_TOGETHER, VECTORS_TOGETHER = 4, 4
LEAST_COLUMNS = 16
FEW_LANES, USUAL_LANES = 0.6, 8
"""Below this share of used lanes the kernel for NCHW gathers pixels and has filters in the lanes (lowering)."""
PER_PIXEL, PER_TAP = 8, 10
"""Steps that find where the taps of a pixel lie, and that begin a run of channels of one tap."""
PAIRING = 2
"""Steps for one vector of products of int8 pairs that are put side by side first, as a multiple of one."""
KERNELS = frozenset({"conv2d", "conv2d_rows", "depthwise_conv2d", "conv2d_blocked", "depthwise_conv2d_blocked"})
"""Families of kernels that steps are counted for."""


@dataclass(frozen=True)
class Sizes:
    """One convolution."""

    groups: int
    channels: int
    filters: int
    height: int
    width: int
    taps: tuple[int, int]
    strides: tuple[int, int]
    reach: tuple[int, int]
    """Distance of the first and the last tap."""
    images: int
    is_integer: bool

    @property
    def pixels(self) -> int:
        """Of the result."""
        return self.height * self.width

    @property
    def is_pointwise(self) -> bool:
        """Whether each output reads one position."""
        return self.taps == self.strides == (1, 1)

    @property
    def pair(self) -> int:
        """Products that one lane adds up in one step."""
        return 2 if self.is_integer else 1


def sizes_of(params: Mapping[str, Any], element: str) -> Sizes:
    """The convolution that a kernel's params describe."""
    p = params
    return Sizes(
        groups=p["groups"],
        channels=p["channels"],
        filters=p["filters"],
        height=p["out_height"],
        width=p["out_width"],
        taps=(p["kernel_height"], p["kernel_width"]),
        strides=(p["stride_height"], p["stride_width"]),
        reach=(
            (p["kernel_height"] - 1) * p["dilation_height"],
            (p["kernel_width"] - 1) * p["dilation_width"],
        ),
        images=p["batch"],
        is_integer=element == "int8",
    )


def lanes_of(vector_width_bits: int | None) -> int:
    """Sums that a vector holds; 1 where there are no vectors."""
    return max((vector_width_bits or LANE_BITS) // LANE_BITS, 1)


def steps_in_nchw(c: Sizes, lanes: int) -> float:
    """Of the kernel that lowering chooses for NCHW."""
    if c.channels == 1 and c.groups > 1:
        return c.images * c.groups * _plane(c, lanes)
    used = c.pixels / (c.height * math.ceil(c.width / USUAL_LANES) * USUAL_LANES)
    if c.groups == 1 and used < FEW_LANES:
        gathered = c.pixels * c.channels * math.prod(c.taps) + c.pixels * c.filters
        return c.images * (gathered + _channels_last_sums(c, lanes))
    vectors = math.ceil(c.pixels / lanes) if c.is_pointwise else c.height * math.ceil(c.width / lanes)
    products = math.ceil(c.channels / c.pair) * math.prod(c.taps)
    sums = math.ceil(c.filters / FILTERS_TOGETHER) * FILTERS_TOGETHER * vectors * products
    end = c.filters * vectors * END_OF_PIXELS if c.is_integer else 0
    copied = 0.0 if c.is_pointwise and not c.is_integer else math.ceil(c.channels / c.pair) * _copied(c, lanes)
    return c.images * c.groups * (sums + end + copied)


def steps_in_blocks(c: Sizes, lanes: int, block: int) -> float:
    """Of the kernel on `block` channels that lie together in the result."""
    if c.groups == 1:
        depth, taps = c.channels * math.prod(c.taps), math.prod(c.taps)
        scattered = not c.is_integer and taps > 1
        gathered = c.pixels * (depth if scattered else taps * PER_TAP + depth / lanes / c.pair)
        return c.images * (gathered + _channels_last_sums(c, lanes))
    taps = math.prod(c.taps)
    full, rest = divmod(math.ceil(block / lanes), VECTORS_TOGETHER)
    tiles = full * VECTORS_TOGETHER + min(rest, 2) * LATENCY
    products = math.ceil(taps / c.pair) * tiles * (PAIRING if c.is_integer else 1)
    end = END_OF_CHANNELS * math.ceil(block / lanes) if c.is_integer else 0
    return c.images * c.groups / block * c.pixels * (PER_PIXEL + taps + products + end)


def steps_of_turning(elements: int) -> float:
    """Of changing the layout of a tensor: one a element, read here and written there."""
    return float(elements)


def _channels_last_sums(c: Sizes, lanes: int) -> float:
    vectors = math.ceil(c.filters / lanes)
    products = math.ceil(c.channels * math.prod(c.taps) / c.pair)
    return c.pixels * vectors * (products + (END_OF_CHANNELS if c.is_integer else 0))


def _plane(c: Sizes, lanes: int) -> float:
    """One channel of a depthwise convolution: few vectors of a row at a time wait for their sums."""
    full, rest = divmod(math.ceil(c.width / lanes), VECTORS_TOGETHER)
    products = math.ceil(c.taps[0] / c.pair) * c.taps[1]
    end = c.height * math.ceil(c.width / lanes) * END_OF_PIXELS if c.is_integer else 0
    return c.filters * (c.height * (full + rest) * LATENCY * products + end) + _copied(c, lanes)


def _copied(c: Sizes, lanes: int) -> float:
    """Of copying one plane (a pair of them) to scratch, padded, split by stride."""
    rows = (c.height - 1) * c.strides[0] + c.reach[0] + 1
    columns = (max(c.width, LEAST_COLUMNS) + c.reach[1] // c.strides[1]) * c.strides[1]
    return rows * columns / lanes * (1 if c.strides[1] == 1 else 2)
