"""What a few words limit a property to: `[1, 31]`, `< 16*p`, `a multiple of 8`, `only 1, 2 or 4`.

Every pattern must use up all words that are given to it: a limit with a rest that nobody understood is no limit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

Limit = Mapping[str, Any]
"""The bounds of a Condition: min, max, above, multiple_of, one_of."""

_NUMBER = r"-?(?:\d+(?:\.\d+)?(?:e-?\d+)?|∞|inf(?:inity)?)"
_VALUE = rf"(?:(?:{_NUMBER}|[a-z])(?:\s*\*\s*(?:\d+|[a-z]))*)"
_ITEM = r"(?:-?\d+(?:\.\d+)?(?:x\d+)*(?:\([tf]\))?|[A-Za-z_]\w*|\[[\d,\s-]+\])"
_AND = r"\s*(?:,|、|/|\bor\b|\band\b|和|或|,\s*(?:or|and))\s*"
_LIST = rf"(?P<items>{_ITEM}(?:{_AND}{_ITEM})*)"
_OF_THEM = r"(?:\s*(?:两种|三种|四种|几种)?\s*(?:\w*\s*模式)?\s*(?:可配置|可选)?)?"
_PROSE = """
the a an is are be been any all each of in to on at by as for from with without than that this these those it its must
shall should may can cannot not no only just also and or but if when where while unless until except see note notes
table section multiple least most more less same equal value values range dynamic
"""
_WORDS = frozenset(_PROSE.split())
"""Words that are no name of a value: a list that holds one was not understood."""

_INTERVAL = re.compile(
    r"(?:∈|(?:in |within )?(?:the |a )?range(?: of)?|in|within|:)?\s*"
    rf"(?P<open>[\[(])\s*(?P<low>{_VALUE})\s*(?:,|~|\.\.|to|-)\s*"
    rf"(?P<high>{_VALUE})\s*(?P<close>[\])])"
)
_SET = re.compile(rf"(?:∈|in|:)?\s*\{{\s*{_LIST}\s*\}}")
_COMPARED = re.compile(rf"(?P<sign><=|>=|<|>|==|=)\s*(?P<value>{_VALUE})")
_RANGE = re.compile(
    rf"(?:(?:in |within )?(?:the |a )?range (?:of |from )?|between |from )?(?P<low>{_NUMBER})"
    rf"\s*(?:to|and|-|~|\.\.\.?|through)\s*(?P<high>{_NUMBER})(?: inclusive| \(inclusive\))?"
)
_AT_MOST = re.compile(
    r"(?:at most|up to|no more than|not more than|not (?:to )?exceed(?:ing)?|less than or equal to"
    r"|(?:a )?max(?:imum)?(?: of| is)?:?|不超过|不大于|小于等于|最大(?:为)?)"
    rf"\s*(?P<value>{_VALUE})"
)
_AT_LEAST = re.compile(
    r"(?:at least|no less than|not less than|greater than or equal to"
    r"|(?:a )?min(?:imum)?(?: of| is)?:?|不小于|大于等于|最小(?:为)?)"
    rf"\s*(?P<value>{_VALUE})"
)
_BELOW = re.compile(rf"(?:less than|smaller than|below|小于)\s*(?P<value>{_VALUE})")
_ABOVE = re.compile(rf"(?:greater than|more than|larger than|above|大于)\s*(?P<value>{_VALUE})")
_STEPS_OF = r"(?:an? )?(?:integer )?multiples? of|divisible by|aligned to"
_MULTIPLE = re.compile(
    rf"(?:{_STEPS_OF}|仅支持|必须是|为)?\s*(?P<value>\d+)\s*(?:的倍数|的整数倍|对齐|-?aligned)"
    rf"|(?:{_STEPS_OF})\s*(?P<number>\d+)(?: bytes)?"
)
_REMAINDER = re.compile(r"%\s*(?P<value>\d+)\s*(?:==|=)\s*0")
_ONLY = re.compile(
    r"(?:(?:目前|当前)?(?:仅|只)?(?:支持|限定)(?:模式)?:?|只有|only(?: supports?)?|supports?(?: only)?"
    r"|(?:must|can only|has to|needs to|should) be|equals?(?: to)?|=|:)"
    rf"\s*{_LIST}(?: only)?(?:\s*(?:is|are) supported)?{_OF_THEM}"
)
_BARE = re.compile(rf"{_LIST}(?:\s*only)?(?:\s*(?:is|are) supported)?")


def limit_of(text: str, numbers: Mapping[str, int], is_whole: bool, bare: bool) -> Limit | None:
    """The limit that all of the words state, or None.

    Args:
        text: Normalised words behind the property's name.
        numbers: Named constants of the document, such as p = 8192.
        is_whole: Whether the property has whole numbers only, so that `< 8` is `7 or less`.
        bare: Whether a mere list, such as `1, 3`, says what is allowed (in a cell under the property's name).
    """
    text = text.strip().strip(".").strip()
    if found := _INTERVAL.fullmatch(text):
        low, high = _number(found["low"], numbers), _number(found["high"], numbers)
        low_sign = ">=" if found["open"] == "[" else ">"
        high_sign = "<=" if found["close"] == "]" or high == math.inf else "<"
        return _joined(_bound(low_sign, low, is_whole), _bound(high_sign, high, is_whole))
    if found := _SET.fullmatch(text):
        return _listed(found["items"])
    if found := _REMAINDER.fullmatch(text):
        return {"multiple_of": int(found["value"])}
    if found := _COMPARED.fullmatch(text):
        value = _number(found["value"], numbers)
        if found["sign"] in ("=", "=="):
            return None if value is None else {"one_of": (f"{value:.10g}",)}
        return _bound(found["sign"], value, is_whole)
    if found := _MULTIPLE.fullmatch(text):
        step = int(found["value"] or found["number"])
        return {"multiple_of": step} if step > 0 else None
    for pattern, sign in ((_AT_MOST, "<="), (_AT_LEAST, ">="), (_BELOW, "<"), (_ABOVE, ">")):
        if found := pattern.fullmatch(text):
            return _bound(sign, _number(found["value"], numbers), is_whole)
    if found := _RANGE.fullmatch(text):
        low, high = _number(found["low"], numbers), _number(found["high"], numbers)
        return _joined(_bound(">=", low, is_whole), _bound("<=", high, is_whole))
    if (found := _ONLY.fullmatch(text)) or (bare and (found := _BARE.fullmatch(text))):
        return _listed(found["items"])
    return None


def _number(text: str, numbers: Mapping[str, int]) -> float | None:
    """A number or a product of numbers and named constants; None where a name is not known."""
    product = 1.0
    for factor in re.split(r"\s*\*\s*", text.strip()):
        if re.fullmatch(r"-?(?:∞|inf(?:inity)?)", factor):
            return -math.inf if factor.startswith("-") else math.inf
        if factor in numbers:
            product *= numbers[factor]
        elif re.fullmatch(_NUMBER, factor):
            product *= float(factor)
        else:
            return None
    return product


def _bound(sign: str, value: float | None, is_whole: bool) -> Limit | None:
    """One side of a range; a strict one becomes the next whole number, where there is such."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return {}
    match sign:
        case "<=":
            return {"max": value}
        case ">=":
            return {"min": value}
        case "<":
            return {"max": float(math.ceil(value) - 1)} if is_whole else None
    return {"min": float(math.floor(value) + 1)} if is_whole else {"above": value}


def _joined(low: Limit | None, high: Limit | None) -> Limit | None:
    if low is None or high is None or low.get("min", -math.inf) > high.get("max", math.inf):
        return None
    return {**low, **high} or None


def _listed(items: str) -> Limit | None:
    found = tuple(re.sub(r"\([tf]\)$", "", item) for item in re.findall(_ITEM, re.sub(r"\b(?:or|and)\b", ",", items)))
    if not found or any(item.lower() in _WORDS for item in found):
        return None
    return {"one_of": tuple(re.sub(r"\s*,\s*", ", ", item) for item in dict.fromkeys(found))}
