"""Sizes that are said of the instruction and the data cache at once: `16-Kbyte caches for instructions and data`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.qualities import QUALITIES
from hwdoc_ingest.rules.rule import Found, Tagged, words

_KB = 1024.0
_BOTH_NAMED = words(
    r"\b(?:(?:L1|level[- ]1|primary|first[- ]level) )?"
    r"caches for (?:both )?(?:instructions? and data|data and instructions?)\b"
    r"|\(?\b(?:(?:L1|level[- ]1|primary) )?"
    r"(?:instruction and data|data and instruction|I and D|I- and D-)\)?[ -]?caches\b"
    r"|\b(?:L1 )?(?:I|instruction)[ -]?cache ?(?:/|and|&) ?(?:D|data)[ -]?cache\b"
)
_SIZE_OF_BOTH = re.compile(
    r"(?<![/+] )(?<![/+])\b(\d{1,4})[- ]?(?:KB|KiB|K[- ]?bytes?|kilobytes?)\b[ ,]*"
    r"(?P<gap>(?:(?!\d[- ]?K)[^.;]){0,90})$",
    re.IGNORECASE,
)
"""A size with what stands between it and a name of both caches."""
_TOGETHER = words(r"\btotal|\bcombined|\btogether\b|\baltogether\b|\bunified\b")
_PAIR = re.compile(
    r"\b(?P<one>\d{1,4}) ?K(?:i?B|[ -]?bytes?)?\s*[+/&]\s*(?P<two>\d{1,4}) ?K(?:i?B|[ -]?bytes?)?\s*(?:of\s+)?"
    r"(?:(?:L1|level[ -]1|primary)[ -](?:I/D[ -]|I\+D[ -])?|I/D[ -]|I\+D[ -])caches?\b(?! ?controller)"
    r"|\b(?P<five>\d{1,4}) ?K(?:i?B|[ -]?bytes?)?\s*/\s*(?P<six>\d{1,4}) ?K(?:i?B|[ -]?bytes?)\s*(?:of\s+)?(?:L1 )?"
    r"(?:I|instruction)[- ]?(?:caches?)?\s?/\s?(?:D|data)[- ]?caches?\b(?! ?controller)"
    r"|\b(?:(?:L1|level[ -]1|primary)[ -](?:I/D[ -]|I\+D[ -])?|I/D[ -]|I\+D[ -])caches?\s*[:=]?\s*(?:is |of )?"
    r"(?P<three>\d{1,4}) ?K(?:i?B|[ -]?bytes?)?\s*[+/&]\s*(?P<four>\d{1,4}) ?K(?:i?B|[ -]?bytes?)",
    re.IGNORECASE,
)
"""`32KB+32KB L1 cache`: the instruction cache is named first everywhere."""


_BOTH_ARE = re.compile(
    r"\b(?:both (?:\w+ ){0,2}caches (?:are|have|hold|contain)|each (?:L1 |primary )?cache (?:is|has|holds|contains)"
    r"|(?:instruction and data|data and instruction|L1|primary) caches,? (?:of|with)"
    r"|(?:L1|primary) caches (?:are|can) (?:each )?(?:hold )?)\s*(?:each )?(\d{1,4})[- ]?(?:KB|KiB|K[- ]?bytes?)\b",
    re.IGNORECASE,
)
"""`Both primary caches are 32 Kbytes`."""


_SIDES = re.compile(
    r"\b(\d{1,4})[ -]?K(?:i?B|[ -]?[Bb]ytes?)? ?(?:L1 ?)?I(?:-?cache)?\s*[+/,&]\s*"
    r"(\d{1,4})[ -]?K(?:i?B|[ -]?[Bb]ytes?)? ?(?:L1 ?)?D(?:-?cache)?\b(?!\$)"
)
"""`64 KB I + 64 KB D`, in a line about caches."""
_KINDS = re.compile(
    r"\b(\d{1,4}) ?(?:K(?:i?B|[ -]?bytes?)?)? ?\+ ?(\d{1,4}) ?K(?:i?B|[ -]?bytes?) (?:of )?(?:L1 )?"
    r"(?P<first>instruction) (?:and|/|\+) (?P<second>data) (?:L1[ -]?)?caches?\b|"
    r"\b(\d{1,4}) ?K(?:i?B|[ -]?bytes?)? \(?(?P<one>instruction|data|I|D)\b\)?(?: \([^()]{1,40}\))?"
    r"\s*(?:[+/,&]|and)\s*(?:an? )?"
    r"(\d{1,4}) ?K(?:i?B|[ -]?bytes?)? \(?(?P<two>instruction|data|I|D)\b\)?(?: \([^()]{1,40}\))?,? "
    r"(?:(?:L1|level[- ]?1|first[- ]level)[ -]?)?caches?\b|\bcaches?\b[^.;|]{0,12}[:|(]\s*"
    r"(\d{1,4}) ?K(?:i?B|[ -]?bytes?)? \((?P<three>instruction|data|I|D)\)\s*(?:[+/,&]|and)\s*"
    r"(\d{1,4}) ?K(?:i?B|[ -]?bytes?)? \((?P<four>instruction|data|I|D)\)",
    re.IGNORECASE,
)
"""`64 KB (instruction) / 32 KB (data) L1 cache`, `64 KB data (2-way) + 32 KB instruction (4-way) L1 cache`."""
_OF_CACHES = words(r"\bcaches?\b|\bL[123]\b")
_ROW_OF_BOTH = re.compile(
    r"\b(?:L1 )?(?:I|instruction)[ -]?(?:cache)? ?(?:/|and|,) ?(?:L1 )?(?:D|data)[ -]?caches?\b[^|:]{0,24}[:|]\s*"
    r"(\d{1,4}) ?K(?:i?B|[ -]?bytes?)?\s*(?:/|and|,)\s*(\d{1,4}) ?K(?:i?B|[ -]?bytes?)",
    re.IGNORECASE,
)
"""`L1 I-cache / D-cache | 32 KB / 16 KB`: as many sizes as names, in the order of the names."""


def find(tagged: Tagged) -> Iterator[Found]:
    """One size of both, or two sizes that are written as a sum."""
    yield from _size_of_both(tagged)
    yield from _pair(tagged)
    for sides in _SIDES.finditer(tagged.text) if _OF_CACHES.search(f"{tagged.text} {tagged.parent}") else ():
        instance = instances.core(tagged, sides.start(), sides.end())
        for side, size in zip(("l1i", "l1d"), sides.groups(), strict=True):
            value = float(size) * _KB
            yield Found(
                f"cpu.{side}_cache.size_bytes", sides.start(), sides.end(), value, instance=instance, sureness=0.8
            )
    for kinds in _KINDS.finditer(tagged.text):
        yield from _of_kinds(tagged, kinds)
    row = _ROW_OF_BOTH.search(tagged.text) if tagged.statement.is_row else None
    if row:
        instance = instances.core(tagged, row.start(), row.end())
        for side, size in zip(("l1i", "l1d"), row.groups(), strict=True):
            field, value = f"cpu.{side}_cache.size_bytes", float(size) * _KB
            yield Found(field, row.start(1), row.end(), value, instance=instance, sureness=0.85)
    for match in _BOTH_ARE.finditer(tagged.text):
        for side in ("l1i", "l1d"):
            value = float(match[1]) * _KB
            yield Found(f"cpu.{side}_cache.size_bytes", match.start(), match.end(), value, sureness=0.85)


_ORDER = ("first", "second", "one", "two", "three", "four")


def _of_kinds(tagged: Tagged, match: re.Match[str]) -> Iterator[Found]:
    """Two sizes, each with the word for what its cache holds."""
    names = [match[part].lower()[0] for part in _ORDER if match[part]]
    sizes = [part for part in match.groups() if part and part.isdigit()]
    if set(names) != {"i", "d"}:
        return
    instance = instances.core(tagged, *match.span())
    for name, size in zip(names, sizes, strict=True):
        value = float(size) * _KB
        yield Found(f"cpu.l1{name}_cache.size_bytes", *match.span(), value, instance=instance, sureness=0.82)


def _pair(tagged: Tagged) -> Iterator[Found]:
    """The sizes of an instruction and a data cache that are written as a sum."""
    for match in _PAIR.finditer(tagged.text):
        first, second = (part for part in match.groups() if part)
        if first != second and not (match["five"] or re.search(r"I[/+]D", match.group())):
            continue  # which is which is not said
        instance = instances.core(tagged, match.start(), match.end())
        for side, size in (("l1i", first), ("l1d", second)):
            value = float(size) * _KB
            yield Found(
                f"cpu.{side}_cache.size_bytes", match.start(), match.end(), value, instance=instance, sureness=0.87
            )


def _size_of_both(tagged: Tagged) -> Iterator[Found]:
    """One size of both caches: `16-Kbyte, four-way, physically addressed caches for instructions and data`."""
    for names in _BOTH_NAMED.finditer(tagged.text):
        size = _SIZE_OF_BOTH.search(tagged.text[: names.start()])
        if size is None or _TOGETHER.search(tagged.text) or re.search(r"\w", QUALITIES.sub(" ", size["gap"])):
            continue
        value = float(size[1]) * _KB
        instance = instances.core(tagged, size.start(), names.end())
        for field in ("cpu.l1i_cache.size_bytes", "cpu.l1d_cache.size_bytes"):
            yield Found(field, size.start(), names.end(), value, instance=instance, sureness=0.88)
