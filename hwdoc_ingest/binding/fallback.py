"""The fallback reader: a number that no rule has bound, by the words in whose company it stands.

The rules know phrases; this reader knows words (lexicon.yaml). It reads what is said in a way that no rule foresaw, and
is never sure enough that nobody need look. Where two fields would fit a number equally well it is silent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from hwdoc_ingest.binding.attach import NEGATED, PART_OF, TIMES, UNKNOWN, is_condition, is_part
from hwdoc_ingest.rules import QUANTITY_RULES, instances
from hwdoc_ingest.rules.rule import NEVER, Found, InstanceOf, Tagged, clause, words
from hwdoc_ingest.statements.number_phrases import Amount

SURENESS = 0.62
"""Chance that such a reading is right if every word was read right."""
FAR = 6
"""Most words between a number and a name."""
ABOVE = 5.0
"""Cost of a name that stands in a heading, in words."""
MOST_LETTERS = 220
"""A longer sentence tells of too much for this reader."""
ADDRESS = re.compile(r"0x[\dA-Fa-f]{4}|H'[\dA-Fa-f]{4}|[\dA-Fa-f]{4}_[\dA-Fa-f]{4}")
"""What a row of a memory map holds: its sizes are those of address windows."""
BROKEN_OFF = re.compile(r"(?:which|that|whose|where|and|or|of|than)\b")
"""How a piece of a sentence begins whose subject was lost."""
_CONTENTS = re.compile(r"(?:table of )?contents|目录|目次", re.IGNORECASE)
EACH = re.compile(r"\s*each\b", re.IGNORECASE)
"""After the size of one of several banks."""
AT_MOST = re.compile(r"\b(?:up to|max(?:imum)?\.?(?: of)?|at most|as much as)\s*$", re.IGNORECASE)
"""Before a number that is the largest."""
_INSTANCES: dict[str, InstanceOf] = {
    "core": instances.clocked_core,
    "memory": instances.memory,
    "rail": instances.rail,
    "mode": instances.mode,
    "grade": instances.grade_before,
}


@dataclass(frozen=True)
class Entry:
    """One way of the lexicon to tell what a number is about."""

    field: str
    dimension: str
    name: re.Pattern[str]
    needs: re.Pattern[str] | None
    within: re.Pattern[str] | None
    """Must stand in the sentence or the two innermost headings."""
    forbids: re.Pattern[str]
    forbids_above: re.Pattern[str]
    low: float
    high: float
    scale: float
    above: bool
    """Whether the name may stand in a heading."""
    near: int
    ranged: bool
    spans_zero: bool
    """Whether a range must begin at 0 or below."""
    lists: bool
    integer: bool
    instance: InstanceOf | None


def _entry(plain: dict[str, Any]) -> Entry:
    return Entry(
        field=plain["field"],
        dimension=plain["dimension"],
        name=words(plain["name"]),
        needs=words(plain["needs"]) if "needs" in plain else None,
        within=words(plain["within"]) if "within" in plain else None,
        forbids=words(plain["not"]) if "not" in plain else NEVER,
        forbids_above=words(plain["not_above"]) if "not_above" in plain else NEVER,
        low=float(plain["low"]),
        high=float(plain["high"]),
        scale=float(plain.get("scale", 1)),
        above=plain.get("above", False),
        near=plain.get("near", FAR),
        ranged=plain.get("ranged", False),
        spans_zero=plain.get("spans_zero", False),
        lists=plain.get("lists", False),
        integer=plain.get("integer", False),
        instance=_INSTANCES.get(plain.get("instance", "")),
    )


@cache
def lexicon() -> tuple[Entry, ...]:
    """The entries of lexicon.yaml."""
    text = files(__package__).joinpath("lexicon.yaml").read_text("utf-8")
    return tuple(_entry(plain) for plain in yaml.safe_load(text))


@cache
def _refused(field: str) -> tuple[re.Pattern[str], ...]:
    """What the rules of a field refuse: a number that they leave alone on purpose is not left over."""
    return tuple(rule.forbids for rule in QUANTITY_RULES if rule.field == field)


def read_left_over(tagged: Tagged, bound: Sequence[Found]) -> Iterator[Found]:
    """What the numbers say that stand in none of the stretches that rules have bound."""
    if (
        tagged.describes_register
        or (tagged.statement.is_row and ADDRESS.search(tagged.text))
        or len(tagged.text) > MOST_LETTERS
        or tagged.statement.is_heading
    ):
        return
    if BROKEN_OFF.match(tagged.text):
        return
    for amount in tagged.amounts:
        taken = any(found.start < amount.end and found.end > amount.start for found in bound)
        of_whole = amount.dimension in ("bytes", "count") and is_part(tagged, amount)
        if (
            taken
            or of_whole
            or _numbers_a_page(tagged, amount)
            or is_condition(tagged, amount)
            or NEGATED.search(clause(tagged.text, amount.start, amount.end))
        ):
            continue
        options = sorted(
            ((cost, at, entry) for at, entry in enumerate(lexicon()) for cost in _costs(tagged, amount, entry)),
            key=lambda option: option[:2],
        )
        fields = {entry.field for cost, _, entry in options if cost <= options[0][0] + 0.5}
        if len(fields) == 1 and not UNKNOWN.search(tagged.text):
            yield from _found(tagged, amount, options[0][2])


def _numbers_a_page(tagged: Tagged, amount: Amount) -> bool:
    """Whether a number ends a line of a table of contents."""
    ends = amount.dimension == "count" and not tagged.text[amount.end :].strip()
    return ends and any(_CONTENTS.fullmatch(part.strip()) for part in tagged.statement.path)


def _costs(tagged: Tagged, amount: Amount, entry: Entry) -> Iterator[float]:
    """How far an entry's name is from a number, in words; nothing where it does not fit."""
    if entry.dimension != amount.dimension or not _plausible(entry, amount):
        return
    if entry.field.startswith("cpu.") and tagged.is_of_accelerator:
        return
    one_of_several = EACH.match(tagged.text, amount.end) or TIMES.search(tagged.text[: amount.start])
    if entry.field.startswith("memory.") and one_of_several:
        return
    path = " > ".join(tagged.statement.path[-2:])
    around = clause(tagged.text, amount.start, amount.end)
    everything = f"{tagged.text} > {tagged.path_text}"
    if (
        (entry.needs and not entry.needs.search(everything))
        or (entry.within and not entry.within.search(f"{tagged.text} > {path}"))
        or entry.forbids.search(around)
        or any(pattern.search(around) for pattern in _refused(entry.field))
        or PART_OF.search(around)
        or entry.forbids_above.search(path)
    ):
        return
    offset = tagged.text.find(around)
    for match in entry.name.finditer(around):
        start, end = offset + match.start(), offset + match.end()
        gap = tagged.text[end : amount.start] if end <= amount.start else tagged.text[amount.end : start]
        rivals = any(
            other is not amount and other.dimension == amount.dimension and _between(other, amount, start, end)
            for other in tagged.amounts
        )
        count = len(re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]", gap))
        inside = gap.count("(") > gap.count(")") and amount.end <= start
        rivals |= inside and any(other.dimension == amount.dimension and other.start > end for other in tagged.amounts)
        if count <= entry.near and not rivals and "|" not in gap:
            yield float(count)
    same = [other for other in tagged.amounts if other.dimension == amount.dimension]
    if entry.above and len(same) == 1 and entry.name.search(path):
        yield ABOVE


def _between(other: Amount, amount: Amount, start: int, end: int) -> bool:
    low, high = (end, amount.start) if end <= amount.start else (amount.end, start)
    return low <= other.start < high


def _plausible(entry: Entry, amount: Amount) -> bool:
    values = [value / entry.scale for value in amount.values]
    if amount.form == "list" and not entry.lists:
        return False
    if entry.ranged and (amount.form != "range" or (entry.spans_zero and values[0] > 0)):
        return False
    if entry.integer and (amount.form != "single" or not values[0].is_integer()):
        return False
    return all(entry.low <= value <= entry.high for value in values)


def _found(tagged: Tagged, amount: Amount, entry: Entry) -> Iterator[Found]:
    values = tuple(float(f"{value / entry.scale:.12g}") for value in amount.values)
    said: dict[str, Any] = {"value": values[0] if len(values) == 1 else values}
    if amount.form == "range":
        said = {"min": values[0], "max": values[1]}
    elif amount.form == "tolerance":
        said = {"min": values[0], "typ": values[1], "max": values[2]}
    elif amount.form == "single" and AT_MOST.search(tagged.text[: amount.start]):
        said = {"max": values[0]}
    instance = entry.instance(tagged, amount.start, amount.end) if entry.instance else None
    yield Found(entry.field, amount.start, amount.end, instance=instance, sureness=SURENESS, guessed=True, **said)
