"""Texts of the graph of a model and of its pictures. Part of the one table."""

from __future__ import annotations

TEXTS_OF_GRAPHS: dict[str, dict[str, str]] = {
    # The graph
    "colour_precision": {"en": "Precision"},
    "colour_risk": {"en": "Risk"},
    "colour_risk_none": {"en": "No policy was made for this model yet: without one there is no risk to show."},
    "colour_time": {"en": "Share of time"},
    "colour_time_none": {"en": "Choose a chip: times are predicted from its spec."},
    "colour_wall": {"en": "Binding wall"},
    "colour_wall_none": {"en": "Choose a chip: walls are predicted from its spec."},
    "graph_cancel": {"en": "Cancel"},
    "graph_colour": {"en": "Coloured by"},
    "graph_find": {"en": "Find a node by its name"},
    "graph_find_none": {"en": "No node has this in its name."},
    "graph_fit": {"en": "Show all"},
    "graph_keys": {
        "en": "Click or Enter: open a group, pick a node · arrows: go · Esc: close the group · + − 0: zoom · /: find"
    },
    "graph_label": {"en": "Graph of the model"},
    "graph_large": {
        "en": "Netron lays out all {count} nodes at once. That can take minutes, and a browser's tab that is busy with "
        "it cannot be stopped by this page. The tab Graph shows this model in groups."
    },
    "graph_large_open": {"en": "Open it in Netron all the same"},
    "graph_more_actions": {"en": "and {count} more"},
    "graph_no_actions": {"en": "No action of the policy changes this node."},
    "graph_no_policy": {"en": "No policy was made for this model yet."},
    "graph_nodes": {"en": "# nodes"},
    "graph_note": {
        "en": "{nodes} nodes in {groups} groups, by the modules that their names speak of, else by their wiring. A "
        "dotted end leads out of its group. Times and walls are predicted in float32, nothing fused."
    },
    "graph_opening": {"en": "Opening …"},
    "graph_pick": {"en": "Click a node to see what it costs and which actions change it."},
    "graph_show": {"en": "Show in the graph"},
    "graph_view": {"en": "Graph"},
    "graph_whole": {"en": "whole graph"},
    "graph_zoom_in": {"en": "Larger"},
    "graph_zoom_out": {"en": "Smaller"},
    "precision_mixed": {"en": "mixed"},
    "risk_none": {"en": "no action"},
    "wall_bandwidth": {"en": "bandwidth"},
    "wall_compute": {"en": "compute"},
    "wall_launch": {"en": "launch"},
    "wall_memory": {"en": "memory latency"},
    "wall_mostly": {"en": "mostly {wall}"},
    "wall_unknown": {"en": "unknown"},
}
