"""After the weights were trained anew: a policy is taken over by a job, and what stayed is confirmed together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from metainfer_core.bundle.trust import TrustFile
from metainfer_core.errors import InputError, MetaInferError
from review_store.record.log import EventLog
from review_store.review.carry import Carry, carry, earlier_revision
from review_store.review.state import ReviewState
from studio.background.job_view import job_list
from studio.background.jobs import Order, Title, jobs, start
from studio.files.documents import file_digest
from studio.files.policies import Review, SpecChoice, Subject, model_with, subject
from studio.files.workspace import files_of, folder_for, workspace_folder
from studio.review.bulk import draw_list, seen_now
from studio.review.decisions import write_about_all
from studio.review.review_queue import Desk
from studio.words.markup import next_step
from studio.words.plain_words import error_words
from studio.words.texts import text

KIND = "reapply"


def draw_carry(found: Subject, review: Review, desk: Desk, who: str) -> None:
    """Offers what a person approved before and what stayed as it was, by name; says of the others what changed."""
    if all(each.word != "outdated" for each in review.state.actions):
        return
    known = _carried(review.key, who, review.log, review.state, review.trust)
    if not known:
        return
    fitting = {each.action_id for each in known if not each.obstacle}
    others = [each for each in known if each.obstacle]
    stayed = [each for each in review.state.actions if each.id in fitting]
    popover = st.popover(text("carry_open", count=len(stayed)), width="stretch", key="carry_popover", on_change="rerun")
    if popover.open:
        with popover:
            st.caption(text("carry_hint") if stayed else text("carry_none"))
            if stayed:
                above = st.container()  # by keyboard, one does not go through the whole list to approve it
                ticked = draw_list(stayed, "carry")
                above.button(
                    text("bulk_confirm", count=len(ticked)), type="primary", key="carry", on_click=write_about_all,
                    args=(found, desk, seen_now(ticked), who), disabled=not ticked,
                )  # fmt: skip
            if others:
                st.caption(text("carry_others", count=len(others)))
                rows = [{text("name"): each.action_id, text("column_changed"): each.obstacle} for each in others]
                st.dataframe(rows, hide_index=True)


def draw_take_over(model: Path, spec: SpecChoice, calibration: Path | None, evaluation: Path | None) -> None:
    """Offers to take over a policy of earlier weights of this model, where one for this chip is in the workspace."""
    earlier = earlier_policies(model, spec)
    if not earlier:
        return
    with st.expander(text("reapply_open"), icon=":material/model_training:"):
        st.caption(text("reapply_hint"))
        names = [_name(path) for path in earlier]
        chosen = st.selectbox(text("reapply_policy"), names, key="reapply_policy")
        busy = any(job.is_open and job.order.kind == KIND for job in jobs())
        if st.button(text("reapply_start"), key="reapply", disabled=busy, icon=":material/play_arrow:"):
            try:
                start(take_over_order(workspace_folder() / str(chosen), model, spec, calibration, evaluation))
            except MetaInferError as error:
                st.error(error_words(error))
            else:
                st.rerun()
        job_list((KIND,), (_name(model),), limit=1)
        _outcome(model)


def earlier_policies(model: Path, spec: SpecChoice) -> Sequence[Path]:
    """Policies for this chip and another model of the workspace."""
    found = []
    for path in files_of("policy"):
        try:
            policy = subject(path).policy
        except MetaInferError:
            continue
        is_other = policy.spec_digest == spec.digest and policy.model_digest not in (None, file_digest(model))
        if is_other and model_with(str(policy.model_digest)) is not None:
            found.append(path)
    return found


def take_over_order(
    policy: Path, model: Path, spec: SpecChoice, calibration: Path | None, evaluation: Path | None
) -> Order:
    """The job; its policy gets a name of its own beside the earlier one."""
    before = model_with(str(subject(policy).policy.model_digest))
    if before is None:
        raise InputError(f"{policy.name}: its model is not in the workspace.", fix="Put it there first.")
    stem, number = f"{model.stem}_on_{spec.spec.name.lower()}", 1
    output = folder_for("policy") / f"{stem}.policy"
    while output.exists():
        number += 1
        output = output.with_name(f"{stem}-{number}.policy")
    output.parent.mkdir(parents=True, exist_ok=True)
    data = [("--calib", calibration), ("--eval", evaluation)]
    return Order(
        kind=KIND,
        title=Title(words="reapply_title", values={"policy": policy.name, "model": model.name}),
        arguments=(
            "review", "reapply", str(policy), "--before", str(before), "--model", str(model),
            "--hw-spec", spec.reference, "--output", str(output),
            *(word for name, path in data if path is not None for word in (name, str(path))),
        ),
        subject=_name(model),
    )  # fmt: skip


def _outcome(model: Path) -> None:
    """A link to the review of what was taken over last."""
    done = next((job for job in jobs() if job.order.kind == KIND and job.order.subject == _name(model)), None)
    answer = done.answer() if done is not None and done.state == "done" else None
    made = Path(str(answer["policy"])) if answer else None
    if made is not None and made.is_file():
        with next_step("reapply"):
            st.page_link(
                "pages/review.py", label=text("reapply_review", policy=made.name), icon=":material/rate_review:",
                query_params={"policy": _name(made)},
            )  # fmt: skip


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


@st.cache_resource(max_entries=8, show_spinner=False)
def _carried(
    key: tuple[str, ...], person: str, _log: EventLog, _state: ReviewState, _trust: TrustFile
) -> tuple[Carry, ...]:
    """What the person approved of the revision before; nothing where there is none, or more than weights changed."""
    try:
        return carry(earlier_revision(_log, _state, _trust), _state, person)
    except InputError:
        return ()
