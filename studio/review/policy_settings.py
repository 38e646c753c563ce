"""What a policy was made with, beside the form of Adapt: taken over when that opens, told where it differs."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

import streamlit as st

from metainfer_core.explain.what_if_words import recorded_together
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.samples import source_of
from studio.files.workspace import files_of, workspace_folder
from studio.model.model_data import NO_DATA
from studio.words.plain_words import plain_words
from studio.words.texts import text

NO_LABEL = ""
"""What a policy calls data that it was not given: it was made with random inputs."""


@dataclass(frozen=True)
class Settings:
    """What a search is asked for, but for model and chip."""

    budget_db: float
    goal_ms: float | None
    mode: str
    precision: Precision
    alone: bool
    """Whether each action is measured alone too."""
    calibration: str | None
    """Name of the file; empty: random inputs; None: not known."""
    evaluation: str | None
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = ()
    """Of the inputs that the model leaves open."""


def objective_of(policy: Policy) -> Objective:
    """The budget and the goal that a policy was made with."""
    return Objective.from_plain(policy.plain().get("objective", {}))


def settings_of(policy: Policy) -> Settings:
    """What a policy was made with, as far as it says."""
    objective, recorded = objective_of(policy), recorded_together(policy)
    return Settings(
        budget_db=objective.min_sqnr_db,
        goal_ms=objective.target_latency_ms,
        mode=objective.search_mode.value,
        precision=objective.precision,
        alone=not objective.fast,
        calibration=_file_of(policy.calibration) if policy.calibration else None,
        evaluation=_file_of(recorded.data) if recorded is not None else None,
        shapes=tuple(sorted(policy.bound_shapes.items())),
    )


def differing(made: Settings, asked: Settings) -> tuple[str, ...]:
    """What a policy was made with that is another in the form, in words; nothing where the form means this policy."""
    asked_shapes = dict(asked.shapes)
    words = {
        "budget_db": lambda: text("settings_budget", db=f"{made.budget_db:g}"),
        "goal_ms": lambda: text("settings_goal", ms=f"{made.goal_ms:g}") if made.goal_ms else text("settings_no_goal"),
        "mode": lambda: text("settings_mode", mode=text(f"mode_{made.mode}")),
        "precision": lambda: text(f"settings_{made.precision.value}"),
        "alone": lambda: text("settings_alone" if made.alone else "settings_not_alone"),
        "calibration": lambda: text("settings_calibration", data=_data_words(made.calibration)),
        "evaluation": lambda: text("settings_evaluation", data=_data_words(made.evaluation)),
        "shapes": lambda: text(
            "settings_shapes", shapes=plain_words(" ".join(f"{name}={list(shape)}" for name, shape in made.shapes))
        ),
    }
    found = []
    for each in fields(Settings):
        was, now = getattr(made, each.name), getattr(asked, each.name)
        if each.name == "shapes":
            is_other = any(asked_shapes.get(name, shape) != shape for name, shape in made.shapes)
        else:
            is_other = was is not None and was != now if each.name in ("calibration", "evaluation") else was != now
        if is_other:
            found.append(words[each.name]())
    return tuple(found)


def read_shapes(words: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Those of `x=[1,3,48,192] y=[1,48]` that name an input; what is no shape is left to the command to refuse."""
    found = (re.fullmatch(r"(.+)=\[(\d+(?:,\d+)*)\]", word) for word in words.split())
    return tuple((one[1], tuple(map(int, one[2].split(",")))) for one in found if one is not None)


def budget_words(objective: Objective) -> str:
    """The whole accuracy budget, limits that no form shows among it, in a sentence."""
    if objective.metric is not None:
        return text("budget_metric", metric=plain_words(objective.metric), share=f"{objective.max_metric_drop:.2%}")
    return text(
        "budget_holds", output=f"{objective.min_sqnr_db:g}", channel=f"{objective.min_channel_sqnr_db:g}",
        dead=objective.max_dead_channels or text("none"), flips=f"{objective.max_argmax_flips:.0%}",
    )  # fmt: skip


def take_over(policy: Policy, standing: str, in_address: bool) -> None:
    """Puts what a policy was made with into the form, once for each policy that the screen comes to.

    An address that asks for settings of its own keeps them where the screen is opened; it does not on the way to
    another policy.
    """
    before = st.session_state.get("settings_of")
    st.session_state["settings_of"] = standing
    is_opened = "mode" not in st.session_state  # the fields of a screen are forgotten when one goes to another
    if in_address if is_opened else before == standing:
        return
    made = settings_of(policy)
    st.session_state["budget"] = made.budget_db
    st.session_state["goal"] = made.goal_ms
    st.session_state["mode"] = made.mode
    st.session_state["integers"] = made.precision is not Precision.FLOAT32
    st.session_state["alone"] = made.alone
    own = NO_LABEL if made.evaluation == made.calibration else made.evaluation  # what it falls back to anyway
    for key, name in (("calibration_data", made.calibration), ("evaluation_data", own)):
        if name is not None:
            st.session_state[key] = _path_of(name) or NO_DATA


def _file_of(label: str) -> str:
    source = source_of(label)
    return source[0] if source is not None else NO_LABEL


def _path_of(name: str) -> str | None:
    """The file of the workspace with this name, as the form offers it."""
    folder = workspace_folder()
    return next((each.relative_to(folder).as_posix() for each in files_of("data") if each.name == name), None)


def _data_words(name: str | None) -> str:
    return plain_words(name) if name else text("adapt_no_data")
