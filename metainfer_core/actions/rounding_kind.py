"""What the kinds that mend the rounding of quantized layers share: they learn from rows and are judged on others."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping

import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Obligation, Refusal, RiskFacts
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.actions.quantized_layer import QuantizedLayer, quantized_layer
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec


class RoundingKind(ActionKind):
    """A kind that changes integer constants of quantized layers, where that lessens their error."""

    obligation = Obligation(why="It changes outputs on purpose: measured, and held against the accuracy budget.")
    risk = RiskFacts(changes_numbers=True, needs_calibration=True, device_dependent=False)

    def __init__(self, layers: Mapping[str, Layer] | None = None) -> None:
        """A kind that proposes for these layers, by node id; without them it proposes nothing."""
        self.layers = dict(layers or {})

    @abstractmethod
    def proposal(self, layer: QuantizedLayer, data: Layer) -> Action | str:
        """The action for one layer, or why its error does not become less."""

    @abstractmethod
    def reason_against(self, model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
        """Why the action is not legal, or None."""

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """One action for each quantized layer whose error on held-out samples becomes less, or why not."""
        for node in model.graph:
            data = self.layers.get(str(node.name))
            layer = quantized_layer(model, str(node.name)) if data is not None else ""
            if data is None or isinstance(layer, str):
                continue
            found = self.proposal(layer, data)
            if isinstance(found, str):
                yield Refusal(kind=self.name, nodes=(str(node.name),), reason=found)
            else:
                yield self.refusal(model, spec, found) or found

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The layer must be quantized, the change must fit its constants, and its sums must still fit."""
        reason = self.reason_against(model, spec, action)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None
