"""Manuals: a chip's documents go in, drafts of its values come out."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from studio.background.job_view import EVERY, job_list
from studio.background.jobs import jobs
from studio.drafts.corrections import all_corrections, export_corrections
from studio.drafts.growing import growing_drafts
from studio.files.workspace import WorkspaceFile, workspace_files
from studio.manuals.manual_keeping import draw_keeping
from studio.manuals.unread import discard_unread, read_again, unread_manuals, unread_uploads
from studio.manuals.uploads import (
    ENDINGS,
    UPLOAD_LIMIT_MEGABYTES,
    check_upload,
    chip_from_name,
    discard,
    read_into_draft,
    take_in,
)
from studio.server.frame import is_page
from studio.session.given_files import given_files
from studio.session.session import person
from studio.words.markup import next_step
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

OFFERED = [*ENDINGS, "application/pdf"]
"""What the browser offers to choose. With a media type in it Streamlit leaves the names to us: it would break the page
off at a name that no browser sends, where `check_upload` says what is wrong with it.
"""


def draw() -> None:
    """The screen."""
    st.title(text("page_manuals"))
    files = workspace_files()
    manuals = [file for file in files if file.kind == "manual"]
    drafts = [file for file in files if file.kind == "draft"]
    _give(manuals, drafts)
    job_list(("ingest",))
    _growing()
    _unread()
    _drafts(drafts, bool(manuals))
    _corrections()
    draw_keeping(manuals, person())


def _give(manuals: list[WorkspaceFile], drafts: list[WorkspaceFile]) -> None:
    with st.container(border=True):
        left, right = st.columns(2, gap="large")
        with left:
            uploaded = given_files(
                text("manuals_upload"), f"uploads-{st.session_state.get('batch', 0)}", UPLOAD_LIMIT_MEGABYTES, ENDINGS,
                OFFERED, many=True, help_text=text("manuals_upload_help"),
            )  # fmt: skip
        with right:
            box = f"chosen-{st.session_state.get('batch', 0)}"
            _preselect(box, unread_manuals(manuals, drafts), bool(uploaded))
            chosen = st.multiselect(
                text("manuals_choose"),
                manuals,
                format_func=lambda file: file.name,
                key=box,
                placeholder=text("manuals_choose_hint") if manuals else text("manuals_none"),
                disabled=not manuals,
            )
        names = [file.name for file in uploaded] + [file.name for file in chosen]
        chip = _chip(chip_from_name(names[0]) if names else "")
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button(
                text("manuals_read"), type="primary", icon=":material/play_arrow:", disabled=not names, key="read"
            )
            if not names:
                st.caption(text("manuals_read_first"))
        if pressed:
            kept: list[Path] = []
            try:
                for file in uploaded:  # all are looked at before one is kept
                    check_upload(file.name, file.getvalue())
                kept.extend(take_in(file.name, file.getvalue()) for file in uploaded)
                read_into_draft(chip, [file.path for file in chosen], kept, person())
            except MetaInferError as error:
                st.error(error_words(error))
                for path in kept:  # they are still in the box; what cannot be deleted is listed as unread
                    with suppress(MetaInferError):
                        discard(path)
            else:
                st.session_state["batch"] = st.session_state.get("batch", 0) + 1  # the boxes are empty again
                st.session_state["chip_guessed"] = chip
                st.rerun()


def _chip(guess: str) -> str:
    """The chip's name: one field for good, which follows the first document until somebody types in it."""
    if "chip" not in st.session_state or st.session_state["chip"] == st.session_state.get("chip_guessed"):
        st.session_state["chip"] = guess
    st.session_state["chip_guessed"] = guess
    return st.text_input(text("manuals_chip"), max_chars=60, key="chip")


def _preselect(key: str, unread: list[WorkspaceFile], is_uploading: bool) -> None:
    """Chooses the one manual that is unread; it makes way for an upload, which is read alone unless people say so."""
    offered = f"offered-{key}"
    if key not in st.session_state:
        st.session_state[key] = unread if len(unread) == 1 and not is_uploading else []
        st.session_state[offered] = bool(st.session_state[key])
    elif is_uploading and st.session_state.pop(offered, False):
        st.session_state[key] = []


def _unread() -> None:
    """Uploads whose reading did not end: read again, or discarded."""
    found = unread_uploads()
    if not found:
        return
    st.header(text("unread"))
    st.caption(text("unread_hint"))
    for each in found:
        key = each.uploads[0].parent.name
        with st.container(border=True, horizontal=True, vertical_alignment="bottom", key=f"unread-{key}"):
            st.text(each.names)
            chip = st.text_input(text("manuals_chip"), value=each.chip, max_chars=60, key=f"unread-chip-{key}")
            again = st.button(text("unread_again"), icon=":material/replay:", key=f"again-{key}")
            gone = st.button(text("unread_discard"), icon=":material/delete:", key=f"discard-{key}")
        if again or gone:
            try:
                if again:
                    read_again(each, chip, person())
                else:
                    discard_unread(each)
            except MetaInferError as error:
                st.error(error_words(error))
            else:
                st.rerun()


def _corrections() -> None:
    count = len(all_corrections())
    if count and st.button(
        text("corrections_write", count=count),
        key="corrections",
        icon=":material/school:",
        help=text("corrections_help"),
    ):
        path, count = export_corrections()
        st.success(text("corrections_written", count=count, file=path.name))


def _growing() -> None:
    if not growing_drafts() or not is_page("confirm"):
        return

    @st.fragment(run_every=EVERY)
    def follow() -> None:
        for growing in growing_drafts():
            if growing.draft is None:
                st.caption(text("manuals_look_later", chip=plain_words(Path(growing.name).stem)))
                continue
            st.page_link(
                "pages/confirm.py",
                label=text("manuals_look", chip=plain_words(Path(growing.name).stem), count=growing.found),
                icon=":material/visibility:",
                query_params={"draft": growing.name},
            )

    follow()


def _drafts(drafts: list[WorkspaceFile], has_manuals: bool) -> None:
    st.header(text("manuals_drafts"))
    if not drafts:
        st.caption(text("manuals_no_drafts" if has_manuals else "manuals_nothing"))
        return
    from studio.drafts.draft_summary import summary

    with st.container(border=True, key="drafts"):
        widths = (3, 3, 1, 1, 1, 1.5)
        for column, key in zip(
            st.columns(widths),
            ("draft_chip", "draft_from", "draft_values", "draft_confirmed", "draft_conflicts", ""),
            strict=True,
        ):
            if key:
                column.caption(text(key), text_alignment="right" if key not in ("draft_chip", "draft_from") else "left")
        read_last = next((job.order.subject for job in jobs() if job.order.kind == "ingest"), "")
        for file in drafts:
            columns = st.columns(widths, vertical_alignment="center")
            try:
                told = summary(file.path)
            except MetaInferError as error:
                columns[0].markdown(f"**{plain_words(file.name)}**")
                columns[1].caption(plain_words(error.what))
                continue
            with columns[0], st.container(gap="xxsmall"):
                st.markdown(f"**{plain_words(told.chip)}**")
                st.caption(plain_words(file.name))
            columns[1].caption(plain_words(", ".join(told.sources)))
            for column, number in zip(columns[2:5], (told.places, told.decided, told.conflicts), strict=True):
                column.markdown(f"{number}", text_alignment="right")
            # what was read last is what comes next
            with columns[5], next_step("confirm") if file.name == read_last else nullcontext():
                if is_page("confirm"):
                    st.page_link(
                        "pages/confirm.py",
                        label=text("draft_confirm"),
                        icon=":material/fact_check:",
                        query_params={"draft": file.name},
                    )


draw()
