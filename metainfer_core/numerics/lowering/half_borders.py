"""Where 16-bit floats meet integer codes: one step from one to the other, without float32 in between."""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder, Integers
from metainfer_core.numerics.lowering.endings import quantization
from metainfer_core.numerics.lowering.int16 import HIGHEST, LOWEST, declare_wide, wide_scale
from metainfer_core.numerics.lowering.model_reader import required
from metainfer_core.numerics.program import HALF_FLOATS


def half_border(b: Builder, node: ir.Node) -> bool:
    """A Cast between a dequantized tensor and 16-bit floats, or between these and a QuantizeLinear; False otherwise."""
    value, result = required(node, 0), node.outputs[0]
    if b.element_type(result) in HALF_FLOATS and b.element_type(value) == "float32":
        return not b.is_real(value) and _from_codes(b, node, value, result)
    if b.element_type(value) in HALF_FLOATS and b.element_type(result) == "float32":
        return _to_codes(b, node, value, b.only_reader(result))
    return False


def _from_codes(b: Builder, node: ir.Node, value: ir.Value, result: ir.Value) -> bool:
    for codes, element in ((b.integers(value), "int8"), (b.wide(value), "int16")):
        if codes is not None and b.array(value) is None:
            params = _params(b, codes, 0, 0)
            b.emit(f"widen_{element}_{b.element_type(result)}", (node,), (codes.tensor,), (b.output(result),), params)
            return True
    return False


def _to_codes(b: Builder, node: ir.Node, value: ir.Value, quantize: ir.Node | None) -> bool:
    target, scale = quantization(b, quantize), wide_scale(b, quantize)
    if quantize is None or (target is None and scale is None):
        return False
    source, codes = b.tensor(value), quantize.outputs[0]
    if target is not None:
        made, element, (low, high) = b.integer_output(codes, target, b.shape(codes)), "int8", target.limits
        b.set_quantized(codes, made)
    else:
        assert scale is not None
        made, element, low, high = declare_wide(b, codes, scale), "int16", LOWEST, HIGHEST
    kernel = f"narrow_{b.element_type(value)}_{element}"
    b.emit(kernel, (node, quantize), (source,), (made.tensor,), _params(b, made, low, high))
    b.absorbed.add(quantize)
    return True


def _params(b: Builder, codes: Integers, low: int, high: int) -> dict[str, object]:
    numbers = {"scale": float(codes.scale), "zero_point": codes.zero_point, "low": low, "high": high}
    return {"count": b.count(codes.tensor), **numbers}
