"""Sizes in a parenthesis that are no sizes of what stands before it: its parts, or what it has in another setting."""

from __future__ import annotations

import re

from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.number_phrases import Amount

_SETTING_BEHIND = re.compile(
    r"\s*(?:ECC\b|parity\b|with\b|when\b|if\b|without\b|reserved\b|available\b|usable\b)", re.IGNORECASE
)
_SETTING_BEFORE = re.compile(
    r"\(\s*(?:(?:can be |is )?(?:expandable|expanded|extendable|extended|extensible|configurable|可扩展|扩展)"
    r"\s*(?:up )?(?:to|至)?"
    r"|plus|optional(?:ly)?|with ECC|without ECC)\s*$",
    re.IGNORECASE,
)
_OWN_CACHE = re.compile(r"\s*(?:L1 )?(?:I|D|instruction|data|program)[- ]?cache\b", re.IGNORECASE)
"""What a part is called that is a thing of its own: `80 KB (48 KB I-cache, 32 KB D-cache)`."""


def is_of_parenthesis(tagged: Tagged, amount: Amount) -> bool:
    """Whether a size stands in a parenthesis after a whole one: `24 KB (16 KB main RAM + 8 KB backup RAM)`."""
    text = tagged.text
    opens = text.rfind("(", 0, amount.start)
    closes = text.find(")", amount.start)
    if amount.dimension != "bytes" or opens < 0 or closes < 0 or ")" in text[opens : amount.start]:
        return False
    alike = [each for each in tagged.amounts if each.dimension == amount.dimension and each.form == "single"]
    wholes = [each for each in alike if each.end <= opens]
    if not wholes or _OWN_CACHE.match(text, amount.end):
        return False
    if _SETTING_BEHIND.match(text, amount.end) or _SETTING_BEFORE.search(text[: amount.start]):
        return True
    inside = [each.values[0] for each in alike if opens < each.start < closes]
    return len(inside) > 1 and abs(sum(inside) - wholes[-1].values[0]) <= 0.01 * wholes[-1].values[0]
