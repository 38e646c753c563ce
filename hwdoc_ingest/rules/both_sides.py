"""What a sentence says of the instruction and the data side at once: `... caches of 32 Kbytes each`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, Tagged, words

_SIDES = ("instruction", "data")
_CACHE_OF = {"instruction": "l1i", "data": "l1d"}
_BOTH_CACHES = words(
    r"\b(?:instruction (?:cache )?and (?:the )?data|data (?:cache )?and (?:the )?instruction|I and D) ?-?caches?\b"
    r"|\bcaches?\b[^.;]{0,60}\beach for (?:instructions? and data|data and instructions?)\b"
)
_EACH = re.compile(
    r"\b(\d{1,4})[- ]?(?:K(?:i?B|[- ]?bytes?)|kilobytes?) each\b"
    r"|\beach (?:of |is |has |holds )?(\d{1,4})[- ]?(?:K(?:i?B|[- ]?bytes?)|kilobytes?)\b",
    re.IGNORECASE,
)
_WAY = words(r"\b(?:(\d{1,2})|(two|three|four|eight|sixteen))-way\b|\b(direct)[- ]mapped\b")
_LINE = words(r"\b(\d{1,4})-byte (?:cache )?(?:lines?|blocks?)\b")
_COUNTS = {"two": 2.0, "three": 3.0, "four": 4.0, "eight": 8.0, "sixteen": 16.0}
_BUFFERS = (
    r"(?:instruction and data|data and instruction) (?:micro-?)?"
    r"(?:TLBs|translation (?:look-?aside )?buffers(?: \(TLBs?\))?)"
)
_BUFFERS_OF = re.compile(
    rf"\b{_BUFFERS}[^.;\d]{{0,24}}?\b(\d{{1,4}}) entries each\b|\b(\d{{1,4}})-entry,? (?:[\w-]+ ){{0,3}}?{_BUFFERS}",
    re.IGNORECASE,
)
_PAIR_OF_BUFFERS = re.compile(
    r"\b(?:two|2|dual|separate) (\d{1,4})-entry,? [^.;]{0,60}?(?:TLBs|translation look-?aside buffers(?: \(TLBs?\))?)"
    r",? one (?:each )?for (?:the )?(?:instructions?|data)\b[^.;]{0,24}\b(?:data|instructions?)\b"
    r"|\b(\d{1,4})-entry (?:[\w-]+ ){0,3}?(?:I-?TLB ?(?:/|and|&) ?D-?TLB|I/D[ -]?TLBs?)\b",
    re.IGNORECASE,
)
"""`Two 64-entry TLBs, one for instructions and one for data`, `64-entry ITLB / DTLB`."""
_OTHER = words(r"\bL[23]\b|\bsecond(?:ary|[- ]level)\b|\btotal\b|\bcombined\b|\bunified\b")


def find(tagged: Tagged) -> Iterator[Found]:
    """Sizes, ways and lines of both caches, and the entries of both translation buffers."""
    text = tagged.text
    buffers = _BUFFERS_OF.search(text) or _PAIR_OF_BUFFERS.search(text)
    if buffers:
        count = float(buffers[1] or buffers[2])
        for side in _SIDES:
            yield Found("cpu.tlb.entries", *buffers.span(), count, instance=side, sureness=0.85)
    sizes = list(_EACH.finditer(text)) if _BOTH_CACHES.search(text) and not _OTHER.search(text) else []
    if len(sizes) != 1 or tagged.statement.is_row:
        return
    size = float(sizes[0][1] or sizes[0][2]) * 1024
    ways, lines = list(_WAY.finditer(text)), list(_LINE.finditer(text))
    holder = instances.core(tagged, *sizes[0].span())
    for side in _SIDES:
        of = f"cpu.{_CACHE_OF[side]}_cache"
        yield Found(f"{of}.size_bytes", *sizes[0].span(), size, instance=holder, sureness=0.87)
        if len(ways) == 1:
            way = 1.0 if ways[0][3] else _COUNTS.get((ways[0][2] or "").lower()) or float(ways[0][1])
            yield Found(f"{of}.ways", *ways[0].span(), way, instance=holder, sureness=0.82)
        if len(lines) == 1:
            yield Found(f"{of}.line_bytes", *lines[0].span(), float(lines[0][1]), instance=holder, sureness=0.82)
