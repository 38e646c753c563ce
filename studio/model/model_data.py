"""Choosing data for a model: only files that hold an array for each of its inputs are offered, or none at all."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from studio.background.job_view import job_list
from studio.background.jobs import Job
from studio.files.sample_shapes import array_names, suggested_shapes
from studio.files.workspace import files_of, workspace_folder
from studio.model.model_reading import KIND, newest_job, read_model, reading
from studio.session.address import choice_from_address, text_to_address
from studio.session.session import person
from studio.words.plain_words import plain_words
from studio.words.texts import text

_FIXED = re.compile(r"\w+\[[\d, ]*\]")
"""Type and shape of an input with a number for each of its axes."""
NO_DATA = "none"
"""What stands for no file at all; no file of data is called so, for each has an ending."""
_PATIENCE_SECONDS, _LOOK_SECONDS = 5.0, 0.1


def choose_data(
    label: str, model: Path, words: Sequence[str], key: str, help_text: str, without: str = "adapt_no_data",
    in_address: bool = False,
) -> Path | None:  # fmt: skip
    """A data file that feeds the model, at first the one with the first word in its name; None for none of them.

    What is used then is said by the text `without`. The address can hold the choice by `key`, where it is another.
    """
    fitting = [name for name, lacks in _data(model).items() if not lacks]
    options = [*fitting, NO_DATA]
    named = next((name for word in words for name in fitting if word in name.lower()), NO_DATA)
    choice_from_address(key, options, named)  # what was chosen for another model falls
    chosen = st.selectbox(
        label, options, key=key, help=help_text, format_func=lambda each: text(without) if each == NO_DATA else each
    )
    if in_address:
        text_to_address(key, chosen if chosen != named else "")
    return None if chosen == NO_DATA else workspace_folder() / str(chosen)


def say_what_feeds_others(model: Path) -> None:
    """Names the data that is not offered, and what it lacks; while the model is still being read, says that."""
    job = newest_job(model)
    if job is not None and job.is_open:
        job_list((KIND,), (_name(model),), limit=1)
    others = {name: lacks for name, lacks in _data(model).items() if lacks}
    if others:
        lacks = ", ".join(sorted(frozenset().union(*others.values())))
        st.caption(text("data_of_others", inputs=plain_words(lacks), files=plain_words(", ".join(others))))


def looked_at(model: Path) -> Job:
    """The job that reads the model, begun where there is none; once more where it left shapes open that data tells."""
    job = newest_job(model)
    if job is None:
        return read_model(model, (), person())
    suggested = suggested_for_any()
    if job.state == "failed" and "--input-shape" not in job.order.arguments and suggested:
        return read_model(model, suggested, person())
    return job


def suggested_for_any() -> tuple[str, ...]:
    """Shapes that the first of the workspace's data that tells any suggests."""
    return next(filter(None, map(suggested_shapes, files_of("data"))), ())


def inputs_of(model: Path) -> frozenset[str]:
    """The names of the model's inputs, for which it is read where nobody has; none of them where that takes long."""
    is_first = newest_job(model) is None
    job = looked_at(model)
    if is_first:
        end = time.monotonic() + _PATIENCE_SECONDS
        with st.spinner(text("data_reading")):
            while job.is_open and time.monotonic() < end:
                time.sleep(_LOOK_SECONDS)
                job = looked_at(model)
    found = reading(job)
    return frozenset(found.inputs) if found is not None else frozenset()


def shapes_for(model: Path, data: Path) -> tuple[str, ...]:
    """Shapes that the data suggests, but for inputs that the model is known to leave nothing open of."""
    job = newest_job(model)
    found = reading(job) if job is not None else None
    fixed: frozenset[str] = frozenset()
    if job is not None and found is not None and "--input-shape" not in job.order.arguments:
        fixed = frozenset(name for name, said in found.inputs.items() if _FIXED.fullmatch(said))
    return tuple(each for each in suggested_shapes(data) if each.partition("=")[0] not in fixed)


def _data(model: Path) -> dict[str, frozenset[str]]:
    """Each data file of the workspace, with the inputs of the model that it has no array for."""
    files = files_of("data")
    inputs = inputs_of(model) if files else frozenset()
    return {_name(path): inputs - array_names(path) for path in files}


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()
