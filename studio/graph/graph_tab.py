"""The graph of a model on the screen: the picture on the left, the node that was picked on the right."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import streamlit as st

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.cost.estimate import Estimate
from metainfer_core.graph.groups import GroupTree, group_nodes
from studio.files.policies import SpecChoice, Subject
from studio.files.workspace import workspace_folder
from studio.graph.graph_view import GraphDesk, draw_graph, take_told
from studio.graph.graph_view_scene import Scene, Unfolded, scene
from studio.model.graph_policy import SeenWith, policy_for
from studio.model.model_reading import Reading
from studio.pictures.graph_view_colours import COLOURS, actions_on, painting
from studio.review.review_rows import title
from studio.session.address import text_to_address
from studio.session.choices import short_reference
from studio.words.marks import risk_mark, state_mark
from studio.words.texts import text

MOST_LINKS = 12


@st.fragment
def draw_graph_tab(
    model: Path, found: Reading, costs: Estimate | None, spec: SpecChoice | None, panel: Callable[[str], None]
) -> None:
    """Draws it; `panel` draws what else is known of the node that was picked.

    What is done in the picture draws this part of the screen alone.
    """
    tree = tree_of(found)
    desk = _desk(found, tree)
    take_told(desk, tree)
    if desk.picked != desk.agreed:
        st.session_state["node"] = st.query_params["node"] = desk.picked
        desk.agreed = desk.picked
    left, right = st.columns([5, 2], gap="medium")
    with right:
        seen = policy_for(model, spec)
    with left:
        colour = _colour()
        paint = painting(colour, found.summary.nodes, costs, seen.policy if seen is not None else None)
        if paint is None:
            st.caption(text(f"colour_{colour}_none"))
        draw_graph(desk, tree, scene_of(found.job_id, desk.view, tree), paint, _marked(desk, tree, seen))
        st.caption(text("graph_note", nodes=len(tree.nodes), groups=len(tree.groups) - 1))
    with right:
        if not desk.picked:
            st.info(text("graph_pick"), icon=":material/ads_click:")
            return
        _actions(desk.picked, seen)
        panel(desk.picked)


def link_to_graph(found: Subject, node_id: str) -> None:
    """Draws the link from an action to its node in the graph."""
    if found.model is None:
        return
    there = {
        "model": found.model.relative_to(workspace_folder()).as_posix(),
        "policy": found.path.relative_to(workspace_folder()).as_posix(),
        "view": text("graph_view"),
        "node": node_id,
        **({"spec": short_reference(found.spec.reference)} if found.spec is not None else {}),
    }
    st.page_link("pages/model.py", label=text("graph_show"), icon=":material/account_tree:", query_params=there)


def tree_of(found: Reading) -> GroupTree:
    """The groups of a model's graph, made once."""
    return _tree(found.job_id, found)


@st.cache_resource(max_entries=8, show_spinner=False)
def _tree(job_id: str, _found: Reading) -> GroupTree:
    return group_nodes(_found.summary.nodes)


@st.cache_resource(max_entries=64, show_spinner=False)
def scene_of(job_id: str, view: Unfolded, _tree: GroupTree) -> Scene:
    """What a view of a tree shows, laid out once."""
    return scene(_tree, view)


def _desk(found: Reading, tree: GroupTree) -> GraphDesk:
    """What this window knows of one graph; the address and other parts of the screen can name a node too."""
    key = "graph_" + hashlib.sha256(found.job_id.encode()).hexdigest()[:10]
    desks: dict[str, GraphDesk] = st.session_state.setdefault("graph_desks", {})
    if key not in desks:
        desks[key] = GraphDesk(key)
    desk = desks[key]
    named = st.session_state.get("node", st.query_params.get("node", ""))
    if named not in (desk.agreed, desk.picked):
        desk.show(tree, named)
        desk.agreed = desk.picked
    return desk


def _colour() -> str:
    asked = st.query_params.get("colour")
    colour = st.segmented_control(
        text("graph_colour"), COLOURS, default=asked if asked in COLOURS else COLOURS[0], required=True,
        format_func=lambda each: text(f"colour_{each}"), key="graph_colour", persist_state="session",
    )  # fmt: skip
    text_to_address("colour", colour if colour != COLOURS[0] else "")
    return colour


def _marked(desk: GraphDesk, tree: GroupTree, seen: SeenWith | None) -> Sequence[str]:
    """Keys of the nodes that share an action with the one that was picked."""
    if seen is None or not desk.picked:
        return ()
    together = (
        node
        for line in seen.policy.actions
        if desk.picked in line.nodes and len(line.nodes) > 1
        for node in line.nodes
        if node in tree.position
    )
    return [f"n{tree.position[node]}" for node in dict.fromkeys(together)]


def _actions(node_id: str, seen: SeenWith | None) -> None:
    """Links from a node to its actions in Review."""
    if seen is None:
        st.caption(text("graph_no_policy"))
        return
    ids = actions_on(seen.policy, {node_id}).get(node_id, ())
    if not ids:
        st.caption(text("graph_no_actions"))
    of_id = {each.id: each for each in seen.state.actions}
    for action_id in ids[:MOST_LINKS]:
        each = of_id[action_id]
        risk, state = risk_mark(risk_level(each.action)), state_mark(each.word)
        st.page_link(
            "pages/review.py", label=f"{risk[0]} {title(each.action)} · {state[0]} {state[1]}",
            icon=":material/rate_review:", help=each.action.sentence or None,
            query_params={"policy": seen.name, "action": action_id},
        )  # fmt: skip
    if len(ids) > MOST_LINKS:
        st.caption(text("graph_more_actions", count=len(ids) - MOST_LINKS))
