"""Model: what it holds and costs, the roofline, its nodes, one node with its neighbours, and the whole graph."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import streamlit as st

from metainfer_core.actions.units import unit_for
from metainfer_core.cost.estimate import CallCost, Estimate
from metainfer_core.errors import MetaInferError
from studio.background.job_view import job_list
from studio.files.policies import SpecChoice
from studio.files.workspace import Kind, files_of, folder_for, workspace_folder
from studio.graph.graph_tab import draw_graph_tab
from studio.manuals.uploads import UPLOAD_LIMIT_MEGABYTES, keep_upload
from studio.model.graph_drawing import readers_of
from studio.model.model_data import looked_at, suggested_for_any
from studio.model.model_reading import KIND, Reading, predicted, read_model, reading
from studio.model.neighbours import draw_neighbourhood
from studio.model.netron_tab import draw_netron_tab
from studio.model.node_table import ORDERS, node_table
from studio.model.roofline_chart import roofline_chart, roofs
from studio.pictures.pictures_tab import draw_pictures_tab
from studio.session.address import text_from_address, text_to_address
from studio.session.choices import choose_file, choose_spec, short_reference
from studio.session.given_files import given_files
from studio.session.session import person
from studio.words.core_words import core_term
from studio.words.markup import draw, draw_style, next_step
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

OPERATOR_PIXELS = 140
FOLDERS: dict[str, Kind] = {"onnx": "model", "npz": "data"}


def main() -> None:
    """Draws the screen."""
    draw_style()
    st.title(text("page_model"))
    left, right, then, bring = st.columns([3, 3, 2, 2], vertical_alignment="bottom")  # one row: pictures need the rest
    with bring:
        _upload()
    with left:
        model = choose_file("model", text("choose_model"), "model")
    if model is None:
        draw("model_empty")
        return
    with right:
        spec = choose_spec()
    found = _read(model)
    if found is None:
        return
    if spec is not None:
        with then, next_step():
            st.page_link(
                "pages/adapt.py", label=text("model_adapt", chip=plain_words(spec.spec.name)), icon=":material/tune:",
                query_params={"model": _name(model), "spec": short_reference(spec.reference)},
            )  # fmt: skip
    costs = predicted(found, spec) if spec is not None else None
    draw("model_summary", reading=found, estimate=costs, chip=spec.spec.name if spec else "")
    nodes, chart, groups, pictures, graph = st.tabs(
        [text("model_nodes"), text("model_roofline"), text("graph_view"), text("pictures"), text("model_graph")],
        on_change="rerun", key="view", bind="query-params",
    )  # fmt: skip
    if nodes.open:
        with nodes:
            _nodes(found, costs, spec)
    if chart.open:
        with chart:
            figure = roofline_chart(costs, roofs(spec.spec)) if costs is not None and spec is not None else None
            if figure is None:
                lacks = map(core_term, costs.unknown if costs is not None else ())
                st.info(text("roofline_none", missing=plain_words(", ".join(lacks))))
            else:
                draw("predicted_note", words=text("roofline_note", chip=spec.spec.name if spec else ""))
                st.plotly_chart(figure, key="roofline", config={"displaylogo": False})
    if groups.open:
        with groups:
            cost_of = _cost_of(costs)
            draw_graph_tab(model, found, costs, spec, lambda node: _node(found, node, cost_of.get(node), spec))
    if pictures.open:
        with pictures:
            draw_pictures_tab(model, found, costs, spec)
    if graph.open:
        with graph:
            draw_netron_tab(_name(model), len(found.summary.nodes))


def _upload() -> None:
    chief: Literal["primary", "secondary"] = "secondary" if files_of("model") else "primary"
    taken: list[str] = st.session_state.pop("model_taken", [])
    if taken:
        st.session_state["model_popover"] = False  # nobody has to close it to see what they brought
        names = text("list_mark").join(map(plain_words, taken))
        st.toast(text("model_taken", file=names), icon=":material/check:", duration="long")
    label = text("model_bring")
    with st.popover(
        label, type=chief, icon=":material/upload:", width="stretch", key="model_popover", on_change="rerun"
    ):
        given = given_files(text("model_upload"), "models", UPLOAD_LIMIT_MEGABYTES, list(FOLDERS), many=True)
        new, is_refused = [], False
        for file in given:
            kind = FOLDERS.get(file.name.rpartition(".")[2].lower())
            if kind is None:
                is_refused = True
                st.error(text("model_refused", file=plain_words(file.name)))
                continue
            kept = f"kept-{file.file_id}"  # looked at once, not at every look at the screen
            try:
                if kept not in st.session_state:
                    st.session_state[kept] = keep_upload(folder_for(kind), file.name, file.getvalue())
                    new.append(_name(st.session_state[kept]))
                    if kind == "model":  # people bring a model to look at it
                        st.query_params["model"] = _name(st.session_state[kept])
            except MetaInferError as error:
                is_refused = True
                st.error(error_words(error))
            else:
                st.success(text("model_taken", file=plain_words(_name(st.session_state[kept]))))
    if new and not is_refused:
        st.session_state["model_taken"] = new
        st.rerun()


def _read(model: Path) -> Reading | None:
    """What a job has read of the model; starts that job where nobody has, and asks for shapes where they are open."""
    job = looked_at(model)
    found = reading(job)
    if found is not None:
        return found
    job_list((KIND,), (_name(model),), limit=1)
    if not job.is_open:
        given = st.text_input(
            text("adapt_shapes"), value=" ".join(suggested_for_any()), key="shapes", help=text("adapt_shapes_help")
        )
        if st.button(text("model_read_again"), type="primary", key="read"):
            read_model(model, given.split(), person())
            st.rerun()
    return None


def _nodes(found: Reading, costs: Estimate | None, spec: SpecChoice | None) -> None:
    cost_of = _cost_of(costs)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        order, find = _order_and_find()
        table = node_table(found, costs, spec.digest if spec else "", order, find)
        shown = hashlib.sha256(f"{found.digest} {order} {find}".encode()).hexdigest()[:12]
        picked = st.dataframe(
            table.frame,
            hide_index=True,
            height=520,
            placeholder=text("unknown"),
            key=f"nodes_{shown}",  # a selection is of positions: it goes when they mean other nodes
            column_config={
                text("column_node"): st.column_config.TextColumn(width=table.name_pixels),
                text("column_operator"): st.column_config.TextColumn(width=OPERATOR_PIXELS),
            },
            on_select="rerun",
            selection_mode="single-row",
        )
        st.caption(text("model_nodes_note"))
    node_id = _chosen([node.id for node in found.summary.nodes], table.ids, picked.selection.rows)
    st.query_params["node"] = node_id
    with right:
        _node(found, node_id, cost_of.get(node_id), spec)


def _cost_of(costs: Estimate | None) -> dict[str, CallCost]:
    return {each: call for call in costs.calls for each in call.node_ids} if costs is not None else {}


def _order_and_find() -> tuple[str, str]:
    """In which order the nodes stand, and what is looked for among them; the address holds both."""
    if "sort" not in st.session_state and st.query_params.get("sort") in ORDERS:
        st.session_state["sort"] = st.query_params["sort"]
    text_from_address("find")
    names = {name: text(f"order_{name}") for name in ORDERS}
    left, right = st.columns(2)
    order = left.selectbox(
        text("model_sort"), list(ORDERS), format_func=names.__getitem__, key="sort", persist_state="session"
    )
    find = right.text_input(text("model_find"), key="find", persist_state="session", icon=":material/search:")
    text_to_address("sort", order if order != "execution" else "")
    text_to_address("find", find or "")
    return order, find or ""


def _chosen(order: Sequence[str], shown: Sequence[str], rows: Sequence[int]) -> str:
    """The node that was picked last: a row of the table, a box of the picture, or the one in the address bar."""
    row = shown[rows[0]] if rows and rows[0] < len(shown) else None
    if row != st.session_state.get("node_row"):
        st.session_state["node_row"] = row
        if row is not None:
            st.session_state["node"] = row
    named = st.session_state.get("node", st.query_params.get("node"))
    return named if named in order else order[0]


def _node(found: Reading, node_id: str, call: CallCost | None, spec: SpecChoice | None) -> None:
    node = next(each for each in found.summary.nodes if each.id == node_id)
    where = []
    if spec is not None:
        for unit in spec.spec.compute_units:
            for data_type in ("int8", "float32"):
                outcome = unit_for(spec.spec, node.op_type, data_type, at=unit, fall_back=False)
                where.append((unit, data_type, "" if isinstance(outcome, str) else outcome.reason))
    wall = text(f"wall_{call.binds}") if call is not None else ""
    draw("node", node=node, call=call, wall=wall, where=where)
    picked = draw_neighbourhood(found.summary.nodes, [node_id], picks=True)
    if picked:
        st.session_state["node"] = picked
        st.rerun()
    draw(
        "node_neighbours",
        before=node.reads,
        after=readers_of(found.summary.nodes).get(node_id, []),
    )


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


main()
