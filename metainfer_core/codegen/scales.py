"""Do the kernels multiply by what the declared scales come to? Checked on the constants in the built binary."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from fractions import Fraction

from metainfer_core.errors import DefectError
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor

TOLERANCE = Fraction(1, 1 << 29)
"""A multiplier has at least 30 bits."""
SMALLEST = Fraction(1, 1 << 61)
"""Below that the fixed-point form, whose shift is at most 62, has fewer bits."""


def check_scales(graph: RealisedGraph, constants: Mapping[str, bytes]) -> None:
    """Holds each kernel's multipliers against input scale * weight scale / output scale, channel by channel.

    Steps whose kernel has no weights, or a table after them (whose scale in between stands nowhere), are passed over.

    Raises:
        DefectError: a kernel computes with other scales than the table declares.
    """
    tensors = {tensor.name: tensor for tensor in graph.tensors}
    for step in graph.steps:
        roles = _roles(step, tensors)
        weights, multiplier, shift = (roles.get(name) for name in ("weights", "multiplier", "shift"))
        if weights is None or multiplier is None or shift is None or "table" in roles:
            continue
        source, result = tensors[step.inputs[0]], tensors[step.outputs[0]]
        if len(source.scales) != 1 or len(result.scales) != 1 or not weights.scales:
            continue
        factors = zip(_integers(constants[multiplier.name]), _integers(constants[shift.name]), strict=True)
        for channel, (whole, bits) in enumerate(factors):
            scale = weights.scales[channel if len(weights.scales) > 1 else 0]
            declared = Fraction(source.scales[0]) * Fraction(scale) / Fraction(result.scales[0])
            executed = Fraction(whole, 1 << bits)
            if abs(executed - declared) > max(declared * TOLERANCE, SMALLEST):
                raise DefectError(
                    f"{step.node_ids[0]} computes with other scales than it declares.",
                    f"Channel {channel}: times {float(executed):.6g}, where the scales give {float(declared):.6g}.",
                    "Please report this.",
                )


def _roles(step: RealisedStep, tensors: Mapping[str, RealisedTensor]) -> dict[str, RealisedTensor]:
    """What the kernel's declaration calls each of its inputs, without those that are left out."""
    described = SIGNATURES.get(step.kernel)
    if described is None or any(argument.is_variadic for argument in described.inputs):
        return {}
    pairs = zip(described.inputs, step.inputs, strict=False)
    return {argument.name: tensors[name] for argument, name in pairs if name}


def _integers(data: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(data) // 4}i", data)
