"""Readings of a sentence of which nobody can tell whose they are: words of a diagram, a row torn from its table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hwdoc_ingest.rules.accelerator_items import is_of_dsp
from hwdoc_ingest.rules.rule import Found, Tagged

_CACHES = re.compile(r"\bcaches?\b", re.IGNORECASE)


def with_owners(tagged: Tagged, found: Sequence[Found]) -> list[Found]:
    """The readings without those that nobody could say whose they are, or that are said of another kind of unit."""
    found = [each for each in found if not is_of_dsp(each)]
    if tagged.statement.is_row:
        return found
    torn = _torn_row(tagged)
    return [
        each
        for each in found
        if not _stands_beside_another(tagged, each, found) and not any(each.start < b and each.end > a for a, b in torn)
    ]


def _stands_beside_another(tagged: Tagged, found: Found, others: Sequence[Found]) -> bool:
    """Whether words of a diagram give two sizes of a cache and name neither's owner: `2MB L2 cache 512KB L2 cache`."""
    if found.instance or not found.field.endswith("cache.size_bytes") or len(_CACHES.findall(tagged.text)) < 2:
        return False
    return any(
        other.field == found.field and not other.instance and other.value not in (None, found.value) for other in others
    )


def _torn_row(tagged: Tagged) -> list[tuple[int, int]]:
    """Where quantities of one kind stand side by side with nothing between: `SRAM 20KB 32KB 128KB`.

    They are the row of a table that was not seen as one, and each is another part's.
    """
    return [
        (one.start, other.end)
        for one, other in pairwise(tagged.amounts)
        if one.unit is not None
        and other.unit is not None
        and one.dimension == other.dimension
        and not tagged.text[one.end : other.start].strip()
    ]
