"""Activations with a scale a channel: where integer arithmetic allows it, and how the scales follow from the ranges.

A sum over input channels cannot have a scale a channel factored out of it (Nagel et al. 2021, A White Paper on Neural
Network Quantization, section 2.4.2). Each output of a depthwise convolution sums one input channel, so there the scale
joins the factor that requantizes this output, and the layer before rounds each of its channels by a factor of its own,
as weights scaled by channel ask for anyway. One zero point for all channels keeps padding exactly 0 in each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Alternative, Reason
from metainfer_core.actions.quantize_dequantize import pairs_of
from metainfer_core.actions.rewiring import array_of, followers, name_of, readers
from metainfer_core.actions.scales import HIGHEST, LOWEST, QUIET_CHANNEL, Affine, usable
from metainfer_core.actions.units import granularities, says_of_granularity
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.activations import CLAMPS
from metainfer_core.numerics.ranges import ChannelRanges
from metainfer_core.spec.hardware_spec import HardwareSpec

LAW = (
    "each output of a depthwise convolution sums one input channel, so the channel's scale joins its requantization "
    "factor; a sum over channels cannot have it factored out (Nagel et al. 2021, section 2.4.2)"
)
UNROUNDED = "HardSwish"
"""The curve that kernels of layers with weights compute from the sum itself."""
UNROUNDED_REASON = Reason(
    claim="HardSwish reads the sum in 16 bits, so its result is rounded to 8 bits once.",
    law="rounding before a curve is amplified by its slope and added to the rounding behind it",
)
FINER_ALTERNATIVES = {
    "activation_scheme": Alternative(
        option="activations scaled by tensor",
        reason="Channels with small values would be rounded by the step of the largest, at the same speed.",
    ),
    "fused_input_bits": Alternative(
        option="HardSwish by a table of 256 codes", reason="Its input would be rounded to 8 bits first."
    ),
}
"""Parameter to what was turned down where the action sets it."""


def is_depthwise(node: ir.Node) -> bool:
    """Whether each output channel of a convolution reads one input channel, and there are several."""
    if node.op_type != "Conv" or node.domain:
        return False
    weight = array_of(node.inputs[1])
    return weight is not None and weight.shape[1] == 1 and node.attributes.get_int("group", 1) > 1


def reading(value: ir.Value) -> tuple[ir.Node, ...]:
    """The nodes that compute with a tensor, through its pair where one stands on it."""
    forms = (value, *(pair.outputs[0] for pair in pairs_of(value)))
    return tuple(one for form in forms for one in readers(form) if one.op_type != "QuantizeLinear")


def by_depthwise_alone(value: ir.Value) -> bool:
    """Whether depthwise convolutions, and nothing else, read a tensor."""
    found = reading(value)
    return bool(found) and not value.is_graph_output() and all(map(is_depthwise, found))


def channel_affine(ranges: Sequence[tuple[float, float]], symmetric: bool) -> Affine:
    """Scales of the channels, and the zero point with which they are least (by their geometric mean)."""
    low, high = (
        np.array(ends, np.float64) for ends in zip(*((min(a, 0.0), max(b, 0.0)) for a, b in ranges), strict=True)
    )
    points = np.array([0]) if symmetric else np.arange(LOWEST, HIGHEST + 1)
    lowest = -HIGHEST if symmetric else LOWEST
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(high > 0, high / (HIGHEST - points[:, None]), 0.0)
        below = np.where(low < 0, -low / (points[:, None] - lowest), 0.0)
    steps = np.maximum(above, below)
    varies = (low < 0) | (high > 0)
    best = int(np.argmin(np.log(steps[:, varies]).sum(axis=1))) if varies.any() else int(np.argmin(np.abs(points)))
    chosen = steps[best]
    quiet = chosen.max(initial=0.0) * QUIET_CHANNEL
    scales = [usable(np.float32(max(step, quiet))) for step in chosen]
    return Affine(np.array(scales, np.float32), int(points[best]))


def channels_of_activation_against(
    spec: HardwareSpec,
    unit_name: str,
    target: ir.Node,
    role: str,
    value: ir.Value,
    is_output: bool,
    ranges: ChannelRanges,
) -> str | None:
    """Why a tensor that the node reads or makes cannot have a scale a channel, or None."""
    name, shape = name_of(value), static_shape(value)
    channels = shape[1] if shape is not None and len(shape) > 1 else 1
    against = [reader for reader in reading(value) if not is_depthwise(reader)]
    if against:
        return (
            f"{against[0].name} ({against[0].op_type}) reads the {channels} channels of {name} together or passes them "
            "on: only depthwise convolutions can read a scale a channel."
        )
    if value.is_graph_output():
        return f"{name} is an output of the model, which has one scale."
    if len(ranges) != channels:
        return f"{name} has {channels} channels, but there are ranges for {len(ranges)}."
    low, high = min(one[0] for one in ranges), max(one[1] for one in ranges)
    if any(one[0] > one[1] for one in ranges) or max(abs(low), abs(high)) > np.finfo(np.float32).max:
        return f"A range of a channel of {name} is empty or leaves float32."
    if not is_output:
        return None
    if role != "weighted" or target.op_type != "Conv":
        return (
            f"{target.name} ({target.op_type}) makes {name} and rounds all of its {channels} channels by one factor; "
            "only a convolution has one a channel (activation_scheme tensor_wise does without)."
        )
    if "channel" not in granularities(spec, unit_name)[0]:
        return (
            f"{target.name} would round the {channels} channels of {name} by a factor each, which {unit_name} does not "
            f"have: {says_of_granularity(spec, unit_name)}."
        )
    return None


def unrounded_against(target: ir.Node, role: str, bits: int, is_alone: bool = True) -> str | None:
    """Why a fused curve cannot read the layer's sum with so many bits, or None.

    Args:
        target: The layer.
        role: Of its integer form.
        bits: What is asked for.
        is_alone: Whether the action names the layer alone; else the fusion that it was made for may be switched off.
    """
    if bits == 8:
        return None
    if bits != 16:
        return f"A fused curve reads 8 or 16 bits, not {bits} (fused_input_bits)."
    fused = followers(target)
    if not fused and not is_alone:
        return None
    if role != "weighted" or len(fused) != 1 or fused[0].op_type != UNROUNDED:
        behind = fused[0].op_type if fused else "nothing"
        return (
            f"{target.name} ({target.op_type}) has {behind} fused behind it: 16 bits between (fused_input_bits) exist "
            f"for {UNROUNDED} behind Conv, Gemm and MatMul."
        )
    return None


def reads_sums(target: ir.Node, bits: int) -> bool:
    """Whether what is fused with a layer reads its sums, not codes of 8 bits: clamps always, hard-swish on demand."""
    fused = followers(target)
    return all(one.op_type in CLAMPS for one in fused) or (bits == 16 and fused[-1].op_type == UNROUNDED)


def reasons(
    channel_ranges: Mapping[str, ChannelRanges], symmetric: bool, whole: Mapping[str, tuple[float, float]]
) -> list[Reason]:
    """Why tensors have a scale a channel: what one scale for all would leave the smallest channel."""
    found = []
    for name, ranges in sorted(channel_ranges.items()):
        widths = [max(high, 0.0) - min(low, 0.0) for low, high in ranges]
        least, most = min(widths), max(widths)
        low, high = whole.get(name, (0.0, most))
        codes = least / ((high - low) or 1.0) * (2 * HIGHEST if symmetric else HIGHEST - LOWEST)
        found.append(
            Reason(
                claim=f"The {len(ranges)} channels of {name} span {least:.4g} to {most:.4g}: with one scale for all "
                f"the smallest would have {codes:.1f} codes.",
                law=LAW,
            )
        )
    return found
