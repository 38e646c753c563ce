"""Choosing the policy that Review and Sign are about: the one last worked on; a search is told of."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from studio.background.job_view import job_list
from studio.background.jobs import Job, jobs
from studio.files.policies import Subject, about_policy, bound, last_written, model_with, spec_with, subject
from studio.files.workspace import workspace_folder
from studio.session.choices import choose_file, choose_spec, short_reference
from studio.words.plain_words import error_words
from studio.words.texts import text


def choose_subject() -> Subject | None:
    """A policy with the model and spec that it is for; asks for these where it does not name them."""
    path = choose_file("policy", text("choose_policy"), "policy", _to_begin_with)
    if path is None:
        _say_none()
        return None
    try:
        found = subject(path)
    except MetaInferError as error:
        st.error(error_words(error))
        return None
    if found.policy.model_digest is not None and found.policy.spec_digest is not None:
        return found
    st.info(text("policy_unbound"))
    model = choose_file("model", text("choose_model"), "model")
    spec = choose_spec()
    return bound(found, model, spec) if model and spec else None


def say_if_searched(found: Subject) -> None:
    """While a search for this very policy runs: that it does, how far it is, and the way to it."""
    search = next((each for each in _searches() if each.is_open and str(found.path) in each.order.arguments), None)
    if search is not None:
        _draw_search(search, text("policy_searched_anew"))


def _say_none() -> None:
    """No policy is here: that one is being searched for, or that the last search failed, or to propose one first."""
    newest = next(iter(_searches()), None)
    if newest is not None and newest.is_open:
        _draw_search(newest, text("policy_searched"))
        return
    st.info(text("policy_none"))
    if newest is not None and newest.state != "done":
        job_list((newest.order.kind,), (newest.order.subject,), limit=1)
    st.page_link("pages/adapt.py", label=text("policy_to_adapt"), icon=":material/tune:")


def _draw_search(search: Job, words: str) -> None:
    st.info(words, icon=":material/autorenew:")
    job_list((search.order.kind,), (search.order.subject,), limit=1)
    about = {"model": search.order.subject}
    with contextlib.suppress(ValueError, IndexError):  # an order of another version says it in another way, or not
        arguments = search.order.arguments
        about["spec"] = short_reference(arguments[arguments.index("--hw-spec") + 1])
    st.page_link("pages/adapt.py", label=text("policy_to_search"), icon=":material/tune:", query_params=about)


def _searches() -> list[Job]:
    """All searches for policies, the newest first."""
    return [each for each in jobs() if each.order.kind == "adapt"]


def _to_begin_with(names: Sequence[str], last: str | None) -> str:
    """What was chosen last in this window, else what anybody worked on last; what cannot be reviewed comes after."""
    fit = [name for name in names if _is_fit(workspace_folder() / name)] or names
    if last is not None and last in fit:
        return last
    return max(fit, key=lambda name: _worked_on(workspace_folder() / name))


def _is_fit(path: Path) -> bool:
    """Whether it can be read, and the model and the spec that it names are here."""
    try:
        about = about_policy(path)
    except (MetaInferError, OSError):
        return False
    has_model = about.model_digest is None or model_with(about.model_digest) is not None
    return has_model and (about.spec_digest is None or spec_with(about.spec_digest) is not None)


def _worked_on(path: Path) -> float:
    """When it was written, or something was decided about it, whichever is later; in seconds since 1970."""
    moments = [path.stat().st_mtime]
    with contextlib.suppress(MetaInferError):
        at = last_written(about_policy(path))
        moments += [datetime.fromisoformat(at).timestamp()] if at is not None else []
    return max(moments)
