"""Why a quantize action's ranges are what they are: what each calibration method left on held-out samples."""

from __future__ import annotations

from collections.abc import Mapping

from metainfer_core.actions.action import Action, Reason, Refusal
from metainfer_core.numerics.ranges import WHOLE, Calibration, ChosenRange

LAW = "of the calibration methods the one with the least error on held-out samples"
KEPT = "of the calibration methods none beats the whole range on held-out samples by more than chance would"


def with_range_reasons(proposed: Action | Refusal, calibration: Calibration | None, told: set[str]) -> Action | Refusal:
    """The action with a reason for each of its ranges that calibration methods were compared for.

    Args:
        proposed: A quantize action, or why there is none.
        calibration: The ranges that it was proposed with.
        told: Tensors whose whole range an action before it gave the reason for; those of this one are added.
    """
    if isinstance(proposed, Refusal) or calibration is None:
        return proposed
    calibration = calibration.for_bits(int(proposed.params.get("bit_width", 8)))
    reasons = []
    for name, span in proposed.params.get("ranges", {}).items():
        compared = calibration.chosen.get(name) or calibration.kept.get(name)
        if compared is None or name in proposed.params.get("channel_ranges", {}):
            continue
        if compared.method == WHOLE and name in told:
            continue
        is_used = calibration.ranges[name].high == compared.high and calibration.ranges[name].low == compared.low
        if compared.method == WHOLE or is_used:
            told.add(name)
            is_whole = compared.method == WHOLE
            claim, law = (_kept(name, compared), KEPT) if is_whole else (_claim(name, span, compared), LAW)
            reasons.append(Reason(claim=claim, law=law))
            reasons += [Reason(claim=_by_values(name, compared), law=law)] if compared.by_values_db else []
    return Action.from_plain({**proposed.plain(), "why": [reason.plain() for reason in (*proposed.why, *reasons)]})


def _claim(name: str, span: tuple[float, float], chosen: ChosenRange) -> str:
    """With the range as it is used: it also holds 0, and ends where what reads the tensor is flat."""
    return (
        f"{name} is cut to {span[0]:.4g} to {span[1]:.4g} by {chosen.method}: "
        f"{chosen.held_out_db[chosen.method]:.1f} dB on held-out samples ({_others(chosen)})."
    )


def _kept(name: str, chosen: ChosenRange) -> str:
    ratio = chosen.held_out_db[chosen.method]
    return f"{name} keeps its whole range: {ratio:.1f} dB on held-out samples ({_others(chosen)})."


def _by_values(name: str, chosen: ChosenRange) -> str:
    return f"By the values of {name} themselves, without what reads it: {_figures(chosen.by_values_db)}."


def _others(chosen: ChosenRange) -> str:
    return _figures({method: db for method, db in chosen.held_out_db.items() if method != chosen.method})


def _figures(found: Mapping[str, float]) -> str:
    return ", ".join(f"{method} {db:.1f} dB" for method, db in found.items())
