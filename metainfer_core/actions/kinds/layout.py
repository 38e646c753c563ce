"""Compute nodes in another layout: channels last (NHWC) or in blocks (NCHWc), so that channels fill the vectors."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.layout_regions import Choice, Region, best_regions, choices
from metainfer_core.actions.rewiring import node
from metainfer_core.actions.units import describe, unknown_unit
from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.layouts import NAMES, NHWC, Layout, is_nchw, layout_of
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.lowering.model_reader import LAYOUT
from metainfer_core.numerics.program import Program
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.numerics.vector_steps import lanes_of
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec
from metainfer_core.values import Value

LAW = "each output is the same sum whatever the order of the axes; lanes that hold no output compute for nothing"
WORTH = 0.9
"""A region is proposed where it takes at most this share of the steps in NCHW."""


class LayoutParams(Value):
    """Parameters of a layout action."""

    layout: str
    """`nhwc`, or `nchw16c` with any block of channels in place of 16."""
    target_hw: str | None = None
    """Compute unit that runs the nodes."""


class LayoutKind(ActionKind):
    """Computes nodes with their channels last (NHWC) or in blocks (NCHWc), so that channels fill the vectors.

    Rows of few pixels leave lanes of a vector idle; channels are many there. Tensors are turned where nodes in another
    layout read or make them, and nowhere between.
    """

    name = "layout"
    obligation = Obligation(relative=0.0, absolute=0.0, why="Each sum has the same products in the same order.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = LayoutParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each unit with vectors the regions that pay, turning included; all of a unit in another layout."""
        if any(LAYOUT in each.metadata_props for each in model.graph):
            return
        try:
            program = lower(model).program
        except UnsupportedError:
            return
        for name, unit in sorted(spec.compute_units.items()):
            bound = _bound(unit)
            if bound is not None:
                layout, stated = bound
                known = choices(model, program, layout, name, lanes_of(unit.vector_width_bits))
                if known:
                    yield self._asked_by(model, spec, name, layout, stated, known)
            elif unit.kind == "cpu" and lanes_of(unit.vector_width_bits) > 1 and not unit.data_layouts:
                yield from self._paying(model, spec, name, program)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The layout is one that the unit works in, with a kernel for each node, whose channels make whole blocks."""
        reason = _reason_against(model, spec, action)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the nodes; lowering chooses their kernels and turns tensors at the border."""
        layout = layout_of(str(action.params["layout"]))
        for name in action.nodes:
            node(model, name).metadata_props[LAYOUT] = layout.name if layout is not None else ""

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        layout = str(action.params["layout"]).upper()
        if len(action.nodes) == 1:
            return f"Compute {action.nodes[0]} in layout {layout}."
        return f"Compute {len(action.nodes)} nodes, {action.nodes[0]} to {action.nodes[-1]}, in layout {layout}."

    def _paying(self, model: ir.Model, spec: HardwareSpec, unit: str, program: Program) -> Iterator[Action | Refusal]:
        field = f"compute_units.{unit}.vector_width_bits"
        lanes = lanes_of(spec.compute_units[unit].vector_width_bits)
        for region in best_regions(program, choices(model, program, NHWC, unit, lanes)):
            if region.after > WORTH * region.before:
                continue
            action = Action(
                kind=self.name,
                nodes=region.nodes,
                params={"layout": NHWC.name, "target_hw": unit},
                why=(
                    Reason(
                        claim=_claim(region, unit, lanes), spec_field=field, spec_value=describe(spec, field), law=LAW
                    ),
                ),
                constraint=f"Vectors of {lanes} sums hold channels, which are many, and not pixels of short rows.",
                alternatives=(
                    Alternative(
                        option="keep NCHW",
                        reason=f"{region.before:,.0f} vector steps in place of {region.after:,.0f} (predicted).",
                    ),
                ),
            )
            yield self.refusal(model, spec, action) or action

    def _asked_by(
        self, model: ir.Model, spec: HardwareSpec, unit: str, layout: Layout, stated: str, known: list[Choice]
    ) -> Action | Refusal:
        field = f"compute_units.{unit}.data_layouts"
        action = Action(
            kind=self.name,
            nodes=tuple(choice.node for choice in known),
            params={"layout": layout.name, "target_hw": unit},
            why=(
                Reason(
                    claim=f"{unit} works in {stated} and not in NCHW ({field}).",
                    spec_field=field,
                    spec_value=describe(spec, field),
                    law=LAW,
                ),
            ),
            constraint=f"What {unit} computes lies in {stated}.",
            alternatives=(
                Alternative(option="keep NCHW", reason=f"{unit} would have to turn each tensor that it reads."),
            ),
        )
        return self.refusal(model, spec, action) or action


def _claim(region: Region, unit: str, lanes: int) -> str:
    count = f"{region.tensors} tensor{'' if region.tensors == 1 else 's'}"
    turned = f"turning {count} at the border among them" if region.turning else "nothing is turned"
    return (
        f"With {lanes} sums a vector, {unit} takes {region.before:,.0f} vector steps for the convolutions of "
        f"{region.nodes[0]} to {region.nodes[-1]} in NCHW and {region.after:,.0f} in NHWC, {turned} (predicted)."
    )


def _bound(unit: ComputeUnit) -> tuple[Layout, str] | None:
    """The first layout that a unit works in which knows no NCHW, with the spec's word for it."""
    if any(is_nchw(name) for name in unit.data_layouts):
        return None
    return next(((layout, name) for name in unit.data_layouts if (layout := layout_of(name)) is not None), None)


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    params = LayoutParams.from_plain(action.params)
    layout = layout_of(params.layout)
    if layout is None:
        return f"There is no layout {params.layout} to change to; there are {NAMES}."
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    if params.target_hw is not None:
        stated = spec.compute_units[params.target_hw].data_layouts
        if stated and layout not in [layout_of(name) for name in stated]:
            return (
                f"{params.target_hw} works in {', '.join(stated)} (compute_units.{params.target_hw}.data_layouts), "
                f"not in {params.layout.upper()}."
            )
    other = next((name for name in action.nodes if LAYOUT in node(model, name).metadata_props), None)
    if other is not None:
        return f"{other} has layout {node(model, other).metadata_props[LAYOUT]} already."
    marked = [node(model, name) for name in action.nodes]
    try:
        for each in marked:
            each.metadata_props[LAYOUT] = layout.name
        program = lower(model).program
    except UnsupportedError as error:
        reason = " ".join(part for part in (error.what, error.why) if part)
    else:
        computed = {name for step in program.steps for name in step.node_ids}
        return next((f"No kernel computes {name} by itself." for name in action.nodes if name not in computed), None)
    finally:
        for each in marked:  # a question, which leaves the model as it was
            each.metadata_props.pop(LAYOUT, None)
    try:
        lower(model)
    except UnsupportedError:
        return None  # it cannot be lowered anyway, which is told elsewhere
    return reason
