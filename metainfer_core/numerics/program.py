"""Program: the adapted model as an ordered list of kernel calls. The simulator runs it; codegen writes it out."""

from __future__ import annotations

from typing import Literal

import ml_dtypes  # noqa: F401  numpy knows the word bfloat16 from it

from metainfer_core.values import JsonMap, Value

ElementType = Literal["float32", "int8", "uint8", "int16", "int32", "int64", "bool", "float16", "bfloat16"]
ELEMENT_BYTES: dict[str, int] = {
    "float32": 4, "int8": 1, "uint8": 1, "int16": 2, "int32": 4, "int64": 8, "bool": 1, "float16": 2, "bfloat16": 2,
}  # fmt: skip
HALF_FLOATS = ("float16", "bfloat16")
FLOATS = ("float32", *HALF_FLOATS)


class Quantization(Value):
    """real = scale * (integer - zero_point), for the whole tensor or for each channel along `axis`."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    axis: int | None = None


class Tensor(Value):
    """One array of the program, in row-major order."""

    name: str
    element_type: ElementType
    shape: tuple[int, ...]
    quantization: Quantization | None = None
    constant: str | None = None
    """Digest of its bytes (little-endian, row-major) where it is a constant; the bytes travel beside the program."""

    memory: str | None = None
    """Memory of the spec that a place action chose for it; None where none did."""

    @property
    def size_bytes(self) -> int:
        """Bytes without padding."""
        count = 1
        for extent in self.shape:
            count *= extent
        return count * ELEMENT_BYTES[self.element_type]


class Step(Value):
    """One kernel call."""

    kernel: str
    """Name of the kernel, such as `conv2d_int8` (see numerics/kernels)."""
    node_ids: tuple[str, ...]
    """The nodes of the model that this call computes, in order; the first one names the step."""
    inputs: tuple[str, ...]
    """Tensor names; an empty text is an input that is left out."""
    outputs: tuple[str, ...]
    params: JsonMap = {}
    """Strides, pads, multipliers, shifts ... as the kernel's documentation lists them."""
    unit: str | None = None
    """Compute unit of the spec that runs it."""


class Program(Value):
    """Kernel calls in execution order, over named tensors with static shapes."""

    format: Literal["metainfer.program/1"] = "metainfer.program/1"
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tensors: tuple[Tensor, ...]
    steps: tuple[Step, ...]

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name; KeyError if there is none."""
        return {tensor.name: tensor for tensor in self.tensors}[name]
