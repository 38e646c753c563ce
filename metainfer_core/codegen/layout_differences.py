"""Layouts as they were approved, against those in the built program. It knows no lowering.

Forward: each node of an approved action is computed on tensors that lie so. Backward: no node is computed in another
layout than NCHW without an approved action.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.numerics.layouts import layout_of
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep
from metainfer_core.verify.report import Difference
from metainfer_core.verify.unlaid import TURN, layout_in, plain_name


def not_laid_out(action: Action, built: RealisedGraph) -> Iterator[Difference]:
    """Each node reads and makes tensors in the approved layout, whose forms all lie in one memory."""
    wanted = layout_of(str(action.params["layout"]))
    word = f"in layout {action.params['layout']}"
    tensors = {tensor.name: tensor for tensor in built.tensors}
    for node in action.nodes:
        steps = [step for step in built.steps if node in step.node_ids and _computes(step)]
        if not steps:
            yield Difference(node_id=node, action=action.id, approved=word, realised="no step computes it")
        for step in steps:
            made = [name for name in step.outputs if name]
            other = [name for name in (*step.inputs[:1], *made) if layout_in(name) != wanted]
            if other:
                found = layout_in(other[0])
                got = f"{other[0]} in {found.name if found else 'nchw'}"
                yield Difference(node_id=node, action=action.id, approved=word, realised=got)
            short = [name for name in made if wanted and wanted.block and tensors[name].shape[-1] != wanted.block]
            if short:
                got = f"{short[0]} {list(tensors[short[0]].shape)}"
                yield Difference(node_id=node, action=action.id, approved=word, realised=got)
            for name in made:
                usual = tensors.get(plain_name(name))
                if usual is not None and usual.memory != tensors[name].memory:
                    approved, got = f"{usual.name} in {usual.memory}", f"{name} in {tensors[name].memory}"
                    yield Difference(node_id=node, action=action.id, approved=approved, realised=got)


def unapproved_layouts(actions: Sequence[Action], built: RealisedGraph) -> Iterator[Difference]:
    """No node makes a tensor in another layout than NCHW that no approved action names."""
    approved = {node for action in actions if action.kind == "layout" for node in action.nodes}
    for step in built.steps:
        turned = next((name for name in step.outputs if layout_in(name) is not None), None)
        if turned is not None and _computes(step) and not approved & set(step.node_ids):
            place = step.node_ids[0] if step.node_ids else step.kernel
            yield Difference(node_id=place, approved="in NCHW", realised=f"{step.kernel} makes {turned}")


def _computes(step: RealisedStep) -> bool:
    return not step.kernel.startswith(TURN) and step.kernel != "view" and step.moved is None
