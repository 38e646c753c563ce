"""Supplies told with the number first (`3.3-V I/O, 1.4-V core`), and what pages an MMU maps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hwdoc_ingest.rules.instances import ROW_OF_RAIL
from hwdoc_ingest.rules.rule import Found, Tagged

_RAIL = re.compile(
    r"(?<![\w.-])(?P<volts>\d(?:\.\d{1,3})?)[ -]?V(?:olts?|DC)?[ -](?:nominal )?"
    r"(?P<rail>core|I/?Os?|internal|external|internal logic|(?:core|I/O) (?:supply|voltage))\b"
    r"(?![- ](?:input|output|toleran|compatib))",
    re.IGNORECASE,
)
_NO_RAIL = re.compile(
    r"toleran|compatib|\binputs?\b|\boutputs?\b|threshold|level|absolute|maximum rating|\breference\b|\bADC\b|\bDAC\b",
    re.IGNORECASE,
)
_PAGES = re.compile(
    r"\bpages?(?: sizes?)?(?: \w+){0,2}?(?: of|:| are| from)? (?P<list>\d{1,3} ?[KMG]i?(?:B|bytes?)"
    r"(?:(?:, | and |, and | or |/)\d{1,3} ?[KMG]i?(?:B|bytes?))+)",
    re.IGNORECASE,
)
_MMU = re.compile(r"\bMMU\b|\bTLBs?\b|translation|virtual|memory[- ]management", re.IGNORECASE)


def _io_row(tagged: Tagged) -> Iterator[Found]:
    """The supply of the pins in a row of its own: `I/O power supply | 3.3 V`; what pins stand is another matter."""
    row = ROW_OF_RAIL.match(tagged.text) if tagged.statement.is_row else None
    bounded = any(cell.bound not in (None, "value") for cell in tagged.statement.cells)
    volts = [each for each in tagged.amounts if each.dimension == "voltage"]
    if row is None or not row["rail"].upper().startswith("I") or row["rail"].lower().startswith("internal") or bounded:
        return
    if len(volts) != 1 or volts[0].form == "list" or _NO_RAIL.search(f"{tagged.text} {tagged.path_text}"):
        return
    low, *_, high = (float(f"{value:.12g}") for value in (volts[0].values[0], *volts[0].values))
    said: dict[str, Any] = {"value": low} if volts[0].form == "single" else {"min": low, "max": high}
    yield Found("power.supply_v", volts[0].start, volts[0].end, instance=row["rail"], sureness=0.72, **said)


def find(tagged: Tagged) -> Iterator[Found]:
    """Rails after their voltage, and page sizes."""
    text = tagged.text
    if not tagged.statement.is_row and not _NO_RAIL.search(text):
        for match in _RAIL.finditer(text):
            rail = re.sub(r"[Ss]$", "", match["rail"]) if match["rail"].lower() != "internal" else match["rail"]
            volts = float(match["volts"])
            if 0.4 <= volts <= 5.5:
                yield Found("power.supply_v", match.start(), match.end(), volts, instance=rail, sureness=0.7)
    yield from _io_row(tagged)
    pages = _PAGES.search(text)
    if pages and _MMU.search(f"{text} {tagged.path_text}"):
        sizes = tuple(re.findall(r"\d{1,3} ?[KMG]i?(?:B|bytes?)", pages["list"], re.IGNORECASE))
        yield Found("mmu.page_sizes", pages.start("list"), pages.end("list"), sizes, sureness=0.72)
