"""Views share their input's bytes, element-wise results take over a dead input, and nothing else does."""

from typing import Any

import pytest

from metainfer_core.codegen.storage import Storage, assign_storage
from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.numerics.signatures import signature


def tensor(name: str, count: int = 16, **more: Any) -> Tensor:
    return Tensor(name=name, element_type="float32", shape=(count,), **more)


def step(kernel: str, inputs: str, output: str) -> Step:
    return Step(kernel=kernel, node_ids=(output,), inputs=tuple(inputs.split()), outputs=(output,))


def storages(tensors: list[Tensor], steps: list[Step], outputs: str) -> dict[str, Storage]:
    program = Program(inputs=("x",), outputs=tuple(outputs.split()), tensors=tuple(tensors), steps=tuple(steps))
    return assign_storage(program, "ddr", [signature(one.kernel) for one in steps])


def groups(found: dict[str, Storage]) -> set[tuple[str, ...]]:
    return {tuple(storage.tensors) for storage in found.values()}


def test_an_element_wise_result_takes_over_a_dead_input() -> None:
    found = storages(
        [tensor("x"), tensor("a"), tensor("b")], [step("exp_float32", "x", "a"), step("exp_float32", "a", "b")], "b"
    )
    assert groups(found) == {("x", "a", "b")}
    assert (found["x"].start, found["x"].end) == (0, 3)


def test_an_input_that_is_read_again_is_not_overwritten() -> None:
    steps = [step("exp_float32", "x", "a"), step("add_float32", "x a", "b")]
    found = storages([tensor("x"), tensor("a"), tensor("b")], steps, "b")
    assert groups(found) == {("x", "b"), ("a",)}


def test_an_output_of_the_model_is_not_overwritten() -> None:
    steps = [step("exp_float32", "x", "a"), step("exp_float32", "a", "b")]
    found = storages([tensor("x"), tensor("a"), tensor("b")], steps, "a b")
    assert groups(found) == {("x", "a"), ("b",)}


def test_a_smaller_or_larger_result_gets_a_place_of_its_own() -> None:
    steps = [step("add_float32", "x c", "a")]
    found = storages([tensor("x", 4), tensor("c", 16, constant="sha256:0"), tensor("a", 16)], steps, "a")
    assert groups(found) == {("x",), ("c",), ("a",)}


def test_kernels_that_read_around_an_element_never_work_in_place() -> None:
    found = storages([tensor("x"), tensor("a")], [step("copy_32", "x ", "a")], "a")
    assert groups(found) == {("x",), ("a",)}


def test_a_view_shares_even_while_its_input_lives() -> None:
    steps = [step("view", "x", "v"), step("exp_float32", "v", "a"), step("add_float32", "x a", "b")]
    found = storages([tensor("x"), tensor("v"), tensor("a"), tensor("b")], steps, "b")
    assert groups(found) == {("x", "v", "b"), ("a",)}
    assert found["v"].end == 4


def test_a_reader_of_a_view_keeps_the_other_names_alive() -> None:
    steps = [step("view", "x", "v"), step("exp_float32", "x", "a"), step("add_float32", "v a", "b")]
    found = storages([tensor("x"), tensor("v"), tensor("a"), tensor("b")], steps, "b")
    assert ("x", "v", "b") in groups(found)
    assert found["a"] is not found["x"]


def test_tensors_in_other_memories_do_not_share() -> None:
    steps = [step("view", "x", "v"), step("exp_float32", "v", "a")]
    found = storages([tensor("x"), tensor("v", memory="sram"), tensor("a")], steps, "a")
    assert groups(found) == {("x",), ("v",), ("a",)}
    assert found["v"].memory == "sram"


def test_a_view_without_a_memory_of_its_own_stays_where_its_input_is() -> None:
    found = storages([tensor("x", memory="sram"), tensor("v")], [step("view", "x", "v")], "v")
    assert groups(found) == {("x", "v")}


def test_constants_are_never_overwritten() -> None:
    steps = [step("exp_float32", "c", "a"), step("add_float32", "a x", "b")]
    found = storages([tensor("x"), tensor("c", constant="sha256:0"), tensor("a"), tensor("b")], steps, "b")
    assert found["c"].is_constant
    assert found["a"] is not found["c"]


@pytest.mark.parametrize("memory", ["ddr", "sram"])
def test_a_constant_that_was_placed_is_loaded_and_lives_for_good(memory: str) -> None:
    steps = [step("exp_float32", "c", "a"), step("add_float32", "a x", "b")]
    found = storages(
        [tensor("x"), tensor("c", constant="sha256:0", memory=memory), tensor("a"), tensor("b")], steps, "b"
    )
    assert (found["c"].loaded, found["c"].is_constant, found["c"].memory) == (True, False, memory)
    assert (found["c"].start, found["c"].end) == (0, 3)
    assert found["a"] is not found["c"]


def test_an_input_that_nothing_reads_still_has_a_place() -> None:
    found = storages([tensor("x"), tensor("c", constant="sha256:0"), tensor("a")], [step("exp_float32", "c", "a")], "a")
    assert (found["x"].start, found["x"].end) == (0, 1)
