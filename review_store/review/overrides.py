"""What became of people's overrides: in use, no longer needed, or past their end."""

from __future__ import annotations

from typing import Literal

from metainfer_core.bundle.trust import Time
from metainfer_core.policy.apply import effective
from review_store.review.state import ActionReview, ReviewState

OverrideWord = Literal["used", "unneeded", "expired"]


def overrides(state: ReviewState, now: Time | None) -> dict[OverrideWord, tuple[str, ...]]:
    """The actions with overrides, by what became of these. Without `now` none counts as expired."""
    found: dict[OverrideWord, list[str]] = {"used": [], "unneeded": [], "expired": []}
    for review in state.actions:
        word = override_word(review, now)
        if word is not None:
            found[word].append(review.id)
    return {word: tuple(ids) for word, ids in found.items()}


def override_word(review: ActionReview, now: Time | None) -> OverrideWord | None:
    """What became of an action's override; None where it has none.

    An override is unneeded if what is proposed is what it asks for, or if the action is proposed differently since, so
    that it no longer applies.
    """
    given = review.override
    if given is None:
        return "unneeded" if review.left_behind is not None else None
    if now is not None and given.expires is not None and now > given.expires:
        return "expired"
    if given.override is False:
        return "used"
    changes_nothing = effective(review.action).params == effective(review.proposed).params
    return "unneeded" if changes_nothing else "used"
