"""Every tensor gets an address that the independent checker accepts, and caps are caps."""

from typing import Any

import pytest

from metainfer_core.codegen.compile_plan import CompilePlan, compile_plan, weights_image
from metainfer_core.errors import DoesNotFitError
from metainfer_core.memory.check_plan import check_plan
from metainfer_core.numerics.lower import Lowered
from metainfer_core.spec.hardware_spec import HardwareSpec


def with_memories(spec: HardwareSpec, **memories: Any) -> HardwareSpec:
    plain = spec.plain()
    for name, fields in memories.items():
        plain["memories"][name.replace("_", " ").replace("on chip", "on-chip")] |= fields
    return HardwareSpec.from_plain(plain)


def test_arenas_are_the_memories_that_tensors_were_placed_in(small: Lowered, chip: HardwareSpec) -> None:
    plan = compile_plan(small, chip)
    assert [arena.memory for arena in plan.arenas] == ["ddr", "on-chip sram"]
    assert [arena.alignment_bytes for arena in plan.arenas] == [64, 32]
    assert all(check_plan(arena.problem, arena.plan) == () for arena in plan.arenas)
    # conv and sqrt share 2048 bytes of on-chip memory with the view; the constant of 4096 bytes is loaded beside them
    assert plan.arenas[1].plan.peak_bytes == plan.arenas[1].plan.lower_bound_bytes == 2048 + 4096
    assert plan.views == (2,)


def test_locations_tell_arena_and_weights_apart(small: Lowered, chip: HardwareSpec) -> None:
    found = {location.tensor: location for location in compile_plan(small, chip).locations}
    assert (found["weights"].memory, found["weights"].offset_bytes) == (None, None)
    assert found["weights"].weights_offset_bytes == 0
    assert found["shift"].memory == "on-chip sram"
    assert found["shift"].weights_offset_bytes == 864 + 32 + 64  # weights, bias, each up to 64 bytes
    assert found["flat"].memory == "on-chip sram"
    assert found["flat"].offset_bytes == found["root"].offset_bytes
    assert found["y"].offset_bytes == found["twice"].offset_bytes


def test_the_weights_hold_every_constant_once_and_aligned(small: Lowered, chip: HardwareSpec) -> None:
    plan = compile_plan(small, chip)
    image = weights_image(plan, small.constants)
    assert len(image) == plan.weights_bytes == 896 + 64 + 4096
    for location in plan.locations:
        tensor = plan.program.tensor(location.tensor)
        if tensor.constant is not None:
            at = location.weights_offset_bytes
            assert at is not None
            assert at % 64 == 0
            assert image[at : at + tensor.size_bytes] == small.constants[tensor.constant]


def test_a_plan_survives_json(small: Lowered, chip: HardwareSpec) -> None:
    plan = compile_plan(small, chip)
    assert CompilePlan.from_json(plan.to_json()) == plan


def test_where_working_space_wants_more_than_the_memory_all_tensors_are_aligned_to_it(
    small: Lowered, chip: HardwareSpec
) -> None:
    plan = compile_plan(small, with_memories(chip, ddr={"alignment_bytes": 16}))
    (arena,) = [arena for arena in plan.arenas if arena.memory == "ddr"]
    assert any("scratch" in buffer.name for buffer in arena.problem.buffers)
    assert arena.alignment_bytes == 64
    assert all(placement.offset_bytes % 64 == 0 for placement in arena.plan.placements)  # as the program asserts
    assert {buffer.alignment_bytes for buffer in arena.problem.buffers} == {64}


def test_a_memory_that_is_too_small_says_by_how_much(small: Lowered, chip: HardwareSpec) -> None:
    tight = with_memories(chip, on_chip_sram={"size_bytes": 6144 + 63, "reserved_bytes": 64})
    with pytest.raises(DoesNotFitError) as caught:
        compile_plan(small, tight)
    assert (caught.value.needed, caught.value.available) == (6144, 6143)


def test_of_a_size_that_is_a_range_the_least_counts_and_the_refusal_says_so(small: Lowered, chip: HardwareSpec) -> None:
    for argument, memory in (("on_chip_sram", "on-chip sram"), ("ddr", "ddr")):
        with pytest.raises(DoesNotFitError) as caught:
            compile_plan(small, with_memories(chip, **{argument: {"size_bytes": {"min": 4096, "max": 65536}}}))
        field = f"memories.{memory}.size_bytes"
        told = f" Of 4,096 to 65,536 bytes the least counts: write the size that is built into {field}."
        assert caught.value.fix.endswith(told)
    reserved = with_memories(chip, ddr={"size_bytes": {"min": 4096, "max": 65536}, "reserved_bytes": 8192})
    with pytest.raises(DoesNotFitError) as caught:
        compile_plan(small, reserved)
    assert caught.value.available == 0
    told = " Of 4,096 to 65,536 bytes the least counts, and 8,192 are reserved (memories.ddr.reserved_bytes): write "
    assert told in caught.value.fix
    with pytest.raises(DoesNotFitError) as caught:
        compile_plan(small, with_memories(chip, on_chip_sram={"size_bytes": 4096}))
    assert "the least counts" not in caught.value.fix


def test_the_weights_count_where_they_are_stored(small: Lowered, chip: HardwareSpec) -> None:
    arena = next(arena for arena in compile_plan(small, chip).arenas if arena.memory == "ddr").plan.peak_bytes
    weights = compile_plan(small, chip).weights_bytes
    compile_plan(small, with_memories(chip, ddr={"size_bytes": arena + weights}))
    told = rf"'ddr' \(memories.ddr.size_bytes less reserved_bytes and {weights:,} bytes of weights\) is too small"
    with pytest.raises(DoesNotFitError, match=told):
        compile_plan(small, with_memories(chip, ddr={"size_bytes": arena + weights - 1}))
    with pytest.raises(DoesNotFitError, match="which stores the weights, is too small"):
        compile_plan(small, with_memories(chip, ddr={"size_bytes": weights - 1}))


def test_weights_in_flash_leave_the_main_memory_alone(small: Lowered, chip: HardwareSpec) -> None:
    plain = chip.plain()
    plain["memories"]["flash"] = {"kind": "flash", "size_bytes": 1 << 20}
    plan = compile_plan(small, HardwareSpec.from_plain(plain))
    assert plan.weights_memory == "flash"
    assert plan.arenas[0].problem.capacity_bytes == 1 << 30
