"""A policy of other rules than this program's: no review of it ends in a signature, so the way leads to Adapt again."""

from __future__ import annotations

import streamlit as st

from metainfer_core.policy.ruleset import ruleset_digest
from studio.files.policies import Subject
from studio.files.workspace import workspace_folder
from studio.session.choices import short_reference
from studio.words.markup import draw, next_step
from studio.words.texts import text


def is_of_other_rules(found: Subject) -> bool:
    """Whether a policy was made under other rules than those that it would be signed under."""
    return found.policy.ruleset_digest != ruleset_digest()


def draw_other_rules(found: Subject) -> None:
    """Says so, with a link to where the same model is adapted to the same chip."""
    draw("other_rules")
    about = {}
    if found.model is not None:
        about["model"] = found.model.relative_to(workspace_folder()).as_posix()
    if found.spec is not None:
        about["spec"] = short_reference(found.spec.reference)
    with next_step("adapt"):
        st.page_link("pages/adapt.py", label=text("policy_to_adapt"), icon=":material/tune:", query_params=about)
