"""The policy that a model's graph and pictures are seen with: one that was made for exactly this model."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from metainfer_core.errors import MetaInferError
from metainfer_core.policy.policy import Policy
from review_store.review.state import ReviewState
from studio.files.policies import SpecChoice, review_of, reviewed, subject
from studio.files.workspace import files_of, workspace_folder
from studio.words.texts import text


@dataclass(frozen=True)
class SeenWith:
    """A policy as people left it, and how far its review is."""

    name: str
    """Its path in the workspace."""
    policy: Policy
    state: ReviewState


def policy_for(model: Path, spec: SpecChoice | None) -> SeenWith | None:
    """The policy that is chosen of those for a model, those for this spec first; draws the choice where it is one."""
    found = []
    for path in files_of("policy"):
        with contextlib.suppress(MetaInferError, OSError):
            each = subject(path)
            if each.model == model:
                found.append(each)
    found.sort(key=lambda each: spec is None or each.policy.spec_digest != spec.digest)
    names = [each.path.relative_to(workspace_folder()).as_posix() for each in found]
    if not names:
        return None
    asked = st.query_params.get("policy", "")
    index = names.index(asked) if asked in names else 0
    if len(names) > 1:
        index = names.index(st.selectbox(text("choose_policy"), names, index=index, key=f"graph-policy-{asked}"))
    if names[index] != asked:
        st.query_params["policy"] = names[index]
    try:
        review = review_of(found[index])
    except MetaInferError:
        return None
    return SeenWith(names[index], reviewed(review).policy, review.state)
