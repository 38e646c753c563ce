"""Program: the adapted model as an ordered list of kernel calls. The simulator runs it; codegen writes it out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import ml_dtypes  # noqa: F401  numpy knows the word bfloat16 from it
import numpy as np

from metainfer_core.values import JsonMap, Value

ElementType = Literal[
    "float32", "int8", "uint8", "int16", "int32", "int64", "bool", "float16", "bfloat16", "int4", "int6"
]
"""`int4` and `int6` are codes of 4 and 6 bits, each in a byte of its own: arrays of them are arrays of int8."""
ELEMENT_BYTES: dict[str, int] = {
    "float32": 4, "int8": 1, "uint8": 1, "int16": 2, "int32": 4, "int64": 8, "bool": 1, "float16": 2, "bfloat16": 2,
    "int4": 1, "int6": 1,
}  # fmt: skip
CODES_IN_BYTES: dict[int, ElementType] = {4: "int4", 6: "int6", 8: "int8"}
"""Bits of a code that a byte holds to the type of a tensor of such codes."""
HALF_FLOATS = ("float16", "bfloat16")
FLOATS = ("float32", *HALF_FLOATS)


def code_limits(bits: int) -> tuple[int, int]:
    """The least and the greatest signed code of so many bits."""
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def numpy_type(element_type: str) -> np.dtype[np.generic]:
    """What numpy calls the type of an element in memory."""
    return np.dtype({"bool": np.bool_, "int4": np.int8, "int6": np.int8}.get(element_type, element_type))


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


def bits_of_codes(tensor: Tensor) -> int:
    """Bits that an element uses: fewer than those of its bytes where it is a code of 4 or 6 bits."""
    narrow = {"int4": 4, "int6": 6}
    return narrow.get(tensor.element_type, 8 * ELEMENT_BYTES[tensor.element_type])


def multiplied(step: Step, tensors: Mapping[str, Tensor]) -> str:
    """The type in which a step on codes of up to 8 bits computes: that of the widest operand, weights included."""
    operands = [tensors[name] for name in step.inputs if name]
    codes = [t for t in operands if numpy_type(t.element_type).itemsize == 1 and (t.quantization or not t.constant)]
    return max(codes or operands[:1], key=bits_of_codes).element_type


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
