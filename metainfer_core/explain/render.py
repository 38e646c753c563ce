"""Explanations as text, JSON data and one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from metainfer_core.actions.action import Refusal
from metainfer_core.explain.explanation import Because, Explanation
from metainfer_core.explain.sizes import sized_html
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.structure.change import StructureChange
from metainfer_core.spec.hardware_spec import HardwareSpec


def environment() -> Environment:
    """Templates with every value escaped: names from models and manuals are never HTML."""
    return Environment(
        loader=PackageLoader("metainfer_core.explain"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def text_lines(lines: Iterable[str]) -> str:
    """Lines of a text for people, each kept to one: a line end in a name or a reason cannot forge the next line."""
    return "\n".join(" ".join(line.splitlines()) for line in lines)


def as_text(explanations: tuple[Explanation, ...], policy: Policy) -> str:
    """Where a fine-tuned model comes from, one block an action, then what was refused."""
    origin = [text_lines([f"The model: {policy.fine_tuning.words}"])] if policy.fine_tuning is not None else []
    blocks = [*origin, *(_block(one) for one in explanations)]
    refusals = _refusals(explanations, policy)
    if refusals:
        lines = [f"  {', '.join(refusal.nodes)} ({refusal.kind}): {refusal.reason}" for refusal in refusals]
        blocks.append(text_lines(["Refused:", *lines]))
    if policy.structure_changes and len(explanations) == len(policy.actions):
        heading = "With training again (predicted, not measured; nothing of it is done):"
        blocks.append(text_lines([heading, *(line for each in policy.structure_changes for line in _training(each))]))
    return "\n\n".join(blocks) if blocks else "The policy holds no action."


def as_data(explanations: tuple[Explanation, ...], policy: Policy) -> dict[str, Any]:
    """The JSON answer of `meta-infer explain`."""
    evidence = {action.id: action.evidence.plain() for action in policy.actions}

    def one(explanation: Explanation) -> dict[str, Any]:
        plain = explanation.plain()
        measured = {key: value for key, value in evidence[explanation.id].items() if key in ("alone", "together")}
        predicted = {key: value for key, value in evidence[explanation.id].items() if key.startswith("predicted")}
        return plain | {
            "why": [_reason(because) for because in explanation.why],
            "measured": measured,
            "predicted": predicted,
            "measured_text": list(explanation.measured),
            "predicted_text": list(explanation.predicted),
        }

    refusals = [refusal.plain() for refusal in _refusals(explanations, policy)]
    changes = [{"id": each.id, **each.plain()} for each in policy.structure_changes or ()]
    return {
        "actions": [one(explanation) for explanation in explanations],
        "refusals": refusals,
        "structure_changes": changes,
        **({"fine_tuning": policy.fine_tuning.plain()} if policy.fine_tuning is not None else {}),
    }


def as_html(explanations: tuple[Explanation, ...], policy: Policy, spec: HardwareSpec) -> str:
    """One self-contained page: no script, no outside reference."""
    template = environment().get_template("explanation.html.jinja")
    return sized_html(
        template.render(explanations=explanations, policy=policy, spec=spec, predicted_words=predicted_words)
    )


def _refusals(explanations: tuple[Explanation, ...], policy: Policy) -> tuple[Refusal, ...]:
    """What was refused: all of it, or where only some actions are shown, what concerns their nodes."""
    if len(explanations) == len(policy.actions):
        return policy.refusals
    shown = {node for one in explanations for node in one.node_ids}
    return tuple(refusal for refusal in policy.refusals if shown.intersection(refusal.nodes))


def predicted_words(change: StructureChange) -> str:
    """The predicted effect of a change, labelled so."""
    if change.grade == "forbidden":
        return "Nothing is predicted for what is forbidden."
    time, moved = change.predicted_time_us, change.predicted_bytes
    words = (
        f"time changes by {time[0]:+,.1f} to {time[1]:+,.1f} µs on the spec"
        if time is not None
        else "what it does to the time is not known"
    )
    return f"Predicted: {words}" + (f", {moved:+,} bytes moved." if moved is not None else ".")


def _training(change: StructureChange) -> list[str]:
    reasons = [f"    {because.claim}" for because in change.why]
    return [
        f"  {change.grade}: {change.sentence} ({change.id})",
        *reasons,
        f"    {predicted_words(change)}",
        f"    Risk: {change.risk}",
        *([f"    Measure then: {change.measure}"] if change.measure else []),
        f"    {change.then}",
    ]


def _block(one: Explanation) -> str:
    lines = [one.title, f"  {one.sentence}", "  Why:"]
    for because in one.why:
        lines.append(f"    - {because.claim}")
        if because.spec_field:
            value = f" = {because.value}" if because.value else ""
            source = f"  [{because.source.text}]" if because.source else ""
            lines.append(f"      {because.spec_field}{value}{source}")
        if because.law:
            lines.append(f"      law: {because.law}")
    lines.append(f"  Constraint satisfied: {one.constraint}")
    lines.append("  Measured:")
    lines += [f"    - {line}" for line in one.measured]
    lines.append("  Predicted: " + "; ".join(one.predicted))
    lines.append(f"  Risk: {one.risk}. " + " ".join(one.risk_facts))
    if one.alternatives:
        lines.append("  Alternatives rejected:")
        lines += [f"    - {line}" for line in one.alternatives]
    lines += [f"  Reviewer: {line}" for line in one.reviewer]
    return text_lines(lines)


def _reason(because: Because) -> dict[str, Any]:
    plain = because.plain()
    plain["source"] = because.source.text if because.source else None
    return {"spec_field": None, "value": None} | plain
