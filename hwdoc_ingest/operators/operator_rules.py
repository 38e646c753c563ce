"""The typed rules in one operator's section: its operands, attributes and data types, item by item."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from hwdoc_ingest.operators.operator_clauses import MAX_WORDS, normal, read_text
from hwdoc_ingest.operators.operator_names import Operator
from hwdoc_ingest.operators.operator_outline import Item, OperatorSection
from hwdoc_ingest.operators.operator_subjects import DIMENSIONS, Context, named_property
from hwdoc_ingest.operators.operator_words import ANYTHING, LIMITS, UNSUPPORTED, data_types, group_named
from hwdoc_ingest.page.pages import Box
from metainfer_core.spec.operators import Condition, OperatorRule

_OPERAND = re.compile(
    r"(?P<name>\w+)\s*(?:\((?:optional|extern)\))?\s*:\s*\*?(?P<types>T\d?(?:\s*,\s*T\d)*)\s*(?:\(optional\))?"
)
_TYPES = re.compile(r"(?P<name>T\d?)\s*:\s*(?P<list>.+)")
_TYPE = re.compile(r"(?P<type>[A-Za-z]+\d*)\s*(?:\((?P<kind>[^)]*)\))?")
_SHAPE = re.compile(r"shape\s*:\s*\[(?P<names>[^\]]*)\]\s*(?P<rest>.*)")
_ATTRIBUTE = re.compile(r"(?P<name>[A-Za-z_]\w*)\s*(?:\((?:extern|optional)\))?\s*:?\s*(?P<type>[a-z]+)?")
_ATTRIBUTE_HEAD = re.compile(r"^[A-Za-z_]\w*\s*(?:\(\w+\))?\s*:?\s*[a-z]*\d*(?:\[\])?\s*(?:\([^)]*\))?")
_MORE = re.compile(r"不支持|仅|只|必须|[<>≤≥∈]|\b(?:must|only|not)\b", re.IGNORECASE)
_DEFAULT = re.compile(r"(?:默认值?|default)\s*(?:为|是|=|:)?\s*[\"”“']?(?P<value>-?[\w.]+)", re.IGNORECASE)
_CONSTANT = re.compile(r"(?<![\w.])(?P<name>[a-z])\s*=\s*(?P<value>\d{1,12})(?!\w)")
_PERMUTATION = re.compile(r"perm\s*=\s*(?P<value>\[[\d,\s]+\])")
_INNER_GROUPS = ("broadcast", "granularity", "others")
"""Lists that stand below an operand; there `input` is an operand's name."""
_GRANULARITY = {"layer": "tensor", "tensor": "tensor", "channel": "channel", "axis": "channel"}
_ATTRIBUTE_MEANS = {"strides": "stride", "pads": "pad", "dilations": "dilation", "kernel_shape": "kernel"}


@dataclass(frozen=True)
class FoundRule:
    """A rule and where it stands."""

    rule: OperatorRule
    item: Item
    note: str = ""
    """What else the document says about it, such as the operand that has the data types."""


@dataclass(frozen=True)
class TableRule:
    """One rule for one operator, with its place. `rule` None: the operator is run, nothing else is said here."""

    operator: Operator
    rule: OperatorRule | None
    page: int
    box: Box
    text: str
    families: tuple[str, ...] = ()
    note: str = ""
    runs: bool = True


@dataclass
class _State:
    """What has been read of a section so far."""

    context: Context
    types: dict[str, list[tuple[str, bool]]]
    type_items: dict[str, Item]
    counts: dict[str, int] = field(default_factory=dict)
    operands: dict[int, str] = field(default_factory=dict)
    contexts: dict[int, Context] = field(default_factory=dict)


def section_rules(section: OperatorSection, when: tuple[Condition, ...] = ()) -> tuple[FoundRule, ...]:
    """All rules of a section; `when` are the nodes that it speaks of."""
    kept: dict[str, FoundRule] = {}
    for found in (_counting_axes(found, section) for found in _found(section, when)):
        # what an operand can be scaled by may stand in several items
        key = f"{found.rule.operand} granularity" if found.rule.granularity else f"{len(kept)}"
        if key in kept:
            both = (*kept[key].rule.granularity, *found.rule.granularity)
            rule = OperatorRule(**{**found.rule.__dict__, "granularity": tuple(dict.fromkeys(both))})
            kept[key] = replace(kept[key], rule=rule)
        else:
            kept[key] = found
    return tuple(kept.values())


def _counting_axes(found: FoundRule, section: OperatorSection) -> FoundRule:
    """A number of an axis is meant for tensors of as many axes as the section names for its first input."""
    rule, axes = found.rule, _names_of_first_axes(section)
    if not axes or ("axis",) not in (rule.of, *(condition.of for condition in rule.when)):
        return found
    of_rank = Condition(of=("rank",), operand="input0", one_of=(str(axes),))
    return replace(found, rule=OperatorRule(**{**rule.__dict__, "when": (*rule.when, of_rank)}))


def _found(section: OperatorSection, when: tuple[Condition, ...]) -> Iterator[FoundRule]:
    types, items = _type_variables(section)
    plain = {name: tuple(one for one, _ in found) for name, found in types.items()}
    names = _names_of_first_input(section)
    state = _State(Context(when=when, types=plain, names=names), types, items)
    seen_group = False
    for item, text in _merged(section.items):
        group = _group_of(item)
        seen_group = seen_group or group is not None or item.bullet
        opens_group = group_named(text) and (not item.bullet or not item.group or group_named(text) in _INNER_GROUPS)
        if opens_group or (not seen_group and group is None):
            continue
        yield from _read(item, text, group, state)


def is_unavailable(section: OperatorSection) -> Item | None:
    """The item that says that the operator is not run, where that is all that the section says."""
    said = [item for item in section.items if item.bullet]
    if (
        len(said) == 1
        and not said[0].parents
        and UNSUPPORTED.fullmatch(re.sub(r"\s*\(.*\)$", "", normal(said[0].text)))
    ):
        return said[0]
    return None


def _merged(items: list[Item]) -> Iterator[tuple[Item, str]]:
    """The items; lines without a bullet that follow each other are one text."""
    held: tuple[Item, str] | None = None
    for item in items:
        if held is not None and not item.bullet and not group_named(item.text) and not group_named(held[1]):
            held = held[0], f"{held[1]} {item.text}"
            continue
        if held is not None:
            yield held
            held = None
        if item.bullet:
            yield item, item.text
        else:
            held = item, item.text
    if held is not None:
        yield held


def _group_of(item: Item) -> str | None:
    """The innermost group that an item stands in."""
    for parent in reversed(item.parents):
        name = group_named(parent.text)
        if name and (not item.group or name in _INNER_GROUPS):
            return name
        if _OPERAND.fullmatch(normal(parent.text)):
            break
    return group_named(item.group)


def _outer_group(item: Item) -> str | None:
    """The outermost one: inputs, outputs, attributes ..."""
    return group_named(item.group) or next(
        (name for parent in item.parents if (name := group_named(parent.text))), None
    )


def _type_variables(section: OperatorSection) -> tuple[dict[str, list[tuple[str, bool]]], dict[str, Item]]:
    """Type variable to its data types, each with whether it must be a constant; and where that stands."""
    types: dict[str, list[tuple[str, bool]]] = {}
    items: dict[str, Item] = {}
    for item in section.items:
        found = _TYPES.fullmatch(normal(item.text)) if _group_of(item) == "types" else None
        if not found:
            continue
        listed: list[tuple[str, bool]] = []
        for each in _TYPE.finditer(found["list"]):
            names = data_types(each["type"])
            if not names:
                listed = []
                break
            listed.append((names[0], "const" in (each["kind"] or "")))
        if listed:
            types[found["name"]], items[found["name"]] = listed, item
    return types, items


def _names_of_first_input(section: OperatorSection) -> dict[str, str]:
    for item in section.items:
        shape = _SHAPE.match(normal(item.text))
        if shape and _outer_group(item) == "inputs":
            return _dimension_names(shape["names"])
    return {}


def _names_of_first_axes(section: OperatorSection) -> int:
    """How many axes the first shape of an input names; 0 where none is named."""
    shapes = (_SHAPE.match(normal(item.text)) for item in section.items if _outer_group(item) == "inputs")
    return next((len(shape["names"].split(",")) for shape in shapes if shape), 0)


def _dimension_names(text: str) -> dict[str, str]:
    """Names in `[n1, c1, h1, w1]` to the dimensions that they stand for."""
    parts = [part.strip() for part in text.split(",")]
    names: dict[str, str] = {}
    for index, part in enumerate(parts):
        factor = re.fullmatch(r"\d+\*(?P<name>[A-Za-z_]\w*)", part)
        if factor:
            names[factor["name"]] = factor["name"]  # a multiple of it: the property itself is an attribute
        elif re.fullmatch(r"[A-Za-z_]\w*", part) and named_property(part) in (None, *DIMENSIONS):
            names[part] = DIMENSIONS[index] if len(parts) == 4 else f"dim{index}"
    return names


def _read(item: Item, text: str, group: str | None, state: _State) -> Iterator[FoundRule]:
    outer = _outer_group(item)
    is_direct = not item.parents or (not item.group and group_named(item.parents[-1].text) == outer)
    if outer in ("inputs", "outputs") and item.bullet and (is_direct or _OPERAND.fullmatch(normal(text))):
        yield from _operand(item, normal(text), outer, state)
        return
    if outer == "attributes" and item.bullet and is_direct:
        state.contexts[id(item)] = _attribute(normal(text), state.context)
        rest = _ATTRIBUTE_HEAD.sub("", normal(text))
        if _MORE.search(rest):
            yield FoundRule(_words(rest, state.context), item)
        return
    if group == "types" and _TYPES.fullmatch(normal(text)):
        return
    context = _context_of(item, state)
    if group == "granularity" or re.match(r"量化支持\s*:", text):
        yield from _granularity(item, text, context)
        return
    if group == "broadcast":
        if not ANYTHING.fullmatch(normal(text)):
            yield FoundRule(_words(text, context), item)
        return
    shape = _SHAPE.match(normal(text))
    if shape and outer in ("inputs", "outputs"):
        state.contexts[id(item)] = replace(context, names={**context.names, **_dimension_names(shape["names"])})
        text = shape["rest"]
    if perm := _PERMUTATION.fullmatch(normal(text)):
        value = re.sub(r"\s*,\s*", ", ", perm["value"])
        only = Condition(of=("perm",), one_of=(value,))
        state.contexts[id(item)] = replace(context, about=(), when=(*context.when, only))
        return
    found = list(read_text(text, context))
    for rule in found:
        yield FoundRule(_tidy(rule), item)
    listed = next((rule.one_of for rule in found if rule.of == context.about and rule.one_of and not rule.when), ())
    if listed:
        state.contexts[id(item)] = replace(context, choices=listed)


def _context_of(item: Item, state: _State) -> Context:
    return next(
        (state.contexts[id(each)] for each in reversed(item.parents) if id(each) in state.contexts), state.context
    )


def _operand(item: Item, text: str, side: str, state: _State) -> Iterator[FoundRule]:
    """An operand: its place, its data types; what stands below it is about it."""
    place = f"{side[:-1]}{state.counts.get(side, 0)}"
    state.counts[side] = state.counts.get(side, 0) + 1
    state.contexts[id(item)] = replace(state.context, operand=place, about=("value",))
    found = _OPERAND.fullmatch(text)
    if not found:
        if LIMITS.search(text) and not re.match(r"\w+\s*(?:\(\w+\))?\s*:", text):
            yield FoundRule(_words(text, state.context), item)
        return
    listed = [one for name in found["types"].split(",") for one in state.types.get(name.strip(), ())]
    if not listed or any(name.strip() not in state.types for name in found["types"].split(",")):
        return
    computed = tuple(dict.fromkeys(name for name, is_constant in listed if not is_constant))
    constant = tuple(dict.fromkeys(name for name, is_constant in listed if is_constant))
    rule = OperatorRule(
        operand=place,
        data_types=computed or constant,
        constant_data_types=constant if computed else (),
        constant=True if constant and not computed else None,
        when=state.context.when,
    )
    first, *others = (state.type_items[name.strip()] for name in found["types"].split(","))
    yield FoundRule(rule, first, "; ".join((text, *(other.text for other in others))))


def _attribute(text: str, context: Context) -> Context:
    """What items below an attribute are about: the attribute, its default, constants that its text names."""
    found = _ATTRIBUTE.match(text)
    if not found:
        return context
    name = found["name"]
    default = _DEFAULT.search(text)
    about = _ATTRIBUTE_MEANS.get(name, named_property(name) or name)
    return replace(
        context,
        about=(about,),
        names={**context.names, name: about},
        numbers={each["name"]: int(each["value"]) for each in _CONSTANT.finditer(text)},
        is_whole=(found["type"] or "int") not in ("float", "double"),
        default=default["value"] if default else None,
    )


def _granularity(item: Item, text: str, context: Context) -> Iterator[FoundRule]:
    kinds = re.findall(r"per[- ](layer|tensor|channel|axis)", normal(text))
    if not kinds or context.operand is None:
        return
    found = tuple(dict.fromkeys(_GRANULARITY[kind] for kind in kinds))
    rule = OperatorRule.from_plain(
        {"operand": context.operand, "granularity": found, "when": [c.plain() for c in context.when]}
    )
    yield FoundRule(rule, item)


def _tidy(rule: OperatorRule) -> OperatorRule:
    """The rule without an operand where its properties are the whole node's."""
    if not rule.of or any(name in (*DIMENSIONS, "rank", "value") for name in rule.of):
        return rule
    return OperatorRule(**{**rule.__dict__, "operand": None})


def _words(text: str, context: Context) -> OperatorRule:
    return OperatorRule(operand=context.operand, when=context.when, understood=False, words=normal(text)[:MAX_WORDS])


def rule_name(rule: OperatorRule) -> str:
    """What a rule is called among those of its operator: `kernel_h`, `input1_data_types`, `height_x_width`."""
    place = f"{rule.operand}_" if rule.operand else ""
    if not rule.understood:
        return "note"
    if rule.unavailable:
        return "unavailable"
    if rule.equal_scale:
        return "equal_scale"
    kinds = {
        "data_types": rule.data_types,
        "granularity": rule.granularity,
        "constant": rule.constant,
        "unset": rule.unset,
    }
    kind = next((name for name, value in kinds.items() if value), "")
    of = "_x_".join(re.sub(r"\W+", "_", name) for name in rule.of)
    return f"{place}{of}{'_' if of and kind else ''}{kind}"
