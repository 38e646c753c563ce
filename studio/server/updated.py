"""Whether the program was updated under the server that runs: what it says of signing would be of the old rules."""

from __future__ import annotations

import functools
import time

import streamlit as st

from metainfer_core.policy.ruleset import rules_have_changed, ruleset_digest
from studio.words.texts import text

LOOK_SECONDS = 5

ruleset_digest()  # of the rules that this server took up, before a file can change under it


def say_when_the_program_was_updated() -> None:
    """A warning on every screen until the server is started again."""
    if _changed(int(time.monotonic() / LOOK_SECONDS)):
        st.warning(text("program_updated"), icon=":material/update:")


@functools.lru_cache(maxsize=1)
def _changed(_moment: int) -> bool:
    """Read once in a while, however many people draw screens."""
    return rules_have_changed()
