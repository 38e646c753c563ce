"""Adapt: the budget in plain words, the data, a search in the background, and what it proposed and refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from studio.address import text_to_address
from studio.choices import choose_file, choose_spec
from studio.job_view import job_list
from studio.jobs import Order, jobs, start
from studio.markup import draw, draw_style
from studio.plain_words import plain_words
from studio.policies import SpecChoice, subject
from studio.proposals import draw_proposals
from studio.sample_shapes import suggested_shapes
from studio.session import person
from studio.texts import text
from studio.workspace import files_of, folder_for, workspace_folder

BUDGETS_DB = (10, 15, 20, 25, 30, 35, 40, 50)
SEARCH_MODES = ("balanced", "latency", "energy")


def main() -> None:
    """Draws the screen."""
    draw_style()
    st.title(text("page_adapt"))
    left, right = st.columns([2, 5], gap="large")
    with left:
        chosen = _choose()
    if chosen is None:
        return
    model, spec = chosen
    output = folder_for("policy") / f"{model.stem}_on_{spec.spec.name.lower()}.policy"
    with left:
        arguments = _arguments(model, spec, output)
        _start(model, spec, arguments)
    with right:
        job_list(("adapt",), (_name(model),), limit=1)
        _outcome(output)


def _choose() -> tuple[Path, SpecChoice] | None:
    model = choose_file("model", text("choose_model"), "model")
    spec = choose_spec()
    if model is None:
        st.info(text("adapt_no_model"))
        st.page_link("pages/model.py", label=text("page_model"), icon=":material/account_tree:")
    if spec is None:
        st.info(text("adapt_no_spec"))
        st.page_link("pages/confirm.py", label=text("page_confirm"), icon=":material/fact_check:")
    return (model, spec) if model and spec else None


def _arguments(model: Path, spec: SpecChoice, output: Path) -> tuple[str, ...]:
    """Draws the fields; gives the command's arguments."""
    calibration = _data(text("adapt_calibration"), "calib", "calibration_data", text("adapt_calibration_help"))
    if calibration is None:
        st.warning(text("adapt_random"), icon=":material/casino:")
    evaluation = _data(text("adapt_evaluation"), "eval", "evaluation_data", text("adapt_evaluation_help"))
    suggested = " ".join(suggested_shapes(calibration or evaluation)) if calibration or evaluation else ""
    key = f"shapes_{model.name}_{calibration}"
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get("shapes", suggested)
    shapes = st.text_input(text("adapt_shapes"), key=key, help=text("adapt_shapes_help"), persist_state="session")
    text_to_address("shapes", shapes if shapes != suggested else "")
    budget = st.select_slider(
        text("adapt_budget"), BUDGETS_DB, value=20, key="budget", bind="query-params", format_func=lambda db: f"{db} dB"
    )
    st.caption(
        text("adapt_budget_words", share=f"{round(10 ** (budget / 10)):,}", amplitude=f"{10 ** (-budget / 20):.1%}")
    )
    goal = st.number_input(
        text("adapt_goal"), min_value=0.0, value=None, step=0.1, key="goal", bind="query-params",
        placeholder=text("adapt_goal_none"), help=text("adapt_goal_help"),
    )  # fmt: skip
    labels = {"balanced": text("mode_balanced"), "latency": text("mode_latency"), "energy": text("mode_energy")}
    mode = st.segmented_control(
        text("adapt_mode"),
        SEARCH_MODES,
        default="balanced",
        required=True,
        format_func=labels.__getitem__,
        key="mode",
        bind="query-params",
    )
    integers = st.toggle(text("adapt_integers"), value=True, key="integers", bind="query-params")
    alone = st.toggle(text("adapt_alone"), value=False, key="alone", bind="query-params", help=text("adapt_alone_help"))
    pairs: list[tuple[str, str | Path | None]] = [
        ("--model", model), ("--hw-spec", spec.reference), ("--calib", calibration), ("--eval", evaluation),
        ("--min-sqnr-db", str(budget)), ("--search-mode", mode), ("--precision", "int8" if integers else "float32"),
        ("--target-latency-ms", f"{goal:g}" if goal else None), ("--output", output),
    ]  # fmt: skip
    pairs += [("--input-shape", each) for each in shapes.split()]
    words = [str(word) for name, value in pairs if value is not None for word in (name, value)]
    return ("adapt", *words, *(() if alone else ("--fast-mode",)))


def _start(model: Path, spec: SpecChoice, arguments: Sequence[str]) -> None:
    busy = any(job.is_open and job.order.kind == "adapt" and job.order.subject == _name(model) for job in jobs())
    if st.button(text("adapt_start"), type="primary", width="stretch", key="start", disabled=busy):
        title = text("adapt_title", model=model.name, chip=spec.spec.name)
        try:
            start(
                Order(kind="adapt", title=title, arguments=tuple(arguments), subject=_name(model), actor=person()),
            )
        except MetaInferError as error:
            st.error(plain_words(str(error)))
        else:
            st.rerun()


def _outcome(output: Path) -> None:
    if not output.is_file():
        draw("adapt_empty")
        return
    try:
        policy = subject(output).policy
    except MetaInferError as error:
        st.error(plain_words(str(error)))
        return
    st.page_link(
        "pages/review.py", label=text("adapt_review", count=len(policy.actions)), icon=":material/rate_review:",
        query_params={"policy": _name(output)},
    )  # fmt: skip
    draw_proposals(policy)


def _data(label: str, word: str, key: str, help_text: str) -> Path | None:
    """A data file; the one that is called so, if one is."""
    names = [_name(path) for path in files_of("data")]
    named = next((index for index, name in enumerate(names) if word in name.lower()), None)
    none = text("adapt_no_data")
    chosen = st.selectbox(
        label, [*names, none], index=len(names) if named is None else named, key=key, help=help_text,
        bind="query-params",
    )  # fmt: skip
    return None if chosen == none else workspace_folder() / str(chosen)


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


main()
