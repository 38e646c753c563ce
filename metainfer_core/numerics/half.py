"""16-bit floats: what they hold, and which operators have kernels on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import ml_dtypes
import numpy as np

from metainfer_core.numerics.activations import OPERATORS as ACTIVATIONS

HalfFloat = Literal["float16", "bfloat16"]


@dataclass(frozen=True)
class HalfFormat:
    """One 16-bit floating-point format."""

    name: HalfFloat
    words: str
    """As people write it."""
    dtype: np.dtype
    largest: float
    """Greatest finite number."""
    infinite_from: float
    """The least number that rounds to infinity: half a step beyond the greatest finite one."""
    least_normal: float


FORMATS: Mapping[str, HalfFormat] = {
    "float16": HalfFormat("float16", "FP16", np.dtype(np.float16), 65504.0, 65520.0, 2.0**-14),
    "bfloat16": HalfFormat(
        "bfloat16",
        "BF16",
        np.dtype(ml_dtypes.bfloat16),
        (2 - 2.0**-7) * 2.0**127,
        (2 - 2.0**-8) * 2.0**127,
        2.0**-126,
    ),
}

MOVING = frozenset(
    (
        *("Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Transpose", "Expand", "Tile", "Slice"),
        *("Split", "DepthToSpace", "SpaceToDepth", "Concat", "Gather", "Pad"),
    )
)
"""Operators that move values and compute none."""
SUMMING = frozenset(
    ("ReduceSum", "ReduceMean", "ReduceL2", "ReduceSumSquare", "AveragePool", "GlobalAveragePool", "Softmax")
)
"""Operators that add up values of one tensor."""
NORMALISING = frozenset(("LayerNormalization", "InstanceNormalization", "GroupNormalization"))
"""Operators that square deviations and add them up."""
WEIGHTED = frozenset(("Conv", "Gemm", "MatMul"))
OPERATORS = frozenset(
    {
        *MOVING,
        *SUMMING,
        *NORMALISING,
        *WEIGHTED,
        *("BatchNormalization", "MaxPool", "GlobalMaxPool", "ReduceMax", "ReduceMin", "Resize", "Where"),
        *("Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Sum"),
        *ACTIVATIONS,
        *("Exp", "Log", "Sqrt", "Reciprocal", "Neg", "Abs", "Erf", "Floor", "Ceil", "Round", "Sign", "Selu"),
        "Softsign",
    }
)
"""Operators that have a kernel on 16-bit floats."""
ALWAYS_FLOAT32 = {"Resize": (1, 2)}
"""Inputs that keep float32 whatever the operator computes in."""


def stored(array: np.ndarray, half: HalfFormat, flush: bool) -> np.ndarray:
    """An array in the format, rounded half to even; with `flush` denormals become zero."""
    with np.errstate(over="ignore"):
        narrow: np.ndarray = array.astype(half.dtype)
    if flush:
        narrow = np.where(np.abs(narrow.astype(np.float32)) < half.least_normal, narrow * half.dtype.type(0), narrow)
    return narrow
