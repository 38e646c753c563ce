"""A large model of blocks: four branches of unequal length and a skip around each, with names that tell no module."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from metainfer_core.graph.summary import NodeSummary

BRANCHES, STEPS = 4, 9


def branching(count, names=None):
    """A model of this many nodes; `names` are set instead of the first ones."""
    nodes, last, number = [], "x", 0

    def put(operator, *reads):
        nonlocal number
        number += 1
        nodes.append(helper.make_node(operator, [*reads], [f"t{number}"], name=f"{operator}@{number}"))
        return f"t{number}"

    while len(nodes) < count:
        ends = []
        for branch in range(BRANCHES):
            end = last
            for step in range(STEPS - branch):
                end = put("Mul", end, "w") if step % 2 == 0 else put("Relu", end)
            ends.append(end)
        joined = put("Add", ends[0], ends[1])
        joined = put("Add", joined, put("Add", ends[2], ends[3]))
        last = put("Add", joined, last)
    for node, name in zip(nodes, names or (), strict=False):
        node.name = name
    shape = [1, 8, 4, 4]
    graph = helper.make_graph(
        nodes[:count],
        "branching",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(nodes[count - 1].output[0], TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.array([1.01], np.float32), "w")],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString()


def chain(count):
    """What is known of the nodes of a chain, each reading the one before."""
    return [
        NodeSummary(
            id=f"n{at}",
            op_type="Relu",
            macs=0,
            flops=0,
            input_bytes=0,
            output_bytes=0,
            parameter_bytes=0,
            moved_bytes=0,
            live_bytes=0,
            output_shapes=((1,),),
            element_type="float32",
            reads=(f"n{at - 1}",) if at else (),
        )
        for at in range(count)
    ]
