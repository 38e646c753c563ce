"""Tell the compiler whether the taps of a window mostly lie inside the input, as its shapes say."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Obligation, Refusal, RiskFacts
from metainfer_core.actions.rewiring import node
from metainfer_core.actions.units import unknown_unit
from metainfer_core.actions.written_loops import call_with
from metainfer_core.numerics.lowering.model_reader import LIKELY_INSIDE
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

CODES = {"inside": 1, "padding": 2}


class BranchHintParams(Value):
    """Parameters of a branch hint."""

    likely: Literal["inside", "padding"]
    """Where most taps of the window lie."""
    target_hw: str | None = None
    """Compute unit that runs the node."""


class BranchHint(ActionKind):
    """Says which way the check of a window's taps mostly goes, so that the usual way is the straight one.

    How many taps lie in the padding follows from the shapes. It is never proposed: no spec says whether a processor
    predicts branches. Asked for, it is held against that count.
    """

    name = "branch_hint"
    obligation = Obligation(relative=0.0, absolute=0.0, why="The order of instructions changes no result.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = BranchHintParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """Nothing: what it would gain follows from no value of a spec."""
        yield from ()

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The node's kernel checks its taps, and most of them lie where the hint says."""
        reason = _reason_against(model, spec, action.nodes[0], BranchHintParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the node; lowering gives the hint to its kernel."""
        node(model, action.nodes[0]).metadata_props[LIKELY_INSIDE] = str(CODES[str(action.params["likely"])])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Expect the taps of {action.nodes[0]} to lie mostly in the {_place(str(action.params['likely']))}."


def _place(likely: str) -> str:
    return "input" if likely == "inside" else "padding"


def _reason_against(model: ir.Model, spec: HardwareSpec, name: str, params: BranchHintParams) -> str | None:
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    found = call_with(model, name, "likely_inside", LIKELY_INSIDE)
    if isinstance(found, str):
        return found
    if found.kernel.startswith("conv2d_") and not found.kernel.startswith(("conv2d_rows", "conv2d_blocked")):
        return f"{name} is computed by {found.kernel}, which has no such loop."
    inside, all_taps = taps_inside(found.params)
    agrees = 2 * inside > all_taps if params.likely == "inside" else 2 * inside < all_taps
    if not agrees:
        place = _place(params.likely)
        return f"{inside:,} of {all_taps:,} taps of {name} lie in the input: they are not mostly in the {place}."
    return None


def taps_inside(p: Mapping[str, Any]) -> tuple[int, int]:
    """Taps of all windows of one plane that lie inside the input, and all of them."""
    axes = (("height", "pad_top"), ("width", "pad_left"))
    inside = math.prod(_inside(p, axis, pad) for axis, pad in axes)
    return inside, math.prod(p[f"out_{axis}"] * p[f"kernel_{axis}"] for axis, _ in axes)


def _inside(p: Mapping[str, Any], axis: str, pad: str) -> int:
    return sum(
        0 <= out * p[f"stride_{axis}"] - p[pad] + tap * p[f"dilation_{axis}"] < p[axis]
        for out in range(p[f"out_{axis}"])
        for tap in range(p[f"kernel_{axis}"])
    )
