"""Sensitivity: what INT8 costs at each layer, alone and with all layers before it; predicted from statistics beside it.

Every layer is measured on a few samples first, the most sensitive ones then on all. Each measurement is kept under the
digests of all that it depends on, so that a stopped run goes on where it was, and a second one measures what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls, worst_sqnr_db
from metainfer_core.policy.search.integer_search import integer_actions, quantized
from metainfer_core.policy.search.measured_alone import with_new_tensors
from metainfer_core.policy.search.search import STRUCTURAL
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import JsonMap, Value

MEASURED_ON_ALL = 0.25
"""Share of the layers, the most sensitive ones, that are measured on all samples."""
MEASURED_AGAIN = "measuring the most sensitive layers on all samples"


class LayerSensitivity(Value):
    """What INT8 on one layer does to the outputs."""

    node_id: str
    nodes: tuple[str, ...]
    predicted_db: float | None = None
    """Signal-to-noise that its own rounding leaves at its own output, from its weights and inputs; None: no weights."""
    alone: Effect
    """Measured with this layer in INT8 and all others in float."""
    accumulated: Effect
    """Measured with this layer and all before it in INT8."""


class Sensitivity(Value):
    """All layers of a model on a spec, in the order in which they run."""

    format: str = "metainfer.sensitivity/1"
    model_digest: str
    spec_digest: str
    data: str
    layers: tuple[LayerSensitivity, ...]
    first_diverging: str | None = None
    """The first layer from which on INT8 up to there breaks the budget."""
    why_diverging: str = ""

    @property
    def most_sensitive(self) -> tuple[LayerSensitivity, ...]:
        """The worst first."""
        return tuple(sorted(self.layers, key=lambda layer: (worst_sqnr_db(layer.alone), layer.node_id)))


@dataclass(frozen=True)
class Bench:
    """What measuring needs; the pipeline hands it in."""

    begin: Callable[[ir.Model], None]
    """Told the float model that every other one is a variant of."""
    alone: Callable[[ir.Model], Effect]
    """On a few samples, for models that each differ from the float one in one layer."""
    accumulated: Callable[[ir.Model], Effect]
    """The same, for models that each go one layer further than the one before."""
    thoroughly: Callable[[ir.Model], Effect]
    """On all samples."""
    calibrate: Callable[[ir.Model], Calibration]
    layers: Callable[[ir.Model], Mapping[str, Layer]]
    recall: Callable[[JsonMap], Effect | None]
    """The effect that was kept under a key, where one was."""
    keep: Callable[[JsonMap, Effect], None]
    progress: Callable[[str, int, int], None]


def sensitivity(
    model: ir.Model,
    spec: HardwareSpec,
    calibration: Calibration,
    objective: Objective,
    bench: Bench,
    model_digest: str,
) -> Sensitivity:
    """Measures every layer that can be INT8 on the spec, alone and with those before it."""
    structural = Draft(model.clone(), spec, calibration)
    for name in STRUCTURAL:
        structural.take(structural.propose(name))
    structural.calibration = with_new_tensors(structural, bench.calibrate)
    whole = quantized(structural, {}, {})
    actions = integer_actions(whole)
    predicted = _predictions(whole.model, bench.layers(structural.branch().finished()))
    alone, accumulated = _measured_on_few(structural, actions, bench)
    thorough = max(1, round(MEASURED_ON_ALL * len(actions))) if actions else 0
    for index, action in enumerate(sorted(actions, key=lambda one: (worst_sqnr_db(alone[one.id]), one.id))[:thorough]):
        bench.progress(MEASURED_AGAIN, index, thorough)
        alone[action.id] = _effect("all samples", [action], structural, bench, bench.thoroughly)
    layers = tuple(
        LayerSensitivity(
            node_id=action.nodes[0],
            nodes=action.nodes,
            predicted_db=predicted.get(action.nodes[0]),
            alone=alone[action.id],
            accumulated=accumulated[action.id],
        )
        for action in actions
    )
    broken = next(((one, why) for one in layers if (why := shortfalls(objective, one.accumulated))), None)
    return Sensitivity(
        model_digest=model_digest,
        spec_digest=spec.values_digest,
        data=calibration.data,
        layers=layers,
        first_diverging=broken[0].node_id if broken else None,
        why_diverging=broken[1][0] if broken else "",
    )


def _measured_on_few(
    structural: Draft, actions: Sequence[Action], bench: Bench
) -> tuple[dict[str, Effect], dict[str, Effect]]:
    bench.begin(structural.branch().finished())
    alone: dict[str, Effect] = {}
    accumulated: dict[str, Effect] = {}
    for index, action in enumerate(actions):
        bench.progress("measuring each layer alone", index, len(actions))
        alone[action.id] = _effect("few samples", [action], structural, bench, bench.alone)
    for index, action in enumerate(actions):
        bench.progress("measuring layer after layer", index, len(actions))
        before = actions[: index + 1]
        accumulated[action.id] = _effect("few samples, accumulated", before, structural, bench, bench.accumulated)
    return alone, accumulated


def _effect(
    what: str, actions: Sequence[Action], structural: Draft, bench: Bench, measure: Callable[[ir.Model], Effect]
) -> Effect:
    key: JsonMap = {
        "what": what,
        "structure": [action.plain() for action in structural.actions],
        "actions": [action.plain() for action in actions],
    }
    known = bench.recall(key)
    if known is not None:
        return known
    draft = structural.branch()
    draft.take(actions)
    effect = measure(draft.finished())
    bench.keep(key, effect)
    return effect


def _predictions(model: ir.Model, layers: Mapping[str, Layer]) -> dict[str, float]:
    """Node to the signal-to-noise ratio that rounding its weights and its input leaves at its output."""
    found = {}
    for name, data in layers.items():
        layer = quantized_layer(model, name)
        if isinstance(layer, QuantizedLayer):
            found[name] = _predicted_db(layer, data)
    return found


def _predicted_db(layer: QuantizedLayer, data: Layer) -> float:
    """A twelfth of the input's squared step through the squared weights, and the error of the weights themselves."""
    exact = data.weight.astype(np.float64)
    wrong = layer.matrix(layer.codes) - exact
    moments = (data.seen.astype(np.float64) ** 2).mean(axis=0)  # [groups, products]
    signal = float((np.einsum("rgk,gok->rgo", data.seen.astype(np.float64), exact, optimize=True) ** 2).mean())
    by_input = float(((exact * layer.input_scale.reshape(-1, 1, 1)) ** 2).sum(axis=2).mean()) / 12
    by_weight = float(np.einsum("gk,gok->go", moments, wrong**2, optimize=True).mean())
    noise = by_input + by_weight
    return round(10 * float(np.log10(signal / noise)), 2) if signal > 0 and noise > 0 else 0.0
