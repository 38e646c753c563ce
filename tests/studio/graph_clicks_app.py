"""A screen with the picture of a graph alone; its data changes with every run, and every event is written down."""

import itertools
import os
from pathlib import Path

import streamlit as st
from branching import chain

from metainfer_core.graph.groups import group_nodes
from studio.graph.graph_view import GraphDesk, draw_graph, take_told
from studio.graph.graph_view_scene import scene
from studio.pictures.graph_view_colours import painting

LOG = Path(os.environ["CLICKS_LOG"])


@st.fragment
def draw() -> None:
    nodes = chain(20)
    tree = group_nodes(nodes)
    desk = st.session_state.setdefault("desk", GraphDesk("clicks"))
    turn = st.session_state.setdefault("turn", itertools.count())
    for event in take_told(desk, tree):
        with LOG.open("a") as log:
            log.write(f"{event.number} {event.verb} {event.on}\n")
    with LOG.with_suffix(".runs").open("a") as log:
        log.write(".")
    marked = [f"n{next(turn) % 20}"]  # the data is another in every run
    draw_graph(desk, tree, scene(tree, desk.view), painting("precision", nodes, None, None), marked)


draw()
