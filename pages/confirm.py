"""Confirm: people hold each value of a draft against the page that it was read from, and save a version of the spec."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from metainfer_core.spec.drafting.draft import SpecDraft
from studio.background.job_view import progress_sentence
from studio.drafts.confirm_desk import confirm_desk
from studio.drafts.decision_log import read_log
from studio.drafts.desk_data import View, desk_data
from studio.drafts.desk_messages import take
from studio.drafts.draft_places import digest_of, draft_in, places
from studio.drafts.draft_state import standing
from studio.drafts.growing import Growing, growing_drafts
from studio.drafts.save_spec import Saved, next_version, save_version, versions_of
from studio.files.workspace import files_of, workspace_folder
from studio.server.frame import is_page
from studio.session.choices import say_if_lost
from studio.session.session import person
from studio.words.core_words import core_words
from studio.words.markup import next_step
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

DESK = "desk"
LOOKS_EVERY_SECONDS = 2.0  # while a draft is still being read


def draw() -> None:
    """The screen."""
    growing = {each.name: each for each in growing_drafts() if each.draft is not None}
    root = workspace_folder()
    drafts = {path.relative_to(root).as_posix(): path for path in files_of("draft")}
    names = [*growing, *(name for name in drafts if name not in growing)]
    if not names:
        st.title(text("page_confirm"))
        st.markdown(text("confirm_empty"))
        if is_page("manuals"):
            st.page_link("pages/manuals.py", label=text("confirm_to_manuals"), icon=":material/menu_book:")
        return
    left, middle, right = st.columns([2, 3, 2], vertical_alignment="bottom")
    left.title(text("page_confirm"))
    with middle:
        name = _chosen(names, drafts)
    if name in growing:
        _watch(growing[name])
        return
    try:
        draft = draft_in(drafts[name])
    except MetaInferError as error:
        st.error(error_words(error))
        return
    with right:
        _save(draft, name)
    _saved(name)
    if draft.candidates:
        _desk(draft, name)
    else:
        st.info(text("confirm_nothing_read", notes="; ".join(plain_words(note) for note in draft.notes)))
    for note in draft.notes:
        st.caption(plain_words(core_words(note)))


def _chosen(names: list[str], drafts: Mapping[str, Path]) -> str:
    """The draft that the address names, else one that is being read, else the newest."""
    asked = st.query_params.get("draft", "")
    newest = max(names, key=lambda name: drafts[name].stat().st_mtime_ns if name in drafts else math.inf)
    at = names.index(asked if asked in names else newest)
    say_if_lost(asked, names)
    name = st.selectbox(text("confirm_draft"), names, index=at, key=f"draft-{asked}-{len(names)}")
    if name != asked:
        st.query_params["draft"] = name
        st.query_params.pop("place", None)
    return name


def _watch(growing: Growing) -> None:
    """What was found so far, to look at; when all has been read, the screen is drawn anew."""

    @st.fragment(run_every=LOOKS_EVERY_SECONDS)
    def follow() -> None:
        now = next((each for each in growing_drafts() if each.name == growing.name), None)
        if now is None or now.draft is None:
            st.rerun()
        st.progress(min(1.0, now.job.done / now.job.total) if now.job.total else 0.0, progress_sentence(now.job))
        if now.draft.candidates:
            _desk(now.draft, now.name, is_growing=True)

    follow()


def _desk(draft: SpecDraft, name: str, is_growing: bool = False) -> None:
    key = f"{DESK}-{name}"
    refused = st.session_state.setdefault("desk_refused", [])

    def on_outbox() -> None:
        if is_growing:
            return
        try:
            new = take(st.session_state[key].outbox, draft, person())
        except MetaInferError as error:
            st.session_state["desk_failed"] = error_words(error)
            return
        st.session_state.pop("desk_failed", None)
        st.session_state["desk_refused"] = [*st.session_state.get("desk_refused", []), *new][-20:]

    def on_view() -> None:
        view = View.of(st.session_state[key].view)
        st.query_params["place"], st.query_params["group"] = view.place, view.group

    if failed := st.session_state.get("desk_failed"):
        st.error(failed, icon=":material/error:")
    view = View(st.query_params.get("place", ""), st.query_params.get("group", "all"))
    data = desk_data(draft, name, read_log(digest_of(draft)), refused, person(), view)
    confirm_desk(data | {"growing": is_growing}, key, on_outbox, on_view)


def _save(draft: SpecDraft, name: str) -> None:
    versions = versions_of(draft.chip)
    # A key of its own for each version: it closes when one is saved, so that none is saved twice by a second press.
    form = f"save-form-{len(versions)}"
    with st.popover(text("save_open"), icon=":material/save:", width="stretch", type="primary", key=form):
        stands = standing(read_log(digest_of(draft)))
        taken = sum(each.kind in ("accept", "edit") for each in stands.values())
        st.caption(text("save_hint", count=taken, chip=plain_words(draft.chip)))
        if left := sum(place.key not in stands for place in places(draft)):
            st.caption(text("save_left", count=left))
        bases: dict[str, Path | None] = {text("save_onto_nothing"): None}
        bases |= {f"{entry.name} {entry.version}": entry.path for entry in reversed(versions)}
        st.selectbox(text("save_onto"), list(bases), index=1 if versions else 0, key=f"onto-{len(versions)}")
        st.text_input(text("save_version"), value=next_version(versions), max_chars=30, key=f"version-{len(versions)}")
        hint = text("save_reason_hint")
        st.text_input(text("save_reason"), max_chars=200, key="save_reason", placeholder=hint)
        st.button(
            text("save_button"), type="primary", disabled=not taken, key="save", on_click=_write,
            args=(draft, name, bases, len(versions)),
        )  # fmt: skip
        if not taken:
            st.caption(text("save_nothing"))
        if failed := st.session_state.get(f"save-failed-{form}"):
            st.error(error_words(failed))


def _write(draft: SpecDraft, name: str, bases: dict[str, Path | None], earlier: int) -> None:
    """Saves what the form says, before the page is drawn: a run that another one overtakes must not lose the press."""
    form = st.session_state
    form.pop(f"save-failed-save-form-{earlier}", None)
    stands = standing(read_log(digest_of(draft)))
    version, reason, onto = form[f"version-{earlier}"], form["save_reason"], bases[form[f"onto-{earlier}"]]
    try:
        form[f"saved-{name}"] = save_version(draft, stands, person(), version, reason, onto)
    except MetaInferError as error:
        form[f"save-failed-save-form-{earlier}"] = error


def _saved(name: str) -> None:
    """What was saved last from this draft, and what comes next."""
    saved: Saved | None = st.session_state.get(f"saved-{name}")
    if saved is None or not saved.path.exists():
        return
    with st.container(horizontal=True, vertical_alignment="center", key="saved"):
        st.markdown(f":green[:material/check_circle:] {plain_words(saved.sentence)}", width="content")
        spec = {"spec": saved.path.relative_to(workspace_folder()).as_posix()}
        if is_page("adapt"):
            with next_step():
                st.page_link("pages/adapt.py", label=text("saved_adapt"), icon=":material/tune:", query_params=spec)
        if is_page("specs"):
            st.page_link("pages/specs.py", label=text("saved_look"), icon=":material/memory:", query_params=spec)


draw()
