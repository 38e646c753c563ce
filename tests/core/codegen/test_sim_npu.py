"""The simulated NPU: the bits of the program before it was staged, and planted mistakes that three judges catch.

The judges know nothing of one another: the simulator that runs the plan, the assertions in the generated program, and
the checker of legality on what was read back from a built binary.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from npu_bench import adapted, chip, moved_to, planned, run, same_bits, with_params, with_step

from metainfer_core.codegen.backends.sim_npu.backend import SIM_NPU
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.codegen.emit import sources
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.validate import validate_package
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.toolchain import KERNEL_FLAGS
from metainfer_core.verify.check_legal import check_legal
from metainfer_core.verify.realised_graph import Moved, RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.samples import random_samples

TWO = """
    two (float[1,8,12,12] x, float[16,8,3,3] w_a, float[16] w_b, float[8,16,1,1] w_c) => (float[1,8,12,12] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_b)
        [r] t = Relu (s)
        [c] y = Conv (t, w_c)
    }"""
SPEC = chip()


@cache
def two() -> tuple[Lowered, CompilePlan]:
    return planned(adapted(TWO, SPEC), SPEC)


@cache
def built() -> RealisedGraph:
    """What is read back from the binary of the same program."""
    model = adapted(TWO, SPEC)
    data = build_package(lower(model), SPEC, "sim-npu", {}, b"{}", b"", random_samples(model, 2).feeds, True)
    package = read_package(data)
    validation = validate_package(package)
    assert validation.equal, validation.text
    return read_realised(package)


def feed() -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(1).standard_normal((1, 8, 12, 12)).astype(np.float32)}


def bringing(plan: CompilePlan, ending: str) -> int:
    """The step that brings the tensor whose name ends so."""
    return next(
        index
        for index, step in enumerate(plan.program.steps)
        if step.kernel == TRANSFER and step.inputs[0].endswith(ending)
    )


def copy_of(plan: CompilePlan, ending: str) -> str:
    return plan.program.steps[bringing(plan, ending)].outputs[0]


def offset_of(plan: CompilePlan, tensor: str) -> int:
    return next(one.offset_bytes or 0 for one in plan.locations if one.tensor == tensor)


def unaligned(plan: CompilePlan) -> CompilePlan:
    return with_params(plan, bringing(plan, "a.bias"), source_offset=8, row_bytes=56)


def too_long(plan: CompilePlan) -> CompilePlan:
    devices = tuple(
        type(one)(**{**one.__dict__, "dma": type(one.dma)(**{**one.dma.__dict__, "max_transfer_bytes": 512})})
        for one in plan.devices
    )
    return CompilePlan(**{**plan.__dict__, "devices": devices})


def out_of_arena(plan: CompilePlan) -> CompilePlan:
    peak = next(arena.plan.peak_bytes for arena in plan.arenas if arena.memory == "local")
    return moved_to(plan, copy_of(plan, "a.weights"), offset_bytes=peak)


def past_its_tensor(plan: CompilePlan) -> CompilePlan:
    return with_params(plan, bringing(plan, "a.bias"), row_bytes=80)


def overlapping(plan: CompilePlan) -> CompilePlan:
    return moved_to(plan, copy_of(plan, "a.bias"), offset_bytes=offset_of(plan, copy_of(plan, "a.weights")))


def in_another_memory(plan: CompilePlan) -> CompilePlan:
    return moved_to(plan, copy_of(plan, "a.bias"), memory="dram", offset_bytes=0)


def left_out(plan: CompilePlan) -> CompilePlan:
    return with_step(plan, bringing(plan, "a.weights"), lambda step: None)


def cut_short(plan: CompilePlan) -> CompilePlan:
    return with_params(plan, bringing(plan, "a.weights"), row_bytes=64)


PLANTED: dict[Callable[[CompilePlan], CompilePlan], tuple[str, str]] = {
    unaligned: ("unaligned", "A transfer begins where DMA cannot."),
    too_long: ("too_long", "A transfer is longer than DMA can make it"),
    out_of_arena: ("outside", "A tensor ends after its memory."),
    past_its_tensor: ("outside", "A transfer leaves its tensor."),
    overlapping: ("not_there", "A step writes over what a later step reads."),
    in_another_memory: ("not_local", "A step works outside of its unit's local memory."),
    left_out: ("not_there", "A step reads what nothing brought."),
    cut_short: ("not_there", "A step reads what nothing brought."),
}


def said_by_the_compiler(staged: Lowered, plan: CompilePlan, folder: Path) -> str:
    """What the compiler says of the program's own file."""
    for path, data in sources(plan, staged.constants, SIM_NPU, "model").items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    command = ["g++", *KERNEL_FLAGS, "-march=x86-64-v3", "-fsyntax-only", "-I.", "program.cpp"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False).stderr


def test_units_compute_in_their_local_memory_alone() -> None:
    staged, plan = two()
    homes = {one.tensor: one.memory for one in plan.locations}
    computing = [step for step in staged.program.steps if step.unit == "npu" and step.kernel != TRANSFER]
    assert [step.kernel for step in computing] == ["conv2d_int8", "conv2d_int8"]
    assert {homes[name] for step in computing for name in (*step.inputs, *step.outputs) if name} == {"local"}
    between = computing[0].outputs[0]
    assert between == computing[1].inputs[0]
    assert not [step for step in staged.program.steps if step.kernel == TRANSFER and between in step.inputs]


def test_the_simulated_npu_gives_the_bits_of_the_program(tmp_path: Path) -> None:
    staged, plan = two()
    assert same_bits(adapted(TWO, SPEC), staged, plan, runs=20)
    assert said_by_the_compiler(staged, plan, tmp_path) == ""
    assert check_legal(built(), SPEC, {}) == ()


@pytest.mark.parametrize("mistake", PLANTED, ids=lambda mistake: mistake.__name__)
def test_a_planted_mistake_stops_the_simulator_and_the_compiler(
    mistake: Callable[[CompilePlan], CompilePlan], tmp_path: Path
) -> None:
    staged, plan = two()
    kind, assertion = PLANTED[mistake]
    fault = run(staged, mistake(plan), feed()).fault
    assert fault is not None
    assert fault.kind == kind, fault.reason
    assert assertion in said_by_the_compiler(staged, mistake(plan), tmp_path)


def changed_step(graph: RealisedGraph, ending: str, **moved: int) -> RealisedGraph:
    """The graph with another geometry of the transfer that brings a tensor."""
    steps = []
    for step in graph.steps:
        if step.moved is not None and step.inputs[0].endswith(ending):
            step = RealisedStep(**{**step.__dict__, "moved": Moved(**{**step.moved.__dict__, **moved})})
        steps.append(step)
    return RealisedGraph(**{**graph.__dict__, "steps": tuple(steps)})


def changed_copy(graph: RealisedGraph, ending: str, **place: object) -> RealisedGraph:
    """The graph with the local copy of a tensor somewhere else."""
    name = next(step.outputs[0] for step in graph.steps if step.moved and step.inputs[0].endswith(ending))
    tensors = tuple(RealisedTensor(**{**one.__dict__, **place}) if one.name == name else one for one in graph.tensors)
    return RealisedGraph(**{**graph.__dict__, "tensors": tensors})


def without(graph: RealisedGraph, ending: str) -> RealisedGraph:
    steps = tuple(step for step in graph.steps if not (step.moved and step.inputs[0].endswith(ending)))
    return RealisedGraph(**{**graph.__dict__, "steps": steps})


def place_of(graph: RealisedGraph, ending: str) -> int:
    name = next(step.outputs[0] for step in graph.steps if step.moved and step.inputs[0].endswith(ending))
    return next(one.offset_bytes or 0 for one in graph.tensors if one.name == name)


FOUND_IN_THE_BINARY: dict[str, tuple[Callable[[RealisedGraph], RealisedGraph], str]] = {
    "unaligned": (
        lambda graph: changed_step(graph, "a.bias", source_offset=8, row_bytes=56),
        "A run that DMA moves begins at a multiple of its alignment, in both memories.",
    ),
    "part of a burst": (
        lambda graph: changed_step(graph, "a.weights", row_bytes=72),
        "A run that DMA moves is no longer than one descriptor allows, and is made of whole bursts.",
    ),
    "too long": (
        lambda graph: changed_step(graph, "a.weights", row_bytes=8192),
        "A run that DMA moves is no longer than one descriptor allows, and is made of whole bursts.",
    ),
    "past its tensor": (
        lambda graph: changed_step(graph, "a.bias", row_bytes=80),
        "What DMA moves lies inside the two tensors.",
    ),
    "out of arena": (
        lambda graph: changed_copy(graph, "a.weights", offset_bytes=graph.arenas["local"].size_bytes),
        "A tensor starts on the memory's alignment and ends inside its arena.",
    ),
    "overlapping": (
        lambda graph: changed_copy(graph, "a.bias", offset_bytes=place_of(graph, "a.weights")),
        "Two tensors that are alive at the same time share no byte.",
    ),
    "another memory": (
        lambda graph: changed_copy(graph, "a.bias", memory="dram"),
        "A unit that DMA feeds computes in its local memory alone.",
    ),
    "left out": (
        lambda graph: without(graph, "a.weights"),
        "Each byte that a step reads was brought or computed before.",
    ),
}


@pytest.mark.parametrize("mistake", FOUND_IN_THE_BINARY)
def test_a_planted_mistake_in_a_built_program_is_a_violation(mistake: str) -> None:
    plant, law = FOUND_IN_THE_BINARY[mistake]
    assert law in {violation.law for violation in check_legal(plant(built()), SPEC, {})}
