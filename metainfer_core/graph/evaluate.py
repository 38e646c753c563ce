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


def too_large(node: ir.Node) -> int | None:
    """Bytes of the result where folding would bloat the model, else None. The node's outputs are inferred already."""
    made = sum(math.prod(static_shape(value) or ()) * _item_bytes(value) for value in node.outputs)
    read = sum(value.const_value.nbytes for value in node.inputs if value is not None and value.const_value is not None)
    return math.ceil(made) if made > FOLD_LIMIT_BYTES and made > read else None


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
