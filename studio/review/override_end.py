"""Until when an override holds: a choice of usual ends, and a date of one's own where none of them fits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

import streamlit as st

from metainfer_core.bundle.trust import Time, time_text
from studio.review.decisions import field_key
from studio.words.texts import text

Until = Literal["never", "30", "90", "183", "other"]
"""Days from today, or one of two words."""
CHOICES: tuple[Until, ...] = ("never", "30", "90", "183", "other")
MOST_YEARS = 100
"""How far ahead the end of an override can lie; Streamlit offers ten years unless told."""


def draw_end(action_id: str, kept: Mapping[str, Any]) -> dict[str, str | None]:
    """Draws the choice; gives `until`, what was chosen, and `expires`, the last day as `2027-06-30` or None.

    The days count from the day on which the form is sent off: a form that was left open goes along.
    """
    today = datetime.now(UTC).date()
    before = _day_of(kept.get("expires"))
    begin = kept.get("until") if kept.get("until") in CHOICES else "other" if before is not None else "never"
    until: Until = st.selectbox(
        text("form_expires"), CHOICES, index=CHOICES.index(begin), format_func=lambda each: _words(each, today),
        key=field_key("until", action_id), help=text("form_expires_help"), persist_state="page",
    )  # fmt: skip
    if until == "never":
        return {"until": until, "expires": None}
    if until != "other":
        return {"until": until, "expires": _after(today, until).isoformat()}
    given = st.date_input(
        text("form_expires_day"), value=max(before or _after(today, "30"), today), min_value=today,
        max_value=date(today.year + MOST_YEARS, 12, 31), format="YYYY-MM-DD", key=field_key("expires", action_id),
        persist_state="page",
    )  # fmt: skip
    return {"until": until, "expires": given.isoformat()}


def end_of(day: str) -> Time:
    """The last second of a day, in UTC."""
    return time_text(datetime.combine(date.fromisoformat(day), time(23, 59, 59), UTC))


def _words(until: Until, today: date) -> str:
    if until in ("never", "other"):
        return text(f"form_expires_{until}")
    day = _after(today, until).isoformat()
    return text("form_expires_half_year", day=day) if until == "183" else text("form_expires_in", days=until, day=day)


def _after(today: date, days: str) -> date:
    return today + timedelta(days=int(days))


def _day_of(kept: object) -> date | None:
    """The day that stood there before; None where none did, or no day."""
    try:
        return date.fromisoformat(str(kept))
    except ValueError:
        return None
