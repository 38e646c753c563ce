"""Place each tensor in a memory of the spec: what is used most, in the fastest memory that has room for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx_ir as ir
import pydantic

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.rewiring import MEMORY, nodes_by_id
from metainfer_core.actions.stored_tensors import Stored, bytes_shared, stored_name, stored_tensors
from metainfer_core.actions.units import describe
from metainfer_core.errors import DoesNotFitError
from metainfer_core.memory.plan import plan
from metainfer_core.memory.problem import Buffer, MemoryProblem
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.default_memory import default_memory
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory, Quantity
from metainfer_core.spec.rates import bytes_per_second
from metainfer_core.values import FrozenMap, Value

LAW = "Bytes that are moved most often belong where moving them costs least."
SPEED = ("tcm", "sram", "psram", "dram")
"""Kinds of memory that hold activations, fastest first where nothing else is known."""
HEADROOM = 0.9
"""Share of a small memory that tensors may take; kernels need scratch space in the rest."""


class PlaceParams(Value):
    """Parameters of a place action."""

    memory: FrozenMap[str] = pydantic.Field(min_length=1)
    """Tensor to memory of the spec."""


class Place(ActionKind):
    """Decides in which memory a node's results lie.

    Tensors go into the fastest memory that all units that touch them can access, those with the most accesses
    first, as long as those alive at the same time fit.
    """

    name = "place"
    obligation = Obligation(relative=0.0, absolute=0.0, why="Where bytes lie changes no result.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = PlaceParams
    stands_on_inputs = True

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each node that makes a tensor, on the model as all other actions left it."""
        tensors = stored_tensors(model)
        usual = default_memory(spec, frozenset(unit for tensor in tensors for unit in tensor.units))
        if len(ranked(spec)) < 2 or ranked(spec)[0] == usual:
            return  # there is nothing to choose between, or all lies in the fastest one unplaced
        homes, refusals = assign(tensors, spec)
        for tensor, reason in refusals:
            yield Refusal(kind=self.name, nodes=(tensor.owner,), reason=reason)
        owners: dict[str, list[Stored]] = {}
        for tensor in tensors:
            if tensor.name in homes:
                owners.setdefault(tensor.owner, []).append(tensor)
        for owner, stored in owners.items():
            yield self._action(spec, owner, stored, homes)

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The memory must exist, hold activations, be reachable, and be large enough for the tensor alone."""
        params = PlaceParams.from_plain(action.params)
        known = {tensor.name: tensor for tensor in stored_tensors(model, owner=action.nodes[0])}
        reason: str | None = None
        for name, memory_name in params.memory.items():
            memory, tensor = spec.memories.get(memory_name), known.get(name)
            if tensor is None:
                reason = f"{action.nodes[0]} stores no tensor {name}."
            elif memory is None:
                has = ", ".join(sorted(spec.memories)) or "none"
                reason = f"The spec has no memory {memory_name} (memories); it has {has}."
            else:
                reason = reason_against(spec, memory_name, memory, tensor)
            if reason:
                return Refusal(kind=self.name, nodes=action.nodes, reason=reason)
        return None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Marks the tensor, its integer form and its views."""
        params = PlaceParams.from_plain(action.params)
        owner = nodes_by_id(model).get(action.nodes[0])
        for value in owner.outputs if owner is not None else model.graph.inputs:
            memory = params.memory.get(stored_name(value))
            for form in bytes_shared(value) if memory is not None else ():
                form.metadata_props[MEMORY] = str(memory)

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        pairs = [f"{tensor} in {memory}" for tensor, memory in action.params["memory"].items()]
        return f"Place {', '.join(pairs)}."

    def _action(self, spec: HardwareSpec, owner: str, stored: Sequence[Stored], homes: dict[str, str]) -> Action:
        first = stored[0]
        memory = homes[first.name]
        field = f"memories.{memory}.size_bytes"
        faster = [name for name in ranked(spec) if name != memory][: ranked(spec).index(memory)]
        rejected = [
            Alternative(option=f"{name}", reason=reason_against(spec, name, spec.memories[name], first) or _full(name))
            for name in faster
        ] or [
            Alternative(option=name, reason=f"{memory} is faster and has room.")
            for name in ranked(spec)
            if name != memory
        ]
        total = sum(tensor.size_bytes for tensor in stored)
        return Action(
            kind=self.name,
            nodes=(owner,),
            params={"memory": {tensor.name: homes[tensor.name] for tensor in stored}},
            why=(
                Reason(
                    claim=f"{first.name} is touched {_often(first.accesses, total)}.",
                    spec_field=field,
                    spec_value=describe(spec, field),
                    law=LAW,
                ),
            ),
            constraint=_constraint(spec, memory, first),
            alternatives=tuple(rejected),
        )


def ranked(spec: HardwareSpec) -> list[str]:
    """Memories that can hold activations, fastest first.

    By kind; but those whose bandwidth is known stand in its order among themselves, since an on-chip memory may be
    narrower than what lies outside.
    """
    fitting = [
        name for name, memory in spec.memories.items() if memory.kind in SPEED and memory.holds != "instructions"
    ]
    found = {name: bytes_per_second(spec, name) for name in fitting}
    rates = {name: rate.nominal for name, rate in found.items() if isinstance(rate, Quantity)}
    by_kind = sorted(fitting, key=lambda name: (SPEED.index(spec.memories[name].kind), -rates.get(name, 0.0), name))
    known = iter(sorted((name for name in by_kind if name in rates), key=lambda name: -rates[name]))
    return [next(known) if name in rates else name for name in by_kind]


def assign(tensors: Sequence[Stored], spec: HardwareSpec) -> tuple[dict[str, str], list[tuple[Stored, str]]]:
    """Tensor to memory, and for each tensor that fits nowhere the reason."""
    homes: dict[str, str] = {}
    for name in ranked(spec):
        memory = spec.memories[name]
        waiting = [
            tensor
            for tensor in tensors
            if tensor.name not in homes and reason_against(spec, name, memory, tensor) is None
        ]
        for tensor in fitting(waiting, name, memory):
            homes[tensor.name] = name
    refused = []
    for tensor in tensors:
        if tensor.name not in homes:
            reasons = [reason_against(spec, name, spec.memories[name], tensor) or _full(name) for name in ranked(spec)]
            refused.append((tensor, " ".join(reasons) or "The spec has no memory for activations (memories)."))
    return homes, refused


def fitting(waiting: Sequence[Stored], name: str, memory: Memory) -> list[Stored]:
    """The tensors with the most accesses that the memory holds at once, whatever is alive together."""
    capacity = _capacity(memory)
    chosen = sorted(waiting, key=lambda tensor: (-tensor.accesses, tensor.start, tensor.name))
    if capacity is None:
        return chosen
    taken: list[Stored] = []
    steps = max((tensor.end for tensor in chosen), default=0)
    alive = [0] * steps
    for tensor in chosen:
        span = range(tensor.start, tensor.end)
        size = _aligned(tensor.size_bytes, memory)
        if all(alive[step] + size <= capacity for step in span):
            taken.append(tensor)
            for step in span:
                alive[step] += size
    while taken and not _has_plan(taken, name, memory, capacity):
        taken.pop()  # the least used one goes
    return taken


def reason_against(spec: HardwareSpec, name: str, memory: Memory, tensor: Stored) -> str | None:
    """Why one tensor cannot lie in one memory, whatever else lies there."""
    if memory.kind not in SPEED:
        return f"{name} is {memory.kind}, which holds no activations (memories.{name}.kind)."
    if memory.holds == "instructions":
        return f"{name} holds instructions, no data (memories.{name}.holds)."
    blind = [unit for unit in tensor.units if memory.accessible_by and unit not in memory.accessible_by]
    if blind:
        return f"{blind[0]} cannot access {name} (memories.{name}.accessible_by)."
    if memory.size_bytes is None:
        if memory.kind == "dram":
            return None
        return f"The size of {name} is not known (memories.{name}.size_bytes)."
    capacity = _capacity(memory) or 0
    if tensor.size_bytes > capacity:
        return (
            f"{tensor.name} has {tensor.size_bytes:,} bytes; {name} offers {capacity:,} for tensors "
            f"(memories.{name}.size_bytes): {tensor.size_bytes - capacity:,} too many."
        )
    return None


def _capacity(memory: Memory) -> int | None:
    if memory.size_bytes is None:
        return None
    return int(max(0, memory.size_bytes.low - memory.reserved_bytes) * HEADROOM)


def _aligned(size: int, memory: Memory) -> int:
    alignment = memory.alignment_bytes or 1
    return -(-size // alignment) * alignment


def _has_plan(taken: Sequence[Stored], name: str, memory: Memory, capacity: int) -> bool:
    buffers = tuple(
        Buffer(
            name=tensor.name,
            size_bytes=tensor.size_bytes,
            start=tensor.start,
            end=tensor.end,
            alignment_bytes=memory.alignment_bytes or 1,
        )
        for tensor in taken
    )
    try:
        plan(MemoryProblem(memory=name, capacity_bytes=capacity, buffers=buffers))
    except DoesNotFitError:
        return False
    return True


def _full(name: str) -> str:
    return f"What is used more often fills {name} at that time."


def _often(times: int, size_bytes: int) -> str:
    return f"once, {size_bytes:,} bytes" if times == 1 else f"{times} times, {size_bytes:,} bytes each time"


def _constraint(spec: HardwareSpec, memory: str, tensor: Stored) -> str:
    reach = spec.memories[memory].accessible_by
    who = f"{', '.join(tensor.units)} can access {memory}" if tensor.units else f"{memory} is reachable"
    return f"{who}{f' (memories.{memory}.accessible_by)' if reach else ''}, and all that is alive at once fits."
