"""A link to an earlier revision of a policy: it opens as it was, to be read and not to be decided about."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Sequence

import streamlit as st

from metainfer_core.bundle.review_rules import lineage
from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.policy.policy import Policy
from review_store.record.events import Registered
from studio.files.policies import Review, Subject, model_with, review_of, spec_with
from studio.files.workspace import hidden_folder
from studio.review.action_card import draw_card, draw_history
from studio.review.review_queue import Desk, draw_queue, pressed, selected
from studio.review.review_rows import Chosen, queue, rows
from studio.session.address import text_to_address
from studio.words.long_names import shortened
from studio.words.markup import draw
from studio.words.moments import exact_moment
from studio.words.plain_words import plain_words
from studio.words.texts import text

LETTERS = 12
"""Of a digest that the address holds."""
ASKED = "revision_asked"
_DIGEST_BEGINS = re.compile(r"[0-9a-f]{12,64}")


def asked_revision(found: Subject, review: Review) -> tuple[Subject, Registered | None] | None:
    """The earlier revision that the address asked for when this window opened the screen; None: the present one.

    From then on the address says what is shown, and what is shown is kept, so that its link opens it later. Where a
    revision is unknown here, that is said: the present one must not be taken for it.
    """
    _keep(found)
    asked = str(st.session_state.setdefault(ASKED, st.query_params.get("rev", "")))
    earlier = _earlier(found, review, asked)
    text_to_address("rev", revision(found if earlier is None else earlier[0]))
    if earlier is None and asked and revision(found) != asked:
        _say_unknown(asked)
    return earlier


def revision(found: Subject) -> str:
    """A policy's revision as the address holds it."""
    return found.digest.removeprefix("sha256:")[:LETTERS]


def draw_earlier(earlier: Subject, registered: Registered | None) -> None:
    """Shows an earlier revision: its queue, the action, and what was said about it. No key writes anything.

    Nothing is `registered` where nobody decided anything about it.
    """
    left, right = st.columns([8, 2], vertical_alignment="center")
    if registered is not None:
        words = text("revision_earlier", revision=revision(earlier), at=exact_moment(registered.at))
    else:
        words = text("revision_undecided", revision=revision(earlier))
    left.warning(words, icon=":material/history:")
    right.button(text("revision_present"), key="revision_present", on_click=_to_the_present, width="stretch")
    review = review_of(earlier)
    shown = queue(review.state.actions, Chosen())
    desk = _desk(earlier)
    for event in pressed(desk):
        desk.acknowledged = event.number  # heard, and nothing done
    named = selected(desk) or st.query_params.get("action")
    chosen = next((each for each in shown if each.id == named), shown[0] if shown else None)
    list_of, card, verdict = st.columns([3, 5, 3], gap="medium")
    with list_of:
        draw_queue(rows(shown), earlier.digest, desk)
    if chosen is None:
        return
    text_to_address("action", chosen.id)
    with card:
        draw_card(chosen, earlier.spec.spec if earlier.spec else None, earlier.policy.calibration)
    with verdict:
        draw("verdict", review=chosen, people=sorted(chosen.approvals), meaning=text("revision_read_only"))
        draw_history(review.history(chosen.id))


def _say_unknown(asked: str) -> None:
    words, close = st.columns([8, 2], vertical_alignment="center")
    shown = plain_words(shortened(asked, LETTERS))
    words.warning(text("revision_unknown", revision=shown), icon=":material/link_off:")
    close.button(text("notice_close"), key="revision_close", on_click=_to_the_present, width="stretch")


def _earlier(found: Subject, review: Review, asked: str) -> tuple[Subject, Registered | None] | None:
    if len(asked) < LETTERS or revision(found) == asked:
        return None
    events: Sequence[Registered] = [each.event for each in review.records if isinstance(each.event, Registered)]
    for event in events:
        body = review.log.value(event.policy_digest)
        if body is not None and event.policy_digest.removeprefix("sha256:").startswith(asked):
            return _subject(found, Policy.from_json(body, "earlier revision")), event
    kept = _kept(asked)
    return (_subject(found, kept), None) if kept is not None and lineage(kept) == lineage(found.policy) else None


def _subject(found: Subject, policy: Policy) -> Subject:
    """The same place in the workspace with another revision of its policy."""
    model = model_with(policy.model_digest) if policy.model_digest else None
    spec = spec_with(policy.spec_digest) if policy.spec_digest else None
    return dataclasses.replace(found, policy=policy, digest=policy.digest, model=model, spec=spec)


def _keep(found: Subject) -> None:
    """Keeps a revision that somebody looks at. A workspace that cannot be written to can still be read."""
    path = hidden_folder("revisions") / f"{found.digest.removeprefix('sha256:')}.policy"
    if not path.is_file():
        with contextlib.suppress(MetaInferError, OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, found.policy.to_json(), "policy")


def _kept(asked: str) -> Policy | None:
    """The kept revision that the address asks for, if the file still holds it."""
    if not _DIGEST_BEGINS.fullmatch(asked):
        return None
    for path in sorted(hidden_folder("revisions").glob(f"{asked}*.policy")):
        with contextlib.suppress(MetaInferError, OSError):
            policy = Policy.from_json(read_bytes(path, "policy"), path.name)
            if policy.digest == f"sha256:{path.stem}":
                return policy
    return None


def _desk(earlier: Subject) -> Desk:
    """A desk of its own: what is pressed here is never taken for a decision about the present revision."""
    desks: dict[str, Desk] = st.session_state.setdefault("earlier_desks", {})
    return desks.setdefault(earlier.digest, Desk(f"earlier_{revision(earlier)}"))


def _to_the_present() -> None:
    st.session_state[ASKED] = ""
