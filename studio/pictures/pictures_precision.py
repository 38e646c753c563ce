"""The precision map: what each node computes in, from the first node to the last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

import plotly.graph_objects as go

from metainfer_core.graph.summary import NodeSummary
from metainfer_core.policy.policy import Policy
from studio.pictures.graph_view_colours import precisions
from studio.pictures.pictures_figure import BLUE, GREEN, GREY, ORANGE, VIOLET, Picture, laid_out, plain
from studio.words.texts import text

MOST_ROWS = 200
SYMBOLS = ("square", "diamond", "circle", "triangle-up", "cross")


def precision_picture(nodes: Sequence[NodeSummary], policy: Policy | None) -> Picture:
    """One mark a node, as high as its bits are wide."""
    types = precisions(nodes, policy)
    there = sorted(set(types), key=lambda kind: (bits(kind), kind))
    figure = go.Figure()
    colours = (BLUE, ORANGE, GREEN, VIOLET, GREY)
    for at, kind in enumerate(there):
        of_kind = [index for index, each in enumerate(types) if each == kind]
        figure.add_trace(
            go.Scatter(
                x=of_kind,
                y=[kind] * len(of_kind),
                mode="markers",
                name=kind,
                marker={"symbol": SYMBOLS[at % len(SYMBOLS)], "size": 8, "color": colours[at % len(colours)]},
                text=[plain(f"{nodes[index].id}: {nodes[index].op_type}") for index in of_kind],
                hovertemplate="%{text}<extra></extra>",
            )
        )
    laid_out(figure, text("picture_node_number"), text("picture_bits"), height=160 + 60 * len(there))
    figure.update_yaxes(type="category", categoryorder="array", categoryarray=there)
    counts = Counter(types)
    said = ", ".join(f"{kind}: {counts[kind]}" for kind in there)
    runs = [(kind, list(run)) for kind, run in groupby(range(len(types)), key=types.__getitem__)]
    rows = tuple(
        (f"{run[0]} – {run[-1]}" if len(run) > 1 else str(run[0]), nodes[run[0]].id, nodes[run[-1]].id, kind)
        for kind, run in runs[:MOST_ROWS]
    )
    head = (text("picture_node_number"), text("picture_first"), text("picture_last"), text("colour_precision"))
    key = "picture_precision_says" if policy is not None else "picture_precision_before"
    return Picture(
        figure,
        "decided" if policy is not None else "counted",
        text(key, counts=said),
        head,
        rows,
        len(runs) - len(rows),
    )


def bits(kind: str) -> int:
    """The width of a type such as `int8`; 1 for a truth value."""
    return int("".join(filter(str.isdigit, kind)) or 1)
