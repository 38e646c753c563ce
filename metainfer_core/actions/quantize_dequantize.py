"""QuantizeLinear and DequantizeLinear in a graph: one pair a tensor and width, shared by all who read it.

Where a tensor is read in several widths, the pairs stand one behind the other: first the width that its maker gives it
(of a float tensor: the widest one), then the others, wider ones first. So each tensor has one form that all others are
made from. Codes of 4 bits are INT4; ONNX has no type for 6 bits: such pairs are INT8, with a mark (CODE_BITS).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import (
    FROM,
    FUSED_WITH,
    KEEP_FLOAT,
    add_constant,
    numbers_of,
    readers,
    set_input,
)
from metainfer_core.actions.scales import Affine
from metainfer_core.numerics.lowering.model_reader import CODE_BITS, code_bits

ELEMENTS = {
    4: (np.dtype(ml_dtypes.int4), ir.DataType.INT4),
    6: (np.dtype(np.int8), ir.DataType.INT8),
    8: (np.dtype(np.int8), ir.DataType.INT8),
    16: (np.dtype(np.int16), ir.DataType.INT16),
}
"""Bits of an activation's codes to their type in numpy and in ONNX."""


def pair_of(value: ir.Value) -> ir.Node | None:
    """The DequantizeLinear of the first pair that stands on a tensor, if one does."""
    for reader in readers(value):
        if reader.op_type == "QuantizeLinear" and reader.inputs[0] is value:
            return readers(reader.outputs[0])[0]
    return None


def pairs_of(value: ir.Value) -> tuple[ir.Node, ...]:
    """The DequantizeLinears of all pairs on a tensor, from the first to the last."""
    found: list[ir.Node] = []
    while (pair := pair_of(value)) is not None:
        found.append(pair)
        value = pair.outputs[0]
    return tuple(found)


def pair_in(value: ir.Value, bits: int) -> ir.Node | None:
    """The DequantizeLinear through which a tensor is read in so many bits, if it is."""
    return next((pair for pair in pairs_of(value) if bits_of(pair) == bits), None)


def bits_of(dequantize: ir.Node) -> int:
    """Bits of the codes that a pair makes."""
    codes = dequantize.inputs[0]
    return 16 if codes is not None and codes.dtype == ir.DataType.INT16 else code_bits(dequantize, codes)


def raw(value: ir.Value) -> ir.Value:
    """The tensor that a dequantized value stands for; the value itself where it is not one."""
    producer = value.producer()
    if producer is None or producer.op_type != "DequantizeLinear" or producer.inputs[0] is None:
        return value
    quantize = producer.inputs[0].producer()
    return raw(quantize.inputs[0]) if quantize is not None and quantize.inputs[0] is not None else value


def computes_on_integers(node: ir.Node) -> bool:
    """Whether the node, or the kernel that it is fused into, stands between a DequantizeLinear and a QuantizeLinear.

    One that is kept in float does not: lowering converts around it.
    """
    if node.metadata_props.get(KEEP_FLOAT) == "1":
        return False
    fed = any(
        (producer := value.producer()) is not None and producer.op_type == "DequantizeLinear"
        for value in node.inputs
        if value is not None
    )
    for value in node.outputs:
        if pair_of(value) is not None:
            return fed or FUSED_WITH in node.metadata_props
        fused = [reader for reader in readers(value) if reader.metadata_props.get(FUSED_WITH) == node.name]
        if fused:
            return fed and computes_on_integers(fused[0])
    return False


def parameters_of(dequantize: ir.Node) -> Affine:
    """Scale and zero point of a pair; one scale a channel where it has several."""
    scale, zero_point = map(numbers_of, dequantize.inputs[1:3])
    by_channel = scale.size > 1
    return Affine(
        scale.astype(np.float32) if by_channel else np.float32(scale.reshape(())), int(zero_point.reshape(-1)[0])
    )


def read_in(model: ir.Model, target: ir.Node, index: int, affine: Affine, bits: int = 8) -> None:
    """Makes an input of the node the dequantized form in so many bits of what it reads."""
    value = target.inputs[index]
    if value is None:
        return
    whole = raw(value)
    known = pair_in(whole, bits)
    if known is None:
        pairs, maker = pairs_of(whole), whole.producer()
        wider = [pair for pair in pairs if bits_of(pair) > bits]
        if not wider and maker is not None and computes_on_integers(maker):
            wider = list(pairs[:1])
        known = _new_pair(model, wider[-1].outputs[0] if wider else whole, affine, target, bits)
    set_input(target, index, known.outputs[0])


def quantize_output(model: ir.Model, value: ir.Value, affine: Affine, asked_by: ir.Node, bits: int = 8) -> None:
    """All who read the tensor, and the caller of the model, get its dequantized form."""
    first = pair_of(value)
    if first is None or bits_of(first) != bits:
        first = _new_pair(model, value, affine, asked_by, bits)
    real = first.outputs[0]
    for use in tuple(value.uses()):
        if not (use.node.op_type == "QuantizeLinear" and use.idx == 0):
            use.node.replace_input_with(use.idx, real)
    if value.is_graph_output():
        name = value.name
        model.graph.outputs[list(model.graph.outputs).index(value)] = real
        value.name = f"{name}.raw"
        real.name = name


def _new_pair(model: ir.Model, value: ir.Value, affine: Affine, asked_by: ir.Node, bits: int) -> ir.Node:
    """The DequantizeLinear of a pair right behind a tensor, before all that stood there. Rewires no reader."""
    kind, element = ELEMENTS[bits]
    behind, producer = [use.node for use in value.uses() if use.node.op_type == "QuantizeLinear"], value.producer()
    is_second = bool(behind) or raw(value) is not value
    name = f"{value.name}.int{bits}" if is_second else str(value.name)
    scale = add_constant(model, f"{name}.scale", np.asarray(affine.scale, dtype=np.float32))
    zero_point = add_constant(model, f"{name}.zero_point", np.full(affine.scale.shape, affine.zero_point, dtype=kind))
    attributes = {"axis": 1} if affine.scale.ndim else {}
    integer = ir.Value(name=f"{name}.quantized", shape=value.shape, type=ir.TensorType(element))
    real = ir.Value(name=f"{name}.dequantized", shape=value.shape, type=value.type)
    origin = {FROM: str(asked_by.name), **_marked(bits)}
    quantize = ir.node(
        "QuantizeLinear",
        [value, scale, zero_point],
        attributes,
        outputs=[integer],
        name=f"{name}.quantize",
        metadata_props={**origin},
    )
    dequantize = ir.node(
        "DequantizeLinear", [integer, scale, zero_point], attributes, outputs=[real], name=f"{name}.dequantize",
        metadata_props={**origin},  # its own: marks on one are not on the other
    )  # fmt: skip
    if producer is not None:
        model.graph.insert_after(producer, [quantize, dequantize])
    else:
        model.graph.insert_before(model.graph[0], [quantize, dequantize])
    for other in behind:
        other.replace_input_with(0, real)
    return dequantize


def quantized_constant(
    model: ir.Model, name: str, codes: np.ndarray, scales: np.ndarray, axis: int | None, reader: ir.Node, bits: int = 8
) -> ir.Value:
    """A constant as integers and a DequantizeLinear before its reader; zero points are 0.

    Args:
        model: Takes the new values.
        name: What they are called after.
        codes: int8, int16 or int32.
        scales: One, or one for each entry along `axis`.
        axis: None where there is one scale.
        reader: The node that will read it.
        bits: Of a code of int8: 4 and fewer become INT4, 6 a marked INT8.
    """
    bits = max(bits, 4)
    codes = codes.astype(ELEMENTS[4][0]) if bits == 4 else codes
    integers = add_constant(model, f"{name}.quantized", codes)
    scale = add_constant(model, f"{name}.scale", scales.astype(np.float32))
    zero_point = add_constant(model, f"{name}.zero_point", np.zeros(scales.shape, dtype=codes.dtype))
    real = ir.Value(name=f"{name}.dequantized", shape=ir.Shape(codes.shape), type=ir.TensorType(ir.DataType.FLOAT))
    attributes = {"axis": axis} if axis is not None else {}
    dequantize = ir.node(
        "DequantizeLinear", [integers, scale, zero_point], attributes, outputs=[real], name=f"{name}.dequantize",
        metadata_props={FROM: str(reader.name), **_marked(bits)},
    )  # fmt: skip
    model.graph.insert_before(reader, dequantize)
    return real


def _marked(bits: int) -> dict[str, str]:
    """The mark of codes that have fewer bits than their type in ONNX."""
    return {CODE_BITS: str(bits)} if bits == 6 else {}
