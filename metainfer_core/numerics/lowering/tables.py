"""Tables of 256 entries: a function of one 8-bit value, computed by the float kernels themselves."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.lowering.builder import Grid

CODES = np.arange(-128, 128, dtype=np.int8)


def curve_table(kernel: str | None, params: Mapping[str, float], source: Grid, target: Grid) -> np.ndarray:
    """What dequantizing, the kernel (None: nothing) and quantizing make of each int8 value, -128 first.

    A source of fewer bits has no use for most entries, which hold what its scale would make of these codes.

    Args:
        kernel: A unary float32 kernel.
        params: Its alpha and beta.
        source: Grid of the input.
        target: Grid of the output.
    """
    key = tuple(sorted(params.items()))
    numbers = float(source.scale), source.zero_point, float(target.scale), target.zero_point
    return _table(kernel, key, *numbers, target.limits)


@lru_cache(maxsize=4096)
def _table(
    kernel: str | None,
    params: tuple[tuple[str, float], ...],
    source_scale: float,
    source_zero_point: int,
    target_scale: float,
    target_zero_point: int,
    limits: tuple[int, int],
) -> np.ndarray:
    library = load_library()
    real, result, table = np.empty(256, np.float32), np.empty(256, np.float32), np.empty(256, np.int8)

    def numbers(scale: float, zero_point: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array([scale], np.float32), np.array([zero_point], np.int32)

    whole = {"outer": 1, "channels": 1, "inner": 256}
    library.call("dequantize_int8", whole, [CODES, *numbers(source_scale, source_zero_point), real])
    if kernel is None:
        result = real
    else:
        library.call(kernel, {"count": 256, **dict(params)}, [real, result])
    clamp = {"low": limits[0], "high": limits[1]}
    library.call("quantize_int8", whole | clamp, [result, *numbers(target_scale, target_zero_point), table])
    table.flags.writeable = False
    return table
