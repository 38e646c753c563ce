"""What a policy is chosen for: the accuracy budget, the latency target, and whether a measured effect keeps to it."""

from __future__ import annotations

import enum
import math
from typing import Literal

import pydantic

from metainfer_core.figures import told_apart
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.values import Value

ROUNDING = 1e-9
"""A drop of exactly the budget is within it, whatever the difference of two figures rounds to."""


class Precision(enum.StrEnum):
    """The lowest precision that a policy may use."""

    INT8 = "int8"
    FP16 = "fp16"
    FLOAT32 = "float32"


class SearchMode(enum.StrEnum):
    """What counts most where several candidates keep to the budget."""

    LATENCY = "latency"
    BALANCED = "balanced"
    ENERGY = "energy"


class Objective(Value):
    """The budget and the goal. Accuracy limits hold for each output of the model."""

    precision: Precision = Precision.INT8
    search_mode: SearchMode = SearchMode.BALANCED
    target_latency_ms: float | None = pydantic.Field(default=None, gt=0)
    """Held against the time predicted on the spec; None: a share of the unoptimised prediction."""
    min_sqnr_db: float = 20.0
    """Least signal-to-quantization-noise ratio, over all samples."""
    min_channel_sqnr_db: float = 6.0
    """The same for the worst channel that is not negligible: below this its noise is half of its signal."""
    max_dead_channels: int = pydantic.Field(default=0, ge=0)
    """Channels, not negligible ones, that may be constant afterwards."""
    max_argmax_flips: float = pydantic.Field(default=0.05, ge=0, le=1)
    """Largest share of samples whose greatest element may move, rounded up to whole samples."""
    metric: str | None = None
    """The user's metric, one of `task_metrics.METRICS` or `module:function`: then it is the budget, not decibels."""
    max_metric_drop: float = pydantic.Field(default=0.002, ge=0, le=1)
    """Largest drop of the metric, as a share of the unchanged model's figure."""
    weight_bits: Literal[4, 6] | None = None
    """Bits that weights of layers in float32 are stored in, where the budget allows; None: 32."""
    fast: bool = False
    """Whether effects are measured only where the choice needs them, not for each action alone."""
    allow_fallback: bool = True
    """Whether operators may run on the fallback unit that the spec names."""


def shortfalls(objective: Objective, effect: Effect) -> tuple[str, ...]:
    """Each limit that a measured effect breaks, as a sentence; empty if it keeps to the budget.

    Where the user has a metric, that alone decides, and numbers that are none any more.
    """
    if objective.metric is None:
        return tuple(sentence for output in effect.outputs for sentence in _broken(objective, output, effect.samples))
    lost = tuple(_lost_numbers(output) for output in effect.outputs if output.not_finite)
    allowed = objective.max_metric_drop * abs(effect.metric.reference) if effect.metric is not None else 0.0
    if effect.metric is None or effect.metric.drop <= allowed + ROUNDING:
        return lost
    metric = effect.metric
    drop, limit = told_apart(metric.drop, allowed, ".4f")
    share, whole = f"{objective.max_metric_drop:.2%}", f"{metric.reference:.4f}"
    return (*lost, f"{metric.words}; it got worse by {drop}, the budget is {limit}, {share} of {whole}.")


def worst_sqnr_db(effect: Effect) -> float:
    """The lowest signal-to-noise ratio of any output; infinite where nothing moved."""
    return min((output.sqnr_db for output in effect.outputs if output.sqnr_db is not None), default=float("inf"))


def nearness_db(effect: Effect) -> float:
    """What equally good candidates are ranked by: as `worst_sqnr_db`, of the logits where an output has such."""
    figures = (output.sqnr_db if output.logit_sqnr_db is None else output.logit_sqnr_db for output in effect.outputs)
    return min((figure for figure in figures if figure is not None), default=float("inf"))


def _broken(objective: Objective, output: OutputEffect, samples: int) -> list[str]:
    broken = []
    if output.sqnr_db is not None and output.sqnr_db < objective.min_sqnr_db:
        found, limit = told_apart(output.sqnr_db, objective.min_sqnr_db, ".1f", "g")
        broken.append(f"{output.output} has {found} dB; the budget is {limit} dB.")
    channel = output.audible_channel_sqnr_db
    if channel is not None and channel < objective.min_channel_sqnr_db:
        found, limit = told_apart(channel, objective.min_channel_sqnr_db, ".1f", "g")
        broken.append(f"Channel {output.audible_channel} of {output.output} has {found} dB; the budget is {limit} dB.")
    if output.audible_dead_channels > objective.max_dead_channels:
        broken.append(
            f"{output.audible_dead_channels} of {output.channels} channels of {output.output} no longer vary; "
            f"at most {objective.max_dead_channels} may."
        )
    if output.not_finite:
        broken.append(_lost_numbers(output))
    flips = output.argmax_flips or 0
    if flips > math.ceil(objective.max_argmax_flips * samples):
        broken.append(
            f"The greatest element of {output.output} moved in {flips} of {samples} samples; "
            f"at most {objective.max_argmax_flips:.0%} may."
        )
    return broken


def _lost_numbers(output: OutputEffect) -> str:
    return f"{output.not_finite} elements of {output.output} are no longer numbers."
