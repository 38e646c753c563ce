"""Is what was built legal on this spec? A plain checker: it knows no planner, no action and no lowering.

Each law is one function; its docstring is the sentence that a person reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value
from metainfer_core.verify.check_transfers import TRANSFER_LAWS
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor


class Violation(Value):
    """One law of the hardware that the built program breaks."""

    law: str
    place: str
    reason: str


CONVERSIONS = ("QuantizeLinear", "DequantizeLinear")
"""Writing numbers in another way, where integer and float steps meet: part of each unit that has integers."""

LOW = ("int4", "int6", "int8", "uint8", "int16", "float16", "bfloat16")
"""Element types below float32."""

Law = Callable[[RealisedGraph, HardwareSpec, Mapping[str, str]], Iterator[tuple[str, str]]]


def check_legal(realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]) -> tuple[Violation, ...]:
    """Every violation of `spec` by the built program.

    Args:
        realised: Read back from the built binary.
        spec: The hardware.
        op_types: Node id to ONNX operator type, of the adapted model.
    """
    return tuple(
        Violation(law=str(law.__doc__).splitlines()[0], place=place, reason=reason)
        for law in LAWS
        for place, reason in law(realised, spec, op_types)
    )


def unit_exists(realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Every step runs on a compute unit that the spec has."""
    for step in realised.steps:
        if step.unit not in spec.compute_units:
            yield _name(step), f"The unit is {step.unit}; the spec has {', '.join(spec.compute_units)}."


def unit_runs_operator(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A unit runs only the operators that its table allows."""
    # to and from 16-bit floats is part of each unit that has them, and so is what lays out the result
    between_floats = {
        node_id for step in realised.steps if step.kernel.startswith(("narrow", "widen")) for node_id in step.node_ids
    }
    for step in realised.steps:
        unit = spec.compute_units.get(step.unit or "")
        if step.moved is not None:
            continue  # DMA runs no operator
        for node_id in step.node_ids if unit else ():
            op_type = op_types.get(node_id)
            if node_id in between_floats:
                continue
            if unit and op_type not in (None, *CONVERSIONS) and not unit.operators.runs(str(op_type)):
                yield node_id, f"{step.unit} does not run {op_type} (compute_units.{step.unit}.operators)."


def unit_has_data_type(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A unit computes only in its data types."""
    tensors = _by_name(realised)
    for step in realised.steps:
        unit = spec.compute_units.get(step.unit or "")
        if unit is None or unit.kind == "cpu" or not unit.data_types:
            continue  # a CPU's scalar instructions hold every type
        for name in (*step.inputs, *step.outputs):
            tensor = tensors.get(name)
            if tensor is None or tensor.is_constant or tensor.element_type in ("int32", "int64", "bool"):
                continue
            if tensor.element_type not in _computable(unit.data_types):
                yield _name(step), f"{name} is {tensor.element_type}; {step.unit} has {', '.join(unit.data_types)}."


def weight_granularity_allowed(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Weights are scaled only as finely as the unit can."""
    tensors = _by_name(realised)
    for step in realised.steps:
        unit = spec.compute_units.get(step.unit or "")
        if unit is None or not unit.weight_granularity:
            continue
        for name in step.inputs:
            granularity = tensors[name].granularity if name in tensors and tensors[name].is_constant else None
            if granularity is not None and granularity not in unit.weight_granularity:
                yield (
                    _name(step),
                    f"{name} is scaled by {granularity}; {step.unit} scales by {unit.weight_granularity[0]}.",
                )


def sensitive_layers_stay_float(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The precision of a layer that the spec calls sensitive is not lowered."""
    tensors = _by_name(realised)
    for step in realised.steps:
        for node_id in set(step.node_ids) & set(spec.sensitive_layers):
            low = [name for name in step.outputs if name in tensors and tensors[name].element_type in LOW]
            if low:
                yield node_id, f"{low[0]} is {tensors[low[0]].element_type} (sensitive_layers)."


def arena_is_a_memory_that_fits(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """An arena lies in a memory of the spec and is not larger than it, less what is reserved."""
    for name, arena in realised.arenas.items():
        memory = spec.memories.get(name)
        if memory is None:
            yield name, f"The spec has no memory {name}; it has {', '.join(spec.memories)}."
        elif memory.size_bytes is not None and arena.size_bytes > memory.size_bytes.low - memory.reserved_bytes:
            free = int(memory.size_bytes.low) - memory.reserved_bytes
            yield name, f"It takes {arena.size_bytes:,} bytes; {free:,} are free (memories.{name}.size_bytes)."


def unit_reaches_memory(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A unit works only in memories that it can access."""
    tensors = _by_name(realised)
    for step in realised.steps:
        for name in (*step.inputs, *step.outputs, *step.scratch):
            memory = spec.memories.get(tensors[name].memory or "") if name in tensors else None
            if memory is not None and memory.accessible_by and step.unit not in memory.accessible_by:
                yield _name(step), f"{name} lies in {tensors[name].memory}, which {step.unit} cannot access."


def tensor_is_aligned_and_inside(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """A tensor starts on the memory's alignment and ends inside its arena."""
    for tensor in realised.tensors:
        if tensor.memory is None or tensor.offset_bytes is None:
            continue
        arena, memory = realised.arenas.get(tensor.memory), spec.memories.get(tensor.memory)
        if arena is None:
            yield tensor.name, f"It lies in {tensor.memory}, for which the program has no arena."
            continue
        alignment = (memory.alignment_bytes if memory else None) or 1
        if tensor.offset_bytes % alignment or arena.alignment_bytes % alignment:
            yield tensor.name, f"It starts at {tensor.offset_bytes}; {tensor.memory} needs multiples of {alignment}."
        if tensor.offset_bytes < 0 or tensor.offset_bytes + tensor.size_bytes > arena.size_bytes:
            end = tensor.offset_bytes + tensor.size_bytes
            yield tensor.name, f"It ends at byte {end:,} of an arena of {arena.size_bytes:,} bytes."


def live_tensors_do_not_overlap(
    realised: RealisedGraph, spec: HardwareSpec, op_types: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Two tensors that are alive at the same time share no byte.

    An output may take over the place of an input that dies in the same step, from the same first byte: the kernels
    that allow this read each element before they write it. A view is the same bytes under another shape.
    """
    storage = _storage(realised)
    alive = _live_steps(realised, storage)
    placed = [tensor for tensor in realised.tensors if tensor.memory and storage.get(tensor.name, tensor.name) in alive]
    for index, one in enumerate(placed):
        for other in placed[index + 1 :]:
            owner, other_owner = storage.get(one.name, one.name), storage.get(other.name, other.name)
            if one.memory != other.memory or not _share_bytes(one, other):
                continue
            if owner == other_owner and one.offset_bytes == other.offset_bytes:
                continue
            hands_over = one.offset_bytes == other.offset_bytes
            if owner == other_owner or _share_time(alive[owner], alive[other_owner], hands_over):
                yield one.name, f"It shares bytes of {one.memory} with {other.name} while both are alive."


LAWS: tuple[Law, ...] = (
    unit_exists,
    unit_runs_operator,
    unit_has_data_type,
    weight_granularity_allowed,
    sensitive_layers_stay_float,
    arena_is_a_memory_that_fits,
    unit_reaches_memory,
    tensor_is_aligned_and_inside,
    live_tensors_do_not_overlap,
    *TRANSFER_LAWS,
)


def _name(step: RealisedStep) -> str:
    return step.node_ids[0] if step.node_ids else f"{step.kernel} -> {step.outputs[0]}"


def _by_name(realised: RealisedGraph) -> dict[str, RealisedTensor]:
    return {tensor.name: tensor for tensor in realised.tensors}


def _computable(data_types: tuple[str, ...]) -> set[str]:
    # float32 carries float16 and bfloat16 results between steps; uint8 and int8 differ by their zero point only.
    wider = {"float16": {"float32"}, "bfloat16": {"float32"}, "int8": {"uint8"}, "uint8": {"int8"}}
    return set(data_types).union(*(wider.get(name, set()) for name in data_types))


def _storage(realised: RealisedGraph) -> dict[str, str]:
    """Tensor to the tensor whose bytes it is a view of."""
    owner: dict[str, str] = {}
    for step in realised.steps:
        if step.kernel == "view":
            owner[step.outputs[0]] = owner.get(step.inputs[0], step.inputs[0])
    return owner


def _live_steps(realised: RealisedGraph, storage: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """First and last step of each storage, both inclusive; graph inputs start before, outputs end after all steps."""
    alive: dict[str, tuple[int, int]] = {}

    def use(name: str, step: int) -> None:
        name = storage.get(name, name)
        first, last = alive.get(name, (step, step))
        alive[name] = (min(first, step), max(last, step))

    for name in realised.inputs:
        use(name, -1)
    for index, step in enumerate(realised.steps):
        for name in (*step.inputs, *step.outputs, *step.scratch):
            if name:
                use(name, index)
    for name in realised.outputs:
        use(name, len(realised.steps))
    return alive


def _share_bytes(one: RealisedTensor, other: RealisedTensor) -> bool:
    starts = (one.offset_bytes or 0, other.offset_bytes or 0)
    return starts[0] < starts[1] + other.size_bytes and starts[1] < starts[0] + one.size_bytes


def _share_time(one: tuple[int, int], other: tuple[int, int], hands_over: bool) -> bool:
    (first, last), (other_first, other_last) = one, other
    if hands_over and (last == other_first or other_last == first):
        return False
    return first <= other_last and other_first <= last
