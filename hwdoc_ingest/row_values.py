"""Rows of tables whose columns have no bounds: a name and its value side by side, or values under their own names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hwdoc_ingest.number_phrases import Amount, find_amounts
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged
from hwdoc_ingest.statement import CELL_MARK, Cell, Statement

LABEL_WORDS = 7
"""Most words of a name beside its value."""
_UNIT = re.compile(r"[(\[]\s*([^()\[\]]{1,8})\s*[)\]]\s*$|,\s*([kMGm]?(?:Hz|V|A|W|B)|°C(?:/W)?)\s*$")
NOT_A_PARAMETER = re.compile(r"\b(?:pins?|notes?|conditions?|step|page|version|date)\b|条件|备注|引脚", re.IGNORECASE)


def as_sentence(tagged: Tagged) -> Tagged | None:
    """The row `Name | value` as the sentence `Name:  value` below that name; None where it is not such a row."""
    cells = tagged.statement.cells
    if not 2 <= len(cells) <= 3:
        return None
    label = tagged.statement.cell_text(cells[0])
    if len(label.split()) > LABEL_WORDS or find_amounts(label) or not re.search(r"[A-Za-z\u4e00-\u9fff]{2}", label):
        return None
    text = tagged.text.replace(CELL_MARK, " : ", 1)
    joined: Statement = replace(tagged.statement, text=text, path=(*tagged.statement.path, label))
    return Tagged(joined, tagged.spans)


def by_columns(tagged: Tagged, rules: Sequence[QuantityRule]) -> Iterator[Found]:
    """Values whose parameter stands over them: `Package | ΘJA (°C/W)`, `Range | Ambient temperature | VDD`."""
    cells = tagged.statement.cells
    about = f"{tagged.text} {tagged.path_text}"
    label = tagged.statement.cell_text(cells[0])
    for cell in cells:
        if NOT_A_PARAMETER.search(cell.header):
            continue
        amount = _amount(tagged, cell)
        rule = amount and _rule(cell, amount, about, rules)
        if not amount or not rule:
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
        instance = label if cell is not cells[0] and not find_amounts(label) else None
        low, middle, high = bounds
        sureness = 0.8 * rule.sureness
        yield Found(rule.field, cell.start, cell.end, value, low, middle, high, instance, sureness=sureness)


def _amount(tagged: Tagged, cell: Cell) -> Amount | None:
    """The one number phrase that a cell is, with a unit of its own or of its header."""
    text = tagged.statement.cell_text(cell)
    found = find_amounts(text)
    if len(found) == 1 and found[0].unit is None:
        unit = _UNIT.search(cell.header)
        found = find_amounts(f"{text} {unit[1] or unit[2]}") if unit else found
    if len(found) != 1 or found[0].unit is None:
        return None
    rest = text[: found[0].start] + text[found[0].end :]
    return None if re.search(r"[A-Za-z\d]{2,}|[-+*/]", re.sub(r"\([^()]*\)", "", rest)) else found[0]


def _rule(cell: Cell, amount: Amount, about: str, rules: Sequence[QuantityRule]) -> QuantityRule | None:
    """The rule whose parameter the header names with most letters."""
    header = _UNIT.sub("", cell.header)
    options = [
        (match.end() - match.start(), -at, rule)
        for at, rule in enumerate(rules)
        if rule.dimension == amount.dimension and not rule.forbids.search(header)
        for match in [rule.parameter.search(header)]
        if match and (rule.context is None or rule.context.search(f"{header} {about}"))
    ]
    return max(options, key=lambda option: option[:2])[2] if options else None
