"""Node ids: the name that a node keeps through everything that follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import onnx

from metainfer_core.graph.files.proto_walk import graphs_in, subgraphs_of


def name_nodes(graph: onnx.GraphProto) -> None:
    """Gives every node its id.

    The original name if it is non-empty and unique in the whole model, else `<op>_<index>` (the index counts the
    nodes of the node's own graph) behind the path of the sub-graph, such as `If_3/then_branch/Conv_2`.
    """
    originals = Counter(node.name for inner in graphs_in(graph) for node in inner.node)
    taken = {name for name, count in originals.items() if name and count == 1}
    for node, built in list(_built_names(graph, "", taken)):
        node.name = built


def _built_names(graph: onnx.GraphProto, path: str, unique: set[str]) -> Iterator[tuple[onnx.NodeProto, str]]:
    """The nodes that need a new name, with it; `unique` grows by each."""
    for index, node in enumerate(graph.node):
        name = node.name
        if name not in unique:
            name = stem = f"{path}{node.op_type}_{index}"
            again = 1
            while name in unique:
                again += 1
                name = f"{stem}_{again}"
            unique.add(name)
            yield node, name
        for attribute, inner in subgraphs_of(node):
            yield from _built_names(inner, f"{name}/{attribute}/", unique)
