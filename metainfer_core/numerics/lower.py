"""Lowering: a model with static shapes becomes a program, an ordered list of kernel calls.

A node becomes an integer kernel where its inputs are dequantized int8 tensors and its result is quantized; it becomes a
float kernel everywhere else. Reordering and packing of constants happens here, once. The order of the steps is the
order of the nodes; the result depends on the model alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.numerics.lowering import (
    convolution,
    elementwise,
    gemm,
    movement,
    pooling,
    quantization,
    recurrent,
    reduction,
    resize,
)
from metainfer_core.numerics.lowering.builder import FUSED_WITH, Builder, unsupported
from metainfer_core.numerics.program import Program

OPERATORS: Mapping[str, Callable[[Builder, ir.Node], None]] = {
    **convolution.OPERATORS,
    **gemm.OPERATORS,
    **elementwise.OPERATORS,
    **movement.OPERATORS,
    **pooling.OPERATORS,
    **reduction.OPERATORS,
    **resize.OPERATORS,
    **recurrent.OPERATORS,
    **quantization.OPERATORS,
}
LOWERABLE: frozenset[str] = frozenset(OPERATORS)
"""Operators that have a kernel."""
DOMAINS = frozenset({"", "ai.onnx"})


@dataclass(frozen=True)
class Lowered:
    """A program, and the bytes of its constants by digest."""

    program: Program
    constants: Mapping[str, bytes]


def lower(model: ir.Model) -> Lowered:
    """The program that computes what the model computes.

    Args:
        model: Imported and preprocessed: one opset, nodes named and in order, static shapes.

    Raises:
        UnsupportedError: Names the node, its operator and the reason.
    """
    graph = model.graph
    builder = Builder(graph)
    inputs = tuple(builder.graph_input(value) for value in graph.inputs if value.name not in graph.initializers)
    for node in graph:
        if node in builder.absorbed:
            continue
        leader = node.metadata_props.get(FUSED_WITH)
        if leader is not None:
            raise unsupported(
                node,
                f"It was fused into {leader}, whose kernel applies no such activation here.",
                "Take the fuse action out of the policy.",
            )
        rule = OPERATORS.get(node.op_type) if node.domain in DOMAINS else None
        if rule is None:
            domain = f"{node.domain}." if node.domain not in DOMAINS else ""
            raise unsupported(node, f"There is no kernel for {domain}{node.op_type}.", "Decompose or replace it.")
        rule(builder, node)
    outputs = tuple(_output(builder, value) for value in graph.outputs)
    program = Program(inputs=inputs, outputs=outputs, tensors=builder.tensors, steps=tuple(builder.steps))
    return Lowered(_without_unread(program), builder.constants)


def _output(builder: Builder, value: ir.Value) -> str:
    """The tensor of an output, computed under the output's own name."""
    return builder.tensor(value)


def _without_unread(program: Program) -> Program:
    """The program without tensors that no step touches (constants that were folded into others)."""
    touched = {name for step in program.steps for name in (*step.inputs, *step.outputs)}
    touched |= {*program.inputs, *program.outputs}
    kept = tuple(tensor for tensor in program.tensors if tensor.name in touched)
    return Program(inputs=program.inputs, outputs=program.outputs, tensors=kept, steps=program.steps)
