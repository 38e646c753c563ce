"""The picture of a node's neighbourhood on the screen."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import streamlit as st

from metainfer_core.graph.summary import NodeSummary
from studio.model.graph_drawing import BOX_HEIGHT, BOX_WIDTH, neighbourhood
from studio.model.picture import draw_picture
from studio.words.texts import text


def draw_neighbourhood(
    nodes: Iterable[NodeSummary], centre: Collection[str], hops: int = 2, picks: bool = False
) -> str | None:
    """Draws the nodes around `centre`; the one that was clicked just now, if `picks` lets them be clicked."""
    drawing = neighbourhood(nodes, centre, hops)
    if drawing is None:
        return None
    picked = draw_picture(
        "neighbourhood", "neighbourhood", drawing=drawing, width=BOX_WIDTH, height=BOX_HEIGHT, picks=picks
    )
    if drawing.hidden:
        st.caption(text("neighbours_hidden", count=drawing.hidden))
    return picked
