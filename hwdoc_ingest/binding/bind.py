"""From tagged statements to candidates: fields, bounds, instance, sharing, strength, and the place on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from hwdoc_ingest.binding.attach import NUMBERED, Attached, attach
from hwdoc_ingest.binding.fallback import read_left_over
from hwdoc_ingest.binding.row_values import (
    as_labelled,
    as_sentence,
    by_columns,
    in_full,
    label_unit,
    part_of,
    sizes_whole,
    value_by_name,
)
from hwdoc_ingest.binding.untold_owners import with_owners
from hwdoc_ingest.fields import FIELDS
from hwdoc_ingest.layout.table_parts import CACHE
from hwdoc_ingest.rules.rule import FindRule, Found, QuantityRule, Tagged, applies
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.statements.statement import Cell, Statement
from hwdoc_ingest.sureness.confidence import LEXICON, confidence
from hwdoc_ingest.sureness.same_thing import plain
from hwdoc_ingest.sureness.standing import standing
from metainfer_core.spec.drafting.draft import Candidate

UNIT_HEADER = re.compile(r"^units?\b|单位", re.IGNORECASE)
CONDITION_HEADER = re.compile(r"^(?:test\s+)?conditions?\b|条件", re.IGNORECASE)
CONDITIONS = re.compile(r"\bconditions?\s*$", re.IGNORECASE)
"""How a row ends its name whose numbers are the conditions of the rows below it."""
MODE_HEADER = re.compile(
    r"^(?:(?:operating |power )?(?:modes?|states?|scenarios?)|use cases?|workloads?)\b"
    r"|模式",
    re.IGNORECASE,
)
LIMIT_SYMBOLS = re.compile(r"^\s*T\s?[LAJ]\w* to T\s?[HAJ]\w*\s+(?=[-+]?\s?\d)")
"""`TL to TH 0 to 70`: the symbols of the limits before the limits."""
LEADING_CONDITION = re.compile(r"^\W{0,3}((?:when|if|in (?:[\w-]+ ){1,4}mode)\b[^,;|]{0,60}),", re.IGNORECASE)
"""`When area optimization is enabled, ...`: said before the value."""
PARENTHETIC_CONDITION = re.compile(r"\(((?:when|if|while|with|without|using)\b[^()|]{3,60})\)", re.IGNORECASE)
"""`Operating temperature (when the regulator is used)`, in the name of a row's parameter."""
EXCEPTION = re.compile(
    r"\bexcept\s+((?:with|when|if|in|for)\b[^,.;|]{3,60}?)(?:,| when\b| where\b)[^.;]*$", re.IGNORECASE
)
"""`..., except with small caches, when reads take two cycles`: what follows holds only then."""
PARENT_CONDITION = re.compile(r"^\W{0,3}((?:when(?! to\b)|if|in [\w -]+ mode)\b.{3,70}?)[:：,]?$", re.IGNORECASE)
"""`When index mode is on:`, said above the items that hold then."""
CAPTION_CONDITION = re.compile(r"\((?:at |@ ?)?([-+\d.]+ ?(?:MHz|GHz|V|°C))\)$")
"""`AC characteristics (20 MHz)`: the grade or the supply that all rows below hold for."""
SHARED_OR_OWN = re.compile(r"cache|memory\.(?!address_space|physical_address|region)")
"""Fields of what cores share or each have of their own; an address is nobody's."""
HEADER_UNIT = re.compile(r"[(\[]\s*([^()\[\]]{1,8})\s*[)\]]\s*$")
CAPTION_UNIT = re.compile(r"(?:\bunits?|单位)\s*[:=：]\s*([^\s()\[\],;]{1,6})", re.IGNORECASE)
"""`Operating conditions (unit: V)`: the unit of all rows below."""
UNDER_BIAS = re.compile(r"\bunder bias\b", re.IGNORECASE)
"""How a temperature beyond which a powered chip is destroyed is called, wherever it stands."""
MOST = re.compile(r"\W*(?:(?:the|CPU|core|system|processor|MCU) )*max(?:imum)?\b|最大|最高", re.IGNORECASE)
"""How the name of a row begins whose value is the largest: `Max. CPU frequency (MHz)`."""
ENDS_IN_MOST = re.compile(r"(?:,|\()\s*max(?:imum)?\.?\)?(?:\s*[(\[][^()\[\]]{1,8}[)\]])?$", re.IGNORECASE)
"""How it may end: `CPU clock, max. (MHz)`."""
NAMED_BOUNDS = (
    ("min", re.compile(r"min(?:imum)?\.?|最小值?", re.IGNORECASE)),
    ("typ", re.compile(r"typ(?:ical)?\.?|nom(?:inal)?\.?|典型值?", re.IGNORECASE)),
    ("max", re.compile(r"max(?:imum)?\.?|peak|最大值?", re.IGNORECASE)),
)
WORDY = re.compile(r"(?=.*[A-Za-z]{4}|.*[\u4e00-\u9fff]{2})[^\d]+")
"""Words without a number."""
UP_TO = re.compile(r"^\s*(?:up to|max(?:imum)?\.?|at most)\s+(?=[\d.])", re.IGNORECASE)
TYPICALLY = re.compile(r"^\s*(?:typ(?:ical(?:ly)?)?\.?|nom(?:inal)?\.?|典型值?)[:：]?\s*(?=[\d.])", re.IGNORECASE)
MAX_TEXT = 240


def bind(
    tagged: Tagged, source: str, method: str, quantities: Sequence[QuantityRule], finders: Sequence[FindRule]
) -> Iterator[Candidate]:
    """The candidates of one statement.

    Args:
        tagged: The statement with its spans.
        source: Key of the document.
        method: Name of the tagger.
        quantities: Rules for numbers near names.
        finders: Rules of their own form.
    """
    part = part_of(tagged)
    bounded = [cell for cell in tagged.statement.cells if cell.bound and not _is_wordy(tagged, cell)]
    bounded = bounded or value_by_name(tagged)
    found: list[Found] = list(_from_row(tagged, bounded, quantities)) if bounded else []
    if bounded and not found:
        found += _by_header(tagged, bounded, quantities)
        found += by_columns(tagged, quantities)
    elif part:
        found += by_columns(tagged, quantities)
    elif bounded and all(len(cell.header.split()) > 1 and not cell.group for cell in bounded):  # each its own property
        told = {each.field for each in found}
        found += [each for each in by_columns(tagged, quantities) if each.field not in told]
    if not found and all(cell.bound == "value" for cell in bounded):
        said = (as_sentence(tagged) if tagged.statement.is_row else as_labelled(tagged)) or tagged
        found += by_columns(tagged, quantities) if tagged.statement.is_row else ()
        found += [
            each
            for attached in attach(said, quantities)
            for each in [_from_sentence(said, attached)]
            if not (attached.rule.ranged and isinstance(each.value, float))
        ]
    for finder in finders:
        found += finder((as_sentence(tagged) if part else as_labelled(tagged)) or tagged)
    found += read_left_over(tagged, found)
    found = with_owners(tagged, found)
    if part and not CACHE.search(part):
        found = [each if part in (each.instance or "") else _of_part(each, part) for each in found]
    for each in found:
        if tagged.text[each.start : each.start + 1].isdigit() and NUMBERED.search(tagged.text[: each.start]):
            continue
        yield _candidate(tagged, each, source, LEXICON if each.guessed else method)


def _is_wordy(tagged: Tagged, cell: Cell) -> bool:
    """Whether a cell below a header such as `Rating` names the parameter, its value being in another one."""
    return cell.bound == "value" and bool(WORDY.fullmatch(tagged.statement.cell_text(cell)))


def _of_part(found: Found, part: str) -> Found:
    return replace(found, instance=f"{found.instance or ''} {part}".strip())


# Sentences ----------------------------------------------------------------------------------------------------------


def _from_sentence(tagged: Tagged, attached: Attached) -> Found:
    rule, amount = attached.rule, attached.amount
    values = _in_field_unit(amount.values, rule.scale)
    instance = rule.instance(tagged, amount.start, amount.end) if rule.instance else None
    sureness = rule.sureness * (0.97 ** max(0.0, attached.cost))
    found = Found(rule.field, attached.start, attached.end, instance=instance, sureness=sureness)
    if rule.field == "dma.max_burst_beats" and amount.form == "list":  # bursts of 4, 8 or 16 beats
        return replace(found, value=max(values))
    bound = _bound_beside(tagged, amount)
    return _with_values(found, values, amount, "" if bound == "typ" and ".typ_" in rule.field else bound)


def _with_values(found: Found, values: tuple[float, ...], amount: Amount, bound: str) -> Found:
    parts: dict[str, object] = dict(found.__dict__)
    if amount.form == "tolerance":
        parts |= {"min": values[0], "typ": values[1], "max": values[2]}
    elif amount.form == "range":
        parts |= {"min": values[0], "max": values[1]}
    elif amount.form == "list":
        parts["value"] = values
    elif bound:
        parts[bound] = values[0]
    else:
        parts["value"] = values[0]
    return Found(**parts)  # type: ignore[arg-type]


def _bound_beside(tagged: Tagged, amount: Amount) -> str:
    """The bound that a word right before or after a number gives it, or an empty text."""
    for span in tagged.of("bound"):
        before = tagged.text[span.end : amount.start] if span.end <= amount.start else None
        after = tagged.text[amount.end : span.start] if span.start >= amount.end else None
        if before is not None and re.fullmatch(r"[\s:=]*(?:(?:of|is|be|a|an|about|to)\s+)*\(?", before):
            return span.label
        if (
            before is not None
            and re.fullmatch(r"(?:\s+[a-z]+){1,3}\s*(?:of|is|:)?\s*", before, re.IGNORECASE)
            and span.label in ("max", "typ")
        ):
            return span.label
        if after is not None and re.fullmatch(r"\s*\(?", after):
            return span.label
    return ""


# Rows ---------------------------------------------------------------------------------------------------------------


def _from_row(tagged: Tagged, bounded: list[Cell], rules: Sequence[QuantityRule]) -> Iterator[Found]:
    """The values in the Min, Typ, Max and Value cells, bound to the parameter that the row's other cells name."""
    rule = _row_rule(tagged, bounded, rules)
    if rule is None or CONDITIONS.search(tagged.statement.cell_text(tagged.statement.cells[0])):
        return
    by_group = list(dict.fromkeys(cell.group for cell in bounded))
    in_groups = [list(_from_cells(tagged, rule, [c for c in bounded if c.group == group])) for group in by_group]
    if len(by_group) > 1 and len({_said_of(found) for found in in_groups}) == 1:  # the same in each of them
        yield from (replace(found, instance=_without(found.instance, by_group[0])) for found in in_groups[0])
        return
    for group, found_in_it in zip(by_group, in_groups, strict=True):
        for found in found_in_it:
            named = len(by_group) < 2 or plain(group) in plain(found.instance)
            yield found if named else _of_part(found, group)


def _without(instance: str | None, group: str) -> str | None:
    return (instance or "").replace(group, "").strip() or None


def _said_of(found: Sequence[Found]) -> tuple[object, ...]:
    """What a group of columns says, wherever its cells stand."""
    return tuple((each.field, each.value, each.min, each.typ, each.max) for each in found)


def _row_rule(tagged: Tagged, bounded: list[Cell], rules: Sequence[QuantityRule]) -> QuantityRule | None:
    """The rule whose parameter the row names and whose dimension its unit has."""
    dimensions = {a.dimension for cell in bounded for a in [_cell_amount(tagged, cell)] if a is not None}
    parameters = tagged.of("parameter")
    options = []
    for rule in rules:
        if rule.dimension not in dimensions or not applies(rule, tagged):
            continue
        for match in rule.parameter.finditer(tagged.text):
            inside = any(c.start <= match.start() < c.end for c in bounded)
            if not inside and any(s.start < match.end() and s.end > match.start() for s in parameters):
                options.append((match.end() - match.start(), -match.start(), rule))
    if not options and MODE_HEADER.search(tagged.statement.cells[0].header):  # the title names what each mode takes
        for rule in rules:
            if rule.dimension in dimensions and applies(rule, tagged):
                titled = [m for part in tagged.statement.path[-2:] for m in rule.parameter.finditer(part)]
                options += [(m.end() - m.start(), 0, rule) for m in titled]
    return max(options, key=lambda option: option[:2])[2] if options else None


def _by_header(tagged: Tagged, bounded: list[Cell], rules: Sequence[QuantityRule]) -> Iterator[Found]:
    """The values whose own headers name what they are: `Max. CPU frequency`, `Maximum run power (mW)`."""
    label = tagged.statement.cell_text(tagged.statement.cells[0])
    first = tagged.statement.cells[0].header
    for cell in bounded:
        header, amount = in_full(cell.header, first), _cell_amount(tagged, cell)
        options = [
            (match.end() - match.start(), -at, rule)
            for at, rule in enumerate(rules)
            if amount
            and rule.dimension == amount.dimension
            and sizes_whole(rule, label)
            and applies(rule, tagged, header)
            for match in rule.parameter.finditer(header)
        ]
        if options:
            yield from _from_cells(tagged, max(options, key=lambda option: option[:2])[2], [cell])


def _from_cells(tagged: Tagged, rule: QuantityRule, cells: list[Cell]) -> Iterator[Found]:
    parts: dict[str, float] = {}
    value: float | tuple[float, ...] | None = None
    unsure = False
    for cell in cells:
        amount = _cell_amount(tagged, cell)
        if amount is None or amount.dimension != rule.dimension:
            continue
        values = _in_field_unit(amount.values, rule.scale)
        if not all(rule.low <= v <= rule.high for v in values):
            return
        unsure |= cell.ambiguous
        if cell.bound == "value":
            if value is not None and len(values) == 1:  # a default beside the choices
                parts["typ"] = values[0]
            elif amount.form == "range":
                parts |= {"min": values[0], "max": values[1]}
            elif amount.form == "tolerance":
                parts |= {"min": values[0], "typ": values[1], "max": values[2]}
            elif len(values) == 1 and (named := _named_bound(tagged)):
                parts[named] = values[0]
            elif len(values) == 1 and TYPICALLY.match(tagged.statement.cell_text(cell)):
                parts["typ"] = values[0]
            elif len(values) == 1 and "max" not in rule.field and _is_most(tagged, cell):
                parts["max"] = values[0]
            else:
                value = values[0] if len(values) == 1 else values
        elif cell.bound:
            parts[cell.bound] = values[0] if cell.bound == "min" else values[-1]
            if cell.bound == "max" and amount.form == "range":
                parts.setdefault("min", values[0])
    if rule.typical_field and "typ" in parts:
        typical = replace(rule, field=rule.typical_field, typical_field="")
        yield from _from_cells(tagged, typical, [cell for cell in cells if cell.bound == "typ"])
        del parts["typ"]
    if value is None and not parts:
        return
    low, high = parts.get("min"), parts.get("max")
    if low is not None and high is not None and low > high:
        return
    if rule.spans_zero and low is not None and low > 0:
        return
    start, end = min(c.start for c in cells), max(c.end for c in cells)
    instance = rule.instance(tagged, start, end) if rule.instance else None
    if value is None and set(parts) == {"typ"} and len(cells) == 1:
        value = parts.pop("typ") if not re.search(r"typ|nom|典型", cells[0].header, re.IGNORECASE) else None
    if "typ" in parts and value is None and not (rule.ranged and low is not None and high is not None):
        value = parts["typ"]
    first = min(c.start for c in tagged.statement.cells)
    last = max(c.end for c in tagged.statement.cells)
    yield Found(
        rule.field,
        first,
        last,
        value,
        instance=instance,
        sureness=min(0.97, rule.sureness + 0.04) * (0.5 if unsure else 1),
        condition=_condition_cell(tagged),
        min=parts.get("min"),
        typ=parts.get("typ"),
        max=parts.get("max"),
    )


def _named_bound(tagged: Tagged) -> str:
    """The bound that is a row's name (`Typical` below the title `Power consumption`) or ends it (`Power, typical`)."""
    name = tagged.statement.cell_text(tagged.statement.cells[0]).strip()
    name = name.rpartition(",")[2].strip() or name
    return next((bound for bound, word in NAMED_BOUNDS if word.fullmatch(name)), "")


def _is_most(tagged: Tagged, cell: Cell) -> bool:
    """Whether a row's name or its cell says that the number is the largest."""
    name = tagged.statement.cell_text(tagged.statement.cells[0])
    named = MOST.match(tagged.text[: cell.start]) or ENDS_IN_MOST.search(name)
    return bool(named or UP_TO.match(tagged.statement.cell_text(cell)))


def _cell_amount(tagged: Tagged, cell: Cell) -> Amount | None:
    """The number of a cell, with its unit from the cell, the header or the row's unit cell."""
    text = LIMIT_SYMBOLS.sub("", tagged.statement.cell_text(cell)).strip()
    if not text or not any(s.start < cell.end and s.end > cell.start for s in tagged.of("value")):
        return None
    amounts = find_amounts(text)
    if len(amounts) == 1 and amounts[0].unit is not None:
        return amounts[0] if _is_whole(text, amounts[0]) else None
    unit = _row_unit(tagged, cell)
    if unit:
        with_unit = f"{text} {unit}"
        amounts = find_amounts(with_unit)
        if len(amounts) == 1 and amounts[0].unit is not None:
            return amounts[0] if _is_whole(with_unit, amounts[0]) else None
        return None
    return amounts[0] if len(amounts) == 1 and _is_whole(text, amounts[0]) else None


def _is_whole(text: str, amount: Amount) -> bool:
    """Whether nothing but the number phrase stands in a cell (`VCC + 0.3` is no number)."""
    rest = TYPICALLY.sub("", UP_TO.sub("", text)).replace(text[amount.start : amount.end], "", 1)
    return not re.search(r"[A-Za-z\d]{2,}|[-+*/]", re.sub(r"\([^()]*\)", "", rest))


def _row_unit(tagged: Tagged, cell: Cell) -> str:
    if re.match(r"\s*[(\[]?°C/W", cell.header):
        return "°C/W"
    in_header = HEADER_UNIT.search(cell.header)
    if in_header and not re.search(r"note|\d", in_header[1], re.IGNORECASE):
        return in_header[1]
    for other in tagged.statement.cells:
        if UNIT_HEADER.search(other.header):
            words = tagged.statement.cell_text(other).strip("()[] ").replace("°°", "°").split()
            return words[0].strip("()") if words else ""
    if re.search(r"BYTE_?SIZE|\(bytes\)|in bytes", tagged.text, re.IGNORECASE):
        return "bytes"
    titled = CAPTION_UNIT.search(tagged.parent)
    if titled:
        return titled[1]
    named = label_unit(tagged)
    if named:
        return named
    trailing = tagged.statement.cells[-1]
    if trailing is not cell and trailing.bound is None:
        word = tagged.statement.cell_text(trailing).strip("()[] ")
        return word if 0 < len(word) <= 6 and not word[0].isdigit() else ""
    return ""


def _condition_cell(tagged: Tagged) -> str | None:
    texts = [tagged.statement.cell_text(c) for c in tagged.statement.cells if CONDITION_HEADER.search(c.header)]
    return " ".join(texts) or None


# Candidates ---------------------------------------------------------------------------------------------------------


def _candidate(tagged: Tagged, found: Found, source: str, method: str) -> Candidate:
    statement = tagged.statement
    condition = found.condition or _condition(tagged, found)
    value = found.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, tuple):
        value = tuple(int(v) if isinstance(v, float) and v.is_integer() else v for v in value)
    return Candidate(
        field=found.field,
        value=value,
        unit=FIELDS[found.field].unit,
        min=found.min,
        typ=found.typ,
        max=found.max,
        instance=found.instance and statement.as_printed(found.instance),
        strength=_strength(tagged),
        sharing=_sharing(tagged, found),
        condition=condition and statement.as_printed(condition),
        source=source,
        page=statement.page,
        box=_rounded(statement.box(found.start, found.end)),
        text=_quoted(statement, found.start, found.end),
        confidence=confidence(found.sureness * standing(tagged, found), statement),
        method=("ocr+" if statement.by_ocr else "") + ("table-" if statement.is_row else "sentence-") + method,
    )


def _rounded(box: tuple[float, float, float, float] | None) -> tuple[float, float, float, float] | None:
    return None if box is None else (round(box[0], 2), round(box[1], 2), round(box[2], 2), round(box[3], 2))


def _quoted(statement: Statement, start: int, end: int) -> str:
    """The document's own words around a stretch of a statement's text."""
    if statement.printed is None:
        return _excerpt(statement.text, start, end)
    return _excerpt(statement.printed.text, *statement.printed.span(start, end))


def _excerpt(text: str, start: int, end: int) -> str:
    """The whole statement if short, else the words around the value."""
    if len(text) <= MAX_TEXT:
        return text
    middle = (start + end) // 2
    left = max(0, min(start, middle - MAX_TEXT // 2))
    return text[left : max(end, left + MAX_TEXT)][: 2 * MAX_TEXT]


def _strength(tagged: Tagged) -> Literal["must", "recommended"] | None:
    if UNDER_BIAS.search(tagged.text):
        return "must"
    for span in tagged.of("strength"):
        return "must" if span.label == "must" else "recommended"
    for part in reversed(tagged.statement.path):
        if re.search(r"absolute maximum|maximum ratings?|绝对最大", part, re.IGNORECASE):
            return "must"
        if re.search(r"recommended|推荐", part, re.IGNORECASE):
            return "recommended"
    return None


def _sharing(tagged: Tagged, found: Found) -> Literal["shared", "per_core"] | None:
    if not SHARED_OR_OWN.search(found.field):
        return None
    labels = {span.label for span in tagged.of("sharing")}
    if len(labels) != 1:
        return None
    return "shared" if labels == {"shared"} else "per_core"


def _condition(tagged: Tagged, found: Found) -> str | None:
    for span in tagged.of("condition"):
        said = tagged.text[span.start : span.end]
        describes = FIELDS[found.field].unit == "addr" and said.lower().startswith("for")  # what it is for, not when
        if span.start >= found.end - 1 and span.start - found.end < 30 and not describes:
            return said.strip(" ,()@=") or None
    if tagged.statement.is_row:
        inside = PARENTHETIC_CONDITION.search(tagged.text)
        above = inside or CAPTION_CONDITION.search(tagged.parent.strip()) or PARENT_CONDITION.match(tagged.parent)
    else:
        before = tagged.text[: found.start]
        above = EXCEPTION.search(before) or LEADING_CONDITION.match(before) or PARENT_CONDITION.match(tagged.parent)
    return above[1].strip() if above else None


def _in_field_unit(values: tuple[float, ...], scale: float) -> tuple[float, ...]:
    """Base units as the field counts, to the digits that a document can have: 22 nm, not 21.999999999999996."""
    return tuple(float(f"{value / scale:.12g}") for value in values)
