"""The component that draws a grouped graph. What is done in it arrives as numbered events, acknowledged by number."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import streamlit as st

from metainfer_core.graph.groups import GroupTree, ancestors
from studio.graph.graph_view_scene import Box, Scene, Unfolded, closed, filled_by, opened
from studio.pictures.graph_view_colours import NONE, Paint, Painting
from studio.words.long_names import shortened
from studio.words.texts import text

Verb = Literal["pick", "open", "close", "fill", "find", "show"]
VERBS: tuple[Verb, ...] = get_args(Verb)
MOST_EVENTS = 500
MOST_FOUND = 12
MOST_LETTERS = 200
NAME_LETTERS = 26
TEXTS = (
    "graph_cancel", "graph_find", "graph_find_none", "graph_fit", "graph_keys", "graph_label",
    "graph_nodes", "graph_opening", "graph_whole", "graph_zoom_in", "graph_zoom_out",
)  # fmt: skip

_HTML = """
<div class="graph">
  <div class="tools">
    <div class="find"><input type="search" role="combobox" aria-expanded="false" aria-autocomplete="list"
      autocomplete="off" spellcheck="false"><div class="found" role="listbox" hidden></div></div>
    <nav class="crumbs"></nav>
    <div class="zoom"><button type="button" class="out">−</button><button type="button" class="in">+</button
      ><button type="button" class="fit"></button></div>
  </div>
  <div class="stage" tabindex="-1"><div class="world" role="tree"><svg class="wires" aria-hidden="true"></svg></div>
    <div class="wait" role="status" hidden><span></span> <button type="button"></button></div></div>
  <div class="foot"><div class="legend"></div><div class="hint"></div></div>
</div>
"""
_HERE = Path(__file__).parent
SCRIPTS = (
    "../session/leaving", "../session/outbox", "graph_view_place", "graph_view_boxes", "graph_view_find", "graph_view",
)  # fmt: skip
"""Files that make one script, in this order."""
_component = st.components.v2.component(
    "metainfer_graph_view",
    html=_HTML,
    css=(_HERE / "graph_view.css").read_text(encoding="utf-8"),
    js="\n".join((_HERE / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
)


@dataclass(frozen=True)
class Told:
    """One thing that someone did in the picture."""

    number: int
    verb: Verb
    on: str
    """Key of the box, or the words that are looked for."""


@dataclass
class GraphDesk:
    """What the server keeps of one window's picture of one graph."""

    key: str
    """Of the component: what it says about one graph is never taken for another."""
    view: Unfolded = field(default_factory=Unfolded)
    picked: str = ""
    """Id of the node that was picked last."""
    agreed: str = ""
    """The one that the rest of the screen knows of."""
    acknowledged: int = 0
    """Number of the last event that was taken."""
    go: tuple[int, str] = (0, "")
    """How often the picture was moved to a box, and to which last."""
    found: tuple[str, tuple[int, ...]] = ("", ())
    """Words that were looked for, and the nodes that have them in their names."""
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def show(self, tree: GroupTree, node_id: str) -> None:
        """Opens the groups around a node, picks it and moves the picture to it."""
        if node_id not in tree.home:
            return
        self.view = opened(tree, self.view, tree.home[node_id])
        self.picked = node_id
        self.go = (self.go[0] + 1, f"n{tree.position[node_id]}")


def take_told(desk: GraphDesk, tree: GroupTree) -> tuple[Told, ...]:
    """Takes the events that were not taken yet, in order; gives them.

    A run of the script that is being broken off can overlap the next one: under the lock, each event is taken once.
    """
    with desk.lock:
        events = _told(desk)
        for event in events:
            take(desk, tree, event)
    return events


def _told(desk: GraphDesk) -> tuple[Told, ...]:
    state = st.session_state.get(desk.key)
    said = state.get("said") if isinstance(state, Mapping) else None
    outbox = said.get("outbox") if isinstance(said, Mapping) else None
    sent = map(_event, list(outbox)[:MOST_EVENTS] if isinstance(outbox, Sequence) else [])
    new = {event.number: event for event in sent if event is not None and event.number > desk.acknowledged}
    return tuple(new[number] for number in sorted(new))


def take(desk: GraphDesk, tree: GroupTree, event: Told) -> None:
    """Does what an event asks for; boxes that the graph does not have ask for nothing."""
    desk.acknowledged = event.number
    if event.verb == "find":
        desk.found = (event.on, _found(tree, event.on))
        return
    kind, at = event.on[:1], event.on[1:]
    if kind == "n" and at.isdecimal() and int(at) < len(tree.nodes):
        if event.verb == "pick":
            desk.picked = tree.nodes[int(at)].id
        elif event.verb == "show":
            desk.show(tree, tree.nodes[int(at)].id)
    elif kind == "g" and at in tree.groups:
        if event.verb == "open":
            desk.view = opened(tree, desk.view, at)
        elif event.verb == "close":
            desk.view = closed(desk.view, at)
        elif event.verb == "fill" and at in ancestors(desk.view.root):
            desk.view = filled_by(tree, desk.view, at)


def draw_graph(
    desk: GraphDesk, tree: GroupTree, drawn: Scene, paint: Painting | None, marked: Sequence[str] = ()
) -> None:
    """Shows the picture; `marked` are keys of nodes that stand out, such as those of an action."""
    words, nodes = desk.found
    _component(
        key=desk.key,
        data={
            "graph": desk.key,
            "acknowledged": desk.acknowledged,
            "width": round(drawn.width),
            "height": round(drawn.height),
            "boxes": [_plain(box, paint) for box in drawn.boxes],
            "wires": [
                {
                    "points": [round(number, 1) for point in wire.points for number in point],
                    "stub": wire.is_stub,
                    "tensors": wire.tensors,
                }
                for wire in drawn.wires
            ],
            "picked": f"n{tree.position[desk.picked]}" if desk.picked in tree.position else "",
            "marked": list(marked),
            "go": {"number": desk.go[0], "key": desk.go[1]},
            "crumbs": [
                {"key": f"g{each}", "name": shortened(tree.groups[each].name, NAME_LETTERS) or text("graph_whole")}
                for each in ancestors(desk.view.root)
            ],
            "found": {
                "words": words,
                "nodes": [
                    {"key": f"n{node}", "name": tree.nodes[node].id, "operator": tree.nodes[node].op_type}
                    for node in nodes
                ],
            },
            "legend": [vars(each) for each in paint.legend] if paint is not None else [],
            "how": paint.how if paint is not None else "",
            "texts": {name: text(name) for name in TEXTS},
        },
        on_said_change=lambda: None,
    )


def _plain(box: Box, paint: Painting | None) -> dict[str, Any]:
    of = paint.of(box.nodes) if paint is not None else Paint(NONE, "", "")
    return {
        "key": box.key,
        "kind": box.kind,
        "at": [round(number, 1) for number in (box.x, box.y, box.width, box.height)],
        "depth": box.depth,
        "name": shortened(box.name, NAME_LETTERS),
        "full": box.name,
        "operators": box.operators,
        "count": len(box.nodes),
        **vars(of),
    }


def _found(tree: GroupTree, words: str) -> tuple[int, ...]:
    wanted = words.strip().casefold()
    names = enumerate(node.id.casefold() for node in tree.nodes) if wanted else ()
    ranked = sorted((not name.startswith(wanted), len(name), at) for at, name in names if wanted in name)
    return tuple(at for _, _, at in ranked[:MOST_FOUND])


def _event(plain: object) -> Told | None:
    """What a browser sent, if it has the form of an event; anything can come from there."""
    if not isinstance(plain, Mapping):
        return None
    number, verb, on = plain.get("number"), plain.get("verb"), plain.get("on")
    if not isinstance(number, int) or not isinstance(on, str):
        return None
    found = next((each for each in VERBS if each == verb), None)
    return Told(number, found, on[:MOST_LETTERS]) if found is not None else None
