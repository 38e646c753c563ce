"""The record of a review in plain sentences: who did what, when, and in which words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metainfer_core.bundle.statement import Justification
from metainfer_core.bundle.trust import Time
from review_store.record.events import (
    Approved,
    Commented,
    Event,
    Overridden,
    Registered,
    Rejected,
    Released,
    Resolved,
    SignedApproval,
    Tagged,
    Undone,
    Withdrawn,
)
from review_store.record.log import Record
from review_store.review.policy_diff import FieldChange
from studio.review.override_effect import effect_words
from studio.words.action_words import parameter_words, value_words
from studio.words.marks import risk_mark
from studio.words.moments import moment
from studio.words.texts import text


@dataclass(frozen=True)
class Told:
    """One event."""

    did: str
    """Who did what, such as `ada approved it`."""
    at: str
    exact: Time
    """The moment as the record has it."""
    said: tuple[str, ...]
    """Their words, each with what it is about."""

    @property
    def sentence(self) -> str:
        """All of it in a line."""
        return " ".join((f"{self.did} ({self.at}).", *self.said))


def told(records: Iterable[Record], among: Iterable[Record]) -> tuple[Told, ...]:
    """Events in words, in the order given; what they refer to is looked up `among` these."""
    known = {record.seq: record.event for record in among}
    return tuple(
        Told(_did(record.event, known), moment(record.event.at), record.event.at, _said(record.event, known))
        for record in records
    )


def changed(change: FieldChange) -> str:
    """One value of an action that differs between two of its versions, as a sentence."""
    if change.field == "override":
        return text("change_off" if change.after is False else "change_on")
    group, dot, own = change.field.partition(".")
    name = parameter_words(own) if dot else text(f"field_{group}")
    if group == "override":
        name = text("change_of_override", name=name)
    before, after = (
        risk_mark(each)[1] if group == "risk" else value_words(own, each) for each in (change.before, change.after)
    )
    if change.before is None:
        return text("change_new", name=name, after=after)
    if change.after is None:
        return text("change_gone", name=name, before=before)
    return text("change_value", name=name, before=before, after=after)


def _did(event: Event, known: dict[int, Event]) -> str:
    who = event.actor
    match event:
        case Registered():
            return text("told_registered", who=who)
        case Tagged(assignee=None):
            return text("told_tagged", who=who)
        case Tagged():
            return text("told_asked", who=who, whom=event.assignee)
        case Overridden(override=False):
            return text("told_off", who=who)
        case Overridden(override=None):
            return text("told_as_proposed", who=who)
        case Overridden():
            return text("told_overridden", who=who, what=_parameters(event.plain()["override"]))
        case Approved():
            return text("told_approved", who=who)
        case Rejected():
            return text("told_rejected", who=who)
        case Withdrawn():
            return text("told_withdrawn", who=who)
        case Commented(answers=None):
            return text("told_commented", who=who)
        case Commented():
            return text("told_answered", who=who, whom=_actor(known.get(event.answers or 0)))
        case Resolved():
            return text("told_resolved", who=who, whom=_actor(known.get(event.thread)))
        case Undone():
            before = known.get(event.undoes)
            what = _did(before, known) if before is not None else text("unknown")
            return text("told_undone", who=who, what=what, at=moment(before.at) if before is not None else "–")
        case SignedApproval():
            return text("told_signed_demo" if event.demo else "told_signed", who=who)
        case Released(demo=True):
            return text("told_released_demo", who=who, serial=event.serial)
        case Released():
            return text("told_released", who=who, serial=event.serial)


def _parameters(override: Mapping[str, Any]) -> str:
    return ", ".join(
        text("told_parameter", name=parameter_words(name), value=value_words(name, value))
        for name, value in override.items()
    )


def _said(event: Event, known: dict[int, Event]) -> tuple[str, ...]:
    match event:
        case Approved(justification=Justification() as lines):
            return (
                f"{text('form_why_allowed')}{text('colon')}{lines.why_allowed}",
                f"{text('form_accuracy_effect')}{text('colon')}{lines.accuracy_effect}",
                f"{text('form_fallback')}{text('colon')}{lines.fallback}",
            )
        case Overridden():
            until = () if event.expires is None else (text("told_until", at=moment(event.expires)),)
            return (text("told_reason", reason=event.reason), *until, *effect_words(event))
        case Tagged() | Rejected():
            return (text("told_reason", reason=event.reason),)
        case Commented():
            return (event.text,)
        case Resolved():
            first = known.get(event.thread)
            return (first.text,) if isinstance(first, Commented) else ()
        case _:
            return ()


def _actor(event: Event | None) -> str:
    return event.actor if event is not None else text("unknown")
