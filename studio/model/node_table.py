"""The table of a model's nodes, made once for each model and prediction; then found in and put into an order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from metainfer_core.cost.estimate import CallCost, Estimate
from metainfer_core.graph.summary import NodeSummary
from studio.model.model_reading import Reading
from studio.words.language import language
from studio.words.long_names import shortened
from studio.words.texts import text

NAME_LETTERS = 34
LETTER_PIXELS = 7
Key = Callable[[NodeSummary, CallCost | None], float | None]
ORDERS: dict[str, Key | None] = {
    "execution": None,
    "time": lambda node, call: call.time.typical if call is not None and call.time is not None else None,
    "macs": lambda node, call: node.macs,
    "moved": lambda node, call: node.moved_bytes,
    "parameters": lambda node, call: node.parameter_bytes,
    "live": lambda node, call: node.live_bytes,
}
"""Name of an order, as the address holds it, to what the largest comes first of; None: as the nodes run."""


@dataclass(frozen=True)
class NodeTable:
    """The rows that are shown, and the nodes that they stand for."""

    ids: tuple[str, ...]
    frame: pd.DataFrame
    name_pixels: int
    """How wide the column of names has to be."""


def node_table(found: Reading, costs: Estimate | None, spec_digest: str, order: str, find: str) -> NodeTable:
    """One row a node that has the words to `find` in its name, operator, unit or wall.

    Times are predicted, on the spec with this digest.
    """
    return _table(found.job_id, spec_digest, order, find.strip().casefold(), language(), found, costs)


@st.cache_resource(max_entries=16, show_spinner=False)
def _table(
    job_id: str, spec_digest: str, order: str, find: str, speaks: str, _found: Reading, _costs: Estimate | None
) -> NodeTable:
    call_of = {each: call for call in _costs.calls for each in call.node_ids} if _costs is not None else {}
    nodes = [node for node in _found.summary.nodes if find in _words(node, call_of.get(node.id))]
    key = ORDERS.get(order)
    if key is not None:
        amount = {node.id: key(node, call_of.get(node.id)) for node in nodes}
        nodes.sort(key=lambda node: -value if (value := amount[node.id]) is not None else float("inf"))
    longest = max((len(shortened(node.id, NAME_LETTERS)) for node in nodes), default=0)
    frame = pd.DataFrame([_row(node, call_of.get(node.id)) for node in nodes])
    return NodeTable(tuple(node.id for node in nodes), frame, 24 + LETTER_PIXELS * longest)


def _words(node: NodeSummary, call: CallCost | None) -> str:
    where = (call.unit or "", text(f"wall_{call.binds}")) if call else ()
    return " ".join((node.id, node.op_type, *where)).casefold()


def _row(node: NodeSummary, call: CallCost | None) -> dict[str, object]:
    return {
        text("column_node"): shortened(node.id, NAME_LETTERS),
        text("column_operator"): node.op_type,
        text("column_time_us"): call.time.typical if call is not None and call.time is not None else None,
        text("column_wall"): text(f"wall_{call.binds}") if call is not None else None,
        text("column_unit"): call.unit if call is not None else None,
        text("column_macs"): node.macs,
        text("column_moved"): node.moved_bytes,
        text("column_parameters"): node.parameter_bytes,
        text("column_live"): node.live_bytes,
        text("column_output"): " ".join("×".join(map(str, shape)) for shape in node.output_shapes),
    }
