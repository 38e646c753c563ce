"""Bind the dynamic dimensions of an input to numbers: on record, so that people review what was assumed."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.graph.report import PreprocessReport
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "A static memory plan and kernels with constant bounds need every extent as a number."


class BindShapeParams(Value):
    """Parameters of a bind_shape action."""

    shape: tuple[int, ...] = pydantic.Field(min_length=0)
    """Extents of the input, all at least 1."""


class BindShape(ActionKind):
    """Fixes the shape of an input of the model.

    Preprocessing binds the shapes, because all that follows needs them; the action puts the numbers before reviewers,
    and holds the model to them when the policy is applied.
    """

    name = "bind_shape"
    obligation = Obligation(
        relative=0.0, absolute=0.0, why="The same function on inputs of this shape; other shapes are not accepted."
    )
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=False)
    Params = BindShapeParams
    stands_on_inputs = True

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """Nothing on a preprocessed model; a refusal for each input that is still dynamic."""
        for value in model.graph.inputs:
            if value.shape is None or not value.shape.is_static():
                reason = f"The input {value.name} still has open dimensions: preprocess the model with its shape."
                yield Refusal(kind=self.name, nodes=(str(value.name),), reason=reason)

    def bound(self, report: PreprocessReport) -> tuple[Action, ...]:
        """An action for each input whose dynamic dimensions preprocessing bound to numbers."""
        taken_for_granted = tuple(Reason(claim=sentence) for sentence in report.assumptions)
        return tuple(
            Action(
                kind=self.name,
                nodes=(rewrite.node,),
                params={"shape": report.input_shapes[rewrite.node]},
                why=(
                    Reason(claim=f"Input {rewrite.node}: {rewrite.why}", law=LAW),
                    *(reason for reason in taken_for_granted if repr(rewrite.node) in reason.claim),
                ),
                constraint="All buffers have a fixed size, so that nothing is allocated at run time.",
                alternatives=(
                    Alternative(
                        option="a shape chosen at run time", reason="No bound on memory or time could be promised."
                    ),
                ),
            )
            for rewrite in report.of_kind("bind_shape")
        )

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The preprocessed model must have exactly this shape."""
        params = BindShapeParams.from_plain(action.params)
        value = next((value for value in model.graph.inputs if value.name == action.nodes[0]), None)
        reason: str | None = None
        if value is None:
            reason = f"The model has no input {action.nodes[0]}."
        elif min(params.shape, default=1) < 1:
            reason = f"The shape {_shown(params.shape)} has an extent below 1."
        elif value.shape is None or tuple(value.shape) != params.shape:
            has = _shown(tuple(value.shape)) if value.shape is not None else "open"
            reason = (
                f"The model was preprocessed with {action.nodes[0]} as {has}, not {_shown(params.shape)}: "
                "preprocess it again with the new shape."
            )
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Nothing is left to do: preprocessing gave every value its shape, and legality compared them."""

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Fix the shape of the input {action.nodes[0]} to {_shown(action.params['shape'])}."


def _shown(extents: tuple[object, ...]) -> str:
    return f"[{', '.join('?' if extent is None else str(extent) for extent in extents)}]"
