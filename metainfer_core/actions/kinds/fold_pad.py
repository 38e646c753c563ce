"""Fold a Pad into the convolutions that read it: Pad, Conv -> Conv with larger pads."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.rewiring import (
    array_of,
    data_of,
    detached,
    mark_origin,
    name_of,
    node,
    readers,
    remove,
    set_input,
)
from metainfer_core.actions.units import limits_against
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec

LAW = "a Conv takes numbers beyond the edge of its input as 0, as many as its attribute pads says (ONNX operator Conv)"


class FoldPad(ActionKind):
    """Folds a Pad with zeros into the Conv nodes that read it.

    The padded copy of the activation is neither stored nor read; the same outputs, bit for bit.
    """

    name = "fold_pad"
    obligation = Obligation(relative=0.0, absolute=0.0, why="The same zeros are multiplied by the same weights.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=False)

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """An action for each Pad that a Conv reads, or why it cannot be folded."""
        for pad in model.graph:
            if pad.op_type != "Pad" or not any(reader.op_type == "Conv" for reader in readers(pad.outputs[0])):
                continue
            convs = readers(pad.outputs[0])
            names = ", ".join(str(conv.name) for conv in convs)
            action = Action(
                kind=self.name,
                nodes=(str(pad.name), *(str(conv.name) for conv in convs)),
                why=(
                    Reason(claim=f"{pad.name} adds zeros around each channel, and {names} alone reads them.", law=LAW),
                ),
                constraint="No unit of the spec has to run Pad here.",
                alternatives=(
                    Alternative(
                        option=f"keep {pad.name} as an operator",
                        reason=f"{name_of(pad.outputs[0])} would be stored and read once more, with one more launch.",
                    ),
                ),
            )
            yield self.refusal(model, spec, action) or action

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """Plain policies name the Pad alone."""
        pad = node(model, action.nodes[0])
        return action.with_nodes((action.nodes[0], *(str(reader.name) for reader in readers(pad.outputs[0]))))

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Zeros only, around height and width only, and nobody but Conv nodes looks at the padded value."""
        reason = _reason_against(model, spec, action.nodes)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Lets each Conv read the value before the Pad, and adds the pads to its own."""
        pad = node(model, action.nodes[0])
        added = _spatial_pads(pad)
        for conv in readers(pad.outputs[0]):
            conv.attributes["pads"] = _wider_pads(conv, added)
            set_input(conv, 0, pad.inputs[0])
            mark_origin(conv, (conv, pad))
        remove(model, [pad])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Fold {action.nodes[0]} into the pads of {', '.join(action.nodes[1:])}."


def _reason_against(model: ir.Model, spec: HardwareSpec, node_ids: tuple[str, ...]) -> str | None:
    pad = node(model, node_ids[0])
    if pad.op_type != "Pad":
        return f"{pad.name} is {pad.op_type}: only a Pad is folded."
    output, shape = pad.outputs[0], static_shape(data_of(pad))
    if output.is_graph_output():
        return f"{output.name} is an output of the model, so it must be stored."
    for reader in readers(output):
        if reader.op_type != "Conv" or reader.inputs[0] is not output or list(reader.inputs).count(output) > 1:
            return (
                f"{reader.name} ({reader.op_type}) also reads {output.name}, which it needs with the zeros around it."
            )
    if pad.attributes.get_string("mode", "constant") != "constant":
        return f"{pad.name} repeats values of its input; the pads of a Conv are zeros."
    amounts = array_of(pad.inputs[1])
    if amounts is None or (len(pad.inputs) > 3 and pad.inputs[3] is not None and array_of(pad.inputs[3]) is None):
        return f"The amounts of {pad.name} are not constants."
    filled = array_of(pad.inputs[2]) if len(pad.inputs) > 2 and pad.inputs[2] is not None else np.zeros(())
    if filled is None or bool(np.any(filled != 0)):
        return f"{pad.name} adds other numbers than 0; the pads of a Conv are zeros."
    if shape is None:
        return f"The shapes of {pad.name} are not fixed."
    every = _amounts(pad, len(shape))
    if np.any(every[:, :2]) or np.any(every < 0):
        return f"{pad.name} pads other axes than height and width, or cuts."
    for conv in readers(output):
        if conv.attributes.get_string("auto_pad", "NOTSET") != "NOTSET":
            return f"{conv.name} derives its pads from its input (auto_pad), which would be another one."
        attributes = {**conv.attributes, "pads": _wider_pads(conv, _spatial_pads(pad))}
        trial = detached(conv, [pad.inputs[0], *conv.inputs[1:]], attributes)
        for unit in spec.compute_units:
            limit = limits_against(spec, unit, trial)
            if limit is not None and limits_against(spec, unit, conv) is None:
                return f"{limit} Now {pad.name} keeps it within that."
    return None


def _wider_pads(conv: ir.Node, added: list[int]) -> ir.Attr:
    own = conv.attributes.get_ints("pads", [0] * len(added))
    return ir.AttrInt64s("pads", [mine + more for mine, more in zip(own, added, strict=True)])


def _amounts(pad: ir.Node, rank: int) -> np.ndarray:
    """Added elements: [2 sides, rank axes]."""
    given = np.asarray(array_of(pad.inputs[1])).reshape(2, -1)
    chosen = array_of(pad.inputs[3]) if len(pad.inputs) > 3 and pad.inputs[3] is not None else np.arange(rank)
    every = np.zeros((2, rank), dtype=np.int64)
    every[:, np.asarray(chosen) % rank] = given
    return every


def _spatial_pads(pad: ir.Node) -> list[int]:
    """In the order of a Conv's attribute: begins of all spatial axes, then ends."""
    shape = static_shape(data_of(pad)) or ()
    return [int(amount) for side in _amounts(pad, len(shape))[:, 2:] for amount in side]
