"""Home: what waits for people, and how far each model is on each chip."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from metainfer_core.errors import MetaInferError
from metainfer_core.spec.library import default_folder, entries
from studio.background.job_view import job_list
from studio.cli import lay_out_sample
from studio.files.workspace import files_of, workspace_folder
from studio.home.station import NAMES, Station
from studio.home.stations import Row, rows
from studio.manuals.uploads import take_in_spec
from studio.server.frame import is_page
from studio.server.lost import LOST
from studio.session.given_files import given_files
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

SHOWN_ROWS = 25
SPEC_LIMIT_MEGABYTES = 4
ICONS = {
    "done": ":material/check_circle:",
    "next": ":material/adjust:",
    "blocked": ":material/radio_button_unchecked:",
    "failed": ":material/error:",
    "running": ":material/hourglass_top:",
}
LABELS = {
    "done": ":green[{}]",
    "next": ":blue[**{}**]",
    "blocked": ":gray[{}]",
    "failed": ":red[**{}**]",
    "running": ":blue[{}]",
}
WIDTHS = (3, 1.25, 1.25, 1.25, 1.25, 1.25, 1.25)


def draw() -> None:
    """The screen."""
    st.title(text("home_title"))
    lost = st.query_params.get(LOST, "")
    if lost:
        st.info(text("home_lost", screen=plain_words(lost)), icon=":material/explore:")
    found = rows()
    if not found:
        _empty()
    else:
        _waiting(found)
        _table(found)
        _start_points()
    job_list(("ingest", "adapt", "compile", "build"), limit=4)


def _empty() -> None:
    st.markdown(text("home_empty"))
    _start_points()
    with st.container(border=True):
        st.markdown(text("home_sample"))
        if st.button(text("home_sample_button"), type="primary", icon=":material/science:", key="sample"):
            with st.spinner(text("home_sample_running")):
                lay_out_sample(workspace_folder())
            st.rerun()


def _start_points() -> None:
    """The three ways in."""
    with st.container(key="ways_in"):
        manual, model, spec = st.columns(3)
    with manual, st.container(border=True, height="stretch", gap="xxsmall"):
        _link("manuals", {}, "**" + text("start_manual") + "**", ":material/menu_book:")
        st.caption(text("start_manual_hint"))
    with model, st.container(border=True, height="stretch", gap="xxsmall"):
        _link("model", {}, "**" + text("start_model") + "**", ":material/account_tree:")
        st.caption(text("start_model_hint"))
    with spec, st.container(border=True, height="stretch", gap="xxsmall"):
        _bring_spec()
        st.caption(text("start_spec_hint"))
        if shipped := {each.name for each in entries(default_folder())}:
            _link("specs", {}, text("start_shipped", count=len(shipped)), ":material/memory:")


def _bring_spec() -> None:
    with st.popover(text("start_spec"), icon=":material/upload_file:", type="tertiary"):
        given = given_files(text("spec_upload"), "spec_file", SPEC_LIMIT_MEGABYTES, ("yaml", "yml"))
        if given and st.button(text("spec_keep"), key="keep_spec", type="primary"):
            try:
                path = take_in_spec(given.name, given.getvalue())
            except MetaInferError as error:
                st.error(error_words(error))
            else:
                st.toast(text("spec_kept", file=plain_words(path.name)))
                st.rerun()


def _waiting(found: tuple[Row, ...]) -> None:
    unread = len(files_of("manual")) if not any(row.chip for row in found) else 0
    steps: dict[tuple[str, str], tuple[Row, Station]] = {}
    for row in found:
        station = row.next
        if station and (row.chip or not unread) and (row.model or station.name == "spec"):
            steps.setdefault((station.page, str(sorted(station.parameters.items()))), (row, station))
    st.header(text("home_waiting"))
    if unread:
        _link("manuals", {}, text("home_unread", count=unread), ":material/arrow_forward:")
    is_model_missing = not any(row.model for row in found) and not steps and not unread
    if is_model_missing:
        _link("model", {}, text("home_no_model", chip=plain_words(found[0].chip)), ":material/arrow_forward:")
    elif not steps and not unread:
        st.caption(text("home_nothing_waits"))
    for row, station in list(steps.values())[:5]:
        pair = f"{row.model} × {row.chip}" if row.chip else row.model
        about = plain_words(row.chip if station.name == "spec" else pair)
        label = f"**{text(f'do_{station.name}')}** · {about} · {plain_words(station.sentence)}"
        _link(station.page, station.parameters, label, ":material/arrow_forward:")


def _table(found: tuple[Row, ...]) -> None:
    st.header(text("home_rows"))
    with st.container(border=True, key="stations"):
        head = st.columns(WIDTHS)
        for column, name in zip(head[1:], NAMES, strict=True):
            column.caption(text(f"station_{name}"))
        for row in found[:SHOWN_ROWS]:
            _row(row)
    if len(found) > SHOWN_ROWS:
        st.caption(text("home_more", count=len(found) - SHOWN_ROWS))


def _row(row: Row) -> None:
    columns = st.columns(WIDTHS, vertical_alignment="center")
    with columns[0], st.container(gap="xxsmall"):
        model = plain_words(row.model) or text("no_model")
        chip = plain_words(row.chip) or text("no_chip")
        st.markdown(f"**{model}** × {chip}")
        station = row.next or next((each for each in row.stations if each.state == "blocked"), None)
        st.caption(plain_words(station.sentence) if station else text("row_complete"))
    for column, station in zip(columns[1:], row.stations, strict=True):
        with column:
            _station(station)


def _station(station: Station) -> None:
    label = LABELS[station.state].format(text(f"state_{station.state}"))
    _link(station.page, station.parameters, label, ICONS[station.state], station.sentence)


def _link(page: str, parameters: Mapping[str, str], label: str, icon: str, why: str = "") -> None:
    """A link to a screen, or its words alone where the screen does not exist."""
    if is_page(page):
        st.page_link(
            f"pages/{page}.py", label=label, icon=icon, help=why or None, query_params=dict(parameters) or None
        )
    else:
        st.markdown(f"{icon} {label}", help=why or None)


draw()
