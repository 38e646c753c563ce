"""A review as one self-contained page: what was proposed, why, what people decided, and that nobody changed the record.

The same record, spec, documents and day give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import ChoiceLoader, PackageLoader
from markupsafe import Markup

from metainfer_core import __version__
from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.bundle.statement import LogHead
from metainfer_core.bundle.trust import Time, TrustFile
from metainfer_core.explain.explanation import Because, Explanation, explain
from metainfer_core.explain.render import environment
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.export.manual_crops import Spot, spot_of
from review_store.export.review_text import missing_people, override_effect, override_words, record_text
from review_store.record.check_log import LogFault
from review_store.record.log import Record
from review_store.review.overrides import override_word, overrides
from review_store.review.state import REVIEW_WORDS, ActionReview, ReviewState, reviewed_policy

RISKS = ("high", "medium", "low")


@dataclass(frozen=True)
class Evidence:
    """What a page shows beside the review itself."""

    spec: HardwareSpec
    pictures: Mapping[Spot, bytes]
    """PNGs of places in manuals."""
    absent: Mapping[str, str]
    """Digest of a document that is not at hand to why."""
    faults: tuple[LogFault, ...]
    """Of the whole record."""
    head: LogHead
    trust: TrustFile


@dataclass(frozen=True)
class _Cutout:
    id: str
    data: str
    width: int
    height: int


@dataclass(frozen=True)
class _Reason:
    because: Because
    cutout: _Cutout | None
    absent: str


@dataclass(frozen=True)
class _Block:
    """One action on the page."""

    anchor: str
    review: ActionReview
    explanation: Explanation
    reasons: tuple[_Reason, ...]
    override_word: str | None
    override: str
    effect: str
    notes: tuple[str, ...]
    history: tuple[str, ...]


def review_html(state: ReviewState, records: Sequence[Record], evidence: Evidence, as_of: Time) -> bytes:
    """The page.

    Args:
        state: The review.
        records: All events about the policy, oldest first.
        evidence: What else the page shows.
        as_of: An override that ended before this time is shown as expired.
    """
    templates = environment().overlay(
        loader=ChoiceLoader([PackageLoader("review_store.export"), PackageLoader("metainfer_core.explain")])
    )
    style = templates.get_template("review_style.css.jinja").render()
    cutouts = _cutouts(evidence.pictures)
    blocks = _blocks(state, records, evidence, cutouts, as_of)
    page = templates.get_template("review_page.html.jinja").render(
        style=Markup(style),
        style_hash=base64.b64encode(hashlib.sha256(style.encode()).digest()).decode(),
        state=state,
        blocks=blocks,
        counts=_counts(state),
        by_risk=_by_risk(state),
        words=REVIEW_WORDS,
        overrides=overrides(state, as_of),
        as_of=as_of,
        cutouts=tuple(cutouts.values()),
        others=tuple(record_text(each) for each in records if not each.event.subject),
        reviewed_digest=reviewed_policy(state).digest,
        evidence=evidence,
        tool_version=__version__,
    )
    return page.encode("utf-8", "backslashreplace")


def _blocks(
    state: ReviewState,
    records: Sequence[Record],
    evidence: Evidence,
    cutouts: Mapping[Spot, _Cutout],
    as_of: Time,
) -> tuple[_Block, ...]:
    """The actions, most pressing first."""
    histories: dict[str, list[str]] = {}
    for record in records:
        histories.setdefault(record.event.subject, []).append(record_text(record))
    explained = {each.id: each for each in explain(reviewed_policy(state), evidence.spec)}
    order = list(REVIEW_WORDS)
    chosen = sorted(state.actions, key=lambda each: (order.index(each.word), RISKS.index(risk_level(each.action))))
    return tuple(
        _Block(
            anchor=f"action-{number}",
            review=review,
            explanation=explained[review.id],
            reasons=tuple(_reason(each, evidence, cutouts) for each in explained[review.id].why),
            override_word=override_word(review, as_of),
            override="" if review.override is None else override_words(review.override.plain().get("override")),
            effect="" if review.override is None else override_effect(review.override),
            notes=(*missing_people(review), *review.notes),
            history=tuple(histories.get(review.id, ())),
        )
        for number, review in enumerate(chosen, start=1)
    )


def _reason(because: Because, evidence: Evidence, cutouts: Mapping[Spot, _Cutout]) -> _Reason:
    spot = spot_of(evidence.spec, because.spec_field) if because.spec_field else None
    cutout = cutouts.get(spot) if spot is not None else None
    absent = evidence.absent.get(spot.document_digest, "") if spot is not None and cutout is None else ""
    return _Reason(because, cutout, absent)


def _cutouts(pictures: Mapping[Spot, bytes]) -> dict[Spot, _Cutout]:
    """The pictures, each once, however many reasons show it."""
    return {
        spot: _Cutout(
            id=f"cutout-{number}",
            data=base64.b64encode(png).decode(),
            width=int.from_bytes(png[16:20]),  # a PNG begins with its size
            height=int.from_bytes(png[20:24]),
        )
        for number, (spot, png) in enumerate(sorted(pictures.items()), start=1)
    }


def _counts(state: ReviewState) -> dict[str, int]:
    found = Counter(each.word for each in state.actions)
    return {word: found[word] for word in REVIEW_WORDS}


def _by_risk(state: ReviewState) -> list[tuple[str, int, int]]:
    """Risk, how many actions of it are approved, and how many there are."""
    found = []
    for level in RISKS:
        there = [each for each in state.actions if risk_level(each.action) == level]
        found.append((level, sum(each.word == "approved" for each in there), len(there)))
    return found
