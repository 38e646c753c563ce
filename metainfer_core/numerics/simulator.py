"""Simulator: runs a program on this machine with the kernels that generated programs use, bit for bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

import numpy as np

from metainfer_core.errors import DefectError, InputError
from metainfer_core.numerics.library import Library, PreparedCall, Progress, load_library
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program, Step, Tensor, numpy_type
from metainfer_core.numerics.signatures import SCRATCH_ALIGNMENT_BYTES, scratch_bytes, signature

BATCH = 4
"""Inputs for each core that are begun at once: whoever reads the results may stop behind each batch."""


class Simulator:
    """A program with its own memory; build it once and run it on many inputs.

    Args:
        lowered: The program and its constants.
        progress: Told when the kernels have to be compiled first.
    """

    def __init__(self, lowered: Lowered, progress: Progress | None = None) -> None:
        self.program = lowered.program
        self._library = load_library(progress)
        self._constants = {
            tensor.name: _filled(tensor, lowered.constants)
            for tensor in self.program.tensors
            if tensor.constant is not None
        }
        self._prepared: dict[bool, Prepared] = {}

    def run(self, inputs: Mapping[str, np.ndarray], keep: bool = False) -> dict[str, np.ndarray]:
        """The outputs by name; with `keep` every tensor that is not constant.

        Raises:
            InputError: An input is missing, unknown, or of another shape or element type.
        """
        if keep not in self._prepared:
            self._prepared[keep] = self._prepare(keep)
        return self._run(self._prepared[keep], inputs, keep)

    def run_each(
        self, feeds: Sequence[Mapping[str, np.ndarray]], keep: bool = False
    ) -> Iterator[dict[str, np.ndarray]]:
        """What `run` gives for each of many inputs, in their order, on all cores; raises as `run` does."""
        cores = min(len(os.sched_getaffinity(0)), len(feeds))
        if cores < 2:
            yield from (self.run(feed, keep) for feed in feeds)
            return
        free: SimpleQueue[Prepared] = SimpleQueue()
        for _ in range(cores):
            free.put(self._prepare(keep))

        def run(feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
            prepared = free.get()
            try:
                return self._run(prepared, feed, keep)
            finally:
                free.put(prepared)

        with ThreadPoolExecutor(cores, "simulator") as pool:  # the kernels run outside Python's lock
            for start in range(0, len(feeds), BATCH * cores):
                yield from pool.map(run, feeds[start : start + BATCH * cores])

    def _prepare(self, keep: bool) -> Prepared:
        return Prepared(self.program, self._constants, self._library, keep)

    def _run(self, prepared: Prepared, inputs: Mapping[str, np.ndarray], keep: bool) -> dict[str, np.ndarray]:
        unknown = sorted(set(inputs) - set(self.program.inputs))
        if unknown:
            raise InputError(f"The model has no input {unknown[0]!r}.", f"Its inputs are {list(self.program.inputs)}.")
        for name in self.program.inputs:
            _fill(prepared.shaped(name), name, inputs, self.program.inputs)
        prepared.run()
        names = list(self.program.outputs)
        if keep:
            names += [t.name for t in self.program.tensors if t.constant is None and t.name not in names]
        return {name: prepared.shaped(name).copy() for name in names}


class Prepared:
    """A program with a place for every tensor, ready to run.

    Args:
        program: The steps.
        constants: Bytes of each constant.
        library: The kernels.
        keep: Every tensor has a place of its own; else places are used again, as on the device.
    """

    def __init__(self, program: Program, constants: Mapping[str, np.ndarray], library: Library, keep: bool) -> None:
        self._tensors = {tensor.name: tensor for tensor in program.tensors}
        self._arrays = _places(program, constants, keep)
        scratch = _aligned(max((scratch_bytes(step) for step in program.steps), default=0))
        calls = [self._call(step, scratch) for step in program.steps if not self._is_idle(step)]
        self.run: Callable[[], None] = library.prepare(calls)

    def shaped(self, name: str) -> np.ndarray:
        """The tensor as an array of its type and shape, in place."""
        tensor = self._tensors[name]
        return self._arrays[name].view(_dtype(tensor)).reshape(tensor.shape)

    def _is_idle(self, step: Step) -> bool:
        """Whether the step is a view of bytes that lie in the same place."""
        if not signature(step.kernel).is_view:
            return False
        source, target = self._arrays[step.inputs[0]], self._arrays[step.outputs[0]]
        return source.ctypes.data == target.ctypes.data

    def _call(self, step: Step, scratch: np.ndarray) -> PreparedCall:
        arrays = [self._arrays[name] if name else None for name in (*step.inputs, *step.outputs)]
        if any(argument.role == "scratch" for argument in signature(step.kernel).arguments):
            arrays.append(scratch)
        return PreparedCall(step.kernel, step.params, arrays)


def _places(program: Program, constants: Mapping[str, np.ndarray], keep: bool) -> dict[str, np.ndarray]:
    """Memory for every tensor; a view lies where its source lies, unless it is an output of the model."""
    sizes = {tensor.name: tensor.size_bytes for tensor in program.tensors}
    fixed = dict.fromkeys((*program.inputs, *program.outputs))
    places = {name: _aligned(sizes[name]) for name in fixed if name not in constants} | dict(constants)
    owner: dict[str, str] = {}
    for step in program.steps:
        for name in step.outputs:
            shares = signature(step.kernel).is_view and name not in fixed
            owner[name] = owner.get(step.inputs[0], step.inputs[0]) if shares else name
    last: dict[str, int] = {}
    for index, step in enumerate(program.steps):
        last |= {owner.get(name, name): index for name in (*step.inputs, *step.outputs)}
    free: list[np.ndarray] = []
    for index, step in enumerate(program.steps):
        touched = dict.fromkeys(owner.get(name, name) for name in (*step.inputs, *step.outputs) if name)
        for name in touched:
            if name not in places:
                places[name] = _take(free, sizes[name])
        places |= {name: places[owner[name]] for name in step.outputs if name}
        if not keep:
            free += [
                places[name] for name in touched if last[name] == index and name not in fixed and name not in constants
            ]
    return {name: place[: sizes[name]] for name, place in places.items()}


def _take(free: list[np.ndarray], size: int) -> np.ndarray:
    """The smallest free block that is large enough, or a new one."""
    fitting = [index for index, block in enumerate(free) if block.size >= size]
    return free.pop(min(fitting, key=lambda index: free[index].size)) if fitting else _aligned(size)


def _fill(place: np.ndarray, name: str, inputs: Mapping[str, np.ndarray], known: tuple[str, ...]) -> None:
    if name not in inputs:
        raise InputError(f"The input {name!r} is missing.", f"The model has {list(known)}.")
    given = np.asarray(inputs[name])
    if given.shape != place.shape or given.dtype != place.dtype:
        raise InputError(
            f"The input {name!r} is {given.dtype}{list(given.shape)}.",
            f"The model takes {place.dtype}{list(place.shape)}.",
            "Give an array of that type and shape.",
        )
    place[...] = given


def _filled(tensor: Tensor, constants: Mapping[str, bytes]) -> np.ndarray:
    """The bytes of a constant, aligned."""
    place, data = _aligned(tensor.size_bytes), constants[tensor.constant or ""]
    if len(data) != tensor.size_bytes:
        raise DefectError(f"The constant {tensor.name} has {len(data)} bytes, not {tensor.size_bytes}.")
    place[:] = np.frombuffer(data, np.uint8)
    return place


def _aligned(size: int) -> np.ndarray:
    block = np.zeros(size + SCRATCH_ALIGNMENT_BYTES, np.uint8)
    start = -block.ctypes.data % SCRATCH_ALIGNMENT_BYTES
    return block[start : start + size]


def _dtype(tensor: Tensor) -> np.dtype[np.generic]:
    return numpy_type(tensor.element_type)
