"""The table of a model's nodes, made once for each model and prediction."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from metainfer_core.cost.estimate import Estimate
from studio.model_reading import Reading
from studio.texts import text


def node_table(found: Reading, costs: Estimate | None, spec_digest: str) -> pd.DataFrame:
    """One row a node, in the order of execution. Times are predicted, on the spec with this digest."""
    return _table(found.job_id, spec_digest, found, costs)


@st.cache_resource(max_entries=8, show_spinner=False)
def _table(job_id: str, spec_digest: str, _found: Reading, _costs: Estimate | None) -> pd.DataFrame:
    call_of = {each: call for call in _costs.calls for each in call.node_ids} if _costs is not None else {}
    rows = []
    for node in _found.summary.nodes:
        call = call_of.get(node.id)
        rows.append(
            {
                text("column_node"): node.id,
                text("column_operator"): node.op_type,
                text("column_time_us"): call.time.typical if call is not None and call.time is not None else None,
                text("column_wall"): call.binds if call is not None else None,
                text("column_unit"): call.unit if call is not None else None,
                text("column_macs"): node.macs,
                text("column_moved"): node.moved_bytes,
                text("column_parameters"): node.parameter_bytes,
                text("column_live"): node.live_bytes,
                text("column_output"): " ".join("×".join(map(str, shape)) for shape in node.output_shapes),
            }
        )
    return pd.DataFrame(rows)
