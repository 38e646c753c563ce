"""How to train."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """How long, how fast, and from which seed."""

    steps: int = 500
    batch: int = 16
    learning_rate: float = 1e-3
    """Of Adam, at the start."""
    seed: int = 0
    look_every: int = 25
    """Steps between two looks at the samples that decide when to stop."""
