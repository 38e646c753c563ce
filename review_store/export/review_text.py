"""A review as people and scripts read it."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.bundle.trust import Time
from metainfer_core.explain.render import text_lines
from metainfer_core.explain.what_if_words import what_if_line
from review_store.record.events import Overridden, Tagged
from review_store.record.log import Record
from review_store.review.overrides import overrides
from review_store.review.review_filter import EVERYTHING, Filter
from review_store.review.state import REVIEW_WORDS, ActionReview, ReviewState
from review_store.review.threads import open_threads

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the start of a formula."""
SAID = ("reason", "assignee", "text", "answers", "thread", "override", "justification", "undoes", "demo")
"""Fields of an event that a line about it tells."""
EFFECT = ("measured", "unmeasured")
"""Fields of an override that are told in a sentence."""


def action_data(review: ActionReview) -> dict[str, Any]:
    """One action as JSON data."""
    return {
        "id": review.id,
        "state": review.word,
        "risk": risk_level(review.action),
        "sentence": review.action.sentence,
        "approved_by": list(review.standing.counted),
        "needed": review.standing.needed,
        "rejected_by": sorted(review.rejections),
        "tag": None if review.tag is None else _tag(review.tag),
        "override": None if review.override is None else {"by": review.override.actor} | _override(review),
        "notes": list(review.notes),
        "open_comments": [each.number for each in open_threads(review.threads)],
        "content_digest": review.action.content_digest,
        "version": review.version,
    }


def state_data(state: ReviewState, wanted: Filter = EVERYTHING, now: Time | None = None) -> dict[str, Any]:
    """The review as JSON data, with the actions that are wanted. Overrides count as expired only if `now` is given."""
    return {
        "lineage": state.lineage,
        "policy_digest": state.policy.digest,
        "counts": _counts(state),
        "blocking": [each.id for each in state.unreviewed],
        "overrides": {word: list(ids) for word, ids in overrides(state, now).items()},
        "actions": [action_data(each) for each in state.actions if wanted.wants(each)],
        "version": state.version,
    }


def state_text(state: ReviewState, wanted: Filter = EVERYTHING, now: Time | None = None) -> str:
    """The actions that are wanted, most pressing ones first, and counts of all."""
    order = list(REVIEW_WORDS)
    risks = ("high", "medium", "low")
    chosen = [each for each in state.actions if wanted.wants(each)]
    rows = sorted(chosen, key=lambda each: (order.index(each.word), risks.index(risk_level(each.action))))
    lines: list[str] = []
    for each in rows:
        stands = f"{len(each.standing.counted)}/{each.standing.needed}"
        lines.append(f"{each.word:<9} {risk_level(each.action):<7} {stands}  {each.id}")
        lines += [f"    {each.action.sentence}"] if each.action.sentence else []
        lines += [f"    {_override_line(each)}"] if each.override is not None else []
        lines += [f"    Note: {note}" for note in (*missing_people(each), *each.notes)]
    counts = ", ".join(f"{count} {word}" for word, count in _counts(state).items() if count) or "no actions"
    shown = "" if len(rows) == len(state.actions) else f"{len(rows)} of "
    lines.append(f"{shown}{len(state.actions)} actions: {counts}.")
    given = overrides(state, now)
    if any(given.values()):
        words = ", ".join(f"{word} {len(ids)}" for word, ids in given.items())
        named = [f"{word}: {', '.join(ids)}" for word, ids in given.items() if ids and word != "used"]
        lines.append("; ".join((f"Overrides: {words}", *named)) + ".")
    return text_lines(lines)


def action_text(review: ActionReview, records: Iterable[Record]) -> str:
    """One action with all that people said about it."""
    action = review.action
    lines = [f"{review.id}: {review.word}. {REVIEW_WORDS[review.word]}"]
    lines += [action.sentence] if action.sentence else []
    lines.append(f"Risk: {risk_level(action)}" + ("" if action.risk else " (nothing assessed it)"))
    lines += [f"  {fact}" for fact in action.risk.facts] if action.risk else []
    lines += [f"Why: {reason.claim}" for reason in action.why]
    lines += [f"Parameters: {_json(action.plain().get('params', {}))}"]
    lines += [_override_line(review)] if review.override is not None else []
    if review.tag is not None:
        asks = f", who asks {review.tag.assignee} to look" if review.tag.assignee else ""
        answered = " (answered by its approval)" if review.question is None else ""
        lines.append(f"Tagged by {review.tag.actor}{asks}: {review.tag.reason}{answered}")
    lines.append(f"Approved by {len(review.standing.counted)} of {review.standing.needed} needed.")
    lines += [f"Note: {note}" for note in (*missing_people(review), *review.notes)]
    lines.append("History:")
    lines += [f"  {record_text(record)}" for record in records] or ["  nothing yet"]
    return text_lines(lines)


def missing_people(review: ActionReview) -> tuple[str, ...]:
    """That further people are missing, where some have approved already."""
    stands = review.standing
    if stands.enough or not stands.counted or review.rejections:
        return ()
    missing = stands.needed - len(stands.counted)
    who = "another person is" if missing == 1 else f"{missing} other people are"
    return (f"{', '.join(stands.counted)} approved it; {who} missing: {stands.needed} must stand behind it.",)


def record_data(record: Record) -> dict[str, Any]:
    """One event as JSON data."""
    return {"seq": record.seq} | record.event.plain()


def record_text(record: Record) -> str:
    """One event in a line, with what was said in it."""
    event = record.event
    plain = event.plain()
    said = {key: plain[key] for key in SAID if key in plain}
    if "override" in said:
        said["override"] = override_words(said["override"])
    if isinstance(event, Overridden):
        said |= _effect(event)
    details = "; ".join(f"{key}: {_flat(value)}" for key, value in said.items())
    return f"{record.seq} {event.at} {event.actor} {plain['kind']}" + (f" ({details})" if details else "")


def records_json_lines(records: Iterable[Record]) -> bytes:
    """Every event as one line of JSON, exactly as it is kept."""
    return b"".join(record.event.to_json() + b"\n" for record in records)


def records_csv(records: Iterable[Record]) -> bytes:
    """Every event as a row for spreadsheets; a text that one would run as a formula gets an apostrophe before it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(("seq", "at", "actor", "action", "event", "details"))
    for record in records:
        plain = record.event.plain()
        rest = {key: value for key, value in plain.items() if key not in ("at", "actor", "action", "kind", *EFFECT)}
        rest |= _effect(record.event) if isinstance(record.event, Overridden) else {}
        details = "; ".join(f"{key}: {_flat(value)}" for key, value in rest.items())
        row = (str(record.seq), plain["at"], plain["actor"], plain.get("action", ""), plain["kind"], details)
        writer.writerow([_not_a_formula(cell) for cell in row])
    return buffer.getvalue().encode()


def _not_a_formula(cell: str) -> str:
    return "'" + cell if cell.startswith(FORMULA_STARTS) else cell


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}={_flat(item)}" for key, item in value.items())
    return str(value)


def _tag(tag: Tagged) -> dict[str, Any]:
    asks = {} if tag.assignee is None else {"assignee": tag.assignee}
    return {"by": tag.actor, "reason": tag.reason} | asks


def _override(review: ActionReview) -> dict[str, Any]:
    assert review.override is not None
    plain: dict[str, Any] = review.override.plain()
    known: dict[str, Any] = {key: plain[key] for key in EFFECT if key in plain}
    return {"value": plain.get("override"), "reason": review.override.reason, **known}


def _override_line(review: ActionReview) -> str:
    assert review.override is not None
    given = _override(review)
    effect = override_effect(review.override)
    words = f"Override by {review.override.actor}: {override_words(given['value'])} ({given['reason']})"
    return f"{words}; {effect}" if effect else words


def override_effect(event: Overridden) -> str:
    """What an override does, as it was measured before it was written; empty in records of older programs."""
    if event.measured is not None:
        return what_if_line(event.measured, event.action)
    return f"not measured: {event.unmeasured}" if event.unmeasured else ""


def _effect(event: Overridden) -> dict[str, str]:
    words = override_effect(event)
    return {"effect": words} if words else {}


def override_words(value: object) -> str:
    """As `--override` takes it, but that an action which is switched off is said to be."""
    if value is False:
        return "switched off"
    return "as proposed" if value is None else _json(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _counts(state: ReviewState) -> dict[str, int]:
    found = Counter(each.word for each in state.actions)
    return {word: found[word] for word in REVIEW_WORDS}
