"""LRN: each element divided by a power of the squares of its neighbours along the channels."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.broadcast import emit_binary
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import FloatEnding, refuse_unfused
from metainfer_core.numerics.lowering.geometry import Window
from metainfer_core.numerics.lowering.model_reader import required, unsupported


def local_response(b: Builder, node: ir.Node) -> None:
    """An element over (bias + alpha * mean of squares) ^ beta.

    ONNX divides the sum by the size of the window also at the ends, where fewer channels are inside: that is an average
    pool along the channels whose padding counts.
    """
    refuse_unfused(b, node)
    value = required(node, 0)
    shape, element, name = b.shape(value), b.element_type(value), str(node.name)
    if element != "float32" or len(shape) < 2:
        raise unsupported(
            node, f"Its input is {element} with {len(shape)} axes; the kernels take float32 with channels."
        )
    size = node.attributes.get_int("size", 1)
    channels, inner = shape[1], math.prod(shape[2:])
    before = (size - 1) // 2
    window = Window(
        (channels, inner), (channels, inner), (size, 1), (1, 1), (1, 1), (before, 0), (size - 1 - before, 0)
    )
    pool = {"planes": shape[0], **window.params(), "pad_bottom": window.end[0], "pad_right": 0, "count_include_pad": 1}
    x, squares, mean = (
        b.tensor(value),
        b.declare(f"{name}.squares", element, shape),
        b.declare(f"{name}.mean", element, shape),
    )
    b.emit("square_float32", (node,), (x,), (squares,), {"count": math.prod(shape)})
    b.emit("average_pool_float32", (node,), (squares,), (mean,), pool)
    ending, total = FloatEnding(node.outputs[0], (node,), {}), mean
    for kernel, attribute, default in (("mul", "alpha", 1e-4), ("add", "bias", 1.0), ("pow", "beta", 0.75)):
        number = b.constant(f"{name}.{attribute}", np.array(node.attributes.get_float(attribute, default), np.float32))
        target = b.declare(f"{name}.{kernel}", element, shape)
        emit_binary(b, f"{kernel}_float32", ending, ((total, shape), (number, ())), shape, target)
        total = target
    emit_binary(b, "div_float32", ending, ((x, shape), (total, shape)), shape)


OPERATORS = {"LRN": local_response}
