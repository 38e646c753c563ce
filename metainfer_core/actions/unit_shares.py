"""How a convolution's output channels would be shared between two units: so that both end at the same time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.operator_rules import broken_limits
from metainfer_core.actions.rewiring import PART_UNIT, name_of, only_reader
from metainfer_core.actions.units import cores_used, has_data_type, ranked_units
from metainfer_core.graph.shapes import static_shape
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.default_memory import main_memory
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.rates import bytes_per_second

ELEMENT_BYTES = {"int8": 1, "float32": 4}


@dataclass(frozen=True)
class Share:
    """One convolution over two units, with predicted times in microseconds."""

    units: tuple[str, str]
    channels: tuple[int, int]
    alone: float
    """All of it on the first unit."""
    together: float
    """Both parts side by side."""
    in_turn: float
    """One part after the other, as programs compute."""
    transfers: float
    """Moving what the second unit reads and makes; part of the two before."""


def best_share(spec: HardwareSpec, conv: ir.Node, first: str, data_type: str) -> Share | None:
    """The share at which the slower of both parts ends first; None where no second unit runs it or a figure is unknown.

    Args:
        spec: The hardware.
        conv: A convolution of one group with static shapes.
        first: The unit that it belongs to.
        data_type: `int8` or `float32`.
    """
    others = (name for name in ranked_units(spec, data_type) if name != first and _runs(spec, name, conv, data_type))
    second = next(others, None)
    source, result = (static_shape(value) if value is not None else None for value in (conv.inputs[0], conv.outputs[0]))
    weight = static_shape(conv.inputs[1]) if conv.inputs[1] is not None else None
    if second is None or source is None or result is None or weight is None:
        return None
    rates = [spec.compute_units[name].peak_macs_per_second(data_type, cores_used(spec.compute_units[name]))
             for name in (first, second)]  # fmt: skip
    memory = main_memory(spec)
    delivered = bytes_per_second(spec, memory) if memory is not None else "no memory"
    if rates[0] is None or rates[1] is None or isinstance(delivered, str) or min(rates[0].low, rates[1].low) <= 0:
        return None
    macs = math.prod(result) * math.prod(weight[1:])
    alone, other = (macs / rate.nominal * 1e6 for rate in rates if rate is not None)
    size, per_us = ELEMENT_BYTES[data_type], delivered.nominal / 1e6
    reading, writing = math.prod(source) * size / per_us, math.prod(result) * size / per_us
    share = (alone - reading) / (alone + other + writing)
    multiple = spec.compute_units[first].channel_multiple or 1
    kept = math.ceil(result[1] * (1 - share) / multiple) * multiple
    if share <= 0 or not 0 < kept < result[1]:
        return None
    part = 1 - kept / result[1]
    transfers = reading + writing * part
    slow = other * part + transfers
    quick = alone * (1 - part)
    return Share((first, second), (kept, result[1] - kept), alone, max(quick, slow), quick + slow, transfers)


def range_of_whole(part: ir.Node, calibration: Calibration | None) -> dict[str, tuple[float, float]]:
    """The range that the result of a part takes: that of the whole it joins, so that the whole has one scale."""
    joined = only_reader(part.outputs[0]) if PART_UNIT in part.metadata_props else None
    found = (
        calibration.ranges.get(name_of(joined.outputs[0])) if calibration is not None and joined is not None else None
    )
    return {name_of(part.outputs[0]): (found.low, found.high)} if found is not None else {}


def _runs(spec: HardwareSpec, name: str, conv: ir.Node, data_type: str) -> bool:
    unit = spec.compute_units[name]
    able = has_data_type(name, unit, data_type) is None and unit.operators.runs("Conv")
    return able and not broken_limits(spec, name, conv, data_type)
