"""Compute a convolution with a large kernel as the sum of convolutions with the kernel's parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.kernel_taps import Taps, by, data_type_of, overstepping, stand_in, taps_of
from metainfer_core.actions.operator_rules import BrokenLaw
from metainfer_core.actions.pieces import Pieces
from metainfer_core.actions.rewiring import node, numbers_of, remove, take_over
from metainfer_core.actions.units import NoUnit, describe, limits_against, unit_for, unknown_unit
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = "A convolution is a sum over the taps of its kernel, so parts of the kernel give parts of the sum."
MOST_PARTS = 16
"""Each part reads the input anew and is added: more cost more than the unit can win back."""


class SplitKernelParams(Value):
    """Parameters of a split_kernel action."""

    kernel: tuple[pydantic.PositiveInt, ...] = pydantic.Field(min_length=1, max_length=3)
    """Extents of the largest part; those at the end of an axis take what is left."""
    parts: int | None = pydantic.Field(default=None, ge=1, le=MOST_PARTS)
    """How many parts there are, without those that would read nothing but padding."""
    target_hw: str | None = None
    """Compute unit whose limit the parts keep."""


@dataclass(frozen=True)
class Part:
    """One part of the kernel and the piece of the input that it reads."""

    taken: tuple[slice, ...]
    """Of the kernel, axis by axis."""
    read: tuple[slice, ...]
    """Of the input, axis by axis: what a negative padding would cut away is left out."""
    taps: Taps
    """Of this part, on that piece."""
    reads_all: bool


class SplitKernel(ActionKind):
    """Computes a convolution whose kernel is too large for its unit as the sum of convolutions with smaller ones."""

    name = "split_kernel"
    obligation = Obligation(relative=1e-5, absolute=1e-5, why="The same products; float32 adds them in another order.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = SplitKernelParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each Conv whose kernel breaks a limit of its unit: the fewest parts that keep it, or why none do."""
        for found in overstepping(model, spec, ("kernel",)):
            yield self._proposal(model, spec, found.unit, found.conv, found.taps, found.broken)

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """With the number of parts, where the action gives their extents alone."""
        conv = next((other for other in model.graph if other.name == action.nodes[0]), None)
        taps = taps_of(conv) if conv is not None else ""
        params = SplitKernelParams.from_plain(action.params)
        if isinstance(taps, str) or params.parts is not None or _misfit(taps, params.kernel) is not None:
            return action
        return action.with_params({"parts": len(_parts(taps, params.kernel))})

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The kernel must be larger than its parts, these not too many, and each within the limits of the unit."""
        reason = _reason_against(spec, node(model, action.nodes[0]), SplitKernelParams.from_plain(action.params))
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Puts the parts and their sum in the place of the convolution."""
        conv = node(model, action.nodes[0])
        taps = taps_of(conv)
        assert isinstance(taps, Taps)
        at, weight = Pieces(model, conv), numbers_of(conv.inputs[1])
        bias = conv.inputs[2] if len(conv.inputs) > 2 else None
        shape = static_shape(conv.outputs[0]) or ()
        total: ir.Value | None = None
        for part in _parts(taps, SplitKernelParams.from_plain(action.params).kernel):
            source = at.source if part.reads_all else _piece(at, part)
            inputs = [source, at.numbers(weight[(slice(None), slice(None), *part.taken)])]
            made = at.conv([*inputs, *([bias] if bias is not None and total is None else [])], shape)
            at.nodes[-1].attributes.update(part.taps.attributes(conv))
            total = made if total is None else at.op("Add", [total, made], shape)
        assert total is not None
        model.graph.insert_after(conv, at.nodes)
        take_over(model, conv.outputs[0], total)
        remove(model, [conv])

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        params = SplitKernelParams.from_plain(action.params)
        return f"Compute {action.nodes[0]} as the sum of convolutions with kernels of at most {by(params.kernel)}."

    def _proposal(
        self, model: ir.Model, spec: HardwareSpec, unit: str, conv: ir.Node, taps: Taps, broken: BrokenLaw
    ) -> Action | Refusal:
        kernel = _largest(spec, unit, conv, taps)
        if kernel is None:
            reason = f"{broken.sentence} No cut of its kernel into at most {MOST_PARTS} parts keeps the limits."
            return Refusal(kind=self.name, nodes=(str(conv.name),), reason=reason)
        action = Action(
            kind=self.name,
            nodes=(str(conv.name),),
            params={"kernel": kernel, "parts": len(_parts(taps, kernel)), "target_hw": unit},
            why=(
                Reason(
                    claim=broken.sentence,
                    spec_field=broken.field,
                    spec_value=describe(spec, broken.field),
                    law=LAW,
                ),
            ),
            constraint=f"{len(_parts(taps, kernel))} kernels of at most {by(kernel)} are within the limits of {unit}.",
            alternatives=(
                Alternative(
                    option=f"{conv.name} in one piece on another unit",
                    reason=f"Its data would leave {unit}, which runs its neighbours.",
                ),
            ),
        )
        return self.refusal(model, spec, action) or action


def _parts(taps: Taps, kernel: Sequence[int]) -> list[Part]:
    """The parts of at most these extents; those that would read padding alone are left out, as they add nothing."""
    axes = [
        [piece for start in range(0, taps.kernel[axis], most) if (piece := _along(taps, axis, start, most)) is not None]
        for axis, most in enumerate(kernel)
    ]
    found = []
    for pieces in product(*axes):
        taken, read = tuple(piece.taken for piece in pieces), tuple(piece.read for piece in pieces)
        part = replace(
            taps,
            size=tuple(place.stop - place.start for place in read),
            kernel=tuple(place.stop - place.start for place in taken),
            begin=tuple(piece.begin for piece in pieces),
            end=tuple(piece.end for piece in pieces),
        )
        found.append(Part(taken, read, part, reads_all=part.size == taps.size))
    return found


@dataclass(frozen=True)
class Piece:
    """A part of the kernel along one axis, and what it reads there."""

    taken: slice
    read: slice
    begin: int
    end: int


def _along(taps: Taps, axis: int, start: int, most: int) -> Piece | None:
    """The taps from `start` on; None if they read nothing but padding."""
    size, step = taps.size[axis], taps.dilations[axis]
    stop = min(start + most, taps.kernel[axis])
    begin = taps.begin[axis] - start * step
    reach = (taps.out[axis] - 1) * taps.strides[axis] + (stop - start - 1) * step + 1
    end = reach - size - begin
    read = slice(max(0, -begin), size - max(0, -end))
    return Piece(slice(start, stop), read, max(0, begin), max(0, end)) if read.start < read.stop else None


def _piece(at: Pieces, part: Part) -> ir.Value:
    """The piece of the input that the part reads."""
    axes = range(2, 2 + len(part.read))
    bounds = [[place.start for place in part.read], [place.stop for place in part.read], list(axes)]
    shape = (*at.shape[:2], *part.taps.size)
    return at.op("Slice", [at.source, *(at.numbers(np.array(edge, np.int64)) for edge in bounds)], shape)


def _largest(spec: HardwareSpec, unit: str, conv: ir.Node, taps: Taps) -> tuple[int, ...] | None:
    """Extents of parts that keep the limits, in as few parts as can be; among equals the most even ones."""
    even = [sorted({math.ceil(extent / count) for count in range(1, MOST_PARTS + 1)}) for extent in taps.kernel]
    options = [(math.prod(map(_count, taps.kernel, kernel)), kernel) for kernel in product(*even)]
    for count, kernel in sorted(options):
        if 1 < count <= MOST_PARTS and _part_against(spec, unit, conv, _parts(taps, kernel)) is None:
            return kernel
    return None


def _count(extent: int, most: int) -> int:
    return math.ceil(extent / most)


def _part_against(spec: HardwareSpec, unit: str, conv: ir.Node, parts: Sequence[Part]) -> str | None:
    """The first limit that a part breaks."""
    made = (stand_in(conv, part.taps) for part in parts)
    return next(filter(None, (limits_against(spec, unit, one, data_type_of(conv)) for one in made)), None)


def _misfit(taps: Taps, kernel: Sequence[int]) -> str | None:
    """Why a kernel cannot be cut into parts of these extents, without the name of its convolution."""
    if len(kernel) != len(taps.kernel):
        return f"has {len(taps.kernel)} spatial axes, and the kernel of the action has {len(kernel)}."
    count = math.prod(map(_count, taps.kernel, kernel))
    if count == 1:
        return f"has a kernel of {by(taps.kernel)}: {by(kernel)} takes all of it."
    if count > MOST_PARTS:
        return f"would be computed in {count} parts; at most {MOST_PARTS} are allowed."
    return None


def _reason_against(spec: HardwareSpec, conv: ir.Node, params: SplitKernelParams) -> str | None:
    taps = taps_of(conv)
    if isinstance(taps, str):
        return taps
    misfit = _misfit(taps, params.kernel)
    if misfit is not None:
        return f"{conv.name} {misfit}"
    parts = _parts(taps, params.kernel)
    if not parts:
        return f"{conv.name} reads nothing but padding."
    if params.parts not in (None, len(parts)):
        return f"The kernel of {conv.name} has {len(parts)} parts of at most {by(params.kernel)}, not {params.parts}."
    unknown = unknown_unit(spec, params.target_hw)
    if unknown is not None or params.target_hw is None:
        return unknown
    for op_type in ("Add",) if all(part.reads_all for part in parts) else ("Add", "Slice"):
        lost = unit_for(spec, op_type, data_type_of(conv), at=params.target_hw, fall_back=False)
        if isinstance(lost, NoUnit):
            return f"The parts would leave {params.target_hw}: {lost.reason}"
    return _part_against(spec, params.target_hw, conv, parts)
