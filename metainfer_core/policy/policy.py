"""Policy: the ordered actions for one model on one spec, with the evidence for each."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal

from metainfer_core.actions.action import Alternative, Reason, Refusal
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.lineage import Lineage
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.values import JsonMap, Value, canonical_json, sha256


class Evidence(Value):
    """What is known about one action's effect. Predicted and measured are never mixed."""

    alone: Effect | None = None
    together: Effect | None = None
    predicted_time_us: tuple[float, float] | None = None
    """Change of time on the spec, low and high end of the interval; negative is faster."""
    predicted_bytes: int | None = None
    """Change of bytes moved."""


class Risk(Value):
    """How dangerous an action is, and why."""

    level: Literal["low", "medium", "high"]
    facts: tuple[str, ...]


class PolicyAction(Value):
    """One line of a policy: the plain fields of `.policy` files, then ours, then the reviewers'."""

    node_id: str
    action: str
    params: JsonMap = {}

    nodes: tuple[str, ...] = ()
    """All nodes that it changes; `node_id` is the first."""
    sentence: str = ""
    why: tuple[Reason, ...] = ()
    constraint: str = ""
    alternatives: tuple[Alternative, ...] = ()
    evidence: Evidence = Evidence()
    risk: Risk | None = None

    override: bool | JsonMap | None = None
    """False switches the action off; an object replaces parameters."""
    review_required: bool | None = None
    zero_point_clip: bool | None = None
    precision_sensitive: bool | None = None

    @property
    def id(self) -> str:
        """Stable name of this action in its policy."""
        return f"{self.action}@{self.node_id}"

    @cached_property
    def content_digest(self) -> str:
        """Digest of what will be done (plain fields, nodes, reviewers' fields), not of the evidence for it."""
        keys = ("node_id", "action", "params", "nodes", "override", "zero_point_clip", "precision_sensitive")
        plain: dict[str, Any] = self.plain()
        return sha256(canonical_json({key: plain[key] for key in keys if key in plain}))


class Policy(Value):
    """All actions for one model on one spec."""

    version: Literal["1.2"] = "1.2"
    actions: tuple[PolicyAction, ...]

    format: Literal["metainfer.policy/1"] = "metainfer.policy/1"
    name: str = ""
    model_digest: str | None = None
    """None in a plain policy that people or other tools wrote: it is bound when it is used."""
    spec_digest: str | None = None
    """`values_digest` of the spec."""
    ruleset_digest: str | None = None
    refusals: tuple[Refusal, ...] = ()
    objective: JsonMap = {}
    candidates: tuple[JsonMap, ...] = ()
    """The best candidates with their predicted latency, best first."""
    calibration: str = ""
    warnings: tuple[str, ...] = ()
    """What the author of the policy must know, such as a latency goal that was not reached."""
    structure_changes: tuple[StructureChange, ...] | None = None
    """What training the model again would make possible; nothing of it is done. None: nothing was found or sought."""
    fine_tuning: Lineage | None = None
    """Where the model comes from, if fine-tuning made it: the record in the model. None: it has none."""

    @property
    def bound_shapes(self) -> dict[str, tuple[int, ...]]:
        """Input to the shape that its bind_shape action fixes: what the model must be preprocessed with."""
        bound = [line for line in self.actions if line.action == "bind_shape" and "shape" in line.params]
        return {line.node_id: tuple(line.params["shape"]) for line in bound}
