"""What the override in an open form would do: a job measures it as soon as it is legal, before anybody can save it."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from metainfer_core import __version__
from metainfer_core.errors import MetaInferError
from metainfer_core.explain.what_if_words import recorded_together
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.ruleset import measuring_digest
from metainfer_core.policy.what_if import WhatIf, changed_ids, content_of
from metainfer_core.values import canonical_json
from metainfer_core.verify.samples import source_of
from review_store.review.override_effect import CHANGES_NOTHING
from review_store.review.state import ActionReview, overridden, with_actions
from studio.background.job_view import EVERY, job_list, progress_sentence
from studio.background.jobs import Job, Order, Title, cancel, jobs, start
from studio.files.policies import Review, Subject, reviewed
from studio.files.workspace import files_of, workspace_folder
from studio.review.decisions import Override, field_key
from studio.review.override_effect import draw_effect
from studio.words.core_words import core_words
from studio.words.plain_words import plain_words
from studio.words.texts import text

Word = Literal["absent", "nothing", "measuring", "measured", "failed"]
KIND = "what_if"
NOT_AT_HAND = "The model or the hardware spec was not at hand."
_starting = threading.Lock()
"""Held while a job is looked for and started: two runs of a screen at once start one."""


@dataclass(frozen=True)
class Measurement:
    """What is known about the effect of one override."""

    word: Word
    subject: str = ""
    """Of the job that measures it."""
    found: WhatIf | None = None
    beside: str = ""
    """How that compares with the policy's own figures, in a sentence of the core."""

    @property
    def takes_a_reason(self) -> bool:
        """Whether people can save without it, with a reason of their own."""
        return self.word in ("measuring", "failed")


@dataclass(frozen=True)
class Effect:
    """What an override is written with: what it does, or why that is not known."""

    measured: WhatIf | None = None
    unmeasured: str = ""

    @property
    def is_told(self) -> bool:
        """Whether there is the one or the other."""
        return self.measured is not None or bool(self.unmeasured.strip())


def asked(found: Subject, review: Review, action: ActionReview, override: Override, person: str) -> Measurement:
    """The effect of an override, where it is known; where nobody has asked for it yet, a job begins."""
    if found.model is None or found.spec is None:
        return Measurement("absent")
    before, after = _contents(*review.key, action.id, canonical_json(override), review, action, override)
    if before == after:
        return Measurement("nothing")
    about = f"{action.id} {found.digest} "
    subject = f"{about}{before} {after} {measuring_digest()} {__version__}"
    with _starting:
        job = next((each for each in jobs() if each.order.kind == KIND and each.order.subject == subject), None)
        if job is None:
            _leave_others(about, person)
            ask(found, subject, action.id, override, person)
            return Measurement("measuring", subject)
    return _told(job, subject)


def draw_measurement(
    found: Subject, action: ActionReview, override: Override, known: Measurement, kept: Mapping[str, Any], person: str
) -> Effect:
    """Shows what is known about an override's effect; gives what it is to be written with."""
    if known.word == "absent":
        st.caption(text("effect_absent"))
        return Effect(unmeasured=NOT_AT_HAND)
    if known.word == "nothing":
        st.caption(text("effect_nothing"))
        return Effect(unmeasured=CHANGES_NOTHING)
    if known.found is not None:
        draw_effect(known.found, action.id, known.beside)
        return Effect(measured=known.found)
    if known.word == "measuring":
        _follow(known.subject)
    else:
        st.warning(text("effect_failed"), icon=":material/error:")
        job_list((KIND,), (known.subject,), limit=1)
        st.button(
            text("effect_again"), key="effect_again", on_click=ask,
            args=(found, known.subject, action.id, override, person),
        )  # fmt: skip
    return Effect(unmeasured=_reason_not_to(action.id, kept))


def ask(found: Subject, subject: str, action_id: str, override: Override, person: str) -> None:
    """Begins to measure."""
    if found.spec is None:
        return
    try:
        start(
            Order(
                kind=KIND,
                title=Title(words="effect_title", values={"action": action_id}),
                arguments=(
                    "review", "what-if", str(found.path), "--model", str(found.model),
                    "--hw-spec", found.spec.reference, f"--action={action_id}", *_options(override),
                    *_data(found.policy), "--workspace", str(workspace_folder()),
                ),
                subject=subject,
                actor=person,
            )
        )  # fmt: skip
    except MetaInferError as error:
        st.error(plain_words(core_words(error.what)))


def _options(override: Override) -> tuple[str, ...]:
    if override is None:
        return ("--as-proposed",)
    if override is False:
        return ("--off",)
    return tuple(f"--set={name}={json.dumps(value)}" for name, value in override.items())


def _data(policy: Policy) -> tuple[str, ...]:
    """The data that the policy itself was measured on, where a file of that name is in the workspace."""
    recorded = recorded_together(policy)
    sources = (("--calib", policy.calibration), ("--eval", recorded.data if recorded is not None else ""))
    words: list[str] = []
    for option, label in sources:
        source = source_of(label)
        path = next((each for each in files_of("data") if source is not None and each.name == source[0]), None)
        if source is not None and path is not None:
            words += [option, str(path), *(("--samples", str(source[1])) if option == "--eval" else ())]
    return tuple(words)


@st.cache_resource(max_entries=32, show_spinner=False)
def _contents(
    folder: str, policy: str, head: str, trust: str, action_id: str, override: bytes,
    _review: Review, _action: ActionReview, _override: Override,
) -> tuple[str, str]:  # fmt: skip
    """Digests of all that the policy does without and with the override; the same twice where nothing changes."""
    before = reviewed(_review).policy
    changed: PolicyAction = overridden(_action, _override)
    after = with_actions(before, [changed])
    return content_of(before), content_of(after) if changed_ids(before, after) else content_of(before)


def _leave_others(about: str, person: str) -> None:
    """Ends what is being measured for the same form with other values in it: nobody waits for that any more."""
    for job in jobs():
        order = job.order
        if job.is_open and order.kind == KIND and order.actor == person and order.subject.startswith(about):
            cancel(job.id)


def _told(job: Job, subject: str) -> Measurement:
    if job.is_open:
        return Measurement("measuring", subject)
    answer = job.answer() or {}
    if job.state != "done" or "what_if" not in answer:
        return Measurement("failed", subject)
    try:
        found = WhatIf.from_plain(answer["what_if"], "what-if")
    except MetaInferError:  # of another program, or somebody's own
        return Measurement("failed", subject)
    return Measurement("measured", subject, found, str(answer.get("beside_the_record", "")))


def _follow(subject: str) -> None:
    @st.fragment(run_every=EVERY)
    def follow() -> None:
        job = next((each for each in jobs() if each.order.kind == KIND and each.order.subject == subject), None)
        if job is None or not job.is_open:
            st.rerun()
        else:
            st.info(f"{text('effect_measuring')} · {progress_sentence(job)}", icon=":material/hourglass_top:")

    with st.container(key="effect_measuring"):  # by that, `review_typing.js` knows what one waits for
        follow()


def _reason_not_to(action_id: str, kept: Mapping[str, Any]) -> str:
    """Why somebody saves without waiting for the effect; empty where nobody wants to."""
    key, words = field_key("without", action_id), field_key("unmeasured", action_id)
    if not st.checkbox(text("effect_without"), key=key, value=bool(kept.get("unmeasured")), persist_state="page"):
        return ""
    given = kept.get("unmeasured")
    why = st.text_input(
        text("effect_why_not"), key=words, value=given if isinstance(given, str) else "", max_chars=500,
        persist_state="page",
    )  # fmt: skip
    return why or ""
