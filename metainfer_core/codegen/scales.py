"""Do the kernels multiply by what the declared scales come to? Checked on the constants in the built binary."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from fractions import Fraction

from metainfer_core.errors import DefectError
from metainfer_core.figures import told_apart
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.unstaged import uncopied

TOLERANCE = Fraction(1, 1 << 29)
"""A multiplier has at least 30 bits."""
SMALLEST = Fraction(1, 1 << 61)
"""Below that the fixed-point form, whose shift is at most 62, has fewer bits."""


def check_scales(graph: RealisedGraph, constants: Mapping[str, bytes]) -> None:
    """Holds each kernel's multipliers against input scale * weight scale / output scale, channel by channel.

    Where hard-swish reads the sums, its factor belongs to the product: from 3 on it changes nothing but the scale.
    Steps whose kernel has no weights, or a table after them (whose scale in between stands nowhere), are passed over.

    Raises:
        DefectError: a kernel computes with other scales than the table declares.
    """
    tensors = {tensor.name: tensor for tensor in graph.tensors}
    computing = (step for step in graph.steps if step.moved is None)
    for own, step in zip(computing, uncopied(graph).steps, strict=True):
        roles = _roles(step, tensors)
        weights, multiplier, shift = (roles.get(name) for name in ("weights", "multiplier", "shift"))
        if weights is None or multiplier is None or shift is None or "table" in roles:
            continue
        source, result = tensors[own.inputs[0]], tensors[own.outputs[0]]  # a tile's copy has the scales of its channels
        if not source.scales or not result.scales or not weights.scales:
            continue
        executed_factors = _factors(constants, multiplier, shift)
        curve = [roles.get(name) for name in ("curve_multiplier", "curve_shift")]
        if curve[0] is not None and curve[1] is not None:
            behind = _factors(constants, curve[0], curve[1])
            executed_factors = [
                first * 2 * _knee(second * _of(result, channel, len(behind))) * second
                for channel, (first, second) in enumerate(zip(executed_factors, behind, strict=True))
            ]
        outputs = len(executed_factors)
        for channel, executed in enumerate(executed_factors):
            declared = _of(source, channel, outputs) * _of(weights, channel, outputs) / _of(result, channel, outputs)
            if abs(executed - declared) > max(declared * TOLERANCE, SMALLEST):
                raise DefectError(
                    f"{step.node_ids[0]} computes with other scales than it declares.",
                    "Channel {}: times {}, where the scales give {}.".format(
                        channel, *told_apart(float(executed), float(declared), ".6g")
                    ),
                    "Please report this.",
                )


def _roles(step: RealisedStep, tensors: Mapping[str, RealisedTensor]) -> dict[str, RealisedTensor]:
    """What the kernel's declaration calls each of its inputs, without those that are left out."""
    described = SIGNATURES.get(step.kernel)
    if described is None or any(argument.is_variadic for argument in described.inputs):
        return {}
    pairs = zip(described.inputs, step.inputs, strict=False)
    return {argument.name: tensors[name] for argument, name in pairs if name}


def _factors(constants: Mapping[str, bytes], multiplier: RealisedTensor, shift: RealisedTensor) -> list[Fraction]:
    """What the kernel multiplies by, one an output channel."""
    wholes, shifts = (_integers(constants[tensor.name]) for tensor in (multiplier, shift))
    return [Fraction(whole, 1 << bits) for whole, bits in zip(wholes, shifts, strict=True)]


def _of(tensor: RealisedTensor, channel: int, outputs: int) -> Fraction:
    """The scale of a tensor for one of so many output channels: its own, or that of the input channel it reads."""
    return Fraction(tensor.scales[channel * len(tensor.scales) // outputs])


def _knee(factor: Fraction) -> int:
    """The code of 3 before hard-swish, a power of two, out of its factor times the result's scale: 3 / (2 knee^2)."""
    return 1 << max(0, round(math.log2(1.5 / factor) / 2))


def _integers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}i", data)
