"""Readings of one document that are of the same thing, though one place says less of it than another.

`Dual-core` on one page and `two Cortex-A7 cores` on another are one fact at two places; so are `240 MHz` and `up to 240
MHz`. Told apart, each would be asked of a person by itself, and neither would bear the other out.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from metainfer_core.spec.drafting.draft import Candidate

_KIND_OF_CORE = re.compile(r"\b\d{1,3}-bit\b", re.IGNORECASE)
"""What a name may say of its thing beside what it is called: `32-bit LX7` is the LX7."""
_UNITS = ("cpu.", "npu.", "gpu.", "dsp.", "dma.")
"""Fields of units that a document names now and then; a rail or a size of memory without a name is the chip's own."""


def said_in_full(candidates: Sequence[Candidate], trusted: Sequence[Candidate]) -> list[Candidate]:
    """The candidates under the one name and with the bound that trusted ones give to the same number."""
    own = [each for each in candidates if not _is_anothers(each, trusted)]
    named = _named(own, trusted)
    return _with_bounds(named, _named(trusted, trusted))


def _named(candidates: Sequence[Candidate], trusted: Sequence[Candidate]) -> list[Candidate]:
    """An unnamed number that is read under exactly one name is said of that, if the document has no other unnamed.

    Names of one thing, one of which says its kind as well, become the shorter one.
    """
    names: dict[tuple[str, object], dict[str, str]] = defaultdict(dict)
    unnamed: dict[str, set[object]] = defaultdict(set)
    for each in trusted:
        if each.instance:
            known = names[each.field, _number(each)]
            called = plain(_KIND_OF_CORE.sub("", each.instance))
            known[called] = min(known.get(called, each.instance), each.instance, key=lambda name: (len(name), name))
        else:
            unnamed[each.field].add(_number(each))
    said = []
    for each in candidates:
        known = names[each.field, _number(each)] if _may_be_named(each) else {}
        if each.instance:
            called = plain(_KIND_OF_CORE.sub("", each.instance))
            said.append(_with(each, instance=known.get(called, each.instance)))
        elif len(known) == 1 and len(unnamed[each.field]) == 1:
            said.append(_with(each, instance=next(iter(known.values()))))
        else:
            said.append(each)
    return said


def _may_be_named(candidate: Candidate) -> bool:
    told = candidate.max if candidate.value is None else candidate.value
    return candidate.field.startswith(_UNITS) and isinstance(told, int | float)


def _with(candidate: Candidate, **said: object) -> Candidate:
    return Candidate(**{**candidate.__dict__, **said})


def _number(candidate: Candidate) -> object:
    """What is said, whether as a value or as the only bound."""
    bounds = (candidate.min, candidate.typ, candidate.max)
    if candidate.value is None and bounds[:2] == (None, None):
        return candidate.max
    return candidate.value if _is_bare(candidate) else (candidate.value, *bounds)


def _with_bounds(candidates: Sequence[Candidate], trusted: Sequence[Candidate]) -> list[Candidate]:
    """A bare number that other places call the largest, or give with its tolerance, is that there as well."""
    fuller: dict[tuple[object, ...], set[tuple[object, ...]]] = defaultdict(set)
    for each in trusted:
        if not _is_bare(each) and (each.value is not None or (each.min, each.typ) == (None, None)):
            number = each.max if each.value is None else each.value
            fuller[_thing(each), number].add((each.value, each.min, each.typ, each.max))
    return [
        _with(each, **dict(zip(("value", "min", "typ", "max"), next(iter(known)), strict=True)))
        if _is_bare(each) and len(known := fuller.get((_thing(each), each.value), set())) == 1
        else each
        for each in candidates
    ]


def _is_bare(candidate: Candidate) -> bool:
    return (candidate.min, candidate.typ, candidate.max) == (None, None, None)


def _thing(candidate: Candidate) -> tuple[str, str, bool]:
    return candidate.field, plain(candidate.instance), candidate.strength == "must"


def _is_anothers(candidate: Candidate, trusted: Sequence[Candidate]) -> bool:
    """Whether the same words could be of another kind of unit, and other places tell what the document means by it."""
    _, _, of = candidate.field.partition(".")
    if candidate.instance or "." not in of:
        return False
    rivals = any(
        each.text == candidate.text
        and each.page == candidate.page
        and each.field != candidate.field
        and each.field.partition(".")[2] == of
        for each in trusted
    )
    return rivals and any(
        each.field == candidate.field and each.text != candidate.text and each.confidence >= candidate.confidence
        for each in trusted
    )


def plain(instance: str | None) -> str:
    """A name without case, spaces and punctuation."""
    return "".join(c for c in (instance or "").lower() if c.isalnum())
