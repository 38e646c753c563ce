"""Memory over time: of a package as it was planned, else what is alive in the model as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from metainfer_core.explain.sizes import size
from metainfer_core.graph.summary import GraphSummary
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.report import MemoryMap
from studio.pictures.pictures_figure import BLUE, GREEN, ORANGE, Picture, laid_out
from studio.words.texts import text

MOST_ROWS = 25
NEAR = 4
"""A capacity is drawn if it is at most so many times the peak; a larger one would press the rest flat."""


def planned_memory(arena: MemoryMap) -> Picture:
    """One arena of a package: bytes in use and the top of what is placed, with capacity, peak and lower bound."""
    used, top = [0] * arena.steps, [0] * arena.steps
    for block in arena.blocks:
        for step in range(block.start, block.end):
            used[step] += block.size_bytes
            top[step] = max(top[step], block.offset_bytes + block.size_bytes)
    figure = go.Figure([_steps(used, text("picture_alive"), BLUE, "tozeroy"), _steps(top, text("picture_top"), GREEN)])
    _line(figure, arena.lower_bound_bytes, text("memory_bound_line", size=size(arena.lower_bound_bytes)), "dash")
    capacities = {arena.memory: arena.capacity_bytes} if arena.capacity_bytes is not None else {}
    _capacities(figure, capacities, arena.peak_bytes)
    laid_out(figure, text("picture_step"), text("picture_bytes"))
    said = text(
        "picture_planned_says", memory=arena.memory, peak=size(arena.peak_bytes), bound=size(arena.lower_bound_bytes),
        capacity=size(arena.capacity_bytes),
    )  # fmt: skip
    head = (text("picture_step"), text("picture_alive"), text("picture_top"))
    steps = sorted(range(arena.steps), key=lambda step: -used[step])[:MOST_ROWS]
    rows = tuple((str(step), size(used[step]), size(top[step])) for step in sorted(steps))
    return Picture(figure, "planned", said, head, rows, arena.steps - len(rows))


def alive_memory(summary: GraphSummary, spec: HardwareSpec | None) -> Picture:
    """What is alive while each node runs, from shapes alone: no plan for this order can do with less than its peak."""
    alive = [node.live_bytes for node in summary.nodes]
    figure = go.Figure([_steps(alive, text("picture_alive"), BLUE, "tozeroy")])
    figure.data[0].update(customdata=[node.id for node in summary.nodes])
    _line(figure, summary.peak_live_bytes, text("memory_bound_line", size=size(summary.peak_live_bytes)), "dash")
    memories = spec.memories if spec is not None else {}
    capacities = {name: memory.size_bytes.nominal for name, memory in memories.items() if memory.size_bytes is not None}
    far = _capacities(figure, capacities, summary.peak_live_bytes)
    laid_out(figure, text("picture_node_number"), text("picture_bytes"))
    largest = sorted(range(len(alive)), key=lambda at: -alive[at])[:MOST_ROWS]
    rows = tuple((str(at), summary.nodes[at].id, size(alive[at])) for at in sorted(largest))
    return Picture(
        figure,
        "counted",
        " ".join((text("picture_alive_says", bound=size(summary.peak_live_bytes)), *far)),
        (text("picture_node_number"), text("column_node"), text("picture_alive")),
        rows,
        len(alive) - len(rows),
    )


def _steps(values: Sequence[int], name: str, colour: str, fill: str | None = None) -> go.Scatter:
    line = {"shape": "hv", "color": colour, "width": 1.5}
    # The last step lasts until the end.
    return go.Scatter(y=[*values, *values[-1:]], mode="lines", name=name, line=line, fill=fill)


def _line(figure: go.Figure, height: float, words: str, dash: str) -> None:
    figure.add_hline(y=height, line={"dash": dash, "color": ORANGE, "width": 1.5}, annotation={"text": words},
                     annotation_position="top right")  # fmt: skip


def _capacities(figure: go.Figure, capacities: Mapping[str, float], peak: float) -> list[str]:
    """Draws those that are near; says the others in words."""
    far = []
    for name, capacity in sorted(capacities.items()):
        words = text("memory_capacity_line", memory=name, size=size(capacity))
        if 0 < capacity <= NEAR * peak:
            _line(figure, capacity, words, "solid")
        else:
            far.append(f"{words}.")
    return far
