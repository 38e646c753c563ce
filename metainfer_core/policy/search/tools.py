"""What the search cannot do itself: measuring, pricing, planning. The pipeline hands it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.cost.estimate import Estimate
from metainfer_core.errors import MetaInferError
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.search.placing import Overfull

Progress = Callable[[str, int, int], None]


class StepBySample:
    """Progress of a search in which a step also moves with each sample that a measurement within it has run.

    A step that measures several models on 16 samples each counts 16 for each of them.
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._step, self._done, self._total, self._samples = "", 0, 0, 1

    def step(self, name: str, done: int, total: int) -> None:
        """A step begins, or its next part does."""
        if name != self._step:
            self._samples = 1
        self._step, self._done, self._total = name, done, total
        self._progress(name, done * self._samples, total * self._samples)

    def sample(self, done: int, total: int) -> None:
        """So many of the samples of the measurement that is under way are done; after the last, the step goes on."""
        self._samples = max(self._samples, total)
        if done < total:
            whole = max(1, self._total) * self._samples
            self._progress(self._step, min(self._done * self._samples + done, whole), whole)


@dataclass(frozen=True)
class Refused:
    """That the compiler would refuse an adapted model."""

    error: MetaInferError
    everywhere: bool
    """On every target; else on those alone that feed units with a local memory by DMA."""


@dataclass(frozen=True)
class Tools:
    """What the search cannot do itself; the pipeline hands it in."""

    measure: Callable[[ir.Model], Effect]
    """Effect of an adapted model on the outputs, on all samples; UnsupportedError if it cannot run."""
    price: Callable[[ir.Model], Estimate]
    """Predicted cost of an adapted model on the spec."""
    calibrate: Callable[[ir.Model], Calibration]
    """Ranges of all tensors of a float model, on calibration inputs."""
    measure_within: Callable[[ir.Model], Effect | None] | None = None
    """The same, but None as soon as it is sure that the budget breaks; as `measure` if not given."""
    measure_few: Callable[[ir.Model], Effect] | None = None
    """The same on a few samples, for one action alone; as `measure` if not given."""
    layers: Callable[[ir.Model], Mapping[str, Layer]] = lambda model: {}
    """What the layers of a float model read on calibration inputs."""
    overfull: Overfull = lambda adapted: None
    """The memory that the planner cannot fit everything into, where there is one."""
    refused: Callable[[ir.Model], Refused | None] = lambda adapted: None
    """Whether the compiler would refuse an adapted model, for what the spec says of memories and DMA."""
    progress: Progress = lambda step, done, total: None

    def measure_or_give_up(self, model: ir.Model) -> Effect | None:
        """The effect of an adapted model; None where the budget was seen to break before all of it was known."""
        return (self.measure_within or self.measure)(model)

    def measure_alone(self, model: ir.Model) -> Effect:
        """The effect of one action alone."""
        return (self.measure_few or self.measure)(model)
