"""What running a compiled plan on a simulated machine gives: the outputs, or the first law that it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from metainfer_core.values import Value

FaultKind = Literal["unaligned", "too_long", "outside", "not_local", "not_there", "out_of_range"]


class Fault(Value):
    """What the hardware would have done wrong or refused."""

    kind: FaultKind
    step: int
    """Number of the step; the number of steps where an output is wrong at the end."""
    place: str
    """First node of the step."""
    reason: str
    """A full sentence with the numbers."""


@dataclass(frozen=True)
class Simulated:
    """Outputs by name, or the fault that ended the run."""

    outputs: Mapping[str, np.ndarray]
    fault: Fault | None = None
