"""What overrides would do, in sentences: for the command line, the record and the page of a review."""

from __future__ import annotations

import math

from metainfer_core.explain.sizes import size
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.objective import worst_sqnr_db
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.what_if import Forecast, Outcome, WhatIf, as_clause, content_of


def what_if_lines(found: WhatIf) -> tuple[str, ...]:
    """All of it: what was measured, the budget, what is predicted."""
    lines = [f"Measured on {found.data}, the signal-to-noise ratio of the worst output, without and with it:"]
    lines += [f"  {name} by itself: {_both(old, found.after.alone[name])}" for name, old in found.before.alone.items()]
    lines.append(f"  all actions together: {_both(found.before.together, found.after.together)}")
    lines += [f"Over the accuracy budget: {sentence}" for sentence in found.after.broken]
    lines += [found.unknown] if found.unknown else []
    return (*lines, f"Predicted, not measured: {_forecasts(found.before.predicted, found.after.predicted)}.")


def what_if_line(found: WhatIf, action_id: str) -> str:
    """The same of one action in a line."""
    own = ""
    if action_id in found.after.alone:
        own = f"by itself {_both(found.before.alone[action_id], found.after.alone[action_id])}, "
    whole = f"all actions together {_both(found.before.together, found.after.together)}"
    budget = " (over the accuracy budget)" if found.after.broken else ""
    predicted = _forecasts(found.before.predicted, found.after.predicted)
    return f"measured on {found.data}: {own}{whole}{budget}; predicted {predicted}"


def beside_the_record(policy: Policy, found: WhatIf) -> str:
    """How what was measured now compares with what the policy itself holds, in a sentence.

    Args:
        policy: As it was proposed, without people's overrides.
        found: What was measured.
    """
    recorded = recorded_together(policy)
    if recorded is None:
        return "The policy holds no measured figures to compare with."
    if recorded.data != found.data:
        return f"The policy's own figures were measured on {recorded.data}, these on {found.data}."
    if found.before.content != content_of(policy):
        return "The policy's own figures are without the overrides that are in force already."
    now = found.before.together.effect
    if now == recorded:
        return "Without it, the policy measures exactly as when it was made."
    return (
        f"Without it, the policy measures {decibels(now)}; when it was made, it measured {decibels(recorded)}: "
        "the data or the program is another."
    )


def recorded_together(policy: Policy) -> Effect | None:
    """What was measured of the whole policy when it was made."""
    return next((line.evidence.together for line in policy.actions if line.evidence.together is not None), None)


def decibels(effect: Effect | None) -> str:
    """The worst output's ratio, such as `34.9 dB`."""
    if effect is None:
        return "unknown"
    worst = worst_sqnr_db(effect)
    return "no error" if math.isinf(worst) else f"{worst:.1f} dB"


def _both(before: Outcome, after: Outcome) -> str:
    return f"{_figure(before)} → {_figure(after)}"


def _figure(found: Outcome) -> str:
    if found.effect is None:
        return f"none ({as_clause(found.why_not)})"
    flips = max((each.argmax_flips or 0 for each in found.effect.outputs), default=0)
    others = [found.effect.metric.words] if found.effect.metric is not None else []
    others += [f"another greatest element in {flips} of {found.effect.samples} samples"] if flips else []
    return ", ".join((decibels(found.effect), *others))


def _forecasts(before: Forecast | None, after: Forecast | None) -> str:
    return f"time {_time(before)} → {_time(after)}, bytes moved {_bytes(before)} → {_bytes(after)}"


def _time(found: Forecast | None) -> str:
    if found is None or found.time_us is None:
        return "unknown"
    time = found.time_us
    return f"{time.typical:.4g} us ({time.low:.4g} to {time.high:.4g})"


def _bytes(found: Forecast | None) -> str:
    return "unknown" if found is None else size(found.moved_bytes)
