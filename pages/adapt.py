"""Adapt: the budget in plain words, the data, a search in the background, and what it proposed and refused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from studio.background.job_view import job_list
from studio.background.jobs import Job, Order, Title, jobs, start
from studio.files.documents import file_digest
from studio.files.policies import SpecChoice, Subject, bound_shapes, subject
from studio.files.workspace import folder_for, workspace_folder
from studio.model.model_data import choose_data, say_what_feeds_others, shapes_for
from studio.review.policy_settings import (
    Settings,
    budget_words,
    differing,
    read_shapes,
    settings_of,
    take_over,
)
from studio.review.proposals import draw_proposals
from studio.review.retrained import draw_take_over
from studio.session.address import choice_from_address, text_to_address
from studio.session.choices import choose_file, choose_spec
from studio.session.session import person
from studio.words.markup import draw, draw_style, next_step
from studio.words.plain_words import error_words
from studio.words.texts import text

BUDGETS_DB = (10, 15, 20, 25, 30, 35, 40, 50)
SEARCH_MODES = ("balanced", "latency", "energy")
IN_ADDRESS = ("budget", "goal", "mode", "integers", "alone", "calibration_data", "evaluation_data", "shapes")


def main() -> None:
    """Draws the screen."""
    draw_style()
    st.title(text("page_adapt"))
    is_gone = _is_gone()  # before the address names what stands in its place
    with st.container(border=True):
        what, on, calibrated, evaluated = st.columns(4)
        with what:
            model = choose_file("model", text("choose_model"), "model")
        with on:
            spec = choose_spec()
        if model is None or spec is None:
            _say_what_is_missing(model, spec)
            return
        output = folder_for("policy") / f"{model.stem}_on_{spec.spec.name.lower()}.policy"
        standing = _standing(output)
        if standing is not None:
            take_over(standing.policy, _name(output), any(key in st.query_params for key in IN_ADDRESS))
        with calibrated:
            calibration = choose_data(
                text("adapt_calibration"), model, ("calib",), "calibration_data", text("adapt_calibration_help"),
                in_address=True,
            )  # fmt: skip
        with evaluated:
            evaluation = choose_data(
                text("adapt_evaluation"), model, ("eval",), "evaluation_data", text("adapt_evaluation_help"),
                "adapt_no_data" if calibration is None else "adapt_as_calibration", in_address=True,
            )  # fmt: skip
        say_what_feeds_others(model)
        if calibration is None:
            st.warning(text("adapt_random"), icon=":material/casino:")
        arguments, asked = _arguments(model, spec, calibration, evaluation, standing)
        _start(model, spec, (*arguments, "--output", str(output)), is_gone)
    draw_take_over(model, spec, calibration, evaluation)
    job_list(("adapt",), (_name(model),), limit=1)
    _outcome(model, output, spec, asked)


def _standing(output: Path) -> Subject | None:
    """The policy that stands there; None where there is none that can be read."""
    try:
        return subject(output) if output.is_file() else None
    except MetaInferError:
        return None


def _say_what_is_missing(model: Path | None, spec: SpecChoice | None) -> None:
    """Says what is not there yet, and where it comes from."""
    if model is None:
        st.info(text("adapt_no_model"))
        st.page_link("pages/model.py", label=text("page_model"), icon=":material/account_tree:")
    if spec is None:
        st.info(text("adapt_no_spec"))
        st.page_link("pages/confirm.py", label=text("page_confirm"), icon=":material/fact_check:")


def _arguments(
    model: Path, spec: SpecChoice, calibration: Path | None, evaluation: Path | None, standing: Subject | None
) -> tuple[tuple[str, ...], Settings]:
    """Draws the fields; gives the command's arguments, and what they mean."""
    accuracy, time, wish = st.columns([2, 1, 1])
    data = calibration or evaluation
    suggested = " ".join(shapes_for(model, data) if data else bound_shapes(standing.policy) if standing else ())
    key = f"shapes_{model.name}_{calibration}"
    if key not in st.session_state:
        st.session_state[key] = st.query_params.get("shapes", suggested)
    with accuracy:
        budgets = sorted({*BUDGETS_DB, settings_of(standing.policy).budget_db} if standing else BUDGETS_DB)
        budget = st.select_slider(
            text("adapt_budget"), budgets, value=20, key="budget", bind="query-params",
            format_func=lambda db: f"{db:g} dB",
        )  # fmt: skip
        st.caption(
            text("adapt_budget_words", share=f"{round(10 ** (budget / 10)):,}", amplitude=f"{10 ** (-budget / 20):.1%}")
        )
        st.caption(budget_words(Objective(min_sqnr_db=budget)))
    goal = time.number_input(
        text("adapt_goal"), min_value=0.0, value=None, step=0.1, key="goal", bind="query-params",
        placeholder=text("adapt_goal_none"), help=text("adapt_goal_help"),
    )  # fmt: skip
    labels = {"balanced": text("mode_balanced"), "latency": text("mode_latency"), "energy": text("mode_energy")}
    choice_from_address("mode", SEARCH_MODES, SEARCH_MODES[0])
    mode = wish.selectbox(text("adapt_mode"), SEARCH_MODES, format_func=labels.__getitem__, key="mode")
    text_to_address("mode", mode if mode != SEARCH_MODES[0] else "")
    open_shapes, may, alone_too = st.columns([2, 1, 1], vertical_alignment="bottom")
    shapes = open_shapes.text_input(
        text("adapt_shapes"), key=key, help=text("adapt_shapes_help"), persist_state="session"
    )
    text_to_address("shapes", shapes if shapes != suggested else "")
    integers = may.toggle(text("adapt_integers"), value=True, key="integers", bind="query-params")
    alone = alone_too.toggle(
        text("adapt_alone"), value=True, key="alone", bind="query-params", help=text("adapt_alone_help")
    )
    pairs: list[tuple[str, str | Path | None]] = [
        ("--model", model), ("--hw-spec", spec.reference), ("--calib", calibration), ("--eval", evaluation),
        ("--min-sqnr-db", f"{budget:g}"), ("--search-mode", mode), ("--precision", "int8" if integers else "float32"),
        ("--target-latency-ms", f"{goal:g}" if goal else None),
    ]  # fmt: skip
    pairs += [("--input-shape", each) for each in shapes.split()]
    words = [str(word) for name, value in pairs if value is not None for word in (name, value)]
    measured_on = evaluation or calibration
    asked = Settings(
        budget_db=budget,
        goal_ms=goal or None,
        mode=mode,
        precision=Precision.INT8 if integers else Precision.FLOAT32,
        alone=alone,
        calibration=calibration.name if calibration else "",
        evaluation=measured_on.name if measured_on else "",
        shapes=read_shapes(shapes),
    )
    return ("adapt", *words, *(() if alone else ("--fast-mode",))), asked


def _is_gone() -> bool:
    """Whether a file that the screen was about is gone: nobody pressed a button for what stands in its place."""
    asked = [st.query_params.get(key, "") for key in ("model", "spec")]
    files = [each for each in asked if each.endswith((".onnx", ".yaml", ".yml"))]
    return not all((workspace_folder() / each).is_file() for each in files)


def _start(model: Path, spec: SpecChoice, arguments: Sequence[str], is_gone: bool) -> None:
    busy = _is_searched(model)
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button(
            text("adapt_start"), type="primary", key="start", disabled=busy, icon=":material/play_arrow:"
        )
        st.caption(text("adapt_busy" if busy else "adapt_takes"))
    if pressed and not is_gone:
        title = Title(words="adapt_title", values={"model": model.name, "chip": spec.spec.name})
        try:
            start(
                Order(kind="adapt", title=title, arguments=tuple(arguments), subject=_name(model), actor=person()),
            )
        except MetaInferError as error:
            st.error(error_words(error))
        else:
            st.rerun()


def _is_searched(model: Path) -> bool:
    """Whether a search for this model is under way."""
    return any(job.is_open and job.order.kind == "adapt" and job.order.subject == _name(model) for job in jobs())


def _outcome(model: Path, output: Path, spec: SpecChoice, asked: Settings) -> None:
    """The policy that stands there, called the earlier one where a search began after it was written.

    Where the form asks for something else than it was made with, that is said, and the next step is the search.
    """
    if not output.is_file():
        if not _is_searched(model):
            draw("adapt_empty")
        return
    try:
        policy = subject(output).policy
    except MetaInferError as error:
        st.error(error_words(error))
        return
    newest = _newer_job(output)
    if newest is not None:
        st.caption(text("adapt_earlier_open" if newest.is_open else "adapt_earlier"))
    made_with = _made_with(policy, model, spec, asked)
    if made_with:
        changed = text("list_mark").join(made_with)
        st.warning(text("adapt_made_with", settings=changed, start=text("adapt_start")), icon=":material/tune:")
    is_this = newest is None and not made_with
    label = text("adapt_review" if is_this else "adapt_review_earlier", count=len(policy.actions))
    with next_step() if not made_with else nullcontext():
        st.page_link(
            "pages/review.py", label=label, icon=":material/rate_review:", query_params={"policy": _name(output)}
        )
    draw_proposals(policy, spec)


def _made_with(policy: Policy, model: Path, spec: SpecChoice, asked: Settings) -> tuple[str, ...]:
    """What the policy was made with that is another now, in words."""
    files = [
        text("settings_model") if policy.model_digest not in (None, file_digest(model)) else "",
        text("settings_spec") if policy.spec_digest not in (None, spec.digest) else "",
    ]
    return (*(each for each in files if each), *differing(settings_of(policy), asked))


def _newer_job(output: Path) -> Job | None:
    """The newest search for this policy, where it began after the policy was written and has not written another."""
    newest = next((job for job in jobs() if job.order.kind == "adapt" and str(output) in job.order.arguments), None)
    if newest is None or newest.state == "done":
        return None
    began = (newest.folder / "order.json").stat().st_mtime_ns
    return newest if output.stat().st_mtime_ns < began else None


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


main()
