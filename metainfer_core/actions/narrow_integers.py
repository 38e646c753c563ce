"""Activations of 4 or 6 bits: which units multiply them, and what they leave out that 8 bits have.

A code has a byte of its own in memory, whatever its bits: few bits save time where a unit multiplies them faster, not
room. Codes use the whole range of their bits, from a scale and a zero point; those of weights are symmetric.
"""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.actions.action import Alternative, Reason
from metainfer_core.actions.integer_laws import bits_against
from metainfer_core.actions.quantize_numbers import QuantizeParams
from metainfer_core.actions.units import describe
from metainfer_core.spec.hardware_spec import HardwareSpec

NARROW = (4, 6)
"""Widths of activations below 8 bits."""


def narrow_against(spec: HardwareSpec, params: QuantizeParams, target: ir.Node) -> str | None:
    """What a node on few bits cannot have: finer scales, and weights wider than its unit multiplies."""
    if params.bit_width in NARROW and params.activation_scheme == "channel_wise":
        return f"Activations of {params.bit_width} bits have one scale: {target.name} needs tensor_wise."
    if params.bit_width in NARROW and params.fused_input_bits != 8:
        return f"A curve of unrounded sums ends in 8 bits: {target.name} has {params.bit_width} (fused_input_bits)."
    if params.bits_of_weights > params.bit_width:
        wider = next(bits for bits in (*NARROW, 8) if bits >= params.bits_of_weights)
        return bits_against(spec, params.target_hw, wider)
    return None


def faster_widths(spec: HardwareSpec) -> tuple[int, ...]:
    """The widths below 8 bits that some unit multiplies faster than INT8."""
    return tuple(bits for bits in NARROW if any(gain(spec, name, bits) for name in spec.compute_units))


def stated_widths(spec: HardwareSpec) -> tuple[int, ...]:
    """The widths below 8 bits that some unit computes in."""
    return tuple(bits for bits in NARROW if bits_against(spec, None, bits) is None)


def turned_down(spec: HardwareSpec, unit_name: str) -> tuple[Alternative, ...]:
    """The widths below 8 bits that a unit computes in and gains nothing by, each with the reason."""
    found = []
    for bits in NARROW:
        if bits_against(spec, unit_name, bits) is None and gain(spec, unit_name, bits) is None:
            field = f"compute_units.{unit_name}.macs_per_cycle.int{bits}"
            is_known = spec.compute_units[unit_name].peak_macs_per_second(f"int{bits}") is not None
            reason = (
                f"{unit_name} multiplies INT{bits} no faster than INT8 ({field}), and its codes take as many bytes."
                if is_known
                else f"How fast {unit_name} multiplies INT{bits} is not known ({field}); its codes take as many bytes."
            )
            found.append(Alternative(option=f"INT{bits}", reason=reason))
    return tuple(found)


def gain(spec: HardwareSpec, unit_name: str, bits: int) -> Reason | None:
    """Why fewer bits save time on a unit; None unless the spec says that it multiplies them faster than INT8."""
    if bits_against(spec, unit_name, bits) is not None:
        return None
    unit = spec.compute_units[unit_name]
    field = f"compute_units.{unit_name}.macs_per_cycle.int{bits}"
    narrow, usual = unit.peak_macs_per_second(f"int{bits}"), unit.peak_macs_per_second("int8")
    if narrow is None or usual is None or narrow.nominal <= usual.nominal:
        return None  # codes take as many bytes, so there is nothing else to gain
    times = narrow.nominal / usual.nominal
    claim = f"{unit_name} multiplies INT{bits} {times:.3g} times as fast as INT8, and the budget holds with it."
    return Reason(claim=claim, spec_field=field, spec_value=describe(spec, field), law="measured on calibration data")
