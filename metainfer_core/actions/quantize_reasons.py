"""Why a node becomes INT8 as it does, and what else could have been done: the words of a quantize action."""

from __future__ import annotations

from metainfer_core.actions.action import Alternative, Reason
from metainfer_core.actions.integer_operators import IntegerForm
from metainfer_core.actions.units import NoUnit, describe, granularities, says_of_granularity
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec

LAW = "real = scale * (integer - zero_point), products summed in 32 bits (Jacob et al. 2018, section 2)"
WIDE_LAW = "real = scale * (integer - zero_point), products summed in 64 bits (Jacob et al. 2018, section 2)"
SLOWER = "It is multiplied more slowly, and the accuracy budget holds without it."
BY_TENSOR_CHOSEN = "The candidate with one scale for each tensor was chosen for the whole model."
"""Why weights are not scaled by channel where the unit could."""


def why(
    spec: HardwareSpec, unit: str | NoUnit, form: IntegerForm, calibration: Calibration | None, integers: str = "int8"
) -> tuple[Reason, ...]:
    """The argument for a quantize action: the unit, how it scales weights, what a moved value keeps, the data."""
    reasons = []
    if isinstance(unit, str):
        field = f"compute_units.{unit}.data_types"
        value, law = describe(spec, field), WIDE_LAW if integers == "int16" else LAW
        reasons.append(Reason(claim=f"{unit} computes in {integers}.", spec_field=field, spec_value=value, law=law))
        if form.role == "weighted":
            allowed, field = granularities(spec, unit)
            told = describe(spec, field)
            taken = "" if told else ", which is taken for granted"
            claim = f"{unit} scales weights by {' or '.join(allowed)}{taken}."
            reasons.append(Reason(claim=claim, spec_field=field, spec_value=told))
    if form.role in ("same_scale", "concat"):
        law = (
            "what moves values gives its output the scale of its input"
            if form.role == "same_scale"
            else ("a Concat gives all of its inputs the scale of its output")
        )
        reasons.append(Reason(claim="Its values move between quantized neighbours without a conversion.", law=law))
    if calibration is not None:
        reasons.append(Reason(claim=f"The ranges come from {calibration.data}."))
    return tuple(reasons)


def alternatives(
    spec: HardwareSpec, unit: str | NoUnit, form: IntegerForm, scheme: str, bits: int, not_usual: Reason | None = None
) -> tuple[Alternative, ...]:
    """What was turned down in favour of integers with this scheme; `not_usual`: why they are not those of 8 bits."""
    rejected = [Alternative(option="float32", reason="It moves four times the bytes and has no faster arithmetic.")]
    if not_usual is not None and bits < 8:
        rejected.insert(0, Alternative(option="INT8", reason=SLOWER))
    elif not_usual is not None:
        rejected = [
            Alternative(option="INT8", reason=not_usual.claim),
            Alternative(option="float32", reason="It moves twice the bytes of INT16."),
        ]
    if isinstance(unit, str) and form.role == "weighted":
        if scheme == "channel_wise":
            reason = "One scale for all channels rounds those with small weights more coarsely, at the same speed."
            rejected.append(Alternative(option="weights scaled by tensor", reason=reason))
        else:
            is_possible = "channel" in granularities(spec, unit)[0]
            reason = BY_TENSOR_CHOSEN if is_possible else f"{says_of_granularity(spec, unit)}."
            rejected.append(Alternative(option="weights scaled by channel", reason=reason))
    return tuple(rejected)
