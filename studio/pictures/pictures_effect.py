"""What a policy does to the outputs: its candidates against each other, and every channel of a layer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import plotly.graph_objects as go

from metainfer_core.explain.sizes import size
from metainfer_core.numerics.metrics import LOWEST_DB
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.report import Layer
from studio.pictures.pictures_figure import BLUE, GREEN, GREY, ORANGE, Picture, laid_out, plain
from studio.words.figures import decibels, milliseconds
from studio.words.texts import text

EXACT_ABOVE = 10.0
"""Decibels by which candidates without any error stand above the best of the others."""
FLOOR = -40.0
"""Decibels from which on a channel is drawn no lower: ten thousand times more noise than signal."""
MOST_ROWS = 64
FOOT = 0.03
"""Of the picture's height: where channels stand that no scale holds."""
OffScale = Literal["broken", "silent", "silent_or_broken"]
"""Why a channel has no figure: elements that are no finite numbers, or noise where the model itself has no signal."""


def pareto_picture(policy: Policy) -> Picture | None:
    """The candidates that were kept: predicted time against measured effect; None where their figures were not kept."""
    built = [each for each in policy.candidates if each.get("chosen") or not each.get("refused")]
    placed = [each for each in built if each.get("exact") or isinstance(each.get("sqnr_db"), int | float)]
    if not placed:
        return None
    timed = all(each.get("predicted_ms") for each in placed)
    ratios = [float(each["sqnr_db"]) for each in placed if not each.get("exact")]
    ceiling = max(ratios, default=40.0) + EXACT_ABOVE
    points = [(_across(each, timed), ceiling if each.get("exact") else float(each["sqnr_db"])) for each in placed]
    front = _front(points)
    figure = go.Figure()
    ends = [points[at] for at in sorted(front, key=lambda at: points[at])]
    figure.add_trace(
        go.Scatter(
            x=[x for x, _ in ends],
            y=[y for _, y in ends],
            mode="lines",
            name=text("picture_front"),
            line={"shape": "hv", "color": GREY, "dash": "dot"},
            hoverinfo="skip",
        )
    )
    kinds = (
        (text("picture_chosen"), "star", 17, GREEN, lambda each: each.get("chosen")),
        (text("picture_within"), "circle", 11, BLUE, lambda each: not each.get("chosen") and each.get("within_budget")),
        (text("picture_over"), "x", 11, ORANGE, lambda each: not each.get("chosen") and not each.get("within_budget")),
    )
    for name, symbol, marker, colour, belongs in kinds:
        of_kind = [at for at, each in enumerate(placed) if belongs(each)]
        if of_kind:
            figure.add_trace(
                go.Scatter(
                    x=[points[at][0] for at in of_kind],
                    y=[points[at][1] for at in of_kind],
                    mode="markers",
                    name=name,
                    marker={"symbol": symbol, "size": marker, "color": colour, "line": {"width": 1, "color": "#fff"}},
                    text=[plain(str(placed[at]["name"])) for at in of_kind],
                    hovertemplate="%{text}<extra></extra>",
                    error_x=_interval([placed[at] for at in of_kind]) if timed else None,
                )
            )
    budget = policy.objective.get("min_sqnr_db")
    if isinstance(budget, int | float):
        figure.add_hline(y=budget, line={"dash": "dash", "color": ORANGE, "width": 1.5},
                         annotation={"text": text("picture_budget", db=decibels(budget))})  # fmt: skip
    laid_out(figure, text("picture_time_ms" if timed else "picture_bytes_axis"), text("picture_sqnr_axis"))
    if any(each.get("exact") for each in placed):
        figure.add_hline(y=ceiling, line={"dash": "dot", "color": GREY, "width": 1},
                         annotation={"text": text("picture_exact")})  # fmt: skip
    said = text("picture_pareto_says", shown=len(placed), count=len(policy.candidates))
    head = (text("name"), text("picture_time"), text("signal_to_noise"), text("picture_bytes"), text("picture_stands"))
    rows = tuple(_candidate_row(each, at in front) for at, each in enumerate(placed))
    return Picture(figure, "both", said, head, rows, len(policy.candidates) - len(placed))


def channel_picture(layer: Layer, least_db: float | None) -> Picture | None:
    """Signal-to-noise of each channel of a layer; None where the report keeps no channels of it."""
    ratios = layer.channels_db
    if not ratios:
        return None
    off = {at: why for at in range(len(ratios)) if (why := off_scale(layer, at)) is not None}
    known = [ratio for at, ratio in enumerate(ratios) if ratio is not None and at not in off]
    ceiling = max(known, default=40.0) + EXACT_ABOVE
    noisy = [at for at, ratio in enumerate(ratios) if ratio is not None and at not in off]
    exact = [at for at, ratio in enumerate(ratios) if ratio is None]
    bars = [(text("measured"), noisy, BLUE, ""), (text("picture_exact"), exact, GREY, "/")]
    figure = go.Figure()
    for name, channels, colour, pattern in bars:
        if channels:
            heights = [ratio if (ratio := ratios[at]) is not None else ceiling for at in channels]
            marker = {"color": colour, "pattern": {"shape": pattern}}
            figure.add_trace(go.Bar(x=channels, y=heights, name=name, marker=marker))
    for why in sorted(set(off.values())):  # at the foot of the picture, on an axis of their own
        of_kind = [at for at in off if off[at] == why]
        symbol = {"symbol": "x" if why == "broken" else "circle-open", "size": 9, "color": ORANGE}
        word = text(f"picture_{why}")
        figure.add_trace(
            go.Scatter(
                x=of_kind, y=[FOOT] * len(of_kind), yaxis="y2", mode="markers", name=word, marker=symbol,
                hovertemplate=f"%{{x}}: {word}<extra></extra>",
            )
        )  # fmt: skip
    if least_db is not None:
        figure.add_hline(y=least_db, line={"dash": "dash", "color": ORANGE, "width": 1.5},
                         annotation={"text": text("picture_budget", db=decibels(least_db))})  # fmt: skip
    laid_out(figure, text("picture_channel"), text("picture_sqnr_axis"), barmode="overlay")
    if off:
        figure.update_layout(yaxis2={"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True})
    if known and min(known) < FLOOR:  # what lies below would press the rest flat; the table has it
        figure.update_yaxes(range=[FLOOR, ceiling + EXACT_ABOVE])
    order = sorted(range(len(ratios)), key=lambda at: (ratios[at] is None, off.get(at, "z"), ratios[at] or 0.0))
    worst = next((at for at in order if at not in off), order[0])
    said = text(
        "picture_channels_says", node=layer.node_id, precision=layer.precision, count=len(ratios),
        worst=worst, ratio=channel_words(layer, worst), dead=layer.figures.dead_channels,
    )  # fmt: skip
    if off:
        counts = Counter(text(f"picture_{why}") for why in sorted(off.values()))
        of_each = text("list_mark").join(f"{word}{text('colon')}{count}" for word, count in counts.items())
        said += " " + text("picture_off_scale", counts=of_each)
    rows = tuple((str(at), channel_words(layer, at)) for at in order[:MOST_ROWS])
    return Picture(
        figure, "measured", said, (text("picture_channel"), text("signal_to_noise")), rows, len(ratios) - len(rows)
    )


def off_scale(layer: Layer, channel: int) -> OffScale | None:
    """Why a channel has no figure that a scale could hold; None where it has one, or no error at all."""
    if layer.channels_db[channel] != LOWEST_DB:
        return None
    if layer.broken_channels is None:  # a report of an older program, which keeps no more than a count
        return "silent_or_broken" if layer.figures.not_finite else "silent"
    return "broken" if channel in layer.broken_channels else "silent"


def channel_words(layer: Layer, channel: int) -> str:
    """The figure of a channel, or in a word why it has none."""
    why = off_scale(layer, channel)
    return decibels(layer.channels_db[channel]) if why is None else text(f"picture_{why}")


def _across(candidate: Mapping[str, Any], timed: bool) -> float:
    if not timed:
        return float(candidate["moved_bytes"])
    low, high = candidate["predicted_ms"]
    return float(candidate.get("typical_ms", (float(low) + float(high)) / 2))


def _interval(candidates: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    above = [float(each["predicted_ms"][1]) - _across(each, timed=True) for each in candidates]
    below = [_across(each, timed=True) - float(each["predicted_ms"][0]) for each in candidates]
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, "thickness": 1}


def _front(points: Sequence[tuple[float, float]]) -> frozenset[int]:
    """Positions of the points that no other beats in one and equals in the other: less across, more up."""
    return frozenset(
        at
        for at, (x, y) in enumerate(points)
        if not any(other_x <= x and other_y >= y and (other_x, other_y) != (x, y) for other_x, other_y in points)
    )


def _candidate_row(candidate: Mapping[str, Any], on_front: bool) -> tuple[str, ...]:
    ends = candidate.get("predicted_ms")
    time = f"{milliseconds(ends[0])} … {milliseconds(ends[1])}" if ends else text("unknown")
    ratio = text("picture_exact") if candidate.get("exact") else decibels(candidate["sqnr_db"])
    words = [text("picture_within" if candidate.get("within_budget") else "picture_over")]
    words += [text("picture_chosen")] if candidate.get("chosen") else []
    words += [text("picture_front")] if on_front else []
    return str(candidate["name"]), time, ratio, size(candidate.get("moved_bytes")), ", ".join(words)
