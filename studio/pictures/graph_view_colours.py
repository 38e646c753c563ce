"""What a box of the graph is coloured by: risk, precision, binding wall or share of time; each with shape and word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.cost.estimate import Estimate
from metainfer_core.graph.summary import NodeSummary
from metainfer_core.policy.apply import effective, is_off
from metainfer_core.policy.policy import Policy
from studio.words.marks import RISK_SHAPES, risk_mark
from studio.words.texts import text

COLOURS = ("time", "wall", "precision", "risk")
WALL_SHAPES = {"compute": "▲", "bandwidth": "●", "memory": "■", "launch": "◆", "unknown": "✕"}
SHARES = (
    (0.30, "█", "≥ 30 %"),
    (0.10, "▆", "10–30 %"),
    (0.03, "▄", "3–10 %"),
    (0.01, "▂", "1–3 %"),
    (0.0, "▁", "< 1 %"),
)
"""Least share of the time, its shape, and its words."""
NONE = "none"


@dataclass(frozen=True)
class Paint:
    """How one box is drawn: a colour by its name, and what says the same without colour."""

    tone: str
    shape: str
    word: str


@dataclass(frozen=True)
class Painting:
    """One way to colour a graph."""

    of: Callable[[Sequence[int]], Paint] = field(repr=False)
    """The paint of a box with the nodes at these positions."""
    legend: tuple[Paint, ...]
    how: str
    """`predicted` or empty."""


def painting(
    colour: str, nodes: Sequence[NodeSummary], costs: Estimate | None, policy: Policy | None
) -> Painting | None:
    """The painting of a graph; None where its ground is not there: the chip for time and walls, a policy for risk."""
    if colour in ("time", "wall"):
        if costs is None:
            return None
        return _by_time(nodes, costs) if colour == "time" else _by_wall(nodes, costs)
    if colour == "precision":
        return _by_precision(nodes, policy)
    return _by_risk(nodes, policy) if policy is not None else None


def precisions(nodes: Sequence[NodeSummary], policy: Policy | None) -> tuple[str, ...]:
    """What each node computes in: as the policy has it, else the type of its output."""
    of = {node.id: node.element_type for node in nodes}
    for line in policy.actions if policy is not None else ():
        if line.action == "quantize" and not is_off(line):
            action = effective(line)
            of |= dict.fromkeys(action.nodes, f"int{action.params.get('bit_width', 8)}")
        elif line.action == "half_precision" and not is_off(line):
            action = effective(line)
            of |= dict.fromkeys(action.nodes, str(action.params.get("format", "float16")))
    return tuple(of[node.id] for node in nodes)


def _by_time(nodes: Sequence[NodeSummary], costs: Estimate) -> Painting:
    time_of = {
        node: call.time.typical / len(call.node_ids)
        for call in costs.calls if call.time is not None for node in call.node_ids
    }  # fmt: skip
    times = [time_of.get(node.id) for node in nodes]
    total = sum(time for time in times if time is not None)

    def of(members: Sequence[int]) -> Paint:
        known = [time for member in members if (time := times[member]) is not None]
        if not known or total <= 0:
            return Paint(NONE, "?", text("unknown"))
        share = sum(known) / total
        step = next(at for at, (least, _, _) in enumerate(SHARES) if share >= least)
        more = " + ?" if len(known) < len(members) else ""
        return Paint(f"share{step}", SHARES[step][1], f"{share:.1%}{more}")

    legend = [Paint(f"share{step}", shape, words) for step, (_, shape, words) in enumerate(SHARES)]
    if any(time is None for time in times):
        legend.append(Paint(NONE, "?", text("unknown")))
    return Painting(of, tuple(legend), text("predicted"))


def _by_wall(nodes: Sequence[NodeSummary], costs: Estimate) -> Painting:
    call_of = {node: call for call in costs.calls for node in call.node_ids}
    walls = [call_of[node.id].binds if node.id in call_of else "unknown" for node in nodes]
    times = [call.time.typical if (call := call_of.get(node.id)) and call.time else 0.0 for node in nodes]

    def of(members: Sequence[int]) -> Paint:
        weight: dict[str, float] = {}
        for member in members:
            weight[walls[member]] = weight.get(walls[member], 0.0) + times[member]
        wall = max(weight, key=lambda each: (weight[each], each))
        word = text(f"wall_{wall}") if len(weight) == 1 else text("wall_mostly", wall=text(f"wall_{wall}"))
        return Paint(f"wall-{wall}", WALL_SHAPES[wall], word)

    there = [wall for wall in WALL_SHAPES if wall in walls]
    legend = (Paint(f"wall-{wall}", WALL_SHAPES[wall], text(f"wall_{wall}")) for wall in there)
    return Painting(of, tuple(legend), text("predicted"))


def _by_precision(nodes: Sequence[NodeSummary], policy: Policy | None) -> Painting:
    types = precisions(nodes, policy)

    def of(members: Sequence[int]) -> Paint:
        counts = Counter(types[member] for member in members)
        if len(counts) == 1:
            return _precision_paint(types[members[0]])
        most = [f"{kind} {number}" for kind, number in sorted(counts.items(), key=lambda each: (-each[1], each[0]))]
        return Paint("mixed", "◨", " · ".join(most[:2]) + (" …" if len(most) > 2 else ""))

    legend = [_precision_paint(kind) for kind in sorted(set(types))]
    return Painting(of, (*legend, Paint("mixed", "◨", text("precision_mixed"))), "")


def _precision_paint(kind: str) -> Paint:
    if kind.startswith(("int", "uint")):
        bits = int("".join(filter(str.isdigit, kind)) or 0)
        return Paint("narrow" if bits <= 8 else "index", "▪" if bits <= 8 else "▫", kind)
    return Paint("half" if kind in ("float16", "bfloat16") else "float" if kind == "float32" else NONE, "□", kind)


def _by_risk(nodes: Sequence[NodeSummary], policy: Policy) -> Painting:
    levels = tuple(RISK_SHAPES)  # the gravest first
    of_node: dict[str, int] = {}
    for line in policy.actions:
        for node in () if is_off(line) else line.nodes or (line.node_id,):
            of_node[node] = min(of_node.get(node, len(levels)), levels.index(risk_level(line)))
    ranks = [of_node.get(node.id) for node in nodes]

    def of(members: Sequence[int]) -> Paint:
        found = [rank for member in members if (rank := ranks[member]) is not None]
        if not found:
            return Paint(NONE, "·", text("risk_none"))
        level = levels[min(found)]
        shape, word = risk_mark(level)
        number = found.count(min(found))
        return Paint(level, shape, word if len(members) == 1 else f"{word} × {number}")

    legend = [Paint(level, *risk_mark(level)) for level in levels]
    return Painting(of, (*legend, Paint(NONE, "·", text("risk_none"))), "")


def actions_on(policy: Policy, ids: Collection[str]) -> Mapping[str, tuple[str, ...]]:
    """Node id to the ids of the actions on it, for the nodes in `ids`."""
    found: dict[str, list[str]] = {}
    for line in policy.actions:
        for node in dict.fromkeys((*line.nodes, line.node_id)):
            if node in ids:
                found.setdefault(node, []).append(line.id)
    return {node: tuple(actions) for node, actions in found.items()}
