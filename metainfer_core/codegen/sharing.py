"""What a kernel lets its output share with its inputs: all their bytes (a view), or their place once they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metainfer_core.numerics.program import Step, Tensor
from metainfer_core.numerics.signatures import signature

IN_PLACE: Mapping[str, tuple[int, ...]] = {
    "UnaryParams": (0,),
    "LookupParams": (0,),
    "AffineParams": (0,),
    "NormalizeParams": (0,),
    "BinaryParams": (0, 1),
    "BinaryInt8Params": (0, 1),
    "WhereParams": (1, 2),
}
"""Params struct of element-wise kernels to the inputs whose place output 0 may take, where sizes are equal: these
kernels read element i of every input before they write element i, and go through all of them in one order."""


@dataclass(frozen=True)
class Sharing:
    """What one step lets its output share."""

    is_view: bool = False
    """Output 0 is the bytes of input 0 under another shape."""
    in_place: tuple[int, ...] = ()
    """Inputs whose storage output 0 may overwrite."""


def sharing(step: Step, tensors: Mapping[str, Tensor]) -> Sharing:
    """What this step lets its output share."""
    if step.kernel.startswith("copy_"):
        return Sharing(is_view=_copies_all(step, tensors))
    return Sharing(in_place=IN_PLACE.get(signature(step.kernel).params, ()))


def _copies_all(step: Step, tensors: Mapping[str, Tensor]) -> bool:
    """Whether a copy moves every byte to where it was: row-major in, row-major out, from first to last."""
    params = step.params
    source, target = tensors[step.inputs[0]], tensors[step.outputs[0]]
    rank = params["rank"]
    shape, in_step, out_step = (tuple(params[key])[:rank] for key in ("shape", "in_step", "out_step"))
    is_whole = params["in_offset"] == params["out_offset"] == params["out_count"] == 0
    return (
        is_whole
        and source.size_bytes == target.size_bytes
        and _count(shape) == _count(target.shape)
        and _is_row_major(shape, in_step)
        and _is_row_major(shape, out_step)
    )


def _is_row_major(shape: Sequence[int], steps: Sequence[int]) -> bool:
    expected = 1
    for extent, step in zip(reversed(shape), reversed(steps), strict=True):
        if extent != 1 and step != expected:
            return False
        expected *= extent
    return True


def _count(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
