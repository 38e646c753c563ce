"""How long instructions take and how many start at once, as sentences and tables of latencies say it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, Tagged
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_N = r"(?P<count>\d{1,2}|" + "|".join(word for word in NUMBER_WORDS if word.isascii()) + r")"
_ISSUED = re.compile(
    rf"\b{_N} (?:\d+-bit )?instructions? (?:(?:is|are|can be) )(?:issued|dispatched|executed|retired|completed|decoded)"
    r" (?:(?:in|per|on|at) )?(?:each|every|one|a|the same)? ?(?:clock )?(?:cycle|clock)"
    rf"|\b(?:issues?|dispatch(?:es)?|retires?|executes?|completes?) (?:up to )?{_N.replace('count', 'many')}"
    r" instructions?"
    r" (?:per|each|every|in each|in every) (?:clock|cycle)"
    rf"|^\W*(?:up to )?{_N.replace('count', 'listed')} (?:\d+-bit )?instructions?"
    r"(?:/| per )(?:clock )?(?:cycle|clock)\b",
    re.IGNORECASE,
)
_TAKES = (
    (
        "latency.multiplier_cycles",
        re.compile(r"\bmultipl(?:y|ies|ication|ications)\b(?: instructions?)?(?: operations?)?$", re.IGNORECASE),
    ),
    ("latency.divider_cycles", re.compile(r"\bdiv(?:ide|ides|ision|isions)\b(?: instructions?)?$", re.IGNORECASE)),
    ("latency.branch_cycles", re.compile(r"\btaken branch(?:es)?$", re.IGNORECASE)),
)
_VERB = re.compile(
    r"\s*(?:(?:takes?|costs?|requires?|needs?|uses?)|ha(?:s|ve) an? (?:latency|execution time) of|completes? in"
    r"|(?:is|are) executed in)\s+(?:one |an )?(?:up to |between |from )?(?:extra |another )?$",
    re.IGNORECASE,
)
_NAMED_ROWS = (
    (
        "latency.multiplier_cycles",
        re.compile(r"(?:integer )?(?:mult?(?:iply|iplication)?|multiplier)s?", re.IGNORECASE),
    ),
    ("latency.divider_cycles", re.compile(r"(?:integer )?(?:div(?:ide|ision|ider)?)s?", re.IGNORECASE)),
    ("latency.branch_cycles", re.compile(r"(?:taken )?branch(?:es)?(?: \(?taken\)?)?", re.IGNORECASE)),
)
_LATENCY = re.compile(r"\blatency\b|\bcycles\b|\bPCycles?\b|周期", re.IGNORECASE)
_OPERATIONS = re.compile(
    r"(?:instructions?|operations?|mnemonics?|指令)(?: (?:class|type|group)(?:es)?)?", re.IGNORECASE
)
"""The header over the names of the instructions."""
MOST = 200.0
"""Cycles that one instruction may take."""


def find(tagged: Tagged) -> Iterator[Found]:
    """The issue width that a sentence counts in instructions, and latencies by the name of the operation."""
    text = tagged.text
    if tagged.statement.is_row:
        yield from _rows(tagged)
        return
    issued = _ISSUED.search(text)
    if issued:
        word = next(part for part in issued.groupdict().values() if part).lower()
        count = float(NUMBER_WORDS.get(word) or word)
        if 1 <= count <= 16:
            yield Found("cpu.issue_width", issued.start(), issued.end(), count, sureness=0.75)
    for amount in tagged.amounts:
        verb = _VERB.search(text[: amount.start]) if amount.dimension == "cycles" else None
        if verb is None or not 1 <= amount.values[-1] <= MOST:
            continue
        for field, name in _TAKES:
            named = name.search(text[: verb.start()])
            if named and amount.form == "range":
                low, high = amount.values
                yield Found(field, named.start(), amount.end, min=low, max=high, sureness=0.75)
            elif named and amount.form == "single":
                yield Found(field, named.start(), amount.end, amount.values[0], sureness=0.72)


def _rows(tagged: Tagged) -> Iterator[Found]:
    """A row that begins with the operation, below a header `Latency`."""
    cells = tagged.statement.cells
    label = tagged.statement.cell_text(cells[0]).strip()
    for field, name in _NAMED_ROWS:
        timed = next((cell for cell in cells[1:] if _LATENCY.search(cell.header)), None)
        if timed is None or not name.fullmatch(label):
            continue
        said = re.fullmatch(r"(\d{1,3})(?:\s*(?:cycles?|clocks?))?", tagged.statement.cell_text(timed).strip())
        if said and 1 <= float(said[1]) <= MOST:
            yield Found(field, timed.start, timed.end, float(said[1]), sureness=0.75)
            return
    timed = next((cell for cell in cells[1:] if _LATENCY.search(cell.header)), None)
    if timed is None or not _OPERATIONS.fullmatch(cells[0].header.strip()) or not re.match(r"[A-Za-z]{2}", label):
        return
    said = re.fullmatch(r"(\d{1,3})", tagged.statement.cell_text(timed).strip())
    if said and 1 <= float(said[1]) <= MOST:
        yield Found(
            "latency.instruction_cycles", cells[0].start, timed.end, float(said[1]), instance=label, sureness=0.72
        )
