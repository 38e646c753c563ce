"""Rows of tables whose columns have no bounds: a name and its value side by side, or values under their own names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.statements.statement import CELL_MARK, Cell, Statement

LABEL_WORDS = 7
"""Most words of a name beside its value."""
_UNIT = re.compile(r"[(\[]\s*([^()\[\]]{1,8})\s*[)\]]\s*$|,\s*([kMGm]?(?:Hz|V|A|W|B)|°C(?:/W)?)\s*$")
_UNITS = re.compile(r"units?\b|单位", re.IGNORECASE)
_SPEED = re.compile(
    r"^(?:max(?:imum)?\.? )?(?:(?:CPU|core|processor|operating|clock) )?(?:speed|freq(?:uency)?|clock)(?: grade)?$",
    re.I,
)
"""The header of a list of parts over the clock that each runs at."""
_NOT_PARTS = re.compile(
    r"\b(?:interfaces?|bus(?:es)?|ports?|modules?|peripherals?|domains?|clocks?|signals?|blocks?|PLLs?|oscillators?"
    r"|memor(?:y|ies)|sources?|masters?|slaves?|channels?)\b|接口|总线|端口|模块|外设|时钟|信号|存储",
    re.IGNORECASE,
)
"""The first header of a table whose rows are no parts: a clock there is not the processor's."""
_BARE_SPEED = re.compile(r"speed$", re.IGNORECASE)
"""A header that says too little: the speed may be a bus's."""
_PART_OF_CACHE = re.compile(r"\b(?:lines?|blocks?|ways?|sets?|banks?|pages?|sectors?|associativity)\b", re.IGNORECASE)
"""The name of a row that tells how a cache is built, not how large it is."""
NOT_A_PARAMETER = re.compile(r"\b(?:pins?|notes?|conditions?|step|page|version|date)\b|条件|备注|引脚", re.IGNORECASE)


_MOST = re.compile(r"\b(?:max(?:imum)?|peak|TDP)\b|最大|峰值", re.IGNORECASE)
_SIZE = re.compile(r"(?:memory )?(?:size|capacity|容量|大小)", re.IGNORECASE)
_ADDRESS = re.compile(r"0x[\dA-Fa-f]{3,}|\b[\dA-Fa-f]{4}_[\dA-Fa-f]{4}\b|\b[\dA-Fa-f]{6,8}h\b")
"""A row of a memory map tells how large a window is, not what is in it."""
_BARE = re.compile(r"(?:size|capacity|容量|大小)$", re.IGNORECASE)
"""A name that says nothing without the part above it."""


def part_of(tagged: Tagged) -> str:
    """The part that a row of a comparison table was split off for; empty for another row."""
    bounded = [cell for cell in tagged.statement.cells if cell.bound]
    return bounded[0].group if len(bounded) == 1 and bounded[0].bound == "value" else ""


def value_by_name(tagged: Tagged) -> list[Cell]:
    """The number beside a name that ends in its unit: `Core clock (MHz) | 800`."""
    cells = tagged.statement.cells
    if len(cells) != 2 or not _UNIT.search(tagged.statement.cell_text(cells[0])):
        return []
    found = find_amounts(tagged.statement.cell_text(cells[1]))
    return [replace(cells[1], bound="value")] if len(found) == 1 and found[0].unit is None else []


def _last(tagged: Tagged) -> str:
    return tagged.statement.cell_text(tagged.statement.cells[-1])


def in_full(header: str, of: str) -> str:
    """A header in the words of the rules, without its unit: `Speed (MHz)` over parts is the clock of the processor.

    Args:
        header: The header.
        of: The first header of the table, which says what its rows are.
    """
    bare = _UNIT.sub("", header).strip()
    return (
        bare
        if _NOT_PARTS.search(of) or (bare == header and _BARE_SPEED.match(bare))
        else _SPEED.sub("CPU frequency", bare)
    )


def sizes_whole(rule: QuantityRule, label: str) -> bool:
    """Whether a row can give what a rule asks for: not the size of a cache where its name is `Line size`."""
    return not (rule.field.endswith("cache.size_bytes") and _PART_OF_CACHE.search(label))


def label_unit(tagged: Tagged) -> str:
    """The unit that a row's first cell, its name, ends in."""
    unit = _UNIT.search(tagged.statement.cell_text(tagged.statement.cells[0]))
    return (unit[1] or unit[2]) if unit else ""


def as_sentence(tagged: Tagged) -> Tagged | None:
    """The row `Name | value` as the sentence `Name:  value` below that name; None where it is not such a row."""
    cells = tagged.statement.cells
    if not 2 <= len(cells) <= 3:
        return _sized(tagged)
    name = cells[-2]
    label = tagged.statement.cell_text(name)
    if len(cells) == 3 and (find_amounts(label) or _UNITS.match(cells[2].header) or not find_amounts(_last(tagged))):
        name = cells[0]
        label = tagged.statement.cell_text(name)
    if len(label.split()) > LABEL_WORDS or find_amounts(label) or not re.search(r"[A-Za-z\u4e00-\u9fff]{2}", label):
        return None
    text = tagged.text[: name.end] + tagged.text[name.end :].replace(CELL_MARK, " : ", 1)
    above = (*tagged.statement.path, *(() if name is cells[0] else (tagged.statement.cell_text(cells[0]),)))
    path = above if part_of(tagged) and _BARE.match(label) else (*above, label)
    joined: Statement = replace(tagged.statement, text=text, path=path)
    return Tagged(joined, tagged.spans)


def _sized(tagged: Tagged) -> Tagged | None:
    """A longer row of a list of memories as `Name:  size`: its first cell and the one below `Size`."""
    first, *rest = tagged.statement.cells or (None,)
    sizes = [cell for cell in rest if _SIZE.fullmatch(cell.header.strip())]
    if first is None or len(sizes) != 1 or _ADDRESS.search(tagged.text):
        return None
    label, size = tagged.statement.cell_text(first), sizes[0]
    amounts = find_amounts(tagged.statement.cell_text(size))
    if len(label.split()) > LABEL_WORDS or find_amounts(label) or len(amounts) != 1 or amounts[0].dimension != "bytes":
        return None
    gap = " : ".ljust(size.start - first.end)
    text = tagged.text[: first.end] + gap + tagged.text[size.start : size.end]
    return Tagged(replace(tagged.statement, text=text, path=(*tagged.statement.path, label)), tagged.spans)


_DASH = re.compile(r"(?P<name>\W*[A-Z][\w/()-]*(?: [\w/&()-]+){0,4}?)(?P<dash> (?:[–—-]|--) )(?=\S)")
"""How a line begins whose name and value stand apart by a dash: `System memory – 4 GB`."""


def as_labelled(tagged: Tagged) -> Tagged | None:
    """The line `Name – value` as `Name : value`, letter for letter as long; None where it is not such a line."""
    found = None if tagged.statement.is_row else _DASH.match(tagged.text)
    if not found or find_amounts(found["name"]) or not re.search(r"[A-Za-z)]$", found["name"]):
        return None
    start, end = found.span("dash")
    text = f"{tagged.text[:start]}{':'.center(end - start)}{tagged.text[end:]}"
    return Tagged(replace(tagged.statement, text=text), tagged.spans)


def by_columns(tagged: Tagged, rules: Sequence[QuantityRule]) -> Iterator[Found]:
    """Values whose parameter stands over them: `Package | ΘJA (°C/W)`, `Range | Ambient temperature | VDD`."""
    cells = tagged.statement.cells
    about = f"{tagged.text} {tagged.path_text}"
    label = tagged.statement.cell_text(cells[0])
    for cell in cells:
        if NOT_A_PARAMETER.search(cell.header):
            continue
        amount = _amount(tagged, cell)
        rule = amount and _rule(cell, amount, about, cells[0].header, rules)
        if not amount or not rule or not sizes_whole(rule, label):
            continue
        values = tuple(float(f"{value / rule.scale:.12g}") for value in amount.values)
        if not all(rule.low <= value <= rule.high for value in values):
            continue
        bounds: tuple[float | None, float | None, float | None] = (None, None, None)
        value: float | tuple[float, ...] | None = None
        if amount.form == "range":
            bounds = (values[0], None, values[1])
        elif amount.form == "tolerance":
            bounds = (values[0], values[1], values[2])
        else:
            value = values[0] if len(values) == 1 else values
        if rule.ranged and value is not None:
            continue
        if rule.typical_field and not _MOST.search(f"{cell.header} {label}"):  # which of the two is not said
            continue
        named = not any(amount.unit for amount in find_amounts(label))
        instance = label if cell is not cells[0] and named else None
        low, middle, high = bounds
        sureness = 0.8 * rule.sureness
        yield Found(rule.field, cell.start, cell.end, value, low, middle, high, instance, sureness=sureness)


def _amount(tagged: Tagged, cell: Cell) -> Amount | None:
    """The one number phrase that a cell is, with a unit of its own or of its header."""
    text = tagged.statement.cell_text(cell)
    found = find_amounts(text)
    if len(found) == 1 and found[0].unit is None:
        unit = _UNIT.search(cell.header)
        said = (unit[1] or unit[2]) if unit else _unit_beside(tagged)
        found = find_amounts(f"{text} {said}") if said else found
    if len(found) != 1 or (found[0].unit is None and found[0].dimension != "count"):
        return None
    rest = re.sub(r"\bV?DC\b", "", text[: found[0].start] + text[found[0].end :])
    return None if re.search(r"[A-Za-z\d]{2,}|[-+*/]", re.sub(r"\([^()]*\)", "", rest)) else found[0]


def _unit_beside(tagged: Tagged) -> str:
    """What the cell below a header `Units` holds."""
    cells = tagged.statement.cells
    return next((tagged.statement.cell_text(cell) for cell in cells if _UNITS.match(cell.header)), "")


def _rule(cell: Cell, amount: Amount, about: str, first: str, rules: Sequence[QuantityRule]) -> QuantityRule | None:
    """The rule whose parameter the header names with most letters; a bare count needs a header that says no more."""
    header = in_full(cell.header, first)
    least = 0.6 * len(header) if amount.unit is None else 0.0
    options = [
        (match.end() - match.start(), -at, rule)
        for at, rule in enumerate(rules)
        if rule.dimension == amount.dimension and not rule.forbids.search(header)
        for match in [rule.parameter.search(header)]
        if match
        and match.end() - match.start() >= least
        and (rule.context is None or rule.context.search(f"{header} {about}"))
    ]
    return max(options, key=lambda option: option[:2])[2] if options else None
