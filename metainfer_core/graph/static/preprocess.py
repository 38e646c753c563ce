"""Preprocessing: a model with open shapes becomes one in which every shape and everything constant is known.

One walk in execution order. At each node the shapes and constants before it are known, so that the node is folded,
simplified, or given its static output shapes; then what nothing reads is removed. See `report.py` for the record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
import onnx_ir.passes.common as passes

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.edit import Editor
from metainfer_core.graph.evaluate import FoldBudget, evaluate, is_foldable
from metainfer_core.graph.report import PreprocessReport
from metainfer_core.graph.shapes import describe, static_shape
from metainfer_core.graph.static.control_flow import ControlFlow
from metainfer_core.graph.static.gather_to_slice import gather_to_slice
from metainfer_core.graph.static.infer_node import infer_outputs
from metainfer_core.graph.static.inference_form import mask_is_all_true, no_op_reason, to_inference
from metainfer_core.graph.static.input_shapes import bind_input_shapes
from metainfer_core.graph.static.input_values import bind_input_values


@dataclass(frozen=True)
class Preprocessed:
    """A model with static shapes, and how it came to be."""

    model: ir.Model
    report: PreprocessReport


Progress = Callable[[str, int, int], None]


def _silent(step: str, done: int, total: int) -> None:
    """Shows no progress."""


def preprocess(
    model: ir.Model,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    input_values: Mapping[str, np.ndarray] | None = None,
    progress: Progress = _silent,
) -> Preprocessed:
    """A new model that computes the same for inputs of the given shapes; the one given is left alone.

    Args:
        model: An imported model (see `load.py`).
        input_shapes: Shapes by input name, or extents by dimension name; see `input_shapes.py`.
        input_values: Inputs that always have the same value, such as a sample rate; they stop being inputs.
        progress: Called with what is being done, how many nodes are done, and how many there are.

    Raises:
        InputError: Shapes are missing, or do not fit the model.
        UnsupportedError: Control flow that is not known beforehand, or nodes whose shape stays dynamic.
    """
    result = infer(model, input_shapes, input_values, progress)
    _check_static(result.model)
    return result


def infer(
    model: ir.Model,
    input_shapes: Mapping[str, tuple[int, ...]] | None = None,
    input_values: Mapping[str, np.ndarray] | None = None,
    progress: Progress = _silent,
) -> Preprocessed:
    """Like `preprocess`, but a shape that depends on data is left open; `dynamic_nodes` tells where."""
    model = model.clone()
    edit = Editor(model)
    nodes_before = len(model.graph)
    bind_input_values(edit, input_values or {})
    bound, assumptions = bind_input_shapes(model.graph, input_shapes or {})
    edit.rewrites.extend(bound)
    _walk(edit, FoldBudget(model), progress)
    _remove_unused(model, edit)
    shapes = {value.name or "": static_shape(value) or () for value in model.graph.inputs}
    report = PreprocessReport(
        input_shapes=shapes,
        assumptions=tuple(assumptions),
        rewrites=tuple(edit.rewrites),
        nodes_before=nodes_before,
        nodes_after=len(model.graph),
    )
    return Preprocessed(model, report)


def _walk(edit: Editor, budget: FoldBudget, progress: Progress) -> None:
    """Folds, simplifies and infers node after node, in execution order."""
    graph = edit.graph
    for node in graph.all_nodes():
        for value in node.outputs:
            value.type = value.shape = None  # what the file claims need not hold for the bound shapes
    control = ControlFlow(edit, frozenset(name for name in graph.initializers))
    waiting = deque(graph)
    done = 0
    while waiting:
        node = waiting.popleft()
        progress("inferring shapes", done, done + len(waiting) + 1)
        done += 1
        instead = control.fold(node)
        if instead is not None:
            waiting.extendleft(reversed(instead))
            continue
        to_inference(edit, node)
        infer_outputs(node, edit.opset_imports)
        if not (_remove_no_op(edit, node) or _fold(edit, node, budget)):
            gather_to_slice(edit, node)


def _remove_no_op(edit: Editor, node: ir.Node) -> bool:
    """Takes out a node that passes its input on; False if it does not, or makes a model's output of an input."""
    reason = no_op_reason(node)
    if reason is None or node.inputs[0] is None:
        return False
    if node.op_type == "Dropout":
        mask_is_all_true(edit, node)
    if any(value.uses() or value.is_graph_output() for value in node.outputs[1:]):
        return False
    if not edit.can_replace(node.outputs[0], node.inputs[0]):
        return False
    edit.replace(node.outputs[0], node.inputs[0])
    edit.record("remove_no_op", node, reason)
    edit.remove(node)
    return True


def _fold(edit: Editor, node: ir.Node, budget: FoldBudget) -> bool:
    """Replaces a node whose result is known by constants; False if it is not known.

    An output of the model must be made by a node: there an Identity of the constant takes the node's place and id.
    """
    if node.op_type == "Identity" and node.outputs[0].is_graph_output():
        return False
    shape = static_shape(node.inputs[0]) if node.op_type in ("Shape", "Size") and node.inputs[0] is not None else None
    tensors: list[ir.TensorProtocol] | None
    if shape is not None:
        tensors = [_shape_or_size(node, shape)]
        why = f"The shape of its input is known: {list(shape)}."
    elif is_foldable(node):
        size = budget.too_large(node)
        if size is not None:
            edit.record("keep_large", node, f"It is constant, but would add {size:,} bytes to the model.")
            return False
        tensors = evaluate(node, edit.opset_imports)
        why = "All its inputs are constant."
    else:
        return False
    if tensors is None:
        return False
    for value, tensor in zip(node.outputs, tensors, strict=True):
        if value.is_graph_output():
            known = edit.constant(f"{value.name}_constant", tensor)
            passed = ir.node(
                "Identity", [known], name=node.name if value is node.outputs[0] else f"{node.name}_{value.name}"
            )
            passed.outputs[0].name = edit.value_name(f"{value.name}_passed")
            passed.outputs[0].type, passed.outputs[0].shape = known.type, known.shape
            edit.graph.insert_before(node, passed)
            edit.replace(value, passed.outputs[0])
        elif value.uses():
            edit.replace(value, edit.constant(f"{value.name}_folded", tensor), take_name=True)
    edit.record("fold_constant", node, why)
    edit.remove(node)
    return True


def _shape_or_size(node: ir.Node, shape: tuple[int, ...]) -> ir.TensorProtocol:
    """The result of Shape (with its range of axes) or Size."""
    if node.op_type == "Size":
        return ir.tensor(np.array(np.prod(shape, dtype=np.int64), np.int64))
    start, end = node.attributes.get_int("start", 0), node.attributes.get_int("end", len(shape))
    return ir.tensor(np.array(shape, np.int64)[start:end])


def _remove_unused(model: ir.Model, edit: Editor) -> None:
    """Removes nodes, outputs and constants that nothing reads."""
    before = list(model.graph)
    passes.RemoveUnusedNodesPass()(model)
    left = set(model.graph)
    for node in before:
        if node not in left:
            edit.record("remove_unused", node, "Nothing reads its results.")


def dynamic_nodes(model: ir.Model) -> list[ir.Node]:
    """The nodes that make a value whose shape or type is not known, in order."""
    return [node for node in model.graph if not all(_is_known(value) for value in node.outputs)]


def _check_static(model: ir.Model) -> None:
    """Refuses a model in which the shape of a value is still open, and names each node that makes one."""
    dynamic = dynamic_nodes(model)
    if not dynamic:
        return
    roots = [node for node in dynamic if all(value is None or _is_known(value) for value in node.inputs)]
    count = "1 node keeps" if len(dynamic) == 1 else f"{len(dynamic)} nodes keep"
    raise UnsupportedError(
        f"{count} a dynamic shape: {_listed(dynamic)}.",
        f"It begins where the shape depends on data, not on shapes: {_listed(roots)}.",
        "End the model before these nodes and compute them in the program that calls it, or replace them by ones of "
        "fixed result size, such as masks.",
    )


def _is_known(value: ir.Value) -> bool:
    return not value.name or (isinstance(value.type, ir.TensorType) and static_shape(value) is not None)


def _listed(nodes: list[ir.Node]) -> str:
    shown = [f"{node.name} ({node.op_type}, {describe(node.outputs[0])})" for node in nodes[:20]]
    return ", ".join(shown) + (f" and {len(nodes) - 20} more" if len(nodes) > 20 else "")
