"""Where the keyboard goes while a job runs and when it has ended: one small script for every screen.

It finds the boxes of jobs (`studio.background.job_view.job_line`) and the places of what comes next (`next_step`) by
their keys, so that a screen has nothing to say.
"""

from __future__ import annotations

from pathlib import Path

import streamlit as st

_component = st.components.v2.component(
    "metainfer_job_focus", js=Path(__file__).with_name("job_focus.js").read_text(encoding="utf-8")
)


def keep_focus() -> None:
    """Lets the keyboard go on where a pressed button has led to."""
    _component(key="job_focus")
