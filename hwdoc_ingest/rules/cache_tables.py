"""Tables of caches: a row for each cache, and a column for its size, its lines, its ways and how it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hwdoc_ingest.rules.rule import Found, Tagged, words
from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.statements.statement import Cell

_CACHES = (
    (
        "l1i",
        words(r"(?:(?:L1|primary|first[- ]level|on-?chip) )?(?:I|instr(?:uction|\.)?)(?:[- ]?caches?)?|L1I|ICache"),
    ),
    ("l1d", words(r"(?:(?:L1|primary|first[- ]level|on-?chip) )?(?:D|data|operand)(?:[- ]?caches?)?|L1D|DCache")),
    (
        "l2",
        words(
            r"(?:(?:unified|on-?chip|shared) )?(?:L2|level[- ]2|secondary|second[- ]level)(?: unified)?"
            r"(?:[- ]?caches?)?"
        ),
    ),
    ("l3", words(r"(?:(?:unified|shared) )?(?:L3|level[- ]3|third[- ]level)(?: unified)?(?:[- ]?caches?)?")),
)
"""What a row is called that tells of one cache."""
_ABOUT_CACHES = words(r"\bcaches?\b")
_SIZE = words(r"^(?:total )?(?:size|capacity)\b")
_LINE = words(r"^(?:line|block)\b")
_WAYS = words(r"^(?:associativity|set[- ]associativ\w+|organi[sz]ation|ways|mapping|structure)\b")
_WRITES = words(r"^(?:write|update)\b")
_WAY = re.compile(r"(\d{1,2})[- ]?ways?|^(\d{1,2})$", re.IGNORECASE)
_DIRECT = words(r"^direct(?:[- ]mapped)?$")
_POLICY = words(
    r"(?:write[- ]?back|copy[- ]?back|write[- ]?through)(?:\s*(?:/|or|and)\s*(?:write[- ]?back|write[- ]?through))?"
    r"(?: selectable)?"
)
_IN_BYTES = words(r"[(\[]\s*((?:[KM]i?|kilo|mega)?(?:B|bytes))\s*[)\]]$")
"""The unit at the end of a header: `Line size (bytes)`."""
_LARGEST_LINE = 1024.0
_SURE = 0.82


def find(tagged: Tagged) -> Iterator[Found]:
    """What a row of a table of caches tells of its cache, or of the cache of one of its columns."""
    cells = tagged.statement.cells
    if not cells:
        return
    label, header = tagged.statement.cell_text(cells[0]).strip(), cells[0].header
    headed = cells[-1].header if _ABOUT_CACHES.search(cells[-1].header) else ""
    if len(cells) == 2 and (cells[1].group or headed):
        cache = _cache(cells[1].group or headed)
        yield from _told(tagged, replace(cells[1], header=label), cache) if cache else ()
        return
    about = f"{label} {header} {' '.join(tagged.statement.path[-2:])}"
    cache = _cache(label)
    if cache and len(cells) > 2 and _ABOUT_CACHES.search(about) and "TLB" not in about:
        for cell in cells[1:]:
            yield from _told(tagged, cell, cache)


def _cache(name: str) -> str:
    return next((level for level, names in _CACHES if names.fullmatch(name)), "")


def _told(tagged: Tagged, cell: Cell, cache: str) -> Iterator[Found]:
    header, text = cell.header.strip(), tagged.statement.cell_text(cell).strip()
    unit = _IN_BYTES.search(header)
    sized = f"{text} {unit[1]}" if unit and text.isdecimal() else text
    sizes = [a for a in find_amounts(sized) if a.dimension == "bytes" and a.form == "single"]
    if len(sizes) == 1 and _SIZE.search(header):
        yield Found(f"cpu.{cache}_cache.size_bytes", cell.start, cell.end, sizes[0].values[0], sureness=_SURE)
    elif len(sizes) == 1 and _LINE.search(header) and sizes[0].values[0] <= _LARGEST_LINE:
        yield Found(f"cpu.{cache}_cache.line_bytes", cell.start, cell.end, sizes[0].values[0], sureness=_SURE)
    elif _WAYS.search(header):
        way = _WAY.search(text)
        ways = 1.0 if _DIRECT.search(text) else float(way[1] or way[2]) if way else 0.0
        if 1 <= ways <= 64:
            yield Found(f"cpu.{cache}_cache.ways", cell.start, cell.end, ways, sureness=_SURE)
    elif _WRITES.search(header) and cache == "l1d" and _POLICY.fullmatch(text):
        yield Found("cpu.l1d_cache.write_policy", cell.start, cell.end, text.lower(), sureness=0.75)
