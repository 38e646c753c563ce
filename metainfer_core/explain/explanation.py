"""Explanation of one action: a tree of claim, reasons and sources, down to the page of the manual."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metainfer_core.actions.action import Reason
from metainfer_core.actions.catalog import KINDS
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec, Provenance
from metainfer_core.values import Value

UNKNOWN = "unknown"
WIDTHS = (4, 6, 8, 16)
"""Bits of integers that kernels compute with."""


class Source(Value):
    """Where a spec value comes from."""

    document: str | None = None
    page: int | str | None = None
    words: str = ""
    assumed: str | None = None
    """The reason, where no document gives the value."""

    @property
    def text(self) -> str:
        """One line for people."""
        if self.assumed is not None:
            return f"assumed: {self.assumed}"
        if self.document is None:
            return "no source recorded"
        quote = f': "{self.words}"' if self.words else ""
        return f"{self.document}, page {self.page}{quote}"


class Because(Value):
    """One reason, with the spec value and the law that it rests on."""

    claim: str
    spec_field: str | None = None
    value: str | None = None
    source: Source | None = None
    law: str | None = None


class Explanation(Value):
    """Why one action is there, what it does, and what can go wrong."""

    id: str
    node_ids: tuple[str, ...]
    action: str
    title: str
    sentence: str
    why: tuple[Because, ...]
    constraint: str
    measured: tuple[str, ...]
    predicted: tuple[str, ...]
    risk: str
    risk_facts: tuple[str, ...]
    alternatives: tuple[str, ...]
    reviewer: tuple[str, ...] = ()
    """What reviewers put on it."""


def explain(policy: Policy, spec: HardwareSpec) -> tuple[Explanation, ...]:
    """One explanation per action, in the policy's order. No model is needed: the evidence is in the policy."""
    return tuple(_explain(action, spec) for action in policy.actions)


def source_of(spec: HardwareSpec, field: str) -> Source:
    """Where the value at a field path comes from; a path inside or above one with provenance finds that one."""
    for path in (field, *_ancestors(field)):
        if path in spec.assumed:
            return Source(assumed=spec.assumed[path])
        if path in spec.provenance:
            found = spec.provenance[path]
            document = spec.sources.get(found.source)
            title = document.title if document else found.source
            return Source(document=title, page=found.page, words=found.text)
    return Source()


def place_of(spec: HardwareSpec, field: str) -> tuple[str, Provenance] | None:
    """The digest of the document and the place in it that the value at a field path was read from.

    None where it is assumed, typed by a person, or in a document that the spec does not name.
    """
    for path in (field, *_ancestors(field)):
        if path in spec.assumed:
            return None
        if path in spec.provenance:
            found = spec.provenance[path]
            document = spec.sources.get(found.source)
            return None if document is None else (document.document_digest, found)
    return None


def _ancestors(field: str) -> list[str]:
    parts = field.split(".")
    return [".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1)]


def _explain(action: PolicyAction, spec: HardwareSpec) -> Explanation:
    why = tuple(_because(reason, spec) for reason in action.why)
    return Explanation(
        id=action.id,
        node_ids=action.nodes or (action.node_id,),
        action=action.action,
        title=f"Action on {action.node_id}: {_words(action)}",
        sentence=action.sentence or _first_sentence(action.action),
        why=why or _why_without_evidence(action, spec),
        constraint=action.constraint or "The policy names none.",
        measured=_measured(action),
        predicted=_predicted(action),
        risk=action.risk.level if action.risk else UNKNOWN,
        risk_facts=action.risk.facts if action.risk else ("The policy gives no evidence for this action.",),
        alternatives=tuple(f"{option.option}: {option.reason}" for option in action.alternatives),
        reviewer=_reviewer(action),
    )


def _because(reason: Reason, spec: HardwareSpec) -> Because:
    field, value = reason.spec_field, reason.spec_value
    source = source_of(spec, field) if field else None
    if field and not value and source == Source():
        value, source = f"{UNKNOWN} (not in the spec)", None
    return Because(claim=reason.claim, spec_field=field, value=value, source=source, law=reason.law)


def _words(action: PolicyAction) -> str:
    """The action in a few words, such as `quantize to INT6` or `fuse with Relu_25`."""
    if "bit_width" in action.params:
        return f"{action.action} to INT{action.params['bit_width']}"
    if "with" in action.params:
        return f"{action.action} with {', '.join(map(str, action.params['with']))}"
    if "memory" in action.params:
        places = action.params["memory"]
        return (
            f"{action.action} in {', '.join(sorted(set(places.values()))) if isinstance(places, Mapping) else places}"
        )
    return action.action.replace("_", " ")


def _first_sentence(kind_name: str) -> str:
    for kind in KINDS:
        if kind.name == kind_name:
            return str(type(kind).__doc__).strip().splitlines()[0]
    return f"There is no action kind {kind_name}; the kinds are {', '.join(kind.name for kind in KINDS)}."


def _why_without_evidence(action: PolicyAction, spec: HardwareSpec) -> tuple[Because, ...]:
    """What the spec and this version say about an action that came without reasons."""
    found = [Because(claim="The policy states this action without a reason.")]
    bits = action.params.get("bit_width", 8)
    if bits not in WIDTHS:
        known = f"{', '.join(map(str, WIDTHS[:-1]))} and {WIDTHS[-1]}"
        claim = f"Kernels exist for {known} bits: with {bits} bits this action is refused when it is applied."
        found.append(Because(claim=claim))
    target = action.params.get("target_hw")
    if target is None:
        return tuple(found)
    unit = spec.compute_units.get(str(target))
    if unit is None:
        known = ", ".join(spec.compute_units) or "none"
        claim = f"Its target {target} is not a compute unit of this spec; the units are: {known}."
        return *found, Because(claim=claim, spec_field="compute_units", source=source_of(spec, "compute_units"))
    field = f"compute_units.{target}.data_types"
    types = ", ".join(unit.data_types) or UNKNOWN
    claim = f"Its target {target} computes in: {types}."
    return *found, Because(claim=claim, spec_field=field, value=types, source=source_of(spec, field))


def _measured(action: PolicyAction) -> tuple[str, ...]:
    lines = []
    for name, effect in (("alone", action.evidence.alone), ("with all other actions", action.evidence.together)):
        lines.extend(_effect_lines(name, effect) if effect else [])
    return tuple(lines) or ("Not measured.",)


def _effect_lines(name: str, effect: Effect) -> list[str]:
    return [f"{name}, {_output_words(output)} ({effect.data})" for output in effect.outputs]


def _output_words(output: OutputEffect) -> str:
    if output.sqnr_db is None:
        return f"output {output.output}: no change"
    parts = [f"output {output.output}: {output.sqnr_db:.1f} dB signal-to-noise"]
    if output.worst_channel_sqnr_db is not None:
        parts.append(f"worst channel {output.worst_channel} {output.worst_channel_sqnr_db:.1f} dB")
    if output.dead_channels:
        parts.append(f"{output.dead_channels} of {output.channels} channels dead")
    if output.argmax_flips is not None:
        parts.append(f"{output.argmax_flips} arg-max flips")
    parts.append(f"largest error {output.max_abs_error:.3g}")
    if output.cosine is not None:
        parts.append(f"cosine {output.cosine:.6f}")
    return ", ".join(parts)


def _predicted(action: PolicyAction) -> tuple[str, ...]:
    lines = []
    if action.evidence.predicted_time_us is not None:
        low, high = action.evidence.predicted_time_us
        by = "not change" if max(abs(low), abs(high)) < 0.05 else f"change by {low:+.1f} to {high:+.1f} µs"
        lines.append(f"time will {by} on the spec")
    if action.evidence.predicted_bytes is not None:
        lines.append(f"bytes moved change by {action.evidence.predicted_bytes:+,}")
    return tuple(lines) or ("No prediction.",)


def _reviewer(action: PolicyAction) -> tuple[str, ...]:
    lines = []
    if action.override is False:
        lines.append("Switched off by a reviewer.")
    elif action.override:
        changes: dict[str, Any] = action.override if isinstance(action.override, dict) else {}
        lines.append("Overridden: " + ", ".join(f"{key} = {value}" for key, value in sorted(changes.items())) + ".")
    if action.review_required:
        lines.append("A review is required.")
    if action.zero_point_clip:
        lines.append("The zero point is clipped.")
    if action.precision_sensitive:
        lines.append("Marked as precision-sensitive: it must not be fused or lowered.")
    return tuple(lines)
