"""The words of one cell or list item of an operator table as typed rules; what is not understood stays words.

A text is read whole, else sentence by sentence, else between its commas. A part that limits nothing is a description
and is left out; a part that limits something in words that no pattern uses up is kept as `understood: false`. A text
that takes something back (`unless`, `but`) is never read in parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hwdoc_ingest.operators.operator_limits import Limit, limit_of
from hwdoc_ingest.operators.operator_subjects import DIMENSIONS, LINK, Context, Rest, property_of, subject_of
from hwdoc_ingest.operators.operator_words import ANYTHING, EXCEPTION, LIMITS, PROPERTIES, UNSUPPORTED, data_types
from metainfer_core.spec.operators import Condition, OperatorRule

MAX_WORDS = 160
MAX_TEXT, MAX_PIECES = 500, 24
"""A longer text, or one in more parts, is no row of a table; it is kept as words."""


OPERANDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(rf"(?:the )?(?:{words})(?: tensors?)?", re.IGNORECASE), place)
    for words, place in (
        (r"weights?|filters?|second input|input 1|权重", "input1"),
        (r"bias(?:es)?|third input|input 2|偏置", "input2"),
        (r"input|ifm|first input|input 0|输入", "input0"),
        (r"output|ofm|输出", "output0"),
    )
)
_TENSORS = r"(?:all |the )*(?:inputs?|operands?|tensors?)(?: and (?:the )?outputs?)?"
_SAME = r"(?:the )?(?:same|equal|identical)"
_EQUAL_SCALE = re.compile(
    rf"{_TENSORS} (?:must|should|need to|have to) (?:have|use|share) {_SAME} (?:quantization )?"
    r"(?:scales?|parameters|scale and zero[ -]point)"
    rf"|(?:the )?(?:quantization )?scales? of {_TENSORS} must be {_SAME}"
    r"|equal scales?|same scale",
    re.IGNORECASE,
)
_CONSTANT = re.compile(
    r"(?:必须(?:为|是))?常量|(?:a )?constants?|const(?:ant)?(?: only)?|only constants?|constant required", re.IGNORECASE
)
_WHEN = (
    re.compile(r"(?:当|如果|若)\s*(?P<condition>.+?)\s*时\s*,?\s*(?P<rest>.+)"),
    re.compile(r"(?P<condition>.+?)\s*时\s*,?\s*(?P<rest>.+)"),
    re.compile(r"(?:when|if|where|for)\s+(?P<condition>.+?)\s*[,:]\s*(?P<rest>.+)", re.IGNORECASE),
    re.compile(r"(?P<rest>.+?)\s*\(?(?:when|if|where)\s+(?P<condition>[^()]+)\)?", re.IGNORECASE),
)
_CHOOSES = re.compile(r"(?P<name>axis|perm|mode|轴)\s*=\s*(?P<value>-?\w+(?:/-?\w+)*|\[[\d,\s]+\])")
_DANGLING = re.compile(
    r"^(?:当|如果|若|only (?:when|if)|when|if|where|for)(?![A-Za-z])|时$|\b(?:when|if|where)\b", re.IGNORECASE
)
_AND = re.compile(r"^(?:且|并且|and )\s*")
_FORMULA = re.compile(r"[\w*%<>=.()+/-]+")
_EXPLAINS = re.compile(r"即|i\.e\.|that is|表示", re.IGNORECASE)
_RECOMMENDED = re.compile(r"^\s*(?:建议|推荐|(?:it is )?recommended(?: to be)?:?)\s*", re.IGNORECASE)


def read_text(text: str, context: Context) -> tuple[OperatorRule, ...]:
    """All rules in the words of one cell or item."""
    text = normal(text)
    if len(text) > MAX_TEXT or text.count(",") > MAX_PIECES:
        return (_words(text, context),)
    if not text or ANYTHING.fullmatch(re.sub(r"^[^:,\d]{0,60}:\s*", "", text)):
        return ()
    text = re.sub(r"(?<=[\d}\])])\s*,?\s*即[^,;。]*$", "", text)  # `1, 3, that is, the channel and the width`
    types = re.match(r"(?P<names>T\d?(?:\s*,\s*T\d)*)\s*:\s*", text)
    if types and context.types:
        named = [context.types.get(name.strip(), ()) for name in types["names"].split(",")]
        if not all(named):
            return (_words(text, context),)
        every = tuple(dict.fromkeys(name for names in named for name in names))
        only = Condition(of=("data_type",), one_of=every)
        return read_text(text[types.end() :], replace(context, types={}, when=(*context.when, only)))
    first, _, rest = text.partition(" ")
    if first.rstrip(":") in context.choices and context.about and rest:
        chosen = Condition(of=context.about, one_of=(first.rstrip(":"),))
        return read_text(rest, replace(context, about=(), choices=(), when=(*context.when, chosen)))
    labelled = re.fullmatch(r"(?P<name>[A-Za-z_]\w*) ?: ?(?P<rest>(?:当|如果|若|when |if ).+)", text)
    if labelled and property_of(labelled["name"], context):
        about = (str(property_of(labelled["name"], context)),)
        return read_text(labelled["rest"], replace(context, about=about))
    if EXCEPTION.search(text):
        whole = _clause(text, context)
        return whole if whole is not None else (_words(text, context),)
    return tuple(_sentences(text, context))


def normal(text: str) -> str:
    """A text with one spelling of signs and spaces."""
    table = str.maketrans("，；：（）［］｛｝∗×≤≥～−－‑–", ",;:()[]{}**\u0001\u0002~----")
    text = text.translate(table).replace("\u0001", "<=").replace("\u0002", ">=").replace("⩽", "<=").replace("⩾", ">=")
    text = re.sub(r"(?i)(?: values?| sizes?)? for both (?:width and height|height and width)", "", text)
    text = re.sub(r"(?<=\d)\s*\*\s*(?=\d)", "x", text)  # 3×3 is one kernel, h×w a product
    return re.sub(r"\s+", " ", text).strip().strip(";,").strip()


def _sentences(text: str, context: Context) -> Iterator[OperatorRule]:
    whole = _clause(text, context)
    if whole is not None:
        yield from whole
        return
    for sentence in re.split(r"[;。]|\.(?=\s|$)", text):
        if sentence.strip():
            yield from _between_commas(sentence.strip(), context)


def _between_commas(sentence: str, context: Context) -> Iterator[OperatorRule]:
    whole = _clause(sentence, context)
    if whole is not None:
        yield from whole
        return
    pieces = _pieces(sentence)
    found = list(_of_pieces(pieces, context))
    lost = {rule.words for rule in found if not rule.understood}
    # what is not understood may go on with, or be a condition on, what stands beside it: unless joined by `and`
    if len(found) > 1 and any(
        piece[:MAX_WORDS] in lost and not _stands_alone(piece, joined) for piece, joined in pieces
    ):
        yield _words(sentence, context)
        return
    yield from found


def _stands_alone(piece: str, joined: bool) -> bool:
    """Whether a part that is not understood says something beside the others, and nothing about them."""
    return (joined or bool(_FORMULA.fullmatch(piece))) and not _DANGLING.search(piece)


def _of_pieces(joined: list[tuple[str, bool]], context: Context) -> Iterator[OperatorRule]:
    pieces = [piece for piece, _ in joined]
    at = 0
    some = False
    while at < len(pieces):
        chooses = _CHOOSES.fullmatch(pieces[at])
        if chooses and at + 1 < len(pieces):
            name = "axis" if chooses["name"] == "轴" else chooses["name"]
            values = (chooses["value"],) if chooses["value"].startswith("[") else tuple(chooses["value"].split("/"))
            context = replace(context, when=(*context.when, Condition(of=(name,), one_of=values)))
            at += 1
            continue
        for end in range(len(pieces), at, -1):
            text = ", ".join(pieces[at:end])
            rules = () if ANYTHING.fullmatch(text) else _clause(text, context)
            if rules is not None:
                yield from rules
                some = True
                subject = next((rule for rule in rules if rule.of), None)
                if subject is not None:
                    context = replace(context, about=subject.of, operand=subject.operand)
                at = end
                break
        else:
            limits = LIMITS.search(pieces[at]) or _DANGLING.search(pieces[at])
            if limits and not (some and _EXPLAINS.match(pieces[at])):
                yield _words(pieces[at], context)
            at += 1


def _pieces(sentence: str) -> list[tuple[str, bool]]:
    """The parts between commas that stand in no bracket, each with whether an `and` joins it to the one before."""
    pieces, depth = [""], 0
    for letter in sentence:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += letter
    plain = [piece.strip() for piece in pieces if piece.strip()]
    return [(_AND.sub("", piece), bool(_AND.match(piece))) for piece in plain]


def _clause(text: str, context: Context) -> tuple[OperatorRule, ...] | None:
    """The rules of a text that is used up by one pattern; None where none is."""
    strength = None
    if found := _RECOMMENDED.match(text):
        text, strength = text[found.end() :], "recommended"
    plain: dict[str, Any] = {"when": context.when, "strength": strength}
    if _EQUAL_SCALE.fullmatch(text):
        return (OperatorRule(equal_scale=True, **plain),)
    if UNSUPPORTED.fullmatch(re.sub(r"\s*设置$", "", text)):
        return _unsupported(context, plain, text)
    for operand, place in OPERANDS:
        if found := operand.match(text):
            rest = re.fullmatch(rf"{LINK}(?P<rest>.+)", text[found.end() :])
            if rest and (said := _about_operand(rest["rest"], place, plain)) is not None:
                return said
    if context.operand is not None and (said := _about_operand(text, context.operand, plain)) is not None:
        return said
    if types := data_types(
        re.sub(r"(?i)^(?:data types?|dtypes?|precisions?|数据类型)\s*:\s*|^(?:仅支持|only)|only$", "", text)
    ):
        return (OperatorRule(operand=context.operand, data_types=types, **plain),)
    limited = _conditions(text, context)
    if limited is not None:
        return tuple(OperatorRule(**{**condition.__dict__, **plain}) for condition in limited)
    return _with_condition(text, context, strength)


def _with_condition(text: str, context: Context, strength: str | None) -> tuple[OperatorRule, ...] | None:
    for pattern in _WHEN:
        found = pattern.fullmatch(text)
        conditions = _conditions(found["condition"], context) if found else None
        if found and conditions:
            about = conditions[0].of if not context.about else context.about
            inner = replace(context, when=(*context.when, *conditions), about=about)
            rules = _clause(re.sub(r"^(?:仅|只)?支持\s*(?=\d+\s*的倍数)", "", found["rest"]), inner)
            if rules and strength is None:
                return rules
    return None


def _unsupported(context: Context, plain: dict[str, Any], text: str) -> tuple[OperatorRule, ...] | None:
    """`Not supported` about an attribute: it keeps its default, or is not there; below `perm=...`: not run so."""
    if context.about and context.default is not None:
        return (OperatorRule(of=context.about, one_of=(context.default,), **plain),)
    if context.about and text.endswith("设置"):
        return (OperatorRule(of=context.about, unset=True, **plain),)
    if context.when and not context.about:
        return (OperatorRule(unavailable=True, **plain),)
    return None


def _about_operand(text: str, place: str, plain: dict[str, Any]) -> tuple[OperatorRule, ...] | None:
    if _CONSTANT.fullmatch(text):
        return (OperatorRule(operand=place, constant=True, **plain),)
    types = data_types(re.sub(r"(?i)\bonly$|^only ", "", text))
    return (OperatorRule(operand=place, data_types=types, **plain),) if types else None


def _conditions(text: str, context: Context) -> tuple[Condition, ...] | None:
    """What a text without a condition of its own limits; a subject may name several properties."""
    subject = subject_of(text, context)
    limited = _about_subject(text, subject, context) if subject else None
    if limited is None:
        label = re.fullmatch(r"(?P<label>[^:<>=∈%\d]{0,60}):\s*(?P<rest>.+)", text)
        if context.about and label and not re.search(r"不|not ", label["label"]):
            if subject_of(label["rest"], context):
                return _conditions(label["rest"], context)
            limit = limit_of(label["rest"], context.numbers, context.is_whole, bare=True)
            if limit and not _is_prose(limit):
                return _conditions_of([(name,) for name in context.about], limit, context)
        limit = limit_of(text, context.numbers, context.is_whole, context.bare) if subject is None else None
        if not context.about or not limit:
            return None
        return _conditions_of([context.about], limit, context)
    return limited


def _about_subject(
    text: str, subject: tuple[int, list[tuple[str, ...]], Rest], context: Context
) -> tuple[Condition, ...] | None:
    factor, groups, rest = subject
    is_whole = context.is_whole or all(name in PROPERTIES or name in DIMENSIONS for names in groups for name in names)
    chained = re.fullmatch(r"(?P<low>[\d.]+)\s*(?P<sign><=?)\s*", text[: len(text) - len(rest.whole)])
    limits: list[Limit | None] = [limit_of(rest.after, context.numbers, is_whole, bare=rest.linked)]
    if chained:
        limits.append(limit_of(f"{'>=' if '=' in chained['sign'] else '>'}{chained['low']}", {}, True, bare=False))
    if any(not limit for limit in limits):
        return None
    limit = {key: value for each in limits if each for key, value in each.items()}
    if factor != 1:
        if set(limit) != {"max"}:
            return None
        limit = {"max": float(limit["max"] // factor)}
    return _conditions_of(groups, limit, context)


def _conditions_of(groups: list[tuple[str, ...]], limit: Limit, context: Context) -> tuple[Condition, ...] | None:
    """The same limit for each group of properties; None where a list of words would limit a number."""
    items = limit.get("one_of", ())
    are_numbers = all(re.fullmatch(r"-?[\d.]+", item) for item in items)
    are_shapes = bool(items) and all(re.fullmatch(r"\d+(?:x\d+)+", item) for item in items)
    found = []
    for names in groups:
        if are_shapes and names == ("kernel",):
            names = ("kernel_shape",)
        elif not are_numbers and any(name in PROPERTIES or name in DIMENSIONS for name in names):
            return None
        found.append(Condition(of=names, operand=context.operand, **limit))
    return tuple(found)


def _is_prose(limit: Limit) -> bool:
    """Whether a list under a label is a word of a description, not a value."""
    return all(re.search(r"[\u4e00-\u9fff]", item) for item in limit.get("one_of", ("",))) and "one_of" in limit


def _words(text: str, context: Context) -> OperatorRule:
    return OperatorRule(operand=context.operand, when=context.when, understood=False, words=text[:MAX_WORDS])
