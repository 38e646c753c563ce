"""Sizes of a memory that only the heading names: `provides 64 Kbit of storage` below `One-time programmable memory`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, Tagged, words

_FIELDS = (
    ("memory.otp.size_bits", 8.0, words(r"\bOTP\b|\be-?fuses?\b|\bone[- ]time[- ]programmable\b")),
    ("memory.rom.size_bytes", 1.0, words(r"\b(?:boot|mask)?[- ]?ROM\b|\bread[- ]only memory\b")),
    ("memory.tcm.size_bytes", 1.0, words(r"\b[ID]?TCM\b|\btightly[- ]coupled memor(?:y|ies)\b")),
)
_STORES = re.compile(
    r" ?(?:of )?(?:the )?(?:(?:large|high|total|non-volatile|embedded|on-chip)[- ]?(?:capacity )?)*"
    r"(?:storage|memory|capacity)(?: space| capacity)?\b(?! (?:for|reserved|used))",
    re.IGNORECASE,
)
"""What stands right after the size: that it is what the memory holds."""
_CAPACITY = re.compile(r"\b(?:capacity|storage)(?: (?:of|is|:))?(?: up to)?\s*$", re.IGNORECASE)
_NAMED = words(
    r"\b(?:\w*RAM|\w*ROM|flash|caches?|FIFOs?|buffers?|registers?|keys?|blocks?|banks?|words?|pages?|external)\b"
)
"""What else a size may be of."""


def find(tagged: Tagged) -> Iterator[Found]:
    """The one size of a statement that tells how much the memory of its heading holds."""
    text = tagged.text
    sizes = [each for each in tagged.amounts if each.dimension in ("bytes", "bits")]
    fields = [(field, bits) for field, bits, heading in _FIELDS if heading.search(tagged.parent)]
    if len(sizes) != 1 or len(fields) != 1 or tagged.statement.is_row or tagged.describes_register:
        return
    size, (field, bits) = sizes[0], fields[0]
    told = _STORES.match(text, size.end) or _CAPACITY.search(text[: size.start])
    if size.form != "single" or not told or _NAMED.search(text) or any(h.search(text) for _, _, h in _FIELDS):
        return
    in_bytes = size.values[0] / (8 if size.is_bits else 1)
    if 16 <= in_bytes <= 1 << 24:
        yield Found(field, size.start, size.end, in_bytes * bits, sureness=0.75)
