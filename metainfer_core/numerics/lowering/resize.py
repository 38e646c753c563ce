"""Resize: nearest is a choice of entries along each axis; linear and cubic multiply by a constant matrix along each."""

from __future__ import annotations

import math

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import refuse_unfused
from metainfer_core.numerics.lowering.model_reader import optional, required, unsupported
from metainfer_core.numerics.lowering.movement import take_axes
from metainfer_core.numerics.program import ELEMENT_BYTES, FLOATS, HALF_FLOATS


def resize(b: Builder, node: ir.Node) -> None:
    """Another size along some axes."""
    refuse_unfused(b, node)
    value, result = required(node, 0), node.outputs[0]
    shape, out_shape = b.shape(value), b.shape(result)
    scales = _scales(b, node, shape, out_shape)
    changed = [axis for axis in range(len(shape)) if shape[axis] != out_shape[axis] or scales[axis] != 1.0]
    mode = node.attributes.get_string("mode", "nearest")
    transform = node.attributes.get_string("coordinate_transformation_mode", "half_pixel")
    positions = [(axis, _positions(node, shape[axis], out_shape[axis], scales[axis], transform)) for axis in changed]
    if mode == "nearest":
        rounding = node.attributes.get_string("nearest_mode", "round_prefer_floor")
        take_axes(b, node, [(axis, np.clip(_round(node, at, rounding), 0, shape[axis] - 1)) for axis, at in positions])
    elif mode in ("linear", "cubic"):
        if node.attributes.get_int("antialias", 0) and any(scales[axis] < 1 for axis in changed):
            raise unsupported(node, f"There is no kernel for mode {mode!r} with antialiasing.")
        share = _linear_shares if mode == "linear" else _cubic_shares
        _multiply(b, node, [(axis, share(node, at, shape[axis])) for axis, at in positions])
    else:
        raise unsupported(node, f"There is no kernel for mode {mode!r}.")


def _scales(b: Builder, node: ir.Node, shape: tuple[int, ...], out_shape: tuple[int, ...]) -> list[float]:
    """Output size over input size along each axis, as the model states it."""
    if node.attributes.get_string("keep_aspect_ratio_policy", "stretch") != "stretch":
        raise unsupported(node, "It keeps the aspect ratio.", "Give its scales.")
    axes = node.attributes.get_ints("axes", list(range(len(shape))))
    given = b.array(optional(node, 2))
    result = [out / own for own, out in zip(shape, out_shape, strict=True)]
    if given is not None and given.size:
        result = [1.0] * len(shape)
        for axis, scale in zip(axes, given.reshape(-1), strict=True):
            result[axis] = float(scale)
    return result


def _positions(node: ir.Node, extent: int, out_extent: int, scale: float, transform: str) -> np.ndarray:
    """Where each output lies among the inputs, in float64."""
    x: np.ndarray = np.arange(out_extent, dtype=np.float64)
    half = (x + 0.5) / scale - 0.5
    forms: dict[str, np.ndarray] = {
        "half_pixel": half,
        "pytorch_half_pixel": half if out_extent > 1 else np.zeros(1),
        "half_pixel_symmetric": half + extent / 2 * (1 - out_extent / (scale * extent)),
        "asymmetric": x / scale,
        "align_corners": x * (extent - 1) / max(out_extent - 1, 1),
    }
    if transform not in forms:
        raise unsupported(node, f"There is no kernel for coordinates {transform!r}.")
    return forms[transform]


def _round(node: ir.Node, at: np.ndarray, rounding: str) -> np.ndarray:
    forms: dict[str, np.ndarray] = {
        "round_prefer_floor": np.ceil(at - 0.5),
        "round_prefer_ceil": np.floor(at + 0.5),
        "floor": np.floor(at),
        "ceil": np.ceil(at),
    }
    if rounding not in forms:
        raise unsupported(node, f"There is no rounding {rounding!r}.")
    return forms[rounding].astype(np.int64)


def _multiply(b: Builder, node: ir.Node, matrices: list[tuple[int, np.ndarray]]) -> None:
    """One product an axis: rows of its matrix hold the shares of the inputs."""
    value = required(node, 0)
    element = b.element_type(value)
    if element not in FLOATS:
        raise unsupported(node, f"Its input is {element}; the kernel takes floats.")
    shape, source = list(b.shape(value)), b.tensor(value)
    for number, (axis, matrix) in enumerate(matrices):
        outer, inner, extent = math.prod(shape[:axis]), math.prod(shape[axis + 1 :]), shape[axis]
        shape[axis] = len(matrix)
        is_last = number == len(matrices) - 1
        target = b.output(node.outputs[0]) if is_last else b.declare(f"{node.name}.{number}", element, shape)
        name = b.constant(f"{node.name}.matrix", matrix.astype(element))
        steps = {"left_step": 0, "right_step": extent * inner}
        params = {"batch": outer, "rows": len(matrix), "columns": inner, "depth": extent, **steps}
        params |= {"scratch_bytes": 4 * inner} if element in HALF_FLOATS else {}
        b.emit(f"matmul_{element}", (node,), (name, source), (target,), params)
        source = target
    if not matrices:
        size = ELEMENT_BYTES[element] * math.prod(shape)
        b.emit("view", (node,), (source,), (b.output(node.outputs[0]),), {"bytes": size})


def _linear_shares(node: ir.Node, at: np.ndarray, extent: int) -> np.ndarray:
    """Of the two neighbours."""
    share = at - np.floor(at)
    return _matrix(at, extent, {0: 1 - share, 1: share})


def _cubic_shares(node: ir.Node, at: np.ndarray, extent: int) -> np.ndarray:
    """Of the four neighbours, by the kernel of Keys (1981) with the node's coefficient."""
    a = float(node.attributes.get_float("cubic_coeff_a", -0.75))
    low, shares = np.floor(at), {}
    for tap in (-1, 0, 1, 2):
        d = np.abs(at - low - tap)
        near = ((a + 2) * d - (a + 3)) * d * d + 1
        shares[tap] = np.where(d <= 1, near, ((a * d - 5 * a) * d + 8 * a) * d - 4 * a)
    if node.attributes.get_int("exclude_outside", 0):
        inside = {tap: np.where((low + tap >= 0) & (low + tap < extent), each, 0) for tap, each in shares.items()}
        total = np.sum(list(inside.values()), axis=0)
        shares = {tap: each / total for tap, each in inside.items()}
    return _matrix(at, extent, shares)


def _matrix(at: np.ndarray, extent: int, shares: dict[int, np.ndarray]) -> np.ndarray:
    """[outputs, inputs]: each output's shares of the inputs around it; those beyond an end count for the end."""
    matrix = np.zeros((len(at), extent), np.float64)
    rows, low = np.arange(len(at)), np.floor(at)
    for tap, share in shares.items():
        np.add.at(matrix, (rows, np.clip(low + tap, 0, extent - 1).astype(np.int64)), share)
    return matrix.astype(np.float32)


OPERATORS = {"Resize": resize}
