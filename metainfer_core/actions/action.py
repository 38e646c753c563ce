"""What an action is: one proposed change to one model, and the kind that knows how to make it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar, Literal

import onnx_ir as ir

from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import JsonMap, Value


class Reason(Value):
    """One step of the argument for an action."""

    claim: str
    """A full sentence."""
    spec_field: str | None = None
    """Path of the spec value it rests on, such as `compute_units.npu.data_types`."""
    spec_value: str | None = None
    """That value as text, with its unit."""
    law: str | None = None
    """The rule or publication it rests on."""


class Alternative(Value):
    """What else could have been done, and why it was not."""

    option: str
    reason: str


class Action(Value):
    """One change to one model, as plain data: which kind, where, with which parameters, and why."""

    format: Literal["metainfer.action/1"] = "metainfer.action/1"
    kind: str
    nodes: tuple[str, ...]
    """Node ids; the first one is the node that the action stands on."""
    params: JsonMap = {}
    """Checked by the kind's own `Params` model."""
    why: tuple[Reason, ...] = ()
    constraint: str = ""
    """The hardware constraint that it satisfies, in one sentence."""
    alternatives: tuple[Alternative, ...] = ()

    @property
    def id(self) -> str:
        """Stable name of this action in its policy."""
        return f"{self.kind}@{self.nodes[0]}"

    def with_nodes(self, nodes: tuple[str, ...]) -> Action:
        """The same action on other nodes."""
        return Action.from_plain({**self.plain(), "nodes": nodes})

    def with_params(self, params: JsonMap) -> Action:
        """The same action with these parameters in place of or beside its own."""
        return Action.from_plain({**self.plain(), "params": {**self.params, **params}})


class Refusal(Value):
    """Why a kind did not propose an action at a place where its pattern matched."""

    kind: str
    nodes: tuple[str, ...]
    reason: str


class Obligation(Value):
    """What must hold before a rewrite is trusted."""

    relative: float | None = None
    absolute: float | None = None
    """Same outputs within |y - x| <= absolute + relative * max|x|. None: held against a budget instead."""
    why: str


class RiskFacts(Value):
    """What can go wrong with actions of a kind; policy/risk.py combines them."""

    changes_numbers: bool
    needs_calibration: bool
    device_dependent: bool


class ActionKind(ABC):
    """One way to change a model. Its class docstring is the text that a reviewer reads."""

    name: ClassVar[str]
    """Also the word in the field `action` of a policy file."""
    obligation: ClassVar[Obligation]
    risk: ClassVar[RiskFacts]
    Params: ClassVar[type[Value]] = Value
    stands_on_inputs: ClassVar[bool] = False
    """Whether its actions may name an input of the model in place of a node."""

    @abstractmethod
    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """Every place where the kind's pattern matches: an action, or a refusal with the reason. Changes nothing."""

    def completed(self, model: ir.Model, action: Action, calibration: Calibration | None) -> Action:
        """The action with what a plain policy leaves open (nodes, ranges) filled in from the model."""
        return action

    @abstractmethod
    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """Why this action is not legal here, or None. Runs on proposals and on people's overrides alike."""

    @abstractmethod
    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Changes the model in place; the caller cloned it, and removes initializers that nothing reads any more."""

    @abstractmethod
    def sentence(self, action: Action) -> str:
        """What the action does, in one sentence for people."""
