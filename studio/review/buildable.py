"""Whether what was reviewed can be built, as `sign` asks before it signs: a job asks once for each content."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from metainfer_core import __version__
from metainfer_core.policy.ruleset import ruleset_digest
from studio.background.job_view import EVERY, job_list
from studio.background.jobs import Job, Order, Title, jobs, start
from studio.files.policies import Review, Subject, reviewed
from studio.files.workspace import workspace_folder
from studio.review.review_queue import Desk
from studio.words.core_words import core_words
from studio.words.long_names import shortened
from studio.words.markup import draw
from studio.words.plain_words import plain_words
from studio.words.texts import text

Word = Literal["unknown", "checking", "can", "cannot", "failed"]
KIND = "buildable"
_BEST_FIRST: tuple[Word, ...] = ("can", "cannot", "checking", "failed", "unknown")
"""Of several jobs about one content, what counts; begun in the same second, none of them is the newer one."""
MOST_SHOWN = 6
"""Refusals that are listed; of more, only how many."""
_starting = threading.Lock()
"""Held while a job is looked for and started: two windows that open at once start one."""


@dataclass(frozen=True)
class Checked:
    """What is known about one content of a policy."""

    word: Word
    subject: str = ""
    """Of the job that checks it."""
    faults: tuple[tuple[str, str], ...] = ()
    """Action id, or nothing where no single action stands for it, and why it cannot be built."""


def known(found: Subject, review: Review) -> Checked:
    """What was found out so far, without asking."""
    digest = reviewed(review).digest
    subject = f"{digest} {ruleset_digest()} {__version__}"
    told = [_told(job, subject, digest) for job in jobs() if _is_about(job, subject)]
    return min(told, key=lambda each: _BEST_FIRST.index(each.word), default=Checked("unknown", subject))


def asked(found: Subject, review: Review, person: str) -> Checked:
    """The same; where nobody has asked yet, a job begins. Without model and spec nothing can be known."""
    if found.model is None or found.spec is None:
        return Checked("unknown")
    with _starting:
        now = known(found, review)
        if now.word == "unknown":
            _ask(found, now.subject, person)
            return Checked("checking", now.subject)
    return now


def draw_checked(found: Subject, review: Review, checked: Checked, person: str, desk: Desk | None = None) -> None:
    """Says what the check has found; follows it while it runs. `desk` is the queue beside it, on Review."""
    if checked.word == "checking":
        _follow(found, review)
    elif checked.word == "cannot":
        _refusals(found, review, checked, desk)
    elif checked.word == "failed":
        st.warning(text("buildable_failed"), icon=":material/error:")
        job_list((KIND,), (checked.subject,), limit=1)
        st.button(text("buildable_again"), key="buildable_again", on_click=_ask, args=(found, checked.subject, person))


def _follow(found: Subject, review: Review) -> None:
    @st.fragment(run_every=EVERY)
    def follow() -> None:
        if known(found, review).word != "checking":
            st.rerun()
        st.info(text("buildable_checking"), icon=":material/hourglass_top:")

    follow()


def _refusals(found: Subject, review: Review, checked: Checked, desk: Desk | None) -> None:
    st.error(text("buildable_cannot", count=len(checked.faults)), icon=":material/block:")
    with st.container(border=True, gap="small", key="refusals"):
        for number, (action_id, why) in enumerate(checked.faults[:MOST_SHOWN]):
            draw("whole_words", words=core_words(why))
            if review.state.action(action_id) is None:
                continue
            label = text("buildable_open", action=plain_words(shortened(action_id)))
            whole = plain_words(action_id) if shortened(action_id) != action_id else None
            if desk is not None:
                st.button(
                    label, key=f"refusal_{number}", type="tertiary", help=whole, on_click=open_action,
                    args=(desk, action_id),
                )  # fmt: skip
            else:
                name = found.path.relative_to(workspace_folder()).as_posix()
                parameters = {"policy": name, "action": action_id}
                st.page_link(
                    "pages/review.py", label=label, icon=":material/rate_review:", help=whole, query_params=parameters
                )
        if len(checked.faults) > MOST_SHOWN:
            st.caption(text("buildable_more", count=len(checked.faults) - MOST_SHOWN))
        st.caption(text("buildable_then"))


def open_action(desk: Desk, action_id: str) -> None:
    """Moves the queue to an action. Filters that could hide it are taken off."""
    for key in ("risk", "state", "kind", "me"):
        st.session_state[key] = []
    st.session_state["q"] = ""
    desk.jump_to(action_id)


def _ask(found: Subject, subject: str, person: str) -> None:
    if found.spec is None:
        return
    start(
        Order(
            kind=KIND,
            title=Title(words="buildable_title", values={"policy": found.path.name}),
            arguments=(
                "review", KIND, str(found.path), "--model", str(found.model), "--hw-spec", found.spec.reference,
                "--workspace", str(workspace_folder()),
            ),
            subject=subject,
            actor=person,
        )
    )  # fmt: skip


def _is_about(job: Job, subject: str) -> bool:
    return job.order.kind == KIND and job.order.subject == subject


def _told(job: Job, subject: str, digest: str) -> Checked:
    if job.is_open:
        return Checked("checking", subject)
    answer: Mapping[str, Any] = job.answer() or {}
    if job.state != "done" or "buildable" not in answer:
        return Checked("failed", subject)
    if answer.get("policy") != digest:
        return Checked("unknown", subject)  # somebody decided between the question and the look into the record
    faults = tuple((str(each["action"]), str(each["why"])) for each in answer["faults"])
    return Checked("cannot" if faults else "can", subject, faults)
