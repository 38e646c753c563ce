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
    # The pictures
    "how_both": {"en": "time predicted · effect measured"},
    "how_counted": {"en": "counted from shapes"},
    "how_decided": {"en": "as decided"},
    "how_measured": {"en": "measured"},
    "how_planned": {"en": "planned"},
    "how_predicted": {"en": "predicted"},
    "memory_bound_line": {"en": "lower bound {size}"},
    "memory_capacity_line": {"en": "{memory} holds {size}"},
    "picture_alive": {"en": "alive"},
    "picture_alive_says": {
        "en": "What is alive while each node of the model runs, before any action. No plan for this order can do with "
        "less than {bound}."
    },
    "picture_bits": {"en": "bit width"},
    "picture_broken": {"en": "not finite"},
    "picture_budget": {"en": "budget {db}"},
    "picture_bytes": {"en": "bytes"},
    "picture_bytes_axis": {"en": "bytes moved, predicted"},
    "picture_bytes_of": {"en": "bytes through {memory}"},
    "picture_channel": {"en": "channel"},
    "picture_channels": {"en": "Channels"},
    "picture_channels_none": {
        "en": "Not measured. Signal-to-noise by channel is measured when a package is built: compile the signed "
        "bundle, or run `meta-infer build` for a development package, into this workspace."
    },
    "picture_channels_says": {
        "en": "{node} in {precision}, {count} channels. The worst is no. {worst}: {ratio}; dead channels: {dead}."
    },
    "picture_chosen": {"en": "chosen"},
    "picture_cost": {"en": "Time and bytes"},
    "picture_cost_none": {
        "en": "Not known: no time can be predicted. Choose a chip whose spec gives peak rates and bandwidth."
    },
    "picture_cost_says": {
        "en": "The {shown} of {count} nodes that take longest, {share} of the time that can be predicted. In float32, "
        "nothing fused. Lines are the intervals that the spec's ranges give."
    },
    "picture_exact": {"en": "no error"},
    "picture_first": {"en": "first node"},
    "picture_front": {"en": "Pareto front"},
    "picture_interval": {"en": "interval"},
    "picture_kind": {"en": "Picture"},
    "picture_last": {"en": "last node"},
    "picture_layer": {"en": "Node, the worst first"},
    "picture_left_out": {"en": "{count} more are not listed."},
    "picture_memory": {"en": "Memory over time"},
    "picture_node_number": {"en": "node, in order of execution"},
    "picture_off_scale": {"en": "Off the scale, at the foot: {counts}."},
    "picture_over": {"en": "over the budget"},
    "picture_pareto": {"en": "Candidates"},
    "picture_pareto_none": {
        "en": "Not kept: this policy holds its candidates in words only. Propose it anew in Adapt to have "
        "their figures."
    },
    "picture_pareto_says": {
        "en": "The {shown} best of the candidates that were tried, of {count} kept. Up and left is better."
    },
    "picture_planned_none": {
        "en": "Not planned yet: where each tensor lies is known when a package is built for this model and chip, by "
        "Compile in Sign or by `meta-infer build`."
    },
    "picture_planned_says": {
        "en": "{memory} as the newest package uses it: peak {peak}, lower bound {bound}, capacity {capacity}."
    },
    "picture_precision": {"en": "Precision map"},
    "picture_precision_before": {"en": "Types of the model's tensors; no policy was made for it yet. {counts}."},
    "picture_precision_says": {"en": "What each node computes in, with people's overrides. {counts}."},
    "picture_silent": {"en": "silent in the model"},
    "picture_silent_or_broken": {"en": "silent in the model, or not finite"},
    "picture_sqnr_axis": {"en": "signal-to-noise, measured (dB)"},
    "picture_stands": {"en": "stands"},
    "picture_step": {"en": "step of the program"},
    "picture_table": {"en": "The same as a table"},
    "picture_time": {"en": "time"},
    "picture_time_axis": {"en": "time, predicted (µs)"},
    "picture_time_ms": {"en": "time of one inference, predicted (ms)"},
    "picture_top": {"en": "highest byte in use"},
    "picture_within": {"en": "within the budget"},
    "pictures": {"en": "Pictures"},
    "precision_mixed": {"en": "mixed"},
    "risk_none": {"en": "no action"},
    "wall_bandwidth": {"en": "bandwidth"},
    "wall_compute": {"en": "compute"},
    "wall_launch": {"en": "launch"},
    "wall_memory": {"en": "memory latency"},
    "wall_mostly": {"en": "mostly {wall}"},
    "wall_unknown": {"en": "unknown"},
}
