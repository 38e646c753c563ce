"""Scales by channel of activations, and curves of unrounded sums: as approved, and nowhere else. Knows no lowering."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.figures import told_apart
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.verify.realised_graph import RealisedStep, RealisedTensor

TOLERANCE = 0.02
QUIET = 2.0**-20
"""Share of the greatest scale below which a channel's own scale does not go."""
CURVE = "curve_multiplier"
"""What a kernel's declaration calls the factors that only a curve of unrounded sums has."""
WORDS = ("the fused curve on codes of 8 bits", "the fused curve on unrounded sums")


def finer_differences(
    action: Action, node: str, step: RealisedStep, activations: Sequence[RealisedTensor]
) -> Iterator[tuple[str, str]]:
    """What was approved, and what was built instead.

    Args:
        action: An approved quantize action.
        node: One of its nodes.
        step: A step that computes the node on integers.
        activations: What the step reads and writes, without constants.
    """
    if node != action.nodes[0]:
        return
    by_channel = action.params.get("channel_ranges", {})
    if action.params.get("activation_scheme", "tensor_wise") != "channel_wise":
        by_channel = {}
    for tensor in activations:
        spans = by_channel.get(tensor.name, by_channel.get(tensor.name.removesuffix(".quantized")))
        if spans is not None and tensor.scales:
            yield from _of_tensor(tensor, spans)
    is_fused = any(one in step.node_ids for one in action.nodes[1:])
    wanted, found = is_fused and action.params.get("fused_input_bits", 8) == 16, _reads_sums(step)
    if wanted != found:
        yield WORDS[wanted], WORDS[found]


def _of_tensor(tensor: RealisedTensor, spans: Sequence[tuple[float, float]]) -> Iterator[tuple[str, str]]:
    """Each scale just reaches both ends of its channel's range from the tensor's zero point."""
    if len(tensor.scales) != len(spans):
        yield f"{tensor.name} with {len(spans)} scales, one a channel", f"{len(tensor.scales)}"
        return
    point, least = tensor.zero_points[0], max(tensor.scales) * QUIET
    for channel, (scale, (low, high)) in enumerate(zip(tensor.scales, spans, strict=True)):
        above = high / (127 - point) if high > 0 and point < 127 else 0.0
        below = -low / (point + 128) if low < 0 and point > -128 else 0.0
        needed = max(above, below, least)
        if (high > 0 or low < 0) and abs(scale / needed - 1) > TOLERANCE:
            due, built = told_apart(needed, scale, ".4g")
            approved = f"channel {channel} of {tensor.name} over [{low:g}, {high:g}]: a scale of {due}"
            yield approved, f"a scale of {built}"
            return


def _reads_sums(step: RealisedStep) -> bool:
    described = SIGNATURES.get(step.kernel)
    inputs = described.inputs if described is not None else ()
    return any(one.name == CURVE and name for one, name in zip(inputs, step.inputs, strict=False))
