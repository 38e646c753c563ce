"""Do two models give the same outputs? Held on real or seeded inputs, within a stated distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from metainfer_core.figures import told_apart
from metainfer_core.values import Value
from metainfer_core.verify.samples import Outputs

RELATIVE, ABSOLUTE = 1e-4, 1e-5
"""The distance that float outputs keep unless an action kind says otherwise."""


class Distance(Value):
    """How far one output moved, as a share of what is allowed: 1 is the limit."""

    output: str
    max_abs_error: float | None = None
    """None where the outputs cannot be compared: another shape, or a NaN."""
    allowed: float
    share: float | None = None
    holds: bool
    reason: str = ""


def distances(
    reference: Sequence[Outputs], actual: Sequence[Outputs], relative: float = RELATIVE, absolute: float = ABSOLUTE
) -> tuple[Distance, ...]:
    """Per output, over all samples: |y - x| <= absolute + relative * max|x|. NaN, infinity, integers: equal."""
    return tuple(
        _distance(name, [one[name] for one in reference], [other.get(name) for other in actual], relative, absolute)
        for name in reference[0]
    )


def _distance(
    name: str, reference: list[np.ndarray], actual: list[np.ndarray | None], relative: float, absolute: float
) -> Distance:
    finite_peak = max(
        (float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in map(np.asarray, reference)), default=0.0
    )
    allowed = absolute + relative * finite_peak if reference[0].dtype.kind == "f" else 0.0

    def no(reason: str) -> Distance:
        return Distance(output=name, allowed=allowed, holds=False, reason=reason)

    worst = 0.0
    for index, (x, y) in enumerate(zip(reference, actual, strict=True)):
        if y is None:
            return no(f"Sample {index} has no output {name}.")
        if x.shape != y.shape:
            return no(f"The shape is {list(y.shape)}, expected {list(x.shape)}.")
        same_special = np.isfinite(x) | (x == y) | (np.isnan(x) & np.isnan(y))
        if not same_special.all() or not (np.isfinite(y) | ~np.isfinite(x)).all():
            return no(f"Sample {index} holds NaN or infinity where the other does not.")
        finite = np.isfinite(x)
        error = np.abs(y[finite].astype(np.float64) - x[finite].astype(np.float64)).max(initial=0.0)
        worst = max(worst, float(error))
    share = worst / allowed if allowed else (0.0 if worst == 0 else None)
    holds = worst <= allowed
    found, limit = told_apart(worst, allowed)
    reason = "" if holds else f"The outputs differ by {found}; {limit} is allowed."
    return Distance(output=name, max_abs_error=worst, allowed=allowed, share=share, holds=holds, reason=reason)
