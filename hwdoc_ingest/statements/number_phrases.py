"""Number phrases in text: `64KB`, `2.2-2.4 GHz`, `16, 32, 64 (in KB)`, `5V ± 10%`, `eight (8)`, `four-way`.

Units and conversion are the core's (metainfer_core/spec/quantities.py); here stands only how phrases are written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from metainfer_core.spec.quantities import UNITS, Unit, number, unit

Form = Literal["single", "range", "list", "tolerance", "sum"]

SMALL = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {word: value for value, word in enumerate(SMALL + TEENS)} | {
    tens + ones: value + more
    for value, tens in zip(range(20, 100, 10), TENS, strict=True)
    for more, ones in enumerate(("", *(f"-{one}" for one in SMALL[1:10])))
} | {
    "single": 1, "dual": 2, "triple": 3, "quad": 4, "hexa": 6, "octa": 8,
    "单": 1, "双": 2, "四": 4, "八": 8, "一": 1, "两": 2, "三": 3, "五": 5, "六": 6, "七": 7, "九": 9, "十": 10,
}  # fmt: skip
SPOKEN_UNITS = {
    "gigabytes": "GB", "gigabyte": "GB", "megabytes": "MB", "megabyte": "MB", "kilobytes": "KB", "kilobyte": "KB",
    "kbytes": "KB", "kbyte": "KB", "mbytes": "MB", "mbyte": "MB", "gbytes": "GB", "gbyte": "GB",
    "kbits": "Kbit", "kbit": "Kbit", "mbits": "Mbit", "mbit": "Mbit", "mbytes/s": "MB/s", "gbytes/s": "GB/s",
    "milliwatts": "mW", "milliamps": "mA", "microamps": "uA", "megahertz": "MHz", "gigahertz": "GHz",
    "volts": "V", "volt": "V", "watts": "W", "watt": "W", "tops": "TOPS", "gops": "GOPS", "mflops": "MFLOPS",
    "gflops": "GFLOPS", "gflop": "GFLOPS", "mflop/s": "MFLOPS", "gflop/s": "GFLOPS", "tflop/s": "TFLOPS",
    "gigaflops": "GFLOPS", "megaflops": "MFLOPS", "teraflops": "TFLOPS",
    "gigaflop": "GFLOPS", "megaflop": "MFLOPS", "teraflop": "TFLOPS", "tflops": "TFLOPS",
    "mhz": "MHz", "ghz": "GHz", "khz": "kHz", "mt/s": "MT/s",
    "degrees c": "degC", "degrees celsius": "degC", "deg c": "degC", "deg. c": "degC", "degree c": "degC",
    "microns": "um", "micron": "um", "micrometer": "um", "nanometers": "nm", "nanometer": "nm", "nanometre": "nm",
    "clock cycles": "cycles",
    "system clock cycles": "cycles", "clocks": "cycles", "cycles": "cycles", "cycle": "cycles", "个周期": "cycles",
    **{f"{kind} {unit}": "cycles" for unit in ("cycles", "clock cycles")
       for kind in ("additional", "extra", "more", "CPU", "core", "bus", "processor", "AHB", "AXI")},
    "字节": "B", "比特": "bit", "位": "bit", "兆": "MB",
}  # fmt: skip
_SPELLINGS = sorted(
    {spelling for spelling in UNITS if spelling not in ("b", "C", "m", "clk", "CLK", "%", "percent")}
    | {f"{p}{gap}{s}" for gap in " -" for p in "KMGkT" for s in ("bytes", "byte", "bits", "bit", "Bytes", "B")},
    key=len,
    reverse=True,
)
SPOKEN_UNITS = {name.lower(): unit for name, unit in SPOKEN_UNITS.items()}
_SPOKEN = sorted(SPOKEN_UNITS, key=len, reverse=True)
_UNIT = (
    r"(?:[ -]{0,2}\(?(?P<unit>"
    + "|".join(re.escape(s) for s in _SPELLINGS)
    + "|(?i:"
    + "|".join(re.escape(s) for s in _SPOKEN)
    + r")|°\s?C(?:/W)?|C(?=\s|$|[),;]|\.(?!\d))(?<=\d C)|%)\)?(?![A-Za-z\d]|/(?!\d)|(?<=[\u4e00-\u9fff])(?=$)^))"
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
_WORD = r"(?i:\b(?:" + "|".join(sorted((w for w in NUMBER_WORDS if w.isascii()), key=len, reverse=True)) + r")\b)"
_CHINESE = "[" + "".join(w for w in NUMBER_WORDS if not w.isascii()) + r"](?=[个核路级组条位套])"
_SIGN = r"(?:(?<![\w.\])])[-+±](?=[\d.])|^\s?±\s|^[-+]\s(?=\d)|(?<=to )[-+]\s(?=\d))"
_BEGIN = r"(?:(?<![\w.])|(?<=[a-z])(?=\d+\s?[KMG]i?B)|(?<=[\u4e00-\u9fff]))"
_WORD_UNIT = r"(?:[ -](?P<word_unit>(?i:bytes?|bits?|(?:system )?(?:clock )?cycles?|clocks))\b)?"
TOKEN = re.compile(rf"(?P<number>{_SIGN}?{_BEGIN}{_NUMBER}){_UNIT}?|(?P<word>{_WORD}|{_CHINESE}){_WORD_UNIT}")
_NOT_BYTES = re.compile(
    r"\s*-?(?:words?|[x×]\s*\d|entries|gates?|LUTs?|lines?|instructions|pixels?|samples?|cycles?|times|baud|bps|ohms?|Ω"
    r"|resistors?|transistors?|points?|steps?|cells?|flip)",
    re.IGNORECASE,
)
"""What a bare K or M counts when it counts no bytes."""
_RANGE = re.compile(
    r"^°?\s*(?:(?:\(?min(?:imum)?\.?\)?\s*)?(?:-?\s?to-?|down\s+to|-|~|∼|—|至|到|[<≤]\s*T\s?[A-Za-z]{0,8}\s*[<≤]|\.\.\.|…|through|and\s+up\s+to)|\(?min(?:imum)?\.?\)?\s*[,/]?)\s*$",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\bbetween\s+$", re.IGNORECASE)
"""`between 2.7 V and 3.6 V` is a range."""
_LIST = re.compile(r"^-?\s*(?:\([^()]{1,20}\)\s*)?(?:,|/|or|and|,\s*or|,\s*and|、|或|和)\s*$", re.IGNORECASE)
_IN_UNIT = re.compile(r"^\s*\)?\s*\(?\s*in\s+([A-Za-z]{1,6})\)?", re.IGNORECASE)
_LABEL = re.compile(
    r"\b(?:tables?|figures?|fig\.|sections?|chapters?|rev\.?|revision|version|ver\.?|(?<!\d )v|page|note|step"
    r"|no\.|level|dhrystone)"
    r"\s*(?:[A-Z\d]{1,2}[-.])?$",
    re.IGNORECASE,
)
"""What stands before a number that only names a table, a section or a version."""
_COUNTED = re.compile(r"\d $")
"""Before a word that tells of what kind the counted things are: `32 dual entries`."""
_VARIANT = re.compile(r"^\s*\((?=[^()]*\d)(?=[^()]*[A-Za-z])[^()]{1,20}\)")
"""A part's number or a speed in parentheses after a value."""
_ACCURACY = re.compile(r"oscillat|\bRC\b|\bclock|crystal|\btrim|\baccura", re.IGNORECASE)
"""Between a frequency and a percentage: how true a clock is, which is no range that it runs in."""
_DEFINED = re.compile(
    r"\b1 ?[KMG]i?B ?(?:=|is|equals|为) ?[\d,]+ ?(?:bytes|[KMG]?i?B|[兆千]?字节)(?!\w)", re.IGNORECASE
)
"""What a unit is, which is no size: `1 KB = 1024 bytes`."""
_TOLERANCE = re.compile(r"^\s*(?:±|\+/?-|\+\s?/\s?-)?\s*$")


@dataclass(frozen=True)
class Amount:
    """A number phrase: where it stands, and its numbers in the base unit of its dimension."""

    start: int
    end: int
    values: tuple[float, ...]
    """One number; both ends of a range; the items of a list; low, middle and high of a tolerance."""
    form: Form = "single"
    unit: Unit | None = None
    is_bits: bool = False
    """Whether the unit is a bit; `values` count bits then, not bytes."""
    spoken: bool = False
    """Whether the number is a word (`four`)."""

    @property
    def dimension(self) -> str:
        """`bytes` or `bits`, the core's name of the dimension, or `count` for a bare number."""
        if self.unit is None:
            return "count"
        if self.unit.dimension == "information":
            return "bits" if self.is_bits else "bytes"
        return self.unit.dimension


@dataclass(frozen=True)
class _Token:
    start: int
    end: int
    value: float
    unit: str
    spoken: bool = False
    signed: bool = False


@lru_cache(maxsize=4096)
def find_amounts(text: str) -> tuple[Amount, ...]:
    """All number phrases of a text, from left to right."""
    tokens = list(_tokens(text))
    found: list[Amount] = []
    at = 0
    while at < len(tokens):
        group, form = _group(text, tokens, at)
        at = tokens.index(group[-1]) + 1
        amount = _amount(text, group, form)
        if amount is None:
            continue
        whole = _with_limits(text, found[-1], amount) if found else None
        found[-1:] = [whole] if whole else [*found[-1:], amount]
    return tuple(found)


def _with_limits(text: str, nominal: Amount, limits: Amount) -> Amount | None:
    """`3.3 V (3.0 V to 3.6 V)` as one phrase, a voltage with its limits; so is `3.0 V to 3.6 V (3.3 V ± 10 %)`."""
    if not nominal.dimension == limits.dimension == "voltage":
        return None
    if (nominal.form, limits.form) == ("single", "range"):
        (value,), (low, high) = nominal.values, limits.values
    elif (nominal.form, limits.form) == ("range", "tolerance"):
        (low, high), (_, value, _) = nominal.values, limits.values
    else:
        return None
    closed = text[limits.end - 1] == ")" or re.match(r"\s*(?:max(?:imum)?\.?)?\s*\)", text[limits.end :], re.IGNORECASE)
    if text[nominal.end : limits.start].strip() != "(" or not closed or not low <= value <= high:
        return None
    return replace(nominal, end=limits.end, values=(low, value, high), form="tolerance")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    defined = [match.span() for match in _DEFINED.finditer(text)]
    for match in TOKEN.finditer(text):
        if any(start <= match.start() < end for start, end in defined):
            continue
        if _LABEL.search(text[max(0, match.start() - 12) : match.start()]):
            continue
        word = match["word"]
        if word and _COUNTED.search(text[: match.start()]) and text[match.end() : match.end() + 1] == " ":
            continue
        if word:
            unit_of_word = (match["word_unit"] or "").lower()
            tokens.append(_Token(match.start(), match.end(), NUMBER_WORDS[word.lower()], unit_of_word, spoken=True))
            continue
        if match["unit"] in ("K", "k", "M", "G") and _NOT_BYTES.match(text, match.end()):
            continue
        plain = match["number"].replace(" ", "")
        sign = -1 if plain.startswith("-") else 1
        value = sign * float(number(plain.lstrip("+-±")))
        tokens.append(_Token(match.start(), match.end(), value, match["unit"] or "", signed=plain[0] in "+-±"))
    return tokens


def _group(text: str, tokens: list[_Token], at: int) -> tuple[list[_Token], Form]:
    """The tokens from `at` on that make one phrase."""
    first = tokens[at]
    group, form = [first], "single"
    if first.spoken and at + 1 < len(tokens):
        following = tokens[at + 1]
        between = text[first.end : following.start]
        if following.spoken and following.unit and not first.unit and first.value < following.value:
            if _RANGE.match(between):
                return [first, following], "range"
            if _LIST.match(between):
                return [first, following], "list"
    while at + len(group) < len(tokens) and not first.spoken:
        following = tokens[at + len(group)]
        if following.spoken and at + len(group) + 1 < len(tokens):  # `16 KB (one bank) or 32 KB`
            after = tokens[at + len(group) + 1]
            if after.unit and _LIST.match(text[group[-1].end : after.start]) and _same_kind(group[-1], after):
                return [*group, after], "list"
        between = text[group[-1].end : following.start]
        if following.spoken or not _same_kind(group[-1], following):
            break
        signed_start = text[following.start] in "±"
        if form == "single" and (signed_start or _is_tolerance(between)) and len(group) == 1:
            if _ACCURACY.search(between):
                break
            if following.unit or signed_start:
                return [*group, following], "tolerance"
            break
        if form == "single" and _RANGE.match(between):
            if following.value > first.value or first.unit or following.unit:
                return [*group, following], "range"
            break
        if form == "single" and between.strip() == "up to" and first.unit and following.value > first.value:
            return [*group, following], "range"
        if form == "single" and len(group) == 1 and between.strip() == "and" and _BETWEEN.search(text[: first.start]):
            return [*group, following], "range"
        if form == "single" and between.strip() == "+" and following.unit and len(group) == 1:
            return [*group, following], "sum"
        if not _LIST.match(between) or _each_of_a_variant(text, between, following):
            break
        if (following.value, following.unit) == (first.value, first.unit):  # `64K/64K L1 I/D cache` is no choice
            return [following], "single"
        group.append(following)
        form = "list"
    return group, form  # type: ignore[return-value]


def _each_of_a_variant(text: str, between: str, following: _Token) -> bool:
    """Whether two numbers each carry a part or a speed of their own: `3 MHz (X85-1) or 5 MHz (X85-2)`."""
    return bool(_VARIANT.match(between) and _VARIANT.match(text[following.end :]))


def _is_tolerance(between: str) -> bool:
    return bool(between.strip()) and bool(_TOLERANCE.match(between))


def _same_kind(a: _Token, b: _Token) -> bool:
    if a.unit and b.unit:
        first, second = _unit(a.unit), _unit(b.unit)
        if b.unit == "%" or first is None or second is None:
            return b.unit == "%"
        return first[0].dimension == second[0].dimension and first[1] == second[1]
    return not (a.unit and not b.unit)


@lru_cache(maxsize=512)
def _unit(spelling: str) -> tuple[Unit, bool] | None:
    """The core's unit of a spelling, and whether it counts bits."""
    name = " ".join(spelling.replace("-", " ").split())
    if name.startswith("°") and "C" in name:
        name = "degC/W" if name.endswith("/W") else "degC"
    if name == "T":  # `1T computing power`: nothing on a chip has a terabyte
        name = "TOPS"
    found = unit(name) or unit(SPOKEN_UNITS.get(name.lower(), ""))
    if found is None:
        return None
    spelled = SPOKEN_UNITS.get(name.lower(), name)
    is_bits = found.dimension == "information" and ("bit" in spelled.lower() or spelled.endswith("b"))
    return found, is_bits


def _amount(text: str, group: list[_Token], form: Form) -> Amount | None:
    start, end = group[0].start, group[-1].end
    spelling = next((token.unit for token in reversed(group) if token.unit and token.unit != "%"), "")
    if not spelling:
        named = _IN_UNIT.match(text[end : end + 16])
        if named and _unit(named[1]):
            spelling, end = named[1], end + named.end()
    known = _unit(spelling) if spelling else None
    if spelling and known is None:
        return None
    values = []
    for token in group:
        own = _unit(token.unit) if token.unit and token.unit != "%" else known
        values.append(_in_base(token.value, own))
    if form == "tolerance":
        middle = values[0]
        width = abs(group[1].value) / 100 * middle if group[1].unit == "%" else abs(values[1])
        values = [middle - width, middle, middle + width]
    if form == "sum":
        values, form = [sum(values)], "single"
    if form == "range" and values[0] > values[1]:
        if "down" not in text[start:end].lower():
            return None
        values.reverse()
    is_bits = bool(known and known[1])
    return Amount(start, end, tuple(values), form, known[0] if known else None, is_bits, group[0].spoken)


def _in_base(value: float, known: tuple[Unit, bool] | None) -> float:
    if known is None:
        return value
    base, is_bits = known
    exact = float(number(repr(value)) * base.factor + base.offset)
    return exact * 8 if is_bits else exact
