"""Jobs as people see them: what runs, how far it is, how long it still takes, cancel; what failed, in its own words."""

from __future__ import annotations

import re
from collections.abc import Collection

import streamlit as st

from metainfer_core.explain.sizes import sized_text
from studio.background.field_names import with_field_names
from studio.background.jobs import Job, cancel, jobs
from studio.words.alerts import draw_alert
from studio.words.core_words import core_term, core_words
from studio.words.plain_words import plain_words
from studio.words.texts import TEXTS, text

EVERY = 1.0
"""Seconds between two looks while something runs."""
_ICONS = {
    "waiting": ":material/hourglass_empty:",
    "running": ":material/autorenew:",
    "done": ":material/check_circle:",
    "failed": ":material/error:",
    "cancelled": ":material/block:",
}


def duration(seconds: float) -> str:
    """A length of time as people say it: `8 s`, `3 min 20 s`, `1 h 5 min`."""
    whole = max(0, round(seconds))
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def job_list(kinds: Collection[str], subjects: Collection[str] = (), limit: int = 5) -> None:
    """The newest jobs of these kinds (and about these subjects, if given); follows them while one of them is open.

    When an open one has ended, the whole screen is drawn anew, so that what it made appears.
    """
    found = _found(kinds, subjects, limit)
    if not found:
        return
    if not any(job.is_open for job in found):
        for job in found:
            job_line(job)
        return
    open_ids = {job.id for job in found if job.is_open}

    @st.fragment(run_every=EVERY)
    def follow() -> None:
        now = _found(kinds, subjects, limit)
        if open_ids - {job.id for job in now if job.is_open}:
            st.rerun()
        for job in now:
            job_line(job)

    follow()


def job_line(job: Job) -> None:
    """One job in a box, whose key tells `job_focus.js` whether it has ended, and how."""
    with st.container(border=True, key=f"job-{'open' if job.is_open else job.state}-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.text(job_title(job), width="content")
            if job.is_open:
                if st.button(text("job_cancel"), key=f"cancel-{job.id}", icon=":material/close:"):
                    cancel(job.id)
                    st.rerun()
            else:
                st.caption(f"{_ICONS[job.state]} {text(f'job_{job.state}')}", width="content")
        if job.is_open:
            st.progress(min(1.0, job.done / job.total) if job.total else 0.0)
            st.caption(progress_sentence(job))
        elif job.error:
            draw_alert("error", _said(job, job.error.what))
            for sentence in (job.error.why, job.error.fix):
                if sentence:
                    st.text(_said(job, sentence))


def job_title(job: Job) -> str:
    """What a job is called, in the language of who reads it."""
    title = job.order.title
    if isinstance(title, str):
        return title
    # a key of another version of the studio says at least what sort of work it was
    return text(title.words, None, **title.values) if title.words in TEXTS else job.order.kind


def progress_sentence(job: Job) -> str:
    """`reading pages · 3 of 12 · 8 s · about 20 s left`."""
    if job.state == "waiting":
        return text("job_waiting_turn")
    parts = [plain_words(core_term(job.step)) if job.step else text("job_starting")]
    if job.total:
        parts.append(text("job_of", done=job.done, total=job.total))
    parts.append(duration(job.seconds))
    if job.seconds_left is not None and job.done < job.total:
        parts.append(text("job_left", time=duration(job.seconds_left)))
    return " · ".join(parts)


def _said(job: Job, sentence: str) -> str:
    """What a command said of an error, as the reader of a screen reads it."""
    return with_field_names(sized_text(core_words(_without_quarantine(sentence))), job.order.kind)


def _without_quarantine(words: str) -> str:
    """An upload by its name: where it is kept apart means nothing to who uploaded it."""
    return re.sub(r"\S*/\.studio/quarantine/[0-9a-f]{16}/", "", words)


def _found(kinds: Collection[str], subjects: Collection[str], limit: int) -> list[Job]:
    """The newest first; what has ended is left out where the same was begun anew since: it says nothing that counts."""
    wanted: list[Job] = []
    begun = set()
    for job in jobs():
        about = (job.order.kind, job.order.subject)
        if job.order.kind in kinds and (not subjects or job.order.subject in subjects):
            if job.is_open or about not in begun:
                wanted.append(job)
            begun.add(about)
    return wanted[:limit]
