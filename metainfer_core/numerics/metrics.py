"""How far outputs moved: per channel first, because whole-tensor figures hide dead outputs."""

from __future__ import annotations

from metainfer_core.values import Value


class OutputEffect(Value):
    """How far one output of the model moved, over all samples. Signal-to-noise in decibels; channels along axis 1."""

    output: str
    sqnr_db: float | None = None
    """None: no error at all."""
    worst_channel: int | None = None
    worst_channel_sqnr_db: float | None = None
    dead_channels: int = 0
    """Channels that vary in the reference and are constant afterwards."""
    channels: int = 1
    range_use: float | None = None
    """Share of the integer codes that the tensor's values span, 0 to 1."""
    argmax_flips: int | None = None
    """Samples whose greatest element along the last axis moved."""
    max_abs_error: float = 0.0
    cosine: float | None = None
    """Shown because people know it; never decisive."""


class Effect(Value):
    """A measured change of the model's outputs against the unchanged model."""

    outputs: tuple[OutputEffect, ...]
    samples: int
    data: str
    """What the inputs were; says `random inputs` where no data was given."""
