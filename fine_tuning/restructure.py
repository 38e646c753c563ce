"""Makes structure changes: the model with another structure, its old weights kept as far as they fit.

Each change starts training from what is nearest to the model before: the strongest channels, the middle of a kernel,
the best depthwise kernel. Inputs and outputs of the model keep their shapes, or the change is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx_ir as ir

from fine_tuning.restructure_blocks import change_heads, change_normalization, spelled_of
from fine_tuning.restructure_channels import fewer_channels, more_channels
from metainfer_core.actions.kernel_taps import Taps, taps_of
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import FROM, add_constant, nodes_by_id, numbers_of, remove, set_input, take_over
from metainfer_core.actions.spelled_operators import as_one
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.shapes import static_shape
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.verify.reference import run_every_tensor
from metainfer_core.verify.samples import Feeds

ValuesOf = Callable[[ir.Model, str], np.ndarray]
"""Values of a tensor of the model on the training data, [samples, ...]."""
SLOPE = 0.01
"""Of a LeakyRelu below zero: the default of ONNX and of the frameworks."""


def restructured(model: ir.Model, changes: Sequence[StructureChange], values_of: ValuesOf, seed: int) -> ir.Model:
    """The model with the changes made, in the order in which its nodes stand; the one given stays as it is.

    Args:
        model: The preprocessed model.
        changes: None of them forbidden.
        values_of: What statistics are taken from, where a change needs some.
        seed: Of weights that are new.

    Raises:
        UnsupportedError: A change cannot be made here.
        InputError: Two changes touch the same node.
    """
    changed = model.clone()
    place = {name: index for index, name in enumerate(nodes_by_id(model))}
    taken: dict[str, str] = {}
    for change in sorted(changes, key=lambda each: (place.get(each.nodes[0], -1), each.id)):
        for name in change.nodes:
            if name in taken:
                raise InputError(
                    f"{change.id} and {taken[name]} both change {name}.",
                    "What is left of one after the other is not what was proposed.",
                    "Make one of them, train, and ask adapt for what else there is.",
                )
            taken[name] = change.id
        if any(name not in nodes_by_id(changed) for name in change.nodes):
            raise InputError(
                f"{change.id} does not fit this model.", "It has no such node.", "Give the model of the policy."
            )
        _MADE[change.change](changed, change, values_of, seed)
    return with_shapes(changed, model)


def tensor_values(model: ir.Model, tensor: str, feeds: Sequence[Feeds]) -> np.ndarray:
    """Values of a tensor or an input of the model, [samples, ...]."""
    found = zip(feeds, run_every_tensor(model, feeds), strict=True)
    return np.stack([given[tensor] if tensor in given else made[tensor] for given, made in found])


def with_shapes(changed: ir.Model, before: ir.Model) -> ir.Model:
    """The changed model with all shapes worked out anew; refuses where an output's shape is another one.

    Raises:
        UnsupportedError: The change would reach an output of the model.
    """
    wanted = {str(value.name): static_shape(value) for value in before.graph.outputs}
    for node in changed.graph:
        node.metadata_props.pop(FROM, None)
        for value in node.outputs:
            value.shape = None
    anew = preprocess(import_model(model_bytes(changed), "the changed model").model).model
    found = {str(value.name): static_shape(value) for value in anew.graph.outputs}
    if found != wanted:
        raise UnsupportedError(
            "The change would give an output of the model another shape.",
            f"Outputs were {wanted}, and would be {found}.",
            "Leave the change out: who reads the outputs would read something else.",
        )
    return anew


def _activation(model: ir.Model, change: StructureChange, values_of: ValuesOf, seed: int) -> None:
    spelled = spelled_of(model, change)
    old = as_one(model, spelled) if spelled is not None else nodes_by_id(model)[change.nodes[0]]
    piece = Pieces(model, old)
    leaky = change.params["to"] == "LeakyRelu"
    result = piece.op("LeakyRelu", [piece.source], alpha=SLOPE) if leaky else piece.op("Relu", [piece.source])
    _in_place_of(model, old, piece, result)


def _kernel(model: ir.Model, change: StructureChange, values_of: ValuesOf, seed: int) -> None:
    """The middle of the kernel, and as much padding less."""
    conv = nodes_by_id(model)[change.nodes[0]]
    taps, less = _taps(conv, change), (int(change.params["from"]) - int(change.params["to"])) // 2
    begin, end = (
        [pad - less * step for pad, step in zip(side, taps.dilations, strict=True)] for side in (taps.begin, taps.end)
    )
    if min(*begin, *end) < 0:
        raise UnsupportedError(
            f"{change.id} cannot be made: {conv.name} has too little padding to be given up.",
            f"It pads by {(*taps.begin, *taps.end)}.",
            "Leave the change out.",
        )
    weight = numbers_of(conv.inputs[1])[:, :, less:-less, less:-less]
    set_input(conv, 1, add_constant(model, f"{conv.name}.smaller", weight))
    conv.attributes["kernel_shape"] = ir.AttrInt64s("kernel_shape", weight.shape[2:])
    conv.attributes["pads"] = ir.AttrInt64s("pads", (*begin, *end))


def _depthwise(model: ir.Model, change: StructureChange, values_of: ValuesOf, seed: int) -> None:
    """For each input channel the kernel that, times one number for each output, is nearest to the old kernels."""
    conv = nodes_by_id(model)[change.nodes[0]]
    taps, weight = _taps(conv, change), numbers_of(conv.inputs[1])
    makes, reads, *kernel = weight.shape
    left, values, right = np.linalg.svd(
        weight.astype(np.float64).transpose(1, 0, 2, 3).reshape(reads, makes, -1), full_matrices=False
    )
    size = np.sqrt(values[:, 0])
    signs = np.where(right[:, 0].sum(axis=-1) < 0, -1.0, 1.0)
    apart = (right[:, 0] * (size * signs)[:, None]).reshape(reads, 1, *kernel).astype(np.float32)
    mixed = (left[:, :, 0] * (size * signs)[:, None]).T.reshape(makes, reads, 1, 1).astype(np.float32)
    at, shape = Pieces(model, conv), static_shape(conv.outputs[0]) or ()
    between = at.conv([at.source, at.numbers(apart)], (shape[0], reads, *taps.out))
    at.nodes[-1].attributes["group"] = ir.AttrInt64("group", reads)
    result = at.op("Conv", [between, at.numbers(np.ascontiguousarray(mixed)), *conv.inputs[2:3]], shape)
    _in_place_of(model, conv, at, result)


def _without_residual(model: ir.Model, change: StructureChange, values_of: ValuesOf, seed: int) -> None:
    """What read the sum reads the branch."""
    add = nodes_by_id(model)[change.nodes[0]]
    branch = next(value for value in add.inputs if value is not None and value.name == change.params["kept"])
    producer = branch.producer()
    assert producer is not None
    if not add.outputs[0].is_graph_output():
        add.outputs[0].replace_all_uses_with(branch)
        remove(model, [add])
        return
    piece = Pieces(model, add)
    _in_place_of(model, add, piece, piece.op("Identity", [branch], static_shape(branch)))


def _with_residual(model: ir.Model, change: StructureChange, values_of: ValuesOf, seed: int) -> None:
    """The layer's input is added to its result."""
    last = nodes_by_id(model)[change.nodes[-1]]
    first = nodes_by_id(model)[change.nodes[0]]
    source, old = first.inputs[0], last.outputs[0]
    uses = [(use.node, use.idx) for use in old.uses()]
    total = ir.Value(name=f"{last.name}.residual.out", shape=old.shape, type=old.type)
    add = ir.node("Add", [old, source], outputs=[total], name=f"{last.name}.residual")
    model.graph.insert_after(last, [add])
    for reader, index in uses:
        reader.replace_input_with(index, total)


def _taps(conv: ir.Node, change: StructureChange) -> Taps:
    taps = taps_of(conv)
    if isinstance(taps, str):
        raise UnsupportedError(f"{change.id} cannot be made.", taps, "Leave the change out.")
    return taps


def _in_place_of(model: ir.Model, old: ir.Node, pieces: Pieces, result: ir.Value) -> None:
    model.graph.insert_after(old, pieces.nodes)
    take_over(model, old.outputs[0], result)
    remove(model, [old])


_MADE: dict[str, Callable[[ir.Model, StructureChange, ValuesOf, int], None]] = {
    "activation": _activation,
    "kernel": _kernel,
    "channels": fewer_channels,
    "more_channels": more_channels,
    "depthwise": _depthwise,
    "normalization": change_normalization,
    "heads": change_heads,
    "remove_residual": _without_residual,
    "add_residual": _with_residual,
}
