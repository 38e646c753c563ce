"""A value behind a short label that says for what it holds: the mode of a current, the grade of a temperature range."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, Tagged, words

_MODE = re.compile(
    r"^\W*(?P<mode>(?:EM\d\w?|LPM[\d.]+\w?|(?:active|run|normal|sleep|deep[- ]?sleep|light[- ]?sleep|stop(?: ?\d)?"
    r"|standby|shut-?down|hibernat\w+|idle|power[- ]?(?:down|save|off)|backup|ship|system (?:on|off))(?: mode)?"
    r"|stop mode \d)(?: ?\([^()]{1,32}\))?)\s*(?:[:：]|current(?: consumption)?\s*(?:[:：]|of|is)?)\s*"
    r"(?:typ(?:ical(?:ly)?)?\.?|about|approximately|only|down to|as low as|<|≤|less than)?\s*$",
    re.IGNORECASE,
)
"""`Power-save mode:`, `Standby (LPM3 with VLO):`, `Deep-sleep current:`."""
_MOST = re.compile(r"(?:<|≤|less than)\s*$", re.IGNORECASE)
_NO_MODE = words(r"wake-?up time|leakage|per MHz|regulator|LDO|sink|source|drive|charg|\bLED\b|input current")
_GRADE = re.compile(
    r"^\W*(?P<grade>[A-Z][\w-]{0,10}(?: (?:version|grade|suffix|products?|parts?|devices?|temperature))?"
    r"|(?:commercial|industrial|automotive|extended|military)(?: (?:grade|version|temperature))?)\s*[:：]\s*$",
    re.IGNORECASE,
)
"""`D-version:`, `Industrial grade:`."""
_AMBIENT = words(r"^\W*(?:ambient |operating )+temp(?:erature|\.)?(?: ranges?)?(?:s)?\W*$|^\W*temperature ranges?\W*$")


def find(tagged: Tagged) -> Iterator[Found]:
    """The one value that a labelled item gives first."""
    if tagged.statement.is_row or not tagged.amounts or tagged.describes_register:
        return
    first = next((each for each in tagged.amounts if each.dimension in ("current", "temperature")), None)
    if first is None:
        return
    before = tagged.text[: first.start]
    mode = _MODE.match(before) if first.dimension == "current" and first.form == "single" else None
    if mode and 1e-9 <= first.values[0] <= 10 and not _NO_MODE.search(f"{tagged.text} {tagged.parent}"):
        value, at = first.values[0], instances.beside(tagged, first.start, first.end)
        most = bool(_MOST.search(before))
        span = mode.start("mode"), first.end
        yield Found(
            "power.current_a",
            *span,
            None if most else value,
            max=value if most else None,
            instance=" ".join(part for part in (mode["mode"].strip(), at) if part),
            sureness=0.76,
        )
    grade = _GRADE.match(before) if first.dimension == "temperature" and first.form == "range" else None
    if grade and first.values[0] <= 0 < first.values[1] <= 200 and _AMBIENT.match(tagged.parent):
        low, high = first.values
        yield Found(
            "thermal.ambient_c", first.start, first.end, min=low, max=high, instance=grade["grade"], sureness=0.76
        )
