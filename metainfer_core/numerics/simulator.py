"""Simulator: runs a program on this machine with the kernels that generated programs use, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from metainfer_core.errors import DefectError, InputError
from metainfer_core.numerics.library import PreparedCall, Progress, load_library
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Tensor
from metainfer_core.numerics.signatures import SCRATCH_ALIGNMENT_BYTES, scratch_bytes, signature


class Simulator:
    """A program with its own memory; build it once and run it on many inputs.

    Args:
        lowered: The program and its constants.
        progress: Told when the kernels have to be compiled first.
    """

    def __init__(self, lowered: Lowered, progress: Progress | None = None) -> None:
        self.program = lowered.program
        self._tensors = {tensor.name: tensor for tensor in self.program.tensors}
        self._arrays = {name: _array(tensor, lowered.constants) for name, tensor in self._tensors.items()}
        self._share_views()
        self._run = self._prepare(progress)

    def run(self, inputs: Mapping[str, np.ndarray], keep: bool = False) -> dict[str, np.ndarray]:
        """The outputs by name; with `keep` every tensor that is not constant.

        Raises:
            InputError: An input is missing, unknown, or of another shape or element type.
        """
        unknown = sorted(set(inputs) - set(self.program.inputs))
        if unknown:
            raise InputError(f"The model has no input {unknown[0]!r}.", f"Its inputs are {list(self.program.inputs)}.")
        for name in self.program.inputs:
            self._fill(name, inputs)
        self._run()
        names = list(self.program.outputs)
        if keep:
            names += [t.name for t in self.program.tensors if t.constant is None and t.name not in names]
        return {name: self._shaped(name).copy() for name in names}

    def _fill(self, name: str, inputs: Mapping[str, np.ndarray]) -> None:
        if name not in inputs:
            raise InputError(f"The input {name!r} is missing.", f"The model has {list(self.program.inputs)}.")
        given, place = np.asarray(inputs[name]), self._shaped(name)
        if given.shape != place.shape or given.dtype != place.dtype:
            raise InputError(
                f"The input {name!r} is {given.dtype}{list(given.shape)}.",
                f"The model takes {place.dtype}{list(place.shape)}.",
                "Give an array of that type and shape.",
            )
        place[...] = given

    def _shaped(self, name: str) -> np.ndarray:
        tensor = self._tensors[name]
        return self._arrays[name].view(_dtype(tensor)).reshape(tensor.shape)

    def _share_views(self) -> None:
        """A view lies where its source lies; only an output of the model gets a place of its own."""
        for step in self.program.steps:
            if signature(step.kernel).is_view and step.outputs[0] not in self.program.outputs:
                self._arrays[step.outputs[0]] = self._arrays[step.inputs[0]]

    def _prepare(self, progress: Progress | None) -> Callable[[], None]:
        size = max((scratch_bytes(step) for step in self.program.steps), default=0)
        scratch = _aligned(size)
        calls = []
        for step in self.program.steps:
            described = signature(step.kernel)
            if described.is_view and self._arrays[step.outputs[0]] is self._arrays[step.inputs[0]]:
                continue
            arrays = [self._arrays[name] if name else None for name in (*step.inputs, *step.outputs)]
            if any(argument.role == "scratch" for argument in described.arguments):
                arrays.append(scratch)
            calls.append(PreparedCall(step.kernel, step.params, arrays))
        library = load_library() if progress is None else load_library(progress)
        return library.prepare(calls)


def _array(tensor: Tensor, constants: Mapping[str, bytes]) -> np.ndarray:
    """Bytes of one tensor, aligned."""
    place = _aligned(tensor.size_bytes)
    if tensor.constant is not None:
        data = constants[tensor.constant]
        if len(data) != tensor.size_bytes:
            raise DefectError(f"The constant {tensor.name} has {len(data)} bytes, not {tensor.size_bytes}.")
        place[:] = np.frombuffer(data, np.uint8)
    return place


def _aligned(size: int) -> np.ndarray:
    block = np.zeros(size + SCRATCH_ALIGNMENT_BYTES, np.uint8)
    start = -block.ctypes.data % SCRATCH_ALIGNMENT_BYTES
    return block[start : start + size]


def _dtype(tensor: Tensor) -> np.dtype[np.generic]:
    return np.dtype(np.bool_ if tensor.element_type == "bool" else tensor.element_type)
