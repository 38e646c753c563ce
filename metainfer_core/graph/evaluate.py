"""Running one node on constants, by the reference evaluator that defines what ONNX operators mean."""

from __future__ import annotations

import math
import warnings

import numpy as np
import onnx
import onnx_ir as ir
from onnx.reference import ReferenceEvaluator

from metainfer_core.graph.shapes import static_shape

FOLD_LIMIT_BYTES = 16 << 20
"""A larger result is folded only if it is no larger than the constants it is made from."""

FOLD_TOTAL_BYTES = 1 << 30
FOLDS_PER_CONSTANT = 8
"""All results of folding together: this much, and so many times the constants that the model came with."""

NOT_FOLDED = frozenset(
    {
        # Random: every run gives other values.
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        # Weights of a quantized model stay integers.
        "DequantizeLinear",
    }
)


def is_foldable(node: ir.Node) -> bool:
    """Whether the node's result is fixed by constants alone."""
    return (
        node.op_type not in NOT_FOLDED
        and all(value is None or value.const_value is not None for value in node.inputs)
        and not any(attribute.type == ir.AttributeType.GRAPH for attribute in node.attributes.values())
    )


class FoldBudget:
    """What folding may still add to a model: constants made of constants could otherwise double without end.

    Args:
        model: The model before anything is folded.
    """

    def __init__(self, model: ir.Model) -> None:
        tensors = [value.const_value for value in model.graph.initializers.values()]
        self._left = FOLD_TOTAL_BYTES + FOLDS_PER_CONSTANT * sum(tensor.nbytes for tensor in tensors if tensor)

    def too_large(self, node: ir.Node) -> int | None:
        """Bytes of the result where folding would bloat the model, else None, and the bytes are taken.

        The node's outputs are inferred already.
        """
        made = math.ceil(sum(math.prod(static_shape(value) or ()) * _item_bytes(value) for value in node.outputs))
        constants = {value for value in node.inputs if value is not None}
        read = sum(value.const_value.nbytes for value in constants if value.const_value is not None)
        if (made > FOLD_LIMIT_BYTES and made > read) or made > self._left:
            return made
        self._left -= made
        return None


def evaluate(node: ir.Node, opset_imports: dict[str, int]) -> list[ir.TensorProtocol] | None:
    """The node's outputs as constants; None where the evaluator cannot run it."""
    inputs = [value for value in node.inputs if value is not None]
    feeds = {value.name or "": value.const_value.numpy() for value in inputs if value.const_value is not None}
    if _divides_by_zero(node):
        return None
    names = [name for value in node.outputs if (name := value.name)]
    graph = onnx.helper.make_graph(
        [ir.serde.serialize_node(node)],
        "one_node",
        [onnx.ValueInfoProto(name=name) for name in feeds],
        [onnx.ValueInfoProto(name=name) for name in names],
    )
    opsets = [onnx.helper.make_opsetid(domain, version) for domain, version in sorted(opset_imports.items())]
    model = onnx.helper.make_model(graph, opset_imports=opsets)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            results = ReferenceEvaluator(model).run(None, feeds)
    except Exception:  # whatever it stumbles over, the node just stays as it is
        return None
    if not all(isinstance(result, np.ndarray | np.generic) for result in results):
        return None
    named = dict(zip(names, results, strict=True))
    return [_tensor(named.get(value.name or ""), value) for value in node.outputs]


def _tensor(result: np.ndarray | None, value: ir.Value) -> ir.TensorProtocol:
    if result is None:  # an output that the node leaves out
        return ir.tensor(np.zeros(0, np.float32), name=value.name)
    array = np.ascontiguousarray(result).reshape(np.shape(result))
    array.flags.writeable = False
    return ir.tensor(array, dtype=value.dtype, name=value.name)


def _divides_by_zero(node: ir.Node) -> bool:
    """Integer division by a constant zero has no result."""
    if node.op_type not in ("Div", "Mod") or node.inputs[1] is None or node.inputs[1].const_value is None:
        return False
    divisor = node.inputs[1].const_value.numpy()
    return bool(np.issubdtype(divisor.dtype, np.integer) and np.any(divisor == 0))


def _item_bytes(value: ir.Value) -> float:
    return value.dtype.itemsize if value.dtype is not None else 0
