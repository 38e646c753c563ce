"""The review's queue: which actions it shows, in which order, and what a row says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from metainfer_core.bundle.review_rules import needs_justification, risk_level
from metainfer_core.policy.policy import PolicyAction
from review_store.record.log import Record
from review_store.review.since import changed_since
from review_store.review.state import ActionReview, ReviewState
from studio.words.core_words import core_term
from studio.words.long_names import short_words
from studio.words.texts import text

RISKS = ("high", "medium", "low")
ROW_LETTERS = 30
"""Letters of a name that a row of the queue has room for."""


@dataclass(frozen=True)
class Chosen:
    """What the chips and the search box ask for; nothing asked for means everything."""

    risks: Collection[str] = ()
    words: Collection[str] = ()
    kinds: Collection[str] = ()
    search: str = ""
    ids: Collection[str] | None = None
    """Only these, where not everything is asked for."""

    def shows(self, review: ActionReview) -> bool:
        """Whether the queue shows an action."""
        action, wanted = review.action, self.search.strip().casefold()
        return (
            (self.ids is None or review.id in self.ids)
            and (not self.risks or risk_level(action) in self.risks)
            and (not self.words or review.word in self.words)
            and (not self.kinds or action.action in self.kinds)
            and (not wanted or wanted in f"{review.id} {action.sentence} {' '.join(action.nodes)}".casefold())
        )


def queue(actions: Iterable[ActionReview], chosen: Chosen) -> tuple[ActionReview, ...]:
    """The actions shown, the gravest risk first, else in the policy's order."""
    shown = [each for each in actions if chosen.shows(each)]
    return tuple(sorted(shown, key=lambda each: RISKS.index(risk_level(each.action))))


def about(state: ReviewState, records: Sequence[Record], person: str) -> dict[str, frozenset[str]]:
    """What the queue can be narrowed to for one person: changed since their word, asked of them, approved by them."""
    return {
        "changed": changed_since(state, records, person),
        "asked": frozenset(each.id for each in state.actions if each.question and each.question.assignee == person),
        "mine": frozenset(each.id for each in state.actions if person in each.approvals),
    }


def together(shown: Iterable[ActionReview]) -> tuple[ActionReview, ...]:
    """Those that one justification can approve: open, low or medium risk, with no tag that asks for a closer look."""
    return tuple(
        each for each in shown if each.word in ("pending", "outdated") and not needs_justification(each.action)
    )


def next_open(shown: Sequence[ActionReview], action_id: str) -> str | None:
    """The next action after this one that still blocks signing, from the top again after the last; None: no other."""
    ids = [each.id for each in shown]
    after = ids.index(action_id) + 1 if action_id in ids else 0
    ahead = (*shown[after:], *shown[:after])
    return next((each.id for each in ahead if each.word != "approved" and each.id != action_id), None)


def rows(shown: Iterable[ActionReview]) -> list[dict[str, Any]]:
    """What the queue's component draws."""
    return [
        {
            "id": each.id,
            "risk": risk_level(each.action),
            "word": each.word,
            "title": title(each.action),
            "node": each.action.node_id,
            "full": f"{full_title(each.action)}\n{each.action.node_id}",
            "stands": f"{len(each.standing.counted)}/{each.standing.needed}",
            "marks": " · ".join(_marks(each)),
            "justify": needs_justification(each.action),
            "version": each.version,
        }
        for each in shown
    ]


def _marks(each: ActionReview) -> list[str]:
    """What people did to an action besides a verdict: somebody asked for a closer look, or changed what it does."""
    marks = {"mark_tag": each.question is not None, "mark_override": each.action.override is not None}
    return [text(name) for name, holds in marks.items() if holds]


def title(action: PolicyAction) -> str:
    """An action in a few words, such as `Quantize to INT8` or `Fuse with Relu_25`; long names without their middle."""
    return short_words(full_title(action), ROW_LETTERS)


def full_title(action: PolicyAction) -> str:
    """The same with names in full."""
    return core_term(_title(action))


def _title(action: PolicyAction) -> str:
    word = action.action.replace("_", " ").capitalize()
    params: Mapping[str, Any] = action.params | (action.override if isinstance(action.override, dict) else {})
    if action.override is False:
        return f"{word}: switched off"
    if "bit_width" in params:
        return f"{word} to INT{params['bit_width']}"
    if "with" in params:
        return f"{word} with {', '.join(map(str, params['with']))}"
    memory = params.get("memory")
    if isinstance(memory, Mapping):
        return f"{word} in {', '.join(sorted(set(map(str, memory.values()))))}"
    return word


def counts(actions: Iterable[ActionReview]) -> dict[str, Counter[str]]:
    """How many actions there are of each risk, state and kind."""
    found = {"risks": Counter[str](), "words": Counter[str](), "kinds": Counter[str]()}
    for each in actions:
        found["risks"][risk_level(each.action)] += 1
        found["words"][each.word] += 1
        found["kinds"][each.action.action] += 1
    return found
