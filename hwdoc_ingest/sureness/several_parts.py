"""Documents that tell of several parts: each reading is said of the part that its sentence or its heading names.

Where two sections give two values of one field and neither names a thing, the values do not contradict each other if
the sections are about two chips.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from operator import itemgetter

from hwdoc_ingest.rules.rule import Tagged
from metainfer_core.spec.drafting.draft import Candidate

_NAME = (
    r"(?<![\w.,/-])(?!(?:Cortex|RV|DDR|USB|PCI|I2|SPI|UART|ISO|IEC|IEEE|EN|JEDEC|AXI|AHB|APB|CAN|SRAM|INT|FP|BF|SD|BGA|L)"
    r"\w*\d)(?:[A-Z]{1,6}[a-z]{0,6}-?\d{2,6}[A-Za-z]{0,4}\d{0,3}(?:-[A-Z\d]{1,5})?|[A-Z][a-z]+[A-Z]{2,}[\w-]*)"
    r"(?![\w.,%/-]*\w)"
)
_NUMBER = r"(?<=[A-Za-z] )\d{4,6}[A-Z]{0,3}\b(?![.,%/-]\d| ?[KMG]?(?:B|Hz|bytes?|bits?)\b)"
PART = re.compile(rf"{_NAME}|{_NUMBER}|^\d{{4,6}}[A-Z]{{0,3}}$")
"""`SH7750`, `the 68060`, `TurboSPARC`: what a chip is called."""
_LEADS = r"(?:The|This|An?|Its|[A-Z][a-z]+|CPU|MCU|the|original|newer|first)"
_SUBJECT = re.compile(
    rf"^(?:\W|(?:Operating|Running|As|In|On|With|Like|Unlike|At|For)\b[^.;]{{0,90}}?, )?(?:{_LEADS} ){{0,4}}?"
    rf"(?P<name>{_NAME}|{_NUMBER})(?:['’]s)?(?! ?(?:bus|interface|instruction|architecture|core\b|class))"
)
"""What a sentence tells of, behind no more than a phrase: `Operating at 80 MHz, the X1200 delivers`."""
_SENTENCE = re.compile(r"(?<=[.;]) (?=[A-Z])")
_OF_PARTS = ("cpu.", "chip.", "power.", "memory.", "npu.", "bus.", "latency.", "thermal.", "gpio.", "dma.", "clock.")
"""Fields of what one part has and another has not."""


def said_of_parts(candidates: Sequence[Candidate], origin: Callable[[Candidate], Tagged]) -> list[Candidate]:
    """The candidates, under their part where two parts have one field in two ways; then others of a lesser part too.

    The main part is the one that most is said of: what else is said of it alone needs no name.
    """
    told = {id(each): _part(origin(each)) for each in candidates if _may_be_told(each)}
    readings: dict[str, dict[str, set[object]]] = defaultdict(lambda: defaultdict(set))
    for each in candidates:
        name = told.get(id(each))
        if name:
            readings[each.field][name].add((each.value, each.min, each.typ, each.max))
    apart = {field for field, by_part in readings.items() if len({frozenset(said) for said in by_part.values()}) > 1}
    main, _ = max(Counter(name for name in told.values() if name).items(), key=itemgetter(1), default=("", 0))
    return [_named(each, told.get(id(each)), apart, main) for each in candidates]


def _named(candidate: Candidate, part: str | None, apart: set[str], main: str) -> Candidate:
    if part is None or not (candidate.field in apart or (apart and part != main)):
        return candidate
    return Candidate(**{**candidate.__dict__, "instance": part})


def _may_be_told(candidate: Candidate) -> bool:
    return candidate.instance is None and candidate.field.startswith(_OF_PARTS)


def _part(tagged: Tagged) -> str | None:
    """The part that is the subject of a sentence or of the one before it, else the only one in the nearest heading."""
    said = [] if tagged.statement.is_row else [tagged.text, *reversed(_SENTENCE.split(tagged.statement.earlier))]
    subject = next((found for each in said for found in [_SUBJECT.match(each)] if found), None)
    if subject:
        return subject["name"]
    for above in reversed(tagged.statement.path):
        names = set(PART.findall(above))
        if names:
            return names.pop() if len(names) == 1 else None
    return None
