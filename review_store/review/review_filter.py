"""Which actions of a review are wanted: by risk, kind, compute unit and state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metainfer_core.actions.catalog import KINDS
from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.bundle.trust import RISK_LEVELS
from metainfer_core.errors import InputError
from metainfer_core.policy.apply import effective
from review_store.review.state import REVIEW_WORDS, ActionReview


@dataclass(frozen=True)
class Filter:
    """An action is wanted if it has one of the words of each group; an empty group wants all."""

    risks: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    states: tuple[str, ...] = ()

    @staticmethod
    def of(risks: Sequence[str], kinds: Sequence[str], units: Sequence[str], states: Sequence[str]) -> Filter:
        """The filter that a person gave; raises InputError for a word that nothing can have."""
        for option, given, known in (
            ("--risk", risks, RISK_LEVELS),
            ("--kind", kinds, tuple(each.name for each in KINDS)),
            ("--state", states, tuple(REVIEW_WORDS)),
        ):
            unknown = [word for word in given if word not in known]
            if unknown:
                raise InputError(
                    f"{option} {unknown[0]}: there is none such.",
                    f"There are {', '.join(known)}.",
                    "Give one of these.",
                )
        return Filter(tuple(risks), tuple(kinds), tuple(units), tuple(states))

    def wants(self, review: ActionReview) -> bool:
        """Whether the action is wanted."""
        groups = (
            (self.risks, risk_level(review.action)),
            (self.kinds, review.action.action),
            (self.units, effective(review.action).params.get("target_hw")),
            (self.states, review.word),
        )
        return all(not wanted or word in wanted for wanted, word in groups)


EVERYTHING = Filter()
