"""Changes of blocks: another normalization, attention with another number of heads."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.activations import SpelledOut
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import add_constant, name_of, nodes_by_id, numbers_of, remove, set_input, take_over
from metainfer_core.actions.spelled_operators import as_one, spelled_by
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.shapes import static_shape
from metainfer_core.policy.structure.attention import attention_of
from metainfer_core.policy.structure.change import StructureChange


def change_normalization(
    model: ir.Model, change: StructureChange, values_of: Callable[..., np.ndarray], seed: int
) -> None:
    """Statistics of the training data in place of those of each sample, or the other way round."""
    spelled, norm = spelled_of(model, change), nodes_by_id(model)[change.nodes[0]]
    of_each_sample = change.params["from"] != "BatchNormalization"
    source = spelled.source if spelled is not None else norm.inputs[0]
    seen = values_of(model, name_of(source)).astype(np.float64) if of_each_sample else np.zeros(0)
    if spelled is not None:
        norm = as_one(model, spelled)
    at = Pieces(model, norm)
    scale, bias = (numbers_of(norm.inputs[1]).astype(np.float64), _bias(norm))
    if of_each_sample:
        seen = seen.reshape(-1, seen.shape[-1])
        middle = seen.mean(axis=0) if norm.op_type == "LayerNormalization" else np.zeros(seen.shape[-1])
        power = np.square(seen - middle).mean(axis=0)
        factor = scale / np.sqrt(power + norm.attributes.get_float("epsilon", 1e-5))
        shift = bias - middle * factor
        scaled = at.op("Mul", [at.source, at.numbers(factor.astype(np.float32))])
        result = at.op("Add", [scaled, at.numbers(shift.astype(np.float32))])
    else:
        shape = (-1, *([1] * (len(at.shape) - 2)))
        parts = [at.numbers(part.astype(np.float32).reshape(shape)) for part in (scale, bias)]
        epsilon = norm.attributes.get_float("epsilon", 1e-5)
        result = at.op("LayerNormalization", [at.source, *parts], axis=1, epsilon=epsilon)
    model.graph.insert_after(norm, at.nodes)
    take_over(model, norm.outputs[0], result)
    remove(model, [norm])


def spelled_of(model: ir.Model, change: StructureChange) -> SpelledOut | None:
    """The operator that is to be changed, where the model spells it out in several nodes; None where it is one node.

    Raises:
        UnsupportedError: The nodes are another operator.
    """
    if len(change.nodes) == 1:
        return None
    nodes = nodes_by_id(model)
    spelled = spelled_by(tuple(nodes[name] for name in change.nodes))
    if spelled is None or spelled.op_type != change.params["from"]:
        raise UnsupportedError(
            f"{change.id} cannot be made.",
            f"Its nodes do not compute {change.params['from']} of one tensor.",
            "Give the model of the policy.",
        )
    return spelled


def _bias(norm: ir.Node) -> np.ndarray:
    given = norm.inputs[2] if len(norm.inputs) > 2 else None
    return np.zeros(1) if given is None else numbers_of(given).astype(np.float64)


def change_heads(model: ir.Model, change: StructureChange, values_of: Callable[..., np.ndarray], seed: int) -> None:
    """Q, K and V part into another number of heads; the scale follows the width of a head."""
    attention = attention_of(nodes_by_id(model)[change.nodes[0]])
    heads = int(change.params["to"])
    if attention is None or attention.heads != int(change.params["from"]) or attention.heads * attention.width % heads:
        raise UnsupportedError(
            f"{change.id} cannot be made.", "The attention is written in another way.", "Leave it out."
        )
    width = attention.heads * attention.width // heads
    for split in attention.splits:
        batch, tokens, *_ = static_shape(split.outputs[0]) or ()
        shape = np.array([batch, tokens, heads, width], dtype=np.int64)
        set_input(split, 1, add_constant(model, f"{split.name}.heads", shape))
    for node, place in attention.scales[:1]:
        ratio = math.sqrt(attention.width / width)
        old = numbers_of(node.inputs[place])
        factor = ratio if node.op_type == "Mul" else 1 / ratio
        set_input(node, place, add_constant(model, f"{node.name}.scale", (old * factor).astype(old.dtype)))
