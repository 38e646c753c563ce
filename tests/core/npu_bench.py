"""What tests of units with local memory share: a chip with an NPU, staged plans, and plans with planted mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import onnx_ir as ir
from action_bench import cpu, model_of, npu, spec_of

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import KINDS
from metainfer_core.codegen.backends.sim_npu.simulator import Simulated, simulate
from metainfer_core.codegen.compile_plan import CompilePlan, weights_image
from metainfer_core.codegen.staging import staged_plan
from metainfer_core.codegen.tables import LOOP
from metainfer_core.npu.stage import NOTHING_ASKED, TRANSFER, Asked
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import Dma, HardwareSpec, Memory
from metainfer_core.verify.realised_graph import Arena, Loop, Moved, RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.reference import collect_ranges
from metainfer_core.verify.samples import random_samples

STRUCTURE = ("fold_batch_norm", "fuse", "quantize")


def chip(local_bytes: int = 1 << 16, dma: Mapping[str, Any] | None = None, **unit: Any) -> HardwareSpec:
    """A chip whose NPU works in a local memory of so many bytes, fed by a DMA with these laws."""
    usual = {"alignment_bytes": 16, "data_width_bits": 64, "burst_length_min": 2, "burst_unit": "beats"}
    figures = {"clock_hz": 1e9, "macs_per_cycle": {"int8": 64}, "vector_width_bits": 128, "tops": None}
    return spec_of(
        {
            "dram": Memory(kind="dram", size_bytes=1 << 28, alignment_bytes=64, bandwidth_gbps=8),
            "local": Memory(kind="sram", size_bytes=local_bytes, alignment_bytes=16, accessible_by=("npu",)),
        },
        {
            "npu": npu(**{**figures, "local_memory": "local", **unit}),
            "cpu": cpu(clock_hz=1e8, macs_per_cycle={"int8": 1, "float32": 1}),
        },
        dma=Dma.from_plain({**usual, "max_transfer_bytes": 4096, "setup_cycles": 20, **(dma or {})}),
    )


def adapted(
    text: str,
    spec: HardwareSpec,
    kinds: tuple[str, ...] = STRUCTURE,
    weights: dict[str, np.ndarray] | None = None,
) -> ir.Model:
    """The model of an ONNX text with all that these kinds propose, in INT8 on random ranges."""
    model = model_of(text, weights)
    take(model, spec, kinds)
    finish(model, spec)
    return model


def take(model: ir.Model, spec: HardwareSpec, kinds: tuple[str, ...]) -> list[Action]:
    """Applies all that some kinds propose, in the order of the catalog."""
    samples, taken = random_samples(model, 2), []
    calibration = collect_ranges(model, samples) if {"quantize", "half_precision"} & set(kinds) else None
    for kind in KINDS:
        for action in list(kind.propose(model, spec, calibration)) if kind.name in kinds else ():
            if isinstance(action, Action) and legality.refusal(model, spec, kind, action) is None:
                kind.rewrite(model, action)
                taken.append(action)
    return taken


def planned(model: ir.Model, spec: HardwareSpec, asked: Asked = NOTHING_ASKED) -> tuple[Lowered, CompilePlan]:
    """The staged program of an adapted model, and its plan."""
    return staged_plan(lower(model), spec, asked, everywhere=True)


def run(staged: Lowered, plan: CompilePlan, feed: Mapping[str, np.ndarray]) -> Simulated:
    """One run on the simulated NPU."""
    return simulate(plan, weights_image(plan, staged.constants), feed)


def same_bits(model: ir.Model, staged: Lowered, plan: CompilePlan, runs: int, seed: int = 0) -> bool:
    """Whether random inputs give the bits on the simulated NPU that the program gives before it was staged."""
    simulator, chance = Simulator(lower(model)), np.random.default_rng(seed)
    for _ in range(runs):
        feed = {
            name: chance.standard_normal(plan.program.tensor(name).shape).astype(np.float32)
            for name in plan.program.inputs
        }
        expected, found = simulator.run(feed), run(staged, plan, feed)
        assert found.fault is None, found.fault
        if any(expected[name].tobytes() != found.outputs[name].tobytes() for name in expected):
            return False
    return True


def _loop(step: Step) -> Loop | None:
    asked = {name: int(step.params.get(name, 0)) for name in LOOP}
    return Loop(**asked) if set(LOOP) & set(step.params) else None


def as_read_back(plan: CompilePlan) -> RealisedGraph:
    """The graph that a binary of this plan would be read back as."""
    tensors = {tensor.name: tensor for tensor in plan.program.tensors}
    steps = tuple(
        RealisedStep(
            kernel="view" if index in plan.views else step.kernel,
            node_ids=step.node_ids,
            inputs=step.inputs,
            outputs=step.outputs,
            unit=step.unit,
            moved=Moved(**step.params) if step.kernel == TRANSFER else None,
            loop=_loop(step),
        )
        for index, step in enumerate(plan.program.steps)
    )
    rows = tuple(
        RealisedTensor(
            name=one.tensor,
            element_type=tensors[one.tensor].element_type,
            shape=tensors[one.tensor].shape,
            size_bytes=tensors[one.tensor].size_bytes,
            is_constant=one.weights_offset_bytes is not None,
            memory=one.memory,
            offset_bytes=one.offset_bytes,
            weights_offset_bytes=one.weights_offset_bytes,
            scales=kept.scales if (kept := tensors[one.tensor].quantization) is not None else (),
            zero_points=kept.zero_points if kept is not None else (),
        )
        for one in plan.locations
    )
    return RealisedGraph(
        target="sim-npu",
        inputs=plan.program.inputs,
        outputs=plan.program.outputs,
        steps=steps,
        tensors=rows,
        arenas={
            arena.memory: Arena(size_bytes=arena.plan.peak_bytes, alignment_bytes=arena.alignment_bytes)
            for arena in plan.arenas
        },
        weights_alignment_bytes=plan.weights_alignment_bytes,
    )


def with_step(plan: CompilePlan, index: int, change: Callable[[Step], Step | None]) -> CompilePlan:
    """The plan with one step changed, or left out."""
    steps = list(plan.program.steps)
    changed = change(steps[index])
    steps[index : index + 1] = [changed] if changed is not None else []
    program = type(plan.program)(**{**plan.program.__dict__, "steps": tuple(steps)})
    shift = 0 if changed is not None else -1
    scratch = tuple(
        type(one)(**{**one.__dict__, "step": one.step + (shift if one.step > index else 0)}) for one in plan.scratch
    )
    views = tuple(view + (shift if view > index else 0) for view in plan.views)
    return CompilePlan(**{**plan.__dict__, "program": program, "scratch": scratch, "views": views})


def with_params(plan: CompilePlan, index: int, **params: int) -> CompilePlan:
    """The plan with other parameters of one transfer."""
    return with_step(plan, index, lambda step: Step(**{**step.__dict__, "params": {**step.params, **params}}))


def moved_to(plan: CompilePlan, tensor: str, **place: Any) -> CompilePlan:
    """The plan with one tensor somewhere else."""
    locations = tuple(type(one)(**{**one.__dict__, **place}) if one.tensor == tensor else one for one in plan.locations)
    return CompilePlan(**{**plan.__dict__, "locations": locations})
