"""How sensitive each layer of a model is to INT8 on a spec: the search's measuring, with a memory between runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.metrics import Effect
from metainfer_core.pipeline.steps import Prepared
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.ruleset import measuring_digest
from metainfer_core.policy.sensitivity import Bench, Sensitivity, sensitivity
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import JsonMap, canonical_json, sha256
from metainfer_core.verify.effect import effect_of, measure
from metainfer_core.verify.layer_data import collect_layers
from metainfer_core.verify.reference import Progress, collect_ranges, quiet, run_reference
from metainfer_core.verify.samples import Outputs, Samples
from metainfer_core.verify.suffix_runs import State, run

FEW = 8
"""Samples that every layer is measured on."""


def measure_sensitivity(
    prepared: Prepared,
    spec: HardwareSpec,
    calibration_samples: Samples,
    evaluation_samples: Samples,
    objective: Objective,
    cache: Path,
    progress: Progress = quiet,
) -> Sensitivity:
    """Measures every layer; what the folder `cache` already holds of it is not measured again."""
    calibration = collect_ranges(prepared.model, calibration_samples, progress)
    reference = run_reference(prepared.model, evaluation_samples.feeds)
    few = _Few(evaluation_samples.first(FEW), reference)
    kept = _Kept(
        cache,
        {
            "model": prepared.digest,
            "spec": spec.values_digest,
            "samples": evaluation_samples.digest,
            "measuring": measuring_digest(),
        },
    )
    bench = Bench(
        begin=few.begin,
        alone=few.alone,
        accumulated=few.accumulated,
        thoroughly=lambda adapted: measure(reference, adapted, evaluation_samples),
        calibrate=lambda adapted: collect_ranges(adapted, calibration_samples),
        layers=lambda adapted: collect_layers(adapted, calibration_samples.first(FEW)),
        recall=kept.recall,
        keep=kept.keep,
        progress=progress,
    )
    return sensitivity(prepared.model, spec, calibration, objective, bench, prepared.digest)


@dataclass
class _Few:
    """Measuring on a few samples; only the steps after the first changed one are run."""

    samples: Samples
    reference: tuple[Outputs, ...]
    _float: Callable[[], State] | None = None
    _start: State | None = None
    _last: State | None = None

    def begin(self, model: ir.Model) -> None:
        lowered = lower(model)
        self._float = lambda: run(lowered, self.samples.feeds)

    def alone(self, model: ir.Model) -> Effect:
        if self._start is None and self._float is not None:
            self._start = self._float()  # only now: what is recalled needs no run
        return self._judged(run(lower(model), self.samples.feeds, self._start))

    def accumulated(self, model: ir.Model) -> Effect:
        self._last = run(lower(model), self.samples.feeds, self._last or self._start)
        return self._judged(self._last)

    def _judged(self, state: State) -> Effect:
        return effect_of(self.reference, state.outputs, self.samples)


@dataclass
class _Kept:
    """Effects in files named after the digest of all that they depend on."""

    folder: Path
    parents: JsonMap

    def recall(self, key: JsonMap) -> Effect | None:
        path = self._path(key)
        if not path.is_file():
            return None
        try:
            return Effect.from_json(read_bytes(path, "kept measurement"))
        except MetaInferError:
            return None  # of an older version, or broken: it is measured again

    def keep(self, key: JsonMap, effect: Effect) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        write_bytes(self._path(key), effect.to_json(), "kept measurement")

    def _path(self, key: JsonMap) -> Path:
        name = sha256(canonical_json({"parents": self.parents, "key": key}))
        return self.folder / f"{name.removeprefix('sha256:')}.json"
