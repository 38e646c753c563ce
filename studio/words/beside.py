"""How Chinese stands beside what is not Chinese: one space between them, none beside Chinese punctuation.

Where a name or a number is filled into a sentence this is set at both its ends; the name itself is never changed.
"""

from __future__ import annotations

import re

_LISTED = re.compile(r", | and | with ")
_SPAN = re.compile(r"(-?[\d.,]+%?) to (-?[\d.,]+%?(?: \S+)?)")


def beside(words: str, then: str) -> str:
    """Both in one line, with the space between them that belongs there."""
    left, right = words.rstrip(" "), then.lstrip(" ")
    if not left or not right:
        return words + then
    ends, begins = _is_chinese(left[-1]), _is_chinese(right[0])
    if _is_wide_mark(left[-1]) or _is_wide_mark(right[0]) or (ends and begins):
        return left + right
    return f"{left} {right}" if ends or begins else words + then


def listed(names: str) -> str:
    """Names or numbers as Chinese lists them: `Conv and Relu` is `Conv、Relu`, `41 to 55` is `41 至 55`."""
    if (span := _SPAN.fullmatch(names)) is not None:
        return f"{span[1]} 至 {span[2]}"
    parts = _LISTED.split(names)
    if len(parts) == 1 or any(not part or set(part) & set(" []{}()") for part in parts):
        return names
    return "、".join(parts)


def _is_chinese(character: str) -> bool:
    return "\u4e00" <= character <= "\u9fff"


def _is_wide_mark(character: str) -> bool:
    return character in "，。：；、？！（）“”《》"
