"""Let two Transposes with elementwise nodes between them cancel, or become one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.activations import ACTIVATIONS
from metainfer_core.actions.rewiring import (
    array_of,
    data_of,
    detached,
    mark_origin,
    name_of,
    node,
    only_reader,
    readers,
    remove,
    set_input,
    take_over,
)
from metainfer_core.actions.units import limits_against
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec

ELEMENTWISE = (*ACTIVATIONS, "Abs", "Ceil", "Exp", "Floor", "Identity", "Log", "Neg", "Reciprocal", "Sqrt")
WITH_A_NUMBER = ("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min")
LAW = "what treats every element alike does the same in any order of the axes, and two orders after each other are one"


class CancelTransposes(ActionKind):
    """Moves the elementwise nodes between two Transposes to the axes before them, so that the two cancel or become one.

    Exports from frameworks with channels last are full of such pairs, which move whole activations and compute nothing.
    """

    name = "cancel_transposes"
    obligation = Obligation(relative=0.0, absolute=0.0, why="The same numbers, computed in another order of the axes.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=False)

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """An action for each pair that meets, the later ones as the earlier ones leave them."""
        taken: set[ir.Node] = set()
        for first in model.graph:
            chain = _chain(first)
            if chain is None or taken & set(chain):
                continue
            taken |= set(chain)
            order = _composed(chain)
            result = "nothing is moved" if _is_identity(order) else f"one order is left, {list(order)}"
            between = (
                f", with {', '.join(str(inner.name) for inner in chain[1:-1])} between them" if chain[1:-1] else ""
            )
            action = Action(
                kind=self.name,
                nodes=tuple(str(member.name) for member in chain),
                why=(
                    Reason(claim=f"{first.name} and {chain[-1].name} follow each other{between}: {result}.", law=LAW),
                ),
                constraint="Bytes are not moved only to be moved back.",
                alternatives=(
                    Alternative(
                        option=f"keep {first.name} and {chain[-1].name}",
                        reason=f"{name_of(first.outputs[0])} would be stored and read once more for the same numbers.",
                    ),
                ),
            )
            yield self.refusal(model, spec, action) or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """Plain policies name the first Transpose alone."""
        chain = _chain(node(model, action.nodes[0]))
        return action.with_nodes(tuple(str(member.name) for member in chain)) if chain else action

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Nobody looks at the values between, and the order that is left runs where the last one did."""
        reason = _reason_against(model, spec, action.nodes)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Takes the nodes between to the axes before the first Transpose, and removes what cancels."""
        first, *inner, last = (node(model, name) for name in action.nodes)
        order, source = _composed((first, *inner, last)), data_of(first)
        moved = first.outputs[0]
        for member in inner:
            member.replace_input_with(list(member.inputs).index(moved), source)
            moved, source = member.outputs[0], member.outputs[0]
            source.shape = data_of(first).shape
        if _is_identity(order):
            if inner:
                mark_origin(inner[-1], (inner[-1], first, last))
                take_over(model, last.outputs[0], source)
            else:
                last.outputs[0].replace_all_uses_with(source, replace_graph_outputs=False)
            remove(model, [last])
        else:
            set_input(last, 0, source)
            last.attributes["perm"] = ir.AttrInt64s("perm", list(order))
            mark_origin(last, (last, first))
        if not first.outputs[0].uses():
            remove(model, [first])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Let {action.nodes[0]} and {action.nodes[-1]} cancel or become one."


def _chain(first: ir.Node) -> tuple[ir.Node, ...] | None:
    """A Transpose, elementwise nodes that one node alone reads, and the Transpose that they lead to."""
    if first.op_type != "Transpose" or static_shape(data_of(first)) is None:
        return None
    chain = [first]
    following: Sequence[ir.Node] = [
        reader for reader in readers(first.outputs[0]) if reader.op_type == "Transpose" or _keeps_axes(reader)
    ]
    while len(following) == 1:
        chain.append(following[0])
        if chain[-1].op_type == "Transpose":
            return tuple(chain)
        reader = only_reader(chain[-1].outputs[0])
        following = [reader] if reader is not None and (reader.op_type == "Transpose" or _keeps_axes(reader)) else []
    return None


def _keeps_axes(candidate: ir.Node) -> bool:
    """Whether every element of the result comes from the element at its own place."""
    if len(candidate.outputs) != 1:
        return False
    if candidate.op_type in ELEMENTWISE:
        return all(value is None or _is_number(value) for value in candidate.inputs[1:])
    if candidate.op_type in WITH_A_NUMBER and len(candidate.inputs) == 2:
        return sum(value is not None and _is_number(value) for value in candidate.inputs) == 1
    return False


def _is_number(value: ir.Value) -> bool:
    array = array_of(value)
    return array is not None and array.size == 1 and array.ndim <= 1


def _order(transpose: ir.Node) -> tuple[int, ...]:
    """Which axis of the input each axis of the output is; without `perm` the axes are reversed."""
    rank = len(static_shape(data_of(transpose)) or ())
    return tuple(transpose.attributes.get_ints("perm", tuple(reversed(range(rank)))))


def _composed(chain: Sequence[ir.Node]) -> tuple[int, ...]:
    first, last = _order(chain[0]), _order(chain[-1])
    return tuple(first[axis] for axis in last)


def _is_identity(order: Sequence[int]) -> bool:
    return list(order) == list(range(len(order)))


def _reason_against(model: ir.Model, spec: HardwareSpec, node_ids: tuple[str, ...]) -> str | None:
    first = node(model, node_ids[0])
    chain = _chain(first)
    if chain is None or tuple(member.name for member in chain) != node_ids:
        return f"{first.name} does not lead to {node_ids[-1]} by elementwise nodes that nobody else reads."
    last, order = chain[-1], _composed(chain)
    shared = len(readers(first.outputs[0])) > 1 or first.outputs[0].is_graph_output()
    if _is_identity(order):
        if len(chain) == 2 and last.outputs[0].is_graph_output():
            return (
                f"{last.outputs[0].name} is an output of the model, and so would be the input of {first.name} itself."
            )
        return None
    if shared:
        return f"{first.outputs[0].name} is needed elsewhere too, so as many Transposes would be left."
    trial = detached(last, [first.inputs[0]], {"perm": ir.AttrInt64s("perm", list(order))})
    for unit in spec.compute_units:
        limit = limits_against(spec, unit, trial)
        if limit is not None and limits_against(spec, unit, last) is None:
            return f"{limit} The two apart are run there."
    return None
