"""Time and bytes by node, as predicted from the spec."""

from __future__ import annotations

from itertools import cycle

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from metainfer_core.cost.estimate import CallCost, Estimate
from metainfer_core.cost.estimate import Interval as Time
from metainfer_core.explain.sizes import size
from studio.pictures.pictures_figure import BLUE, GREEN, VIOLET, Picture, different, laid_out
from studio.words.figures import microseconds
from studio.words.texts import text

MOST_BARS = 25


def cost_picture(costs: Estimate) -> Picture | None:
    """The calls that take longest, with what each moves; None where no call's time is known."""
    known = [(call, call.time) for call in costs.calls if call.time is not None]
    if not known:
        return None
    known.sort(key=lambda each: -each[1].typical)
    shown = known[:MOST_BARS]
    names = different([", ".join(call.node_ids) for call, _ in shown])
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, horizontal_spacing=0.04)
    figure.add_trace(_times(names, [time for _, time in shown]), row=1, col=1)
    memories = sorted({name for call, _ in shown for name in call.bytes_by_memory})
    for memory, colour in zip(memories, cycle(_COLOURS), strict=False):
        moved = [call.bytes_by_memory.get(memory, 0) for call, _ in shown]
        name = text("picture_bytes_of", memory=memory)
        bars = go.Bar(y=names, x=moved, orientation="h", name=name, marker_color=colour)
        figure.add_trace(bars, row=1, col=2)
    laid_out(figure, text("picture_time_axis"), "", height=140 + 21 * len(shown), barmode="stack")
    figure.update_xaxes(title=text("picture_bytes_axis"), exponentformat="SI", row=1, col=2)
    figure.update_yaxes(autorange="reversed")
    total = sum(time.typical for _, time in known)
    share = sum(time.typical for _, time in shown) / total if total else 1.0
    return Picture(
        figure,
        "predicted",
        text("picture_cost_says", shown=len(shown), count=len(costs.calls), share=f"{share:.0%}"),
        (
            text("column_node"),
            text("picture_time"),
            text("picture_interval"),
            text("picture_bytes"),
            text("column_unit"),
        ),
        tuple(_row(call, time) for call, time in shown),
        len(costs.calls) - len(shown),
    )


_COLOURS = (GREEN, VIOLET, "#c58a00", "#a8327a", "#6b7a00", "#56606b")


def _times(names: list[str], times: list[Time]) -> go.Bar:
    above, below = [time.high - time.typical for time in times], [time.typical - time.low for time in times]
    return go.Bar(
        y=names, x=[time.typical for time in times], orientation="h", name=text("picture_time"), marker_color=BLUE,
        error_x={"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1},
    )  # fmt: skip


def _row(call: CallCost, time: Time) -> tuple[str, ...]:
    interval = f"{microseconds(time.low)} … {microseconds(time.high)}"
    moved = sum(call.bytes_by_memory.values())
    return ", ".join(call.node_ids), microseconds(time.typical), interval, size(moved), call.unit or text("unknown")
