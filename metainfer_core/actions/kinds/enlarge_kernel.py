"""Write a convolution's kernel larger, with zeros around and between its taps, where the unit runs only that form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.kernel_taps import Taps, by, data_type_of, overstepping, products, stand_in, taps_of
from metainfer_core.actions.operator_rules import BrokenLaw
from metainfer_core.actions.rewiring import add_constant, node, numbers_of, set_input
from metainfer_core.actions.units import describe, limits_against, unknown_unit
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "A tap with weight zero adds nothing to a sum, so a kernel with zeros around and between its taps is the same."
MOST_GROWTH = 16
"""Times the products of the kernel as it is: beyond it another unit, or the CPU, is the better place."""
MOST_ADDED = 6
"""By how much an axis of the kernel is enlarged at most, beside the gaps of its dilation."""


class EnlargeKernelParams(Value):
    """Parameters of an enlarge_kernel action."""

    kernel: tuple[pydantic.PositiveInt, ...] = pydantic.Field(min_length=1, max_length=3)
    """Extents of the kernel after, without dilation."""
    target_hw: str | None = None
    """Compute unit that runs the larger kernel."""


class EnlargeKernel(ActionKind):
    """Writes a dilated kernel, or one of an extent that the unit lacks, as a larger one with zeros.

    The padding grows with the kernel, so that every product of the convolution stays as it is.
    """

    name = "enlarge_kernel"
    obligation = Obligation(relative=1e-5, absolute=1e-5, why="Only zeros are added; the sum may be taken otherwise.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = EnlargeKernelParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each Conv whose kernel or dilation breaks a limit of its unit: the smallest larger one that keeps it."""
        for found in overstepping(model, spec, ("kernel", "dilation")):
            yield self._proposal(spec, found.unit, found.conv, found.taps, found.broken)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The larger kernel must hold the one that there is, at a bearable cost, and keep the limits of the unit."""
        reason = _reason_against(spec, node(model, action.nodes[0]), EnlargeKernelParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Gives the convolution the larger weight, and pads that fit it."""
        conv = node(model, action.nodes[0])
        taps = taps_of(conv)
        assert isinstance(taps, Taps)
        larger = _larger(taps, EnlargeKernelParams.from_plain(action.params).kernel)
        weight = numbers_of(conv.inputs[1])
        written = np.zeros((*weight.shape[:2], *larger.kernel), weight.dtype)
        places = [
            slice(after - before, after - before + dense, step)
            for after, before, dense, step in zip(larger.begin, taps.begin, taps.dense, taps.dilations, strict=True)
        ]
        written[(slice(None), slice(None), *places)] = weight
        set_input(conv, 1, add_constant(model, f"{conv.name}.enlarged", written))
        conv.attributes.update(larger.attributes(conv))

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = EnlargeKernelParams.from_plain(action.params)
        return f"Write the kernel of {action.nodes[0]} as {by(params.kernel)}, with zeros."

    def _proposal(
        self, spec: HardwareSpec, unit: str, conv: ir.Node, taps: Taps, broken: BrokenLaw
    ) -> Action | Refusal:
        found = _smallest(spec, unit, conv, taps)
        if found is None:
            reason = (
                f"{broken.sentence} No larger kernel with at most {MOST_GROWTH} times the products keeps the limits."
            )
            return Refusal(kind=self.name, nodes=(str(conv.name),), reason=reason)
        return Action(
            kind=self.name,
            nodes=(str(conv.name),),
            params={"kernel": found.kernel, "target_hw": unit},
            why=(
                Reason(
                    claim=broken.sentence,
                    spec_field=broken.field,
                    spec_value=describe(spec, broken.field),
                    law=LAW,
                ),
            ),
            constraint=f"A kernel of {by(found.kernel)} without dilation is within the limits of {unit}.",
            alternatives=(
                Alternative(
                    option=f"{conv.name} as it is on another unit",
                    reason=f"Its data would leave {unit}; here it has {products(found)} products in place of "
                    f"{products(taps)}.",
                ),
            ),
        )


def _larger(taps: Taps, kernel: Sequence[int]) -> Taps:
    """The taps of a kernel of these extents that does the same; what is added goes around, the odd one behind."""
    added = [after - dense for after, dense in zip(kernel, taps.dense, strict=True)]
    return replace(
        taps,
        kernel=tuple(kernel),
        dilations=(1,) * len(added),
        begin=tuple(pad + more // 2 for pad, more in zip(taps.begin, added, strict=True)),
        end=tuple(pad + more - more // 2 for pad, more in zip(taps.end, added, strict=True)),
    )


def _smallest(spec: HardwareSpec, unit: str, conv: ir.Node, taps: Taps) -> Taps | None:
    """The kernel with the fewest products that keeps the limits; among equals the squarest."""
    extents = [range(dense, dense + MOST_ADDED + 1) for dense in taps.dense]
    tried = sorted(product(*extents), key=lambda kernel: (int(np.prod(kernel)), max(kernel), kernel))
    for kernel in tried:
        if kernel != taps.kernel or max(taps.dilations) > 1:
            larger = _larger(taps, kernel)
            if products(larger) > MOST_GROWTH * products(taps):
                return None
            if limits_against(spec, unit, stand_in(conv, larger), data_type_of(conv)) is None:
                return larger
    return None


def _reason_against(spec: HardwareSpec, conv: ir.Node, params: EnlargeKernelParams) -> str | None:
    taps = taps_of(conv)
    if isinstance(taps, str):
        return taps
    if len(params.kernel) != len(taps.kernel):
        return (
            f"{conv.name} has {len(taps.kernel)} spatial axes, and the kernel of the action has {len(params.kernel)}."
        )
    if any(after < dense for after, dense in zip(params.kernel, taps.dense, strict=True)):
        return f"The kernel of {conv.name} reaches over {by(taps.dense)}: {by(params.kernel)} does not hold it."
    if params.kernel == taps.kernel and max(taps.dilations) == 1:
        return f"{conv.name} has a kernel of {by(params.kernel)} already."
    larger = _larger(taps, params.kernel)
    if products(larger) > MOST_GROWTH * products(taps):
        return (
            f"A kernel of {by(params.kernel)} has {products(larger)} products in place of {products(taps)}; "
            f"at most {MOST_GROWTH} times as many are allowed."
        )
    unknown = unknown_unit(spec, params.target_hw)
    if unknown is not None or params.target_hw is None:
        return unknown
    return limits_against(spec, params.target_hw, stand_in(conv, larger), data_type_of(conv))
