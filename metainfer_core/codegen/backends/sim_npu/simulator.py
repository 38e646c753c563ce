"""The functional simulator: runs a compiled plan on its memories, byte for byte, and stops at the first broken law.

It computes with the kernels of `numerics`, so its results are those of generated programs. Before each step it asks
what hardware would not forgive: does a transfer begin where DMA can begin, is it short enough, does all lie inside,
does the unit work in its own memory, and is each byte that is read still the one that was meant.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metainfer_core.codegen.backends.sim_npu.machine import WEIGHTS, Machine, Span
from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.codegen.simulated import Fault, FaultKind, Simulated
from metainfer_core.npu.device import Device, DmaLimits
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.program import Step, bits_of_codes, code_limits, numpy_type
from metainfer_core.numerics.signatures import signature


class Broken(Exception):  # noqa: N818 - named for what happened
    """Ends the run."""

    def __init__(self, kind: FaultKind, reason: str) -> None:
        super().__init__(reason)
        self.kind: FaultKind = kind
        self.reason = reason


def simulate(plan: CompilePlan, weights: bytes, inputs: Mapping[str, np.ndarray]) -> Simulated:
    """Runs the plan once.

    Args:
        plan: As it was compiled; `plan.devices` are the units that DMA feeds.
        weights: The image that was linked into the program.
        inputs: An array for each input of the model.
    """
    machine, run = Machine(plan, weights), _Run(plan)
    for name in plan.program.inputs:
        machine.view(machine.span(name))[:] = np.ascontiguousarray(inputs[name]).reshape(-1).view(np.uint8)
        machine.wrote(machine.span(name), name)
    for index, step in enumerate(plan.program.steps):
        try:
            run.step(machine, index, step)
        except Broken as broken:
            place = step.node_ids[0] if step.node_ids else step.kernel
            return Simulated({}, Fault(kind=broken.kind, step=index, place=place, reason=broken.reason))
    return _results(plan, machine)


def _results(plan: CompilePlan, machine: Machine) -> Simulated:
    outputs = {}
    for name in plan.program.outputs:
        intruder = machine.intruder(machine.span(name), name)
        if intruder is not None:
            reason = f"At the end {intruder} stands where the output {name} should be."
            return Simulated({}, Fault(kind="not_there", step=len(plan.program.steps), place=name, reason=reason))
        tensor = machine.tensors[name]
        dtype = numpy_type(tensor.element_type)
        outputs[name] = machine.view(machine.span(name)).view(dtype).reshape(tensor.shape).copy()
    return Simulated(outputs)


class _Run:
    """One run of a plan."""

    def __init__(self, plan: CompilePlan) -> None:
        self._library = load_library()
        self._devices: dict[str, Device] = {device.unit: device for device in plan.devices}
        self._scratch = {one.step: Span(one.memory, one.offset_bytes, one.size_bytes) for one in plan.scratch}
        self._views = frozenset(plan.views)
        self._alignments = {arena.memory: arena.alignment_bytes for arena in plan.arenas}
        self._alignments[WEIGHTS] = plan.weights_alignment_bytes

    def step(self, machine: Machine, index: int, step: Step) -> None:
        """Checks and runs one step."""
        for name in (*step.inputs, *step.outputs):
            if name:
                self._check_inside(machine, name)
        if index in self._views:
            self._check_there(machine, machine.span(step.inputs[0]), step.inputs[0])
            return
        if step.kernel == TRANSFER:
            self._transfer(machine, step)
        else:
            self._compute(machine, index, step)

    def _compute(self, machine: Machine, index: int, step: Step) -> None:
        device = self._devices.get(step.unit or "")
        for name in (*step.inputs, *step.outputs):
            if device is not None and name and machine.span(name).memory != device.memory:
                raise Broken(
                    "not_local",
                    f"{device.unit} works in {device.memory}; {name} lies in {machine.span(name).memory}.",
                )
        for name in step.inputs:
            if name:
                self._check_there(machine, machine.span(name), name)
        arrays = [machine.view(machine.span(name)) if name else None for name in (*step.inputs, *step.outputs)]
        if any(argument.role == "scratch" for argument in signature(step.kernel).arguments):
            scratch = self._scratch.get(index)
            if scratch is not None:
                if not machine.holds(scratch):
                    raise Broken("outside", f"Its working space ends after {scratch.memory}.")
                machine.wrote(scratch, None)
            arrays.append(machine.view(scratch) if scratch is not None else None)
        self._library.call(step.kernel, step.params, arrays)
        for name in step.outputs:
            if name:
                machine.wrote(machine.span(name), name)
                self._check_codes(machine, name)

    def _transfer(self, machine: Machine, step: Step) -> None:
        device = self._devices.get(step.unit or "")
        limits = device.dma if device is not None else DmaLimits()
        source, target, p = step.inputs[0], step.outputs[0], step.params
        if limits.max_transfer_bytes is not None and p["row_bytes"] > limits.max_transfer_bytes:
            raise Broken(
                "too_long",
                f"A descriptor moves {p['row_bytes']:,} bytes of {source}; the most is "
                f"{limits.max_transfer_bytes:,} (dma.max_transfer_bytes).",
            )
        for row in range(p["rows"]):
            spans = []
            for name, side in ((source, "source"), (target, "target")):
                offset = p[f"{side}_offset"] + row * p[f"{side}_stride"]
                spans.append(self._run_of(machine, name, offset, p["row_bytes"], limits))
            self._check_there(machine, spans[0], source)
            machine.view(spans[1])[:] = machine.view(spans[0])
            machine.wrote(spans[1], target)

    def _run_of(self, machine: Machine, name: str, offset: int, size: int, limits: DmaLimits) -> Span:
        """The bytes that one descriptor touches in one tensor, if it may."""
        whole = machine.span(name)
        if offset < 0 or offset + size > whole.size:
            raise Broken("outside", f"A transfer touches byte {offset + size:,} of {name}, which has {whole.size:,}.")
        if (whole.start + offset) % limits.alignment_bytes:
            raise Broken(
                "unaligned",
                f"A transfer begins at byte {whole.start + offset:,} of {whole.memory}, in {name}; it needs multiples "
                f"of {limits.alignment_bytes} (dma.alignment_bytes).",
            )
        if size % limits.granule_bytes:  # the rest of the granule must be the tensor's own tail
            moved = -(-size // limits.granule_bytes) * limits.granule_bytes
            alignment = self._alignments[whole.memory]
            room = -(-whole.size // alignment) * alignment
            if offset + size < whole.size or offset + moved > room:
                raise Broken(
                    "unaligned",
                    f"A transfer of {size:,} bytes of {name} moves {moved:,}, whole bursts of "
                    f"{limits.granule_bytes}: the rest is not its own.",
                )
        return Span(whole.memory, whole.start + offset, size)

    def _check_inside(self, machine: Machine, name: str) -> None:
        span = machine.span(name)
        if not machine.holds(span):
            raise Broken("outside", f"{name} ends at byte {span.start + span.size:,}, after {span.memory}.")
        if span.start % self._alignments[span.memory]:
            raise Broken(
                "unaligned",
                f"{name} begins at byte {span.start:,} of {span.memory}, no multiple of "
                f"{self._alignments[span.memory]}.",
            )

    def _check_codes(self, machine: Machine, name: str) -> None:
        tensor = machine.tensors[name]
        bits = bits_of_codes(tensor)
        if numpy_type(tensor.element_type) != np.int8 or bits == 8:
            return
        codes, (low, high) = machine.view(machine.span(name)).view(np.int8), code_limits(bits)
        if codes.min() < low or codes.max() > high:
            raise Broken(
                "out_of_range",
                f"It writes codes from {codes.min()} to {codes.max()} into {name}; {bits} bits hold {low} to {high}.",
            )

    def _check_there(self, machine: Machine, span: Span, name: str) -> None:
        intruder = machine.intruder(span, name)
        if intruder is not None:
            raise Broken("not_there", f"It reads {name}, but {intruder} stands there.")
