"""Why a quantize action's ranges are not simply the least and greatest value that was seen."""

from __future__ import annotations

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.numerics.ranges import Calibration, ChosenRange

LAW = "of the calibration methods the one with the least error on held-out samples"


def with_range_reasons(proposed: Action | Refusal, calibration: Calibration | None) -> Action | Refusal:
    """The action with a reason for each of its ranges that a calibration method cut."""
    if isinstance(proposed, Refusal) or calibration is None:
        return proposed
    reasons = [
        Reason(claim=_claim(name, span, chosen), law=LAW)
        for name, span in proposed.params.get("ranges", {}).items()
        if name not in proposed.params.get("channel_ranges", {})
        and (chosen := calibration.chosen.get(name)) is not None
        and calibration.ranges[name].high == chosen.high
        and calibration.ranges[name].low == chosen.low
    ]
    return Action.from_plain({**proposed.plain(), "why": [reason.plain() for reason in (*proposed.why, *reasons)]})


def _claim(name: str, span: tuple[float, float], chosen: ChosenRange) -> str:
    """With the range as it is used: it also holds 0, and ends where what reads the tensor is flat."""
    others = ", ".join(f"{method} {db:.1f} dB" for method, db in chosen.held_out_db.items() if method != chosen.method)
    return (
        f"{name} is cut to {span[0]:.4g} to {span[1]:.4g} by {chosen.method}: "
        f"{chosen.held_out_db[chosen.method]:.1f} dB on held-out samples ({others})."
    )
