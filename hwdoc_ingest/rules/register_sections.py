"""Registers that have a section each: a heading with their name, below it a line `Address offset: 0x08`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.fields import address
from hwdoc_ingest.rules.rule import Found, Tagged

_OFFSET = re.compile(
    r"^\W*(?:(?:address|register) )?offset(?: address)?\s*[:：=]?\s*(?P<at>0x[\dA-Fa-f_]{1,8}|[\dA-F]{2,4}h)\b"
    r"|^\W*(?:地址)?偏移(?:地址|量)?\s*[:：=]?\s*(?P<chinese>0x[\dA-Fa-f_]{1,8})",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\((?P<short>[A-Z][A-Z\d]{0,15}_\w{1,30})\)|^(?:[\d.]+\s+)?(?P<whole>[A-Z][A-Z\d]{0,15}_[A-Z\d_]{1,30})\b"
)


def find(tagged: Tagged) -> Iterator[Found]:
    """The offset of the register that the heading above names."""
    said = _OFFSET.match(tagged.text) if not tagged.statement.is_row else None
    named = next((m for part in tagged.statement.path[-2:][::-1] for m in [_NAMED.search(part)] if m), None)
    if said and named:
        text = said["at"] or said["chinese"]
        number = int(re.sub(r"^0[xX]|[hH]$|_", "", text), 16)
        name = named["short"] or named["whole"]
        yield Found("register.offset", said.start(), said.end(), address(number), instance=name, sureness=0.8)
