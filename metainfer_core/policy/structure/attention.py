"""Attention spelled out in matrix products: where its heads are made, joined and scaled."""

from __future__ import annotations

from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.rewiring import array_of, only_reader, scalar_of
from metainfer_core.graph.shapes import static_shape


@dataclass(frozen=True)
class Attention:
    """One attention: softmax(Q K' scale + mask) V, each of them [batch, heads, tokens, width]."""

    softmax: ir.Node
    splits: tuple[ir.Node, ...]
    """The Reshape that part Q, K and V into heads: [batch, tokens, heads, width]."""
    products: tuple[ir.Node, ir.Node]
    """Q K' and the product with V."""
    scores: tuple[ir.Node, ...]
    """What scales and masks the scores, between the first product and the softmax."""
    scales: tuple[tuple[ir.Node, int], ...]
    """Nodes and the inputs of theirs that are a scale."""
    heads: int
    width: int

    @property
    def nodes(self) -> tuple[ir.Node, ...]:
        """All nodes that the number of heads is seen in, the softmax first."""
        scaled = tuple(node for node, _ in self.scales)
        return tuple(dict.fromkeys((self.softmax, *self.splits, *self.products, *self.scores, *scaled)))


def attention_of(softmax: ir.Node) -> Attention | None:
    """The attention that a Softmax belongs to; None where it is another use of it, or is written in another way."""
    shape = static_shape(softmax.outputs[0])
    axis = softmax.attributes.get_int("axis", -1)
    if softmax.op_type != "Softmax" or shape is None or len(shape) != 4 or axis not in (-1, 3):
        return None
    scores: list[ir.Node] = []
    scales: list[tuple[ir.Node, int]] = []
    product = _up(softmax.inputs[0], scores, scales)
    weighted = only_reader(softmax.outputs[0])
    if product is None or product.op_type != "MatMul" or weighted is None or weighted.op_type != "MatMul":
        return None
    if weighted.inputs[0] is not softmax.outputs[0]:
        return None
    splits = [_split(value, scales) for value in (*product.inputs, weighted.inputs[1])]
    found = [each for each in splits if each is not None]
    widths = {(static_shape(each.outputs[0]) or ())[-2:] for each in found}
    if len(found) != 3 or len(widths) != 1 or not _joins(weighted):
        return None
    ((heads, width),) = widths
    if heads != shape[1]:
        return None
    return Attention(
        softmax, tuple(dict.fromkeys(found)), (product, weighted), tuple(scores), tuple(scales), heads, width
    )


def _up(value: ir.Value | None, passed: list[ir.Node], scales: list[tuple[ir.Node, int]]) -> ir.Node | None:
    """The first node above a value that neither scales nor masks; a mask must be the same for all heads."""
    while value is not None and (node := value.producer()) is not None:
        if node.op_type in ("Mul", "Div") and (place := _scalar(node)) is not None:
            scales.append((node, place))
            passed.append(node)
            value = node.inputs[1 - place]
        elif node.op_type == "Add" and (place := _mask(node)) is not None:
            passed.append(node)
            value = node.inputs[1 - place]
        else:
            return node
    return None


def _scalar(node: ir.Node) -> int | None:
    """The input that is one constant number; a division must be by it."""
    places = [index for index, value in enumerate(node.inputs) if scalar_of(value) is not None]
    return places[0] if len(places) == 1 and (node.op_type == "Mul" or places[0] == 1) else None


def _mask(node: ir.Node) -> int | None:
    """The input of a sum that has one number for all heads."""
    for index, value in enumerate(node.inputs):
        shape = static_shape(value) if value is not None else None
        if shape is not None and (len(shape) < 3 or shape[-3] == 1) and (static_shape(node.outputs[0]) or (1,))[1] > 1:
            return index
    return None


def _split(value: ir.Value | None, scales: list[tuple[ir.Node, int]]) -> ir.Node | None:
    """The Reshape that parts a tensor into heads, above transposes and scales that only this attention reads."""
    while value is not None and (node := value.producer()) is not None and only_reader(value) is not None:
        if node.op_type in ("Mul", "Div") and (place := _scalar(node)) is not None:
            scales.append((node, place))
            value = node.inputs[1 - place]
        elif node.op_type == "Transpose":
            value = node.inputs[0]
        elif node.op_type == "Reshape":
            before, after = (static_shape(each) for each in (node.inputs[0], node.outputs[0]) if each is not None)
            fits = before is not None and after is not None and len(after) == 4 and before[-1] == after[2] * after[3]
            return node if fits and array_of(node.inputs[1]) is not None else None
        else:
            return None
    return None


def _joins(weighted: ir.Node) -> bool:
    """Whether the heads are put side by side again: Transpose and Reshape to [..., heads * width]."""
    transpose = only_reader(weighted.outputs[0])
    join = only_reader(transpose.outputs[0]) if transpose is not None and transpose.op_type == "Transpose" else None
    before, after = static_shape(weighted.outputs[0]), static_shape(join.outputs[0]) if join is not None else None
    return (
        join is not None
        and join.op_type == "Reshape"
        and before is not None
        and after is not None
        and after[-1] == before[1] * before[3]
    )
