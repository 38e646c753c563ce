"""Mend what rounding does to each layer: weights rounded together, then the mean error taken up by the bias."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.kinds.correct_bias import CorrectBias
from metainfer_core.actions.kinds.round_weights import RoundWeights
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.policy.draft import Draft

REFINING = (RoundWeights, CorrectBias)


@dataclass
class Refiner:
    """Proposes once for each layer and each way to quantize it, however many drafts share them."""

    layers: Mapping[str, Layer]
    """Node id to what the layer reads."""
    _known: dict[tuple[str | Action, ...], Action | Refusal] = field(default_factory=dict)

    def refined(
        self, draft: Draft, progress: Callable[[str, int, int], None] = lambda step, done, total: None
    ) -> Draft:
        """A branch of a quantized draft with the actions that lessen errors on held-out samples."""
        refined = draft.branch()
        quantized = [action for action in draft.actions if action.kind == "quantize"]
        done, total = itertools.count(), len(REFINING) * len(quantized)
        for kind in REFINING:
            for action in quantized:
                progress("mending what rounding does", next(done), total)
                proposed = self._proposed(kind, refined, action)
                refined.take([proposed] if proposed is not None else [])
        return refined

    def _proposed(
        self, kind: type[RoundWeights] | type[CorrectBias], draft: Draft, quantize: Action
    ) -> Action | Refusal | None:
        name = quantize.nodes[0]
        if name not in self.layers:
            return None
        earlier = [action for action in draft.actions if action.nodes[0] == name and action.kind in KINDS]
        key: tuple[str | Action, ...] = (kind.name, name, *earlier)
        if key not in self._known:
            found = list(kind({name: self.layers[name]}).propose(draft.model, draft.spec, draft.calibration))
            self._known[key] = (
                found[0] if found else Refusal(kind=kind.name, nodes=(name,), reason=f"{name} is not quantized.")
            )
        return self._known[key]


KINDS = ("quantize", "round_weights")
"""What decides how a layer is rounded."""
