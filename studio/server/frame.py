"""What stands around every screen: page configuration, navigation, workspace, who sits there, running jobs."""

from __future__ import annotations

from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from metainfer_core.errors import MetaInferError
from studio.background.job_focus import keep_focus
from studio.background.jobs import jobs
from studio.files.workspace import choose_workspace, workspace_folder
from studio.server.backup import draw_backup
from studio.server.updated import say_when_the_program_was_updated
from studio.session.given_files import say_what_uploads_say
from studio.session.grids import tab_leaves_grids
from studio.session.kept_person import keep_person
from studio.session.keyboard import lead_the_keyboard
from studio.session.popovers import tab_enters_popovers
from studio.session.server_gone import say_when_the_server_is_gone
from studio.session.session import person, set_person
from studio.words.language import LANGUAGES, choose_language, language, settle_language
from studio.words.plain_words import error_words
from studio.words.texts import text

STYLE = """<style>
:root { color-scheme: light dark; } /* what opens over the page stands outside of Streamlit's own root, which has one */
[data-testid="stMainBlockContainer"] { padding-inline: 1.75rem; }
[data-testid="stSliderThumbValue"], [data-testid="stTab"][aria-selected="true"] *,
[data-baseweb="tab"][aria-selected="true"] *,
[data-testid="stButtonGroup"]
  :is([aria-checked="true"], [aria-pressed="true"], [data-selected="true"], [kind$="Active"]) * {
  color: light-dark(#0b63a8, #7cbcf0) !important; }
[data-testid="stWidgetLabel"] p { color: light-dark(#10171e, #e3e8ed) !important; } /* also of a field at rest */
[role="tooltip"], [role="tooltip"] * { pointer-events: none !important; } /* what lies under it is pressed */
[data-testid="stMainBlockContainer"] [data-testid="stPageLink-NavLink"] {
  border: 1px solid light-dark(#c3ccd4, #435261); border-radius: 6px; padding: .3rem .75rem; }
:is(.st-key-stations, .st-key-ways_in) [data-testid="stPageLink-NavLink"] {
  border: 0 !important; padding: .1rem .5rem; }
.st-key-ways_in [data-testid="stPageLink-NavLink"] * { white-space: normal !important; } /* a column is narrow */
[class*="st-key-next_"] [data-testid="stPageLink-NavLink"] {
  background: light-dark(#0b63a8, #2a77b8) !important; border-color: transparent !important; padding: .4rem .8rem; }
[class*="st-key-next_"] [data-testid="stPageLink-NavLink"]:hover {
  background: light-dark(#084b80, #1f6299) !important; }
[class*="st-key-next_"] [data-testid="stPageLink-NavLink"] * { color: #fff !important; font-weight: 600; }
[data-testid="stHeaderActionElements"] { display: none; } /* a heading's link to itself: one more Tab for each */
[data-testid="stElementToolbar"]:focus-within { opacity: 1; }
[data-testid="stFileUploaderDropzoneInstructions"] { display: none; } /* ours stands below: `given_files` */
[data-testid="stCode"] > :has(button) { display: block; opacity: 1; visibility: visible; }
</style>"""
"""Less room around what people read, and chosen things in a colour that is read on the dark ground too: one colour of
the theme cannot be both that and the ground under white letters. A link to another screen looks like the button that it
is, and what most people do next like the chief one (`next_step`). What Streamlit shows only under the mouse is there
for the keyboard too: the buttons of a table while one of them has the focus, the one that copies a command always."""
WITHOUT_BOX = '<style>[data-testid="stException"] { display: none; }</style>'
PAGES_FOLDER = Path(__file__).parents[2] / "pages"

ICON = Path(__file__).with_name("icon.svg")
"""A file of ours: Streamlit fetches a named icon for the browser's tab from the internet."""

PAGES: tuple[tuple[str, str], ...] = (
    ("home", ":material/home:"),
    ("manuals", ":material/menu_book:"),
    ("confirm", ":material/fact_check:"),
    ("specs", ":material/memory:"),
    ("model", ":material/account_tree:"),
    ("adapt", ":material/tune:"),
    ("review", ":material/rate_review:"),
    ("sign", ":material/draw:"),
    ("report", ":material/inventory_2:"),
)
"""File name and icon of every screen, in the order of the loop."""


def frame() -> None:
    """Draws the frame and runs the screen that the address names."""
    st.set_page_config(page_title="meta-infer", page_icon=str(ICON), layout="wide")
    settle_language()
    screens = [
        st.Page(f"pages/{name}.py", title=text(f"page_{name}"), icon=icon, url_path=name, default=name == "home")
        for name, icon in PAGES
        if (PAGES_FOLDER / f"{name}.py").is_file()
    ]
    screen = st.navigation(screens, expanded=True)
    st.html(STYLE)
    with st.sidebar:
        _running()
        keep_person()
        _who()
        _where()
        _language()
        lead_the_keyboard()
        tab_leaves_grids()
        tab_enters_popovers()
        keep_focus()
        say_when_the_server_is_gone()
        say_what_uploads_say()
    say_when_the_program_was_updated()
    run_screen(screen)


def run_screen(screen: StreamlitPage) -> None:
    """Runs a screen; where it stops by a defect of ours, says what that means for people instead of Streamlit's box."""
    try:
        screen.run()
    except MetaInferError as error:
        st.error(error_words(error))
    except Exception:
        st.error(text("defect"), icon=":material/bug_report:")
        st.html(WITHOUT_BOX)
        raise  # Streamlit writes the trace to the terminal


def _language() -> None:
    def choose() -> None:
        choose_language(st.session_state["language_given"])

    st.segmented_control(
        text("language_label"), list(LANGUAGES), format_func=LANGUAGES.__getitem__, default=language(), required=True,
        key="language_given", on_change=choose, label_visibility="collapsed", width="stretch",
    )  # fmt: skip


def is_page(name: str) -> bool:
    """Whether the screen exists, so that a link to it can be drawn."""
    return (PAGES_FOLDER / f"{name}.py").is_file()


def _running() -> None:
    count = sum(job.is_open for job in jobs())
    if count:
        st.caption(text("jobs_running", count=count))


def _who() -> None:
    name = person()
    if st.session_state.get("person_shown") != name:
        st.session_state["person_shown"] = st.session_state["person_given"] = name
    with st.popover(name or text("person_unknown"), icon=":material/person:", width="stretch"):
        st.caption(text("person_hint"))
        given = st.text_input(text("person_label"), key="person_given")
        if given != name:
            try:
                set_person(given)
                st.rerun()
            except MetaInferError as error:
                st.error(error_words(error))


def _where() -> None:
    folder = workspace_folder()
    with st.popover(folder.name or str(folder), icon=":material/folder_open:", width="stretch"):
        st.caption(text("workspace_place"))
        st.code(str(folder), language=None, wrap_lines=True)
        given = st.text_input(text("workspace_label"), value=str(folder), key="workspace_given")
        if given != str(folder):
            try:
                choose_workspace(Path(given))
                st.rerun()
            except MetaInferError as error:
                st.error(error_words(error))
        draw_backup()
