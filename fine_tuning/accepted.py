"""Which of a policy's proposals are made: the three classes, enforced."""

from __future__ import annotations

from metainfer_core.errors import InputError, NotTrustedError, UnsupportedError
from metainfer_core.policy.apply import is_off
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.structure.change import StructureChange

TRAINED_WITH = ("factor_weights", "store_low_bit")
"""Kinds of actions that training makes up for."""


def accepted(policy: Policy, ids: tuple[str, ...], reviewed_by: str | None, source: str) -> tuple[StructureChange, ...]:
    """The structure changes of these ids.

    Raises:
        InputError: There is no such change.
        UnsupportedError: It is forbidden; says why.
        NotTrustedError: It needs review, and nobody is named who reviewed it.
    """
    known = {each.id: each for each in policy.structure_changes or ()}
    for name in ids:
        if name not in known:
            names = ", ".join(name for name, each in known.items() if each.grade != "forbidden") or "none"
            raise InputError(f"{source}: there is no structure change {name}.", f"Proposed: {names}.", "Name one.")
        change = known[name]
        if change.grade == "forbidden":
            why = " ".join(reason.claim for reason in change.why)
            raise UnsupportedError(f"{name} is forbidden.", f"{why} {change.risk}", change.then)
        if change.grade == "needs review" and not reviewed_by:
            raise NotTrustedError(
                f"{name} needs review before it is made.",
                change.risk,
                "Let somebody review it, and say who did: --reviewed-by NAME.",
                "needs_review",
            )
    return tuple(known[name] for name in dict.fromkeys(ids))


def trained_lines(policy: Policy, changes: tuple[StructureChange, ...], source: str) -> tuple[PolicyAction, ...]:
    """The actions of the policy that are trained with; raises InputError where there is nothing to train for."""
    lines = tuple(line for line in policy.actions if line.action in TRAINED_WITH and not is_off(line))
    if not changes and not lines:
        offered = [each.id for each in policy.structure_changes or () if each.grade != "forbidden"]
        raise InputError(
            f"{source}: nothing in this policy is trained for.",
            f"It has no factor_weights or store_low_bit action. Structure changes: {', '.join(offered) or 'none'}.",
            "Name a change with --change, or adapt with --weight-bits 4." if offered else "Adapt with --weight-bits 4.",
        )
    return lines
