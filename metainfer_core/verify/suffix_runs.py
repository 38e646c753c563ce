"""Runs of programs that differ in a few steps: what comes before the first difference is not computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify.samples import Feeds, Outputs

MOST_KEPT_BYTES = 1 << 30
"""Of all tensors of all samples together; beyond it nothing is kept and every program runs as a whole."""


@dataclass(frozen=True)
class State:
    """A program that was run, with all its tensors of each sample (none where they would take too much)."""

    program: Program
    kept: tuple[Mapping[str, np.ndarray], ...]
    outputs: tuple[Outputs, ...]
    steps_run: int
    """Kernel calls a sample that it took."""


def run(lowered: Lowered, feeds: Sequence[Feeds], before: State | None = None) -> State:
    """Runs a program on each sample; steps that `before` ran on the same samples with the same inputs are not repeated.

    The kernels give the same bits for the same inputs, so the outputs are those of a whole run.
    """
    program = lowered.program
    keeps = _kept_bytes(program) * len(feeds) <= MOST_KEPT_BYTES
    known = _same_tensors(program, before.program) if before is not None and before.kept else frozenset()
    steps = tuple(step for step in program.steps if not set(step.outputs) <= known)
    if before is None or not known:
        whole = Simulator(lowered)
        everything = list(whole.run_each(feeds, keep=keeps))
    else:
        everything = [{name: old[name] for name in known if name in old} for old in before.kept]
        rest = _rest(program, steps, known)
        simulator = Simulator(Lowered(rest, lowered.constants))
        given = [{name: every[name] for name in rest.inputs} for every in everything]
        for every, made in zip(everything, simulator.run_each(given, keep=True) if steps else (), strict=False):
            every.update(made)
    outputs = tuple({name: every[name] for name in program.outputs} for every in everything)
    inputs = tuple({name: np.asarray(feed[name]) for name in program.inputs} for feed in feeds)
    kept = tuple({**every, **given} for every, given in zip(everything, inputs, strict=True)) if keeps else ()
    return State(program, kept, outputs, len(steps))


def _kept_bytes(program: Program) -> int:
    return sum(tensor.size_bytes for tensor in program.tensors if tensor.constant is None)


def _same_tensors(program: Program, before: Program) -> frozenset[str]:
    """Activations that both programs compute by the same steps from the same inputs and constants.

    Where a tensor lies and which unit runs a step change no number.
    """
    old_tensors, tensors = _numbers_of(before), _numbers_of(program)
    old_steps = {step.outputs: step for step in before.steps}
    same = {name for name in program.inputs if old_tensors.get(name) == tensors[name]}

    def is_same(name: str) -> bool:
        return not name or name in same or _is_same_constant(tensors[name], old_tensors.get(name))

    for step in program.steps:
        found = old_steps.get(step.outputs)
        if found is not None and _is_same_call(found, step) and all(map(is_same, step.inputs)):
            same |= {name for name in step.outputs if tensors.get(name) == old_tensors.get(name)}
    return frozenset(same - {""})


def _numbers_of(program: Program) -> dict[str, Tensor]:
    placed = {tensor.name: tensor for tensor in program.tensors if tensor.memory is not None}
    plain = {name: Tensor.from_plain({**tensor.plain(), "memory": None}) for name, tensor in placed.items()}
    return {tensor.name: tensor for tensor in program.tensors} | plain


def _is_same_constant(tensor: Tensor, old: Tensor | None) -> bool:
    return tensor.constant is not None and tensor == old


def _is_same_call(one: Step, other: Step) -> bool:
    return (one.kernel, one.inputs, one.outputs, one.params) == (
        other.kernel,
        other.inputs,
        other.outputs,
        other.params,
    )


def _rest(program: Program, steps: tuple[Step, ...], known: frozenset[str]) -> Program:
    """The steps that are left as a program of its own: what it reads of the known tensors are its inputs."""
    read = dict.fromkeys(name for step in steps for name in step.inputs if name in known)
    made = [name for step in steps for name in step.outputs if name]
    constants = {tensor.name for tensor in program.tensors if tensor.constant is not None}
    touched = {*read, *made, *(name for step in steps for name in step.inputs if name in constants)}
    return Program(
        inputs=tuple(read),
        outputs=tuple(name for name in program.outputs if name in made),
        tensors=tuple(tensor for tensor in program.tensors if tensor.name in touched),
        steps=steps,
    )
