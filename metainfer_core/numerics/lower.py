"""Lowering: a model with static shapes becomes a program, an ordered list of kernel calls.

A node becomes an integer kernel where its inputs are dequantized int8 tensors and its result is quantized, unless it
is marked to stay float; it becomes a float kernel everywhere else. Reordering and packing of constants happens here,
once. The order of the steps is the order of the nodes; the result depends on the model alone, so that many questions
about one model, one after another, need one lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import onnx_ir as ir

from metainfer_core.numerics.laid_out import laid_out
from metainfer_core.numerics.lowering import (
    convolution,
    elementwise,
    gemm,
    local_response,
    movement,
    padding,
    pooling,
    quantization,
    recurrent,
    reduction,
    resize,
)
from metainfer_core.numerics.lowering.blocked import layout_at
from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.model_reader import FUSED_WITH, KEEP_FLOAT, unsupported
from metainfer_core.numerics.program import Program
from metainfer_core.numerics.same_model import SameModel
from metainfer_core.numerics.without_kernel import instead_of

OPERATORS: Mapping[str, Callable[[Builder, ir.Node], None]] = {
    **convolution.OPERATORS,
    **gemm.OPERATORS,
    **elementwise.OPERATORS,
    **movement.OPERATORS,
    **padding.OPERATORS,
    **pooling.OPERATORS,
    **reduction.OPERATORS,
    **local_response.OPERATORS,
    **resize.OPERATORS,
    **recurrent.OPERATORS,
    **quantization.OPERATORS,
}
LOWERABLE: frozenset[str] = frozenset(OPERATORS)
"""Operators that have a kernel."""
STAGING_MARKS = ("metainfer.tile", "metainfer.prefetch")
"""Marks of nodes that only ask something of what follows."""
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
    return _lowered(SameModel(model, without=STAGING_MARKS))


@lru_cache(maxsize=2)
def _lowered(seen: SameModel) -> Lowered:
    graph = seen.model.graph
    builder = Builder(graph)
    inputs = tuple(builder.output(value) for value in graph.inputs if value.name not in graph.initializers)
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
            raise unsupported(node, f"There is no kernel for {domain}{node.op_type}.", instead_of(node))
        builder.keeps_float = node.metadata_props.get(KEEP_FLOAT) == "1"
        rule(builder, node)
    builder.keeps_float = False
    outputs = tuple(builder.tensor(value) for value in graph.outputs)
    touched = {name for step in builder.steps for name in (*step.inputs, *step.outputs)} | {*inputs, *outputs}
    tensors = tuple(tensor for tensor in builder.tensors if tensor.name in touched)  # some constants were folded
    layouts = {str(node.name): layout for node in graph if (layout := layout_at(node)) is not None}
    program = laid_out(Program(inputs=inputs, outputs=outputs, tensors=tensors, steps=tuple(builder.steps)), layouts)
    digests = sorted({tensor.constant for tensor in program.tensors if tensor.constant is not None})
    return Lowered(program, {digest: builder.constants[digest] for digest in digests})
