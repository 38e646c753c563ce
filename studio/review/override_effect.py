"""What an override does, as it was measured before it was written: on its form, its card, and in its history."""

from __future__ import annotations

from metainfer_core.explain.sizes import size
from metainfer_core.policy.objective import worst_sqnr_db
from metainfer_core.policy.what_if import MOVES_NOTHING, Forecast, Outcome, WhatIf, as_clause
from review_store.record.events import Overridden
from studio.words.core_words import core_words
from studio.words.figures import decibels, microseconds
from studio.words.markup import draw
from studio.words.texts import text


def draw_effect(found: WhatIf, action_id: str, beside: str = "") -> None:
    """Shows what was measured apart from what is predicted."""
    draw(
        "override_effect",
        measured=_measured(found, action_id),
        over=_over(found),
        unknown=found.unknown,
        predicted=_forecasts(found.before.predicted, found.after.predicted),
        beside=beside,
        data=found.data,
    )


def effect_words(event: Overridden) -> tuple[str, ...]:
    """The effect that an override was written with, in sentences; nothing where an older program wrote it."""
    found = event.measured
    if found is None:
        return (text("effect_unmeasured", why=core_words(event.unmeasured)),) if event.unmeasured else ()
    figures = _measured(found, event.action)
    predicted = _forecasts(found.before.predicted, found.after.predicted)
    return (
        text("effect_measured_on", data=core_words(found.data), figures=figures),
        *_over(found),
        text("effect_predicted", figures=predicted),
    )


def _measured(found: WhatIf, action_id: str) -> str:
    """`by itself 37.6 dB → 19.9 dB; the whole policy 35.1 dB → 19.9 dB`."""
    whole = text("effect_together", before=_figure(found.before.together), after=_figure(found.after.together))
    if action_id not in found.after.alone:
        return whole
    before, after = (side.alone[action_id] for side in (found.before, found.after))
    if before.why_not == after.why_not == MOVES_NOTHING:
        return whole
    return text("effect_alone", before=_figure(before), after=_figure(after)) + whole


def _figure(found: Outcome) -> str:
    """The worst output's ratio, or in short why there is none."""
    if found.effect is None:
        return text("effect_none", why=as_clause(core_words(found.why_not)))
    worst = worst_sqnr_db(found.effect)
    figure = decibels(None if worst == float("inf") else worst)
    return f"{figure} · {core_words(found.effect.metric.words)}" if found.effect.metric else figure


def _over(found: WhatIf) -> tuple[str, ...]:
    return tuple(text("effect_over", why=core_words(each)) for each in found.after.broken)


def _forecasts(before: Forecast | None, after: Forecast | None) -> str:
    return text(
        "effect_forecast", time_before=_time(before), time_after=_time(after),
        bytes_before=size(before.moved_bytes) if before else text("unknown"),
        bytes_after=size(after.moved_bytes) if after else text("unknown"),
    )  # fmt: skip


def _time(found: Forecast | None) -> str:
    return microseconds(found.time_us.typical if found is not None and found.time_us is not None else None)
