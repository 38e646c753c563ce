"""What tests of action kinds, policies and costs share: a model from text, a spec from few words, outputs, promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx_ir as ir
from onnx import numpy_helper
from tiny_models import from_text

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action, ActionKind, Refusal
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import ComputeUnit, HardwareSpec, Memory
from metainfer_core.verify.equivalence import distances
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import Samples, random_samples


def model_of(text: str, weights: dict[str, np.ndarray] | None = None, seed: int = 0) -> ir.Model:
    """The preprocessed model of an ONNX text; `weights` replaces the seeded random numbers of some `w_...`."""
    proto = from_text(text, seed)
    for initializer in proto.graph.initializer:
        if weights and initializer.name in weights:
            array = np.asarray(weights[initializer.name], dtype=np.float32)
            initializer.CopyFrom(numpy_helper.from_array(array, initializer.name))
    return preprocess(import_model(proto.SerializeToString(), "test").model).model


def cpu(**fields: Any) -> ComputeUnit:
    """A CPU with INT8 and float32."""
    return ComputeUnit(**{"kind": "cpu", "data_types": ("int8", "float32"), **fields})


def npu(**fields: Any) -> ComputeUnit:
    """An NPU with INT8 alone, faster than a CPU."""
    usual: dict[str, Any] = {
        "kind": "npu",
        "data_types": ("int8",),
        "tops": 6,
        "weight_granularity": ("tensor", "channel"),
    }
    return ComputeUnit(**{**usual, **fields})


def spec_of(
    memories: dict[str, Memory] | None = None, units: dict[str, ComputeUnit] | None = None, **fields: Any
) -> HardwareSpec:
    """A spec of an invented chip with one CPU, unless other units are given."""
    return HardwareSpec(
        name="invented",
        version="1.0.0",
        compute_units=units or {"cpu": cpu()},
        memories=memories or {"dram": Memory(kind="dram", size_bytes=1 << 30)},
        **fields,
    )


def samples_of(model: ir.Model) -> Samples:
    """Seeded random samples."""
    return random_samples(model)


def calibrated(model: ir.Model) -> Calibration:
    """Ranges on the seeded samples."""
    return collect_ranges(model, samples_of(model))


def proposed(
    kind: ActionKind, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None = None
) -> tuple[list[Action], list[str]]:
    """What a kind proposes: its actions, and the sentences of its refusals."""
    found = list(kind.propose(model, spec, calibration))
    actions = [action for action in found if isinstance(action, Action)]
    return actions, [refusal.reason for refusal in found if isinstance(refusal, Refusal)]


def refusal(kind: ActionKind, model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    """Why an action is not legal, as people see it."""
    refused = legality.refusal(model, spec, kind, action)
    return refused.reason if refused else None


def rewritten(kind: ActionKind, model: ir.Model, spec: HardwareSpec, actions: Sequence[Action]) -> ir.Model:
    """A clone with the actions applied, each after the check of legality."""
    clone = model.clone()
    for action in actions:
        assert legality.refusal(clone, spec, kind, action) is None
        kind.rewrite(clone, action)
    finish(clone, spec)
    return clone


def keeps_promise(kind: ActionKind, before: ir.Model, after: ir.Model) -> bool:
    """Whether the outputs agree within the kind's own obligation."""
    assert kind.obligation.relative is not None
    assert kind.obligation.absolute is not None
    feeds = samples_of(before).feeds
    found = distances(
        run_reference(before, feeds), run_reference(after, feeds), kind.obligation.relative, kind.obligation.absolute
    )
    return all(distance.holds for distance in found)


def ops(model: ir.Model) -> list[str]:
    """Operator types in execution order."""
    return [node.op_type for node in model.graph]


def effect(reference: ir.Model, adapted: ir.Model, samples: Samples) -> Effect:
    """The measured effect with ONNX Runtime as the arithmetic, channels along axis 1."""
    before, after = run_reference(reference, samples.feeds), run_reference(adapted, samples.feeds)
    found = []
    for name in before[0]:
        x, y = (np.stack([one[name] for one in runs]).astype(np.float64) for runs in (before, after))
        noise = ((x - y) ** 2).sum()
        found.append(
            OutputEffect(
                output=name,
                sqnr_db=float(10 * np.log10((x**2).sum() / noise)) if noise else None,
                max_abs_error=float(np.abs(x - y).max()),
            )
        )
    return Effect(outputs=tuple(found), samples=len(samples.feeds), data=samples.label)
