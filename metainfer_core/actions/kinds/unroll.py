"""Unroll the loop over products of a layer: several of them in each turn, in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Obligation, Refusal, RiskFacts
from metainfer_core.actions.rewiring import node
from metainfer_core.actions.units import unknown_unit
from metainfer_core.actions.written_loops import call_with
from metainfer_core.numerics.lowering.model_reader import UNROLL
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec
from metainfer_core.values import Value

LANES = 4
"""Sums in a vector of 16 bytes, which is what kernels use where the processor has no wider one."""
SUMS = {"conv2d": 12, "gemm": 8}
"""Vectors of sums that a turn of the loop adds to (kernels/conv2d.hpp, gemm.hpp)."""
OPERANDS = {"conv2d": 4, "gemm": 3}
"""Vectors that each product of a turn needs beside them."""
INSTRUCTION_BYTES = 4


class UnrollParams(Value):
    """Parameters of an unroll action."""

    factor: Literal[2, 4, 8]
    """Products in each turn of the loop."""
    target_hw: str | None = None
    """Compute unit that runs the node."""


class Unroll(ActionKind):
    """Writes the loop over a layer's products out, several products in each turn.

    The loop's own counting and branching is done once for all of them; the code is as many times as long. It is never
    proposed: no spec says what a turn of a loop costs. Asked for, it is held against registers and instruction memory.
    """

    name = "unroll"
    obligation = Obligation(relative=0.0, absolute=0.0, why="The same products are added in the same order.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = UnrollParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """Nothing: what it would gain follows from no value of a spec."""
        yield from ()

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The node's kernel has such a loop; a turn fits the unit's registers, the loop its instruction cache."""
        reason = _reason_against(model, spec, action.nodes[0], UnrollParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the node; lowering gives the factor to its kernel."""
        node(model, action.nodes[0]).metadata_props[UNROLL] = str(action.params["factor"])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Compute {action.params['factor']} products of {action.nodes[0]} in each turn of its loop."


def _reason_against(model: ir.Model, spec: HardwareSpec, name: str, params: UnrollParams) -> str | None:
    if (unknown := unknown_unit(spec, params.target_hw)) is not None:
        return unknown
    found = call_with(model, name, "unroll", UNROLL)
    if isinstance(found, str):
        return found
    unit_name = params.target_hw or found.unit
    unit = spec.compute_units.get(unit_name or "")
    return _unit_against(name, str(unit_name), unit, found, params.factor) if unit is not None else None


def _unit_against(name: str, unit_name: str, unit: ComputeUnit, step: Step, factor: int) -> str | None:
    loop = "conv2d" if step.kernel.startswith("conv2d_") and "rows" not in step.kernel else "gemm"
    loop = "gemm" if "blocked" in step.kernel else loop
    vectors = SUMS[loop] + factor * OPERANDS[loop]
    if unit.registers is not None and unit.vector_width_bits is None and vectors * LANES > unit.registers:
        return (
            f"A turn of {factor} products of {name} holds {vectors * LANES} numbers at once; {unit_name} has "
            f"{unit.registers} registers (compute_units.{unit_name}.registers)."
        )
    cache = unit.l1i_cache
    if cache is not None and cache.size_bytes is not None:
        code = factor * (SUMS[loop] + OPERANDS[loop]) * INSTRUCTION_BYTES
        code *= LANES if unit.vector_width_bits is None else 1
        if code > cache.size_bytes.low:
            return (
                f"The loop of {name} would have {code:,} bytes of code (predicted); the instruction cache of "
                f"{unit_name} holds {cache.size_bytes.low:,.0f} (compute_units.{unit_name}.l1i_cache.size_bytes)."
            )
    return None
