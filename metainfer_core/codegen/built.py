"""What was built, as the comparison with what was approved asks of it: steps by node, tensors by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from metainfer_core.actions.action import Action
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.report import Difference

CONVERSIONS = ("quantize", "dequantize", "narrow", "widen", "rescale_int8_", "rescale_int16_int8")
"""Kernels whose names begin so change only how values are written down."""
MOVEMENTS = ("view", "copy_", "gather_")
"""How the kernels begin that give the values they are given, in another order or number."""


@dataclass(frozen=True)
class Built:
    """A realised graph with its tensors by name and its steps by node, and the operator of each original node."""

    graph: RealisedGraph
    """Without transfers, copies, tiles and layouts: what the model computes."""
    tensors: Mapping[str, RealisedTensor]
    op_types: Mapping[str, str]
    padded: Mapping[str, int]
    """Convolution whose channels were filled up to their count."""
    staged: RealisedGraph
    """As it was built."""
    laid: RealisedGraph
    """Without transfers and tiles, each tensor in the layout that it has in memory."""

    def steps(self, node: str) -> list[RealisedStep]:
        """Steps that compute (a part of) the node."""
        return [step for step in self.graph.steps if node in step.node_ids]

    def activations(self, step: RealisedStep) -> list[RealisedTensor]:
        """What the step reads and writes, without constants."""
        found = [self.tensors[name] for name in (*step.inputs, *step.outputs) if name]
        return [tensor for tensor in found if not tensor.is_constant]

    def constants(self, step: RealisedStep) -> list[RealisedTensor]:
        """The constants that the step reads."""
        return [self.tensors[name] for name in step.inputs if name and self.tensors[name].is_constant]

    def is_quantized(self, step: RealisedStep) -> bool:
        """Whether the step computes on quantized activations alone."""
        return any(tensor.granularity for tensor in self.activations(step)) and not step.kernel.startswith(CONVERSIONS)

    def only_moves(self, step: RealisedStep) -> bool:
        """Whether the step moves integers of one scale: dequantized before or after it, each value is the same."""
        found = {(tensor.scales, tensor.zero_points) for tensor in self.activations(step) if tensor.granularity}
        return step.kernel.startswith(MOVEMENTS) and len(found) == 1


def difference(action: Action, node: str, approved: str, realised: str) -> Difference:
    """What an action led to in place of what was approved, at one of its nodes."""
    return Difference(node_id=node, action=action.id, approved=approved, realised=realised)
