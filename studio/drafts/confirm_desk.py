"""The desk for confirming a draft, as a component: one part of the page that holds page, list, card and keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent
SCRIPTS = (
    "../session/leaving",
    "desk_elements", "desk_record", "desk_list", "desk_card", "desk_panels", "desk_page", "confirm_desk",
)  # fmt: skip
"""Files that make one script, in this order."""

_COMPONENT = st.components.v2.component(
    "confirm_desk",
    html='<div class="desk" tabindex="0"></div>\n',
    css=(_FOLDER / "confirm_desk.css").read_text("utf-8"),
    js="\n".join((_FOLDER / f"{name}.js").read_text("utf-8") for name in SCRIPTS),
)


def confirm_desk(data: Mapping[str, Any], key: str, on_outbox: Any, on_view: Any) -> None:
    """Draws the desk; `on_outbox` and `on_view` are called before the next run when it has sent something."""
    _COMPONENT(key=key, data=dict(data), on_outbox_change=on_outbox, on_view_change=on_view)
