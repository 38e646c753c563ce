"""The roofline: how fast each node can be on the chip, and which roof is above it. All of it is predicted."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go

from metainfer_core.cost.estimate import CallCost, Estimate, Roofline, roofline
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.words.figures import microseconds
from studio.words.texts import text

TYPES = ("float32", "int8")
DASHES = {"float32": "solid", "int8": "dash"}
SYMBOLS = {"compute": "triangle-up", "bandwidth": "circle", "memory": "square", "launch": "diamond", "unknown": "x"}
MARKS = {"compute": "#d9534f", "bandwidth": "#2f8f6b", "memory": "#8e6bd1", "launch": "#c58a00", "unknown": "#888888"}
COLOURS = ("#0b7fab", "#c2571a", "#6a3fb5", "#2a7d46", "#a8327a", "#7a6a00")


def roofs(spec: HardwareSpec) -> tuple[Roofline, ...]:
    """The roofs of every unit and type that the spec gives."""
    found = (roofline(spec, unit, data_type) for unit in spec.compute_units for data_type in TYPES)
    return tuple(each for each in found if each is not None)


def roofline_chart(estimate: Estimate, lines: Sequence[Roofline]) -> go.Figure | None:
    """The chart, or None where no node can be placed in it."""
    placed = [(call, point) for call in estimate.calls if (point := _point(call)) is not None]
    if not placed or not lines:
        return None
    lowest = min([point[0] for _, point in placed] + [line.ridge for line in lines]) / 3
    highest = max([point[0] for _, point in placed] + [line.ridge for line in lines]) * 3
    figure = go.Figure()
    units = list(dict.fromkeys(line.unit for line in lines))
    for line in lines:
        figure.add_trace(_roof(line, lowest, highest, COLOURS[units.index(line.unit) % len(COLOURS)]))
    for wall, symbol in SYMBOLS.items():
        chosen = [(call, point) for call, point in placed if call.binds == wall]
        if chosen:
            figure.add_trace(_nodes(wall, symbol, chosen))
    figure.update_layout(
        height=440,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "v", "x": 1.01, "y": 1},
        xaxis={"type": "log", "title": text("roofline_x"), "exponentformat": "power", "dtick": 1},
        yaxis={"type": "log", "title": text("roofline_y"), "exponentformat": "SI", "dtick": 1},
        hoverlabel={"align": "left"},
    )
    return figure


def _roof(line: Roofline, lowest: float, highest: float, colour: str) -> go.Scatter:
    intensities = (lowest, line.ridge, highest)
    return go.Scatter(
        x=intensities,
        y=[min(each * line.bytes_per_second, line.operations_per_second) for each in intensities],
        mode="lines",
        name=f"{line.unit} {line.data_type}",
        line={"color": colour, "dash": DASHES[line.data_type], "width": 1.5},
        hoverinfo="name",
    )


def _nodes(wall: str, symbol: str, chosen: Sequence[tuple[CallCost, tuple[float, float]]]) -> go.Scatter:
    names = [", ".join(call.node_ids) for call, _ in chosen]
    times = [microseconds(call.time.typical) if call.time else "" for call, _ in chosen]
    return go.Scatter(
        x=[point[0] for _, point in chosen],
        y=[point[1] for _, point in chosen],
        mode="markers",
        name=text("roofline_bound", wall=text(f"wall_{wall}")),
        marker={"symbol": symbol, "size": 9, "opacity": 0.8, "color": MARKS[wall]},
        text=[_plain(f"{name}: {time}") for name, time in zip(names, times, strict=True)],
        hoverinfo="text",
    )


def _point(call: CallCost) -> tuple[float, float] | None:
    """Operations a byte, and operations a second at the typical time."""
    if not call.intensity or not call.operations or call.time is None or call.time.typical <= 0:
        return None
    rate = call.operations / call.time.typical * 1e6
    return (call.intensity, rate) if math.isfinite(rate) else None


def _plain(words: str) -> str:
    """Plotly reads some HTML in its texts: names from a model stay text."""
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
