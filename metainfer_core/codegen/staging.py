"""From a lowered program to a plan: staged where the target has units that DMA feeds, then placed in the memories."""

from __future__ import annotations

from metainfer_core.codegen.compile_plan import CompilePlan, compile_plan
from metainfer_core.errors import DoesNotFitError
from metainfer_core.npu.device import devices
from metainfer_core.npu.stage import Asked, stage
from metainfer_core.numerics.lower import Lowered
from metainfer_core.spec.hardware_spec import HardwareSpec

RESIDENT_SHARES = (1.0, 0.8, 0.5, 0.0)
"""Of a local memory, for tensors that no action placed; the first share that the planner has room for is taken."""


def staged_plan(lowered: Lowered, spec: HardwareSpec, asked: Asked, everywhere: bool) -> tuple[Lowered, CompilePlan]:
    """The program as it will run, and where everything in it lies.

    Args:
        lowered: The program as it was lowered.
        spec: The hardware.
        asked: What approved actions ask of staging.
        everywhere: The target feeds every unit that has a local memory by DMA; else only steps that an action asks
            about are staged.

    Raises:
        UnsupportedError: an approved tile or early transfer cannot be done.
        DoesNotFitError: a memory of the spec is too small.
    """
    fed = tuple(devices(spec).values()) if everywhere or asked.tiles or asked.ahead else ()
    if not fed and not (asked.tiles or asked.ahead):
        return lowered, compile_plan(lowered, spec)
    shares = RESIDENT_SHARES if everywhere else RESIDENT_SHARES[-1:]
    for share in shares[:-1]:
        staged = stage(lowered, spec, asked, everywhere, share)
        try:
            return staged, compile_plan(staged, spec, fed)
        except DoesNotFitError:
            continue  # the planner needs more room than the sum of what is alive; fewer tensors stay
    staged = stage(lowered, spec, asked, everywhere, shares[-1])
    return staged, compile_plan(staged, spec, fed)


def as_asked(lowered: Lowered, spec: HardwareSpec, asked: Asked) -> Lowered:
    """The program with the tiles and early transfers that actions ask for, on a target that stages nothing else."""
    if not (asked.tiles or asked.ahead):
        return lowered
    return stage(lowered, spec, asked, False, RESIDENT_SHARES[-1])
