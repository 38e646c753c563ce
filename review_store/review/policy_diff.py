"""What differs between two revisions of a policy, action by action, whatever the files look like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.policy.policy import Policy, PolicyAction

DECISIVE = ("params", "nodes", "override", "zero_point_clip", "precision_sensitive", "review_required")
"""Fields that say what will be done, or how it is looked at. Evidence and words are no part of it."""
Change = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class FieldChange:
    """One value that differs; None: it is not there."""

    field: str
    before: Any
    after: Any


@dataclass(frozen=True)
class ActionChange:
    """One action that differs."""

    action_id: str
    change: Change
    fields: tuple[FieldChange, ...] = ()
    """Of an action that stands in both, its risk among them."""


def policy_diff(old: Policy, new: Policy) -> tuple[ActionChange, ...]:
    """The actions that differ, by id; empty for policies that do the same at the same risk, in any order."""
    before, after = ({action.id: action for action in each.actions} for each in (old, new))
    found: list[ActionChange] = []
    for action_id in sorted(before.keys() | after.keys()):
        if action_id not in after:
            found.append(ActionChange(action_id, "removed"))
        elif action_id not in before:
            found.append(ActionChange(action_id, "added"))
        else:
            fields = action_diff(before[action_id], after[action_id])
            found += [ActionChange(action_id, "changed", fields)] if fields else []
    return tuple(found)


def action_diff(old: PolicyAction, new: PolicyAction) -> tuple[FieldChange, ...]:
    """The values that differ between two versions of an action, by field."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    names = sorted(before.keys() | after.keys())
    return tuple(
        FieldChange(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)
    )


def change_text(change: FieldChange) -> str:
    """One value that differs, as a sentence."""
    if change.field == "override":
        return "It is switched off now." if change.after is False else "It is no longer switched off."
    name = change.field.removeprefix("params.").replace("override.", "overridden ").replace("_", " ")
    if change.before is None:
        return f"The {name} is given now: {_shown(change.after)}."
    if change.after is None:
        return f"The {name} is no longer given; before: {_shown(change.before)}."
    return f"The {name} changed from {_shown(change.before)} to {_shown(change.after)}."


def _leaves(action: PolicyAction) -> Iterator[tuple[str, Any]]:
    plain: dict[str, Any] = action.plain()
    for name in DECISIVE:
        value = plain.get(name)
        if isinstance(value, Mapping):
            yield from ((f"{name}.{key}", item) for key, item in value.items())
        elif value is not None:
            yield name, value
    yield "risk", risk_level(action)


def _shown(value: Any) -> str:
    """A value without the marks of a program."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_shown(item)}" for key, item in value.items())
    return ", ".join(map(_shown, value)) if isinstance(value, list | tuple) else str(value)
