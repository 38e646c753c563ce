"""Conv and ConvTranspose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.layouts import Layout
from metainfer_core.numerics.lowering.blocked import blocked_params, layout_at, pack_blocked
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import FloatEnding, absorb, float_ending
from metainfer_core.numerics.lowering.geometry import Window, window
from metainfer_core.numerics.lowering.int16 import wide_sum
from metainfer_core.numerics.lowering.integer_sums import IntegerSum, integer_sum
from metainfer_core.numerics.lowering.model_reader import PackedConstant, optional, required, unsupported
from metainfer_core.numerics.lowering.packed_weights import group_of, packed_conv, packed_matrix, packed_weights
from metainfer_core.numerics.lowering.packing import FILTER_BLOCK, gemm_block, pack_conv, pack_depthwise, pack_gemm
from metainfer_core.numerics.program import FLOATS, HALF_FLOATS

BAND_BYTES = 128 * 1024
"""Scratch of one band of output rows: it should stay in a second-level cache."""
LANES = 8
"""Pixels that one vector is taken to hold where a kernel is chosen; the result does not depend on it."""
MIN_USE = 0.6
"""Below this share of used lanes, filters go to the lanes instead of pixels."""
MIN_COLUMNS = 16
"""Columns of a band are at least one vector of any target (see Band in kernels/conv2d.hpp)."""


@dataclass(frozen=True)
class Convolution:
    """One convolution, whatever its element type."""

    batch: int
    groups: int
    channels: int
    """Input channels of one group."""
    filters: int
    """Output channels of one group."""
    window: Window

    @property
    def pixels(self) -> int:
        """Output pixels of one image."""
        return math.prod(self.window.out_size)

    @property
    def depth(self) -> int:
        """Products of one output."""
        return self.channels * math.prod(self.window.kernel)


def conv(b: Builder, node: ir.Node) -> None:
    """A convolution with constant weights."""
    if integer_conv(b, node) or _wide_conv(b, node):
        return
    weights, bias = _constants(b, node)
    ending = float_ending(b, node)
    source, described, packed = b.tensor(required(node, 0)), _described(b, node), packed_weights(b, node)
    layout = layout_at(node)
    if layout is not None and packed is None and weights.dtype == np.float32:
        _emit_blocked(b, node, layout, described, source, weights, bias, ending)
    elif packed is not None and _kernel_for(described) != "depthwise_conv2d":
        _emit_packed(b, described, source, packed, bias, ending)
    else:
        _emit_float(b, described, source, weights, bias, ending)
    absorb(b, ending.nodes)


def integer_conv(b: Builder, node: ir.Node) -> bool:
    """The convolution on int8, where its input, weights and result are; False where they are not."""
    found = integer_sum(b, node, weight_axis=0, by_channel=True)
    if found is None:
        return False
    c, layout = _described(b, node), layout_at(node)
    if layout is None:
        _emit_integer(b, c, found, found.codes)
    else:
        codes = found.codes.reshape(*found.codes.shape[:2], *c.window.kernel)
        sizes = blocked_params(b, node, layout, c.groups, c.channels, c.filters, "int8", math.prod(c.window.kernel))
        params = {**_params(c), **found.params(), "input_zero_point": found.source.zero_point, **sizes}
        found.emit(b, _blocked_kernel(c, "int8"), pack_blocked(codes, c.groups), params)
    absorb(b, found.ending.nodes)
    return True


def _wide_conv(b: Builder, node: ir.Node) -> bool:
    """The convolution on 16-bit activations, where its input and result are such."""
    found = wide_sum(b, node, weight_axis=0)
    if found is None:
        return False
    found.emit(b, "conv2d_int16", found.weights.codes, 0, _params(_described(b, node)))
    return True


def conv_transpose(b: Builder, node: ir.Node) -> None:
    """A transposed convolution: the input spread out with zeros, then a convolution with the weights turned round."""
    weights, bias = _constants(b, node)
    source, value = b.tensor(required(node, 0)), required(node, 0)
    shape, out_shape = b.shape(value), b.shape(node.outputs[0])
    groups = node.attributes.get_int("group", 1)
    kernel = weights.shape[2:]
    described = window(node, shape, out_shape, kernel)
    spread = tuple((n - 1) * s + 1 for n, s in zip(described.size, described.strides, strict=True))
    reach = tuple(d * (k - 1) for d, k in zip(described.dilations, described.kernel, strict=True))
    begin = tuple(far - p for far, p in zip(reach, described.begin, strict=True))
    if node.attributes.get_string("auto_pad", "NOTSET") not in ("NOTSET", "VALID") or "output_shape" in node.attributes:
        raise unsupported(
            node, "Its padding follows from its output shape (auto_pad, output_shape).", "Give it as pads."
        )
    if min(begin) < 0:
        raise unsupported(node, f"Its padding {list(described.begin)} is greater than its kernel reaches.")
    if described.strides != (1, 1):
        planes = shape[0] * shape[1]
        zeros = b.constant(f"{node.name}.zero", np.zeros(1, np.float32))
        name = b.declare(f"{node.name}.spread", "float32", (*shape[:2], *spread))
        height, width = described.size
        b.emit(
            "copy_32",
            (node,),
            (source, zeros),
            (name,),
            {
                "rank": 3,
                "shape": (planes, height, width, 1, 1, 1),
                "in_step": (height * width, width, 1, 0, 0, 0),
                "out_step": (math.prod(spread), described.strides[0] * spread[1], described.strides[1], 0, 0, 0),
                "out_count": planes * math.prod(spread),
            },
        )
        source = name
    inner, per_group = weights.shape[0] // groups, weights.shape[1]
    turned = weights.reshape(groups, inner, per_group, *kernel).swapaxes(1, 2)
    turned = np.flip(turned.reshape(groups * per_group, inner, *kernel), axis=tuple(range(2, 2 + len(kernel))))
    plain = replace(described, size=(spread[0], spread[1]), strides=(1, 1), begin=(begin[0], begin[1]))
    convolution = Convolution(shape[0], groups, inner, per_group, plain)
    ending = float_ending(b, node)
    _emit_float(b, convolution, source, turned, bias, ending)
    absorb(b, ending.nodes)


def _described(b: Builder, node: ir.Node) -> Convolution:
    shape, out_shape = b.shape(required(node, 0)), b.shape(node.outputs[0])
    weight_shape = b.shape(required(node, 1))
    groups = node.attributes.get_int("group", 1)
    described = window(node, shape, out_shape, weight_shape[2:])
    return Convolution(shape[0], groups, weight_shape[1], out_shape[1] // groups, described.along_width())


def _constants(b: Builder, node: ir.Node) -> tuple[np.ndarray, np.ndarray]:
    """Weights in a float type, and the bias in float32 (zeros where there is none)."""
    weights, bias_value = b.array(required(node, 1)), optional(node, 2)
    bias = b.array(bias_value)
    if weights is None or (bias is None and bias_value is not None):
        raise unsupported(node, "Its weights or its bias are computed at run time.", "Use constant weights.")
    if weights.dtype.name not in FLOATS:
        raise unsupported(node, f"Its weights hold {weights.dtype.name} numbers.", "Convert the model to float32.")
    if weights.dtype.name != b.element_type(required(node, 0)):
        raise unsupported(node, "Its input and its weights are of different types.", "Give them the same type.")
    outputs = b.shape(node.outputs[0])[1]
    return weights, np.zeros(outputs, np.float32) if bias is None else bias.astype(np.float32)


def _kernel_for(c: Convolution) -> str:
    """Which kernel suits: one filter a channel, few pixels, or many."""
    if c.channels == 1 and c.groups > 1:
        return "depthwise_conv2d"
    height, width = c.window.out_size
    used = c.pixels / (height * math.ceil(width / LANES) * LANES)
    return "conv2d_rows" if c.groups == 1 and used < MIN_USE else "conv2d"


def _is_pointwise(w: Window) -> bool:
    return w.kernel == w.strides == (1, 1) and w.begin == (0, 0) and w.size == w.out_size


def _widened(c: Convolution) -> Convolution:
    """A 1x1 convolution over whole rows of pixels: it has no rows, so that they may be joined to fill the lanes."""
    if not _is_pointwise(c.window):
        return c
    height, width = c.window.size
    joined = next((n for n in range(1, height + 1) if height % n == 0 and n * width >= 64), height)
    size = (height // joined, joined * width)
    return replace(c, window=replace(c.window, size=size, out_size=size))


def _columns(w: Window) -> int:
    """Columns of a band, of all phases."""
    return (max(w.out_size[1], MIN_COLUMNS) + (w.kernel[1] - 1) * w.dilations[1] // w.strides[1]) * w.strides[1]


def _rows(w: Window, band: int) -> int:
    return (band - 1) * w.strides[0] + (w.kernel[0] - 1) * w.dilations[0] + 1


def _band(w: Window, bytes_of_row: int) -> int:
    """Output rows of a band: as many as BAND_BYTES allow, of about equal size."""
    height = w.out_size[0]
    most = next((n for n in range(height, 1, -1) if _rows(w, n) * bytes_of_row <= BAND_BYTES), 1)
    return math.ceil(height / math.ceil(height / most))


def _params(c: Convolution) -> dict[str, int]:
    return {
        "batch": c.batch,
        "groups": c.groups,
        "channels": c.channels,
        "filters": c.filters,
        **c.window.params(),
    }


def _emit_float(
    b: Builder, c: Convolution, source: str, weights: np.ndarray, bias: np.ndarray, ending: FloatEnding
) -> None:
    weights, name = weights.reshape(*weights.shape[:2], *c.window.kernel), str(ending.nodes[0].name)
    kernel, is_half = _kernel_for(c), weights.dtype.name in HALF_FLOATS
    c = _widened(c) if kernel == "conv2d" else c
    filters = {"conv2d_rows": 0, "depthwise_conv2d": 1, "conv2d": FILTER_BLOCK}[kernel] if is_half else 0
    params = _float_params(c, kernel, 4 * filters * c.depth, not is_half)
    if kernel == "conv2d_rows":
        packed = pack_gemm(weights.reshape(c.filters, -1).T, gemm_block(c.filters))
    else:
        packed = pack_depthwise(weights) if kernel == "depthwise_conv2d" else pack_conv(weights, c.groups)
    inputs = (source, b.constant(f"{name}.weights", packed), b.constant(f"{name}.bias", bias))
    outputs = (b.output(ending.value),)
    b.emit(f"{kernel}_{weights.dtype.name}", ending.nodes, inputs, outputs, {**params, **ending.params})


def _blocked_kernel(c: Convolution, element: str) -> str:
    return f"{'conv2d' if c.groups == 1 else 'depthwise_conv2d'}_blocked_{element}"


def _emit_blocked(
    b: Builder, node: ir.Node, layout: Layout, c: Convolution, source: str, weights: np.ndarray, bias: np.ndarray,
    ending: FloatEnding,
) -> None:  # fmt: skip
    """In float32 with the channels in the lanes."""
    weights, name = weights.reshape(*weights.shape[:2], *c.window.kernel), str(node.name)
    sizes = blocked_params(b, node, layout, c.groups, c.channels, c.filters, "float32", math.prod(c.window.kernel))
    packed = b.constant(f"{name}.weights", pack_blocked(weights, c.groups))
    inputs, outputs = (source, packed, b.constant(f"{name}.bias", bias)), (b.output(ending.value),)
    b.emit(_blocked_kernel(c, "float32"), ending.nodes, inputs, outputs, {**_params(c), **sizes, **ending.params})


def _emit_packed(
    b: Builder, c: Convolution, source: str, packed: PackedConstant, bias: np.ndarray, ending: FloatEnding
) -> None:
    """In float32 with weights of few bits, which the kernel unpacks a block at a time."""
    kernel, name = _kernel_for(c), str(ending.nodes[0].name)
    c = _widened(c) if kernel == "conv2d" else c
    if kernel == "conv2d_rows":
        weights = packed_matrix(b, name, packed, columns_first=True, block=gemm_block(c.filters))
        params = _float_params(c, kernel, 4 * gemm_block(c.filters) * c.depth, True)
    else:
        weights = packed_conv(b, name, packed, c.groups)
        params = _float_params(c, kernel, 4 * FILTER_BLOCK * c.depth, False)
    inputs = (source, *weights, b.constant(f"{name}.bias", bias))
    params = {**params, "weight_group": group_of(packed), **ending.params}
    b.emit(f"{kernel}_float32_int{packed.bits}", ending.nodes, inputs, (b.output(ending.value),), params)


def _float_params(c: Convolution, kernel: str, wide_weights: int, may_read_in_place: bool) -> dict[str, object]:
    """Params of a kernel on floats, with room in scratch for `wide_weights` bytes of unpacked weights."""
    params: dict[str, object] = {**_params(c)}
    if kernel == "conv2d_rows":
        return {**params, "block": gemm_block(c.filters), "scratch_bytes": 4 * c.pixels * c.depth + wide_weights}
    row = (4 if kernel == "depthwise_conv2d" else 4 * c.channels) * _columns(c.window)
    params["band_rows"] = band = _band(c.window, row)
    in_place = kernel == "conv2d" and _is_pointwise(c.window) and c.window.out_size[1] >= MIN_COLUMNS
    params["scratch_bytes"] = 0 if in_place and may_read_in_place else row * _rows(c.window, band) + wide_weights
    return params


def _emit_integer(b: Builder, c: Convolution, found: IntegerSum, codes: np.ndarray) -> None:
    codes = codes.reshape(*codes.shape[:2], *c.window.kernel)
    kernel = _kernel_for(c)
    c = _widened(c) if kernel == "conv2d" else c
    params: dict[str, object] = {**_params(c), **found.params(), "input_zero_point": found.source.zero_point}
    if kernel == "conv2d_rows":
        params["block"] = gemm_block(c.filters)
        params["scratch_bytes"] = 2 * c.pixels * (c.depth + c.depth % 2)
        packed = pack_gemm(codes.reshape(c.filters, -1).T, gemm_block(c.filters))
    elif kernel == "depthwise_conv2d":
        row = 4 * _columns(c.window)
        band = _band(c.window, row)
        packed = pack_depthwise(codes)
        params["band_rows"] = band
        params["scratch_bytes"] = row * _rows(c.window, band) + 2 * packed[0].size
    else:
        row = 4 * math.ceil(c.channels / 2) * _columns(c.window)
        band = _band(c.window, row)
        packed = pack_conv(codes, c.groups)
        params["band_rows"] = band
        params["scratch_bytes"] = row * _rows(c.window, band) + 2 * packed[0, 0].size
    found.emit(b, f"{kernel}_int8", packed, params)


OPERATORS = {"Conv": conv, "ConvTranspose": conv_transpose}
