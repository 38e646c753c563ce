"""A policy in the making: a working model, the actions applied to it so far, and the refusals on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import onnx_ir as ir

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action, ActionKind, Refusal
from metainfer_core.actions.catalog import kind
from metainfer_core.actions.known_issues import known_harm
from metainfer_core.errors import DefectError
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import HardwareSpec


def known_kind(name: str) -> ActionKind:
    """The kind of that name, which the catalog must have."""
    found = kind(name)
    if found is None:
        raise DefectError(f"The catalog has no action kind {name}.")
    return found


@dataclass
class Draft:
    """The state of one line of choices. `branch` gives an independent copy."""

    model: ir.Model
    spec: HardwareSpec
    calibration: Calibration | None
    actions: list[Action] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    harms: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Action id to what is known to get worse by it on this chip."""

    def branch(self) -> Draft:
        """A copy that can go another way."""
        return Draft(self.model.clone(), self.spec, self.calibration, [*self.actions], [*self.refusals], {**self.harms})

    def become(self, other: Draft) -> None:
        """The state of a branch of this one that turned out to be the way to go."""
        self.model, self.calibration = other.model, other.calibration
        self.actions, self.refusals, self.harms = other.actions, other.refusals, other.harms

    def take(self, actions: Iterable[Action | Refusal]) -> list[Action]:
        """Applies each action that is legal now, in order; gives those that were."""
        taken = []
        for action in actions:
            refused = action if isinstance(action, Refusal) else self._apply(action)
            if refused is not None:
                self.refusals.append(refused)
            elif isinstance(action, Action):
                taken.append(action)
        self.actions += taken
        return taken

    def propose(self, name: str) -> list[Action | Refusal]:
        """What a kind proposes on the model as it is now."""
        return list(known_kind(name).propose(self.model, self.spec, self.calibration))

    def finished(self) -> ir.Model:
        """The adapted model, with a compute unit on each node."""
        finish(self.model, self.spec)
        return self.model

    def _apply(self, action: Action) -> Refusal | None:
        of_kind = known_kind(action.kind)
        refused = legality.refusal(self.model, self.spec, of_kind, action)
        if refused is None:
            self.harms[action.id] = known_harm(self.model, self.spec, action)
            of_kind.rewrite(self.model, action)
        return refused
