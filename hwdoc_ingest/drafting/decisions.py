"""What is settled when documents of one chip are put side by side, as sentences that a person can check.

Nothing is thrown away by it: every candidate stays in the draft, the one that comes first stands first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from metainfer_core.spec.drafting.draft import Candidate, DraftSource

ORDER: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("errata", re.compile(r"errat(?:a|um)|勘误", re.IGNORECASE)),
    (
        "reference manual",
        re.compile(
            r"reference[ _-]?(?:manual|guide)|\bt?rm\b|technical[ _-]?reference|user'?s?[ _-]?(?:manual"
            r"|guide)|手册"
            r"|programmer",
            re.IGNORECASE,
        ),
    ),
    ("data sheet", re.compile(r"data[ _-]?sheet|\bds\b|specification|规格书", re.IGNORECASE)),
    ("brief", re.compile(r"brief|overview|flyer|leaflet|introduction|简介", re.IGNORECASE)),
)
"""Kinds of document by precedence: what corrects comes before what describes, what describes before what advertises."""
_OTHER = "other"
_BINARY = re.compile(r"\d\s?-?[kKMG](?:B|[Bb]ytes?)?\b(?!i)")
_GRADE = re.compile(
    r"\b\d+(?:\.\d+)?(?:\s?(?:and|,)\s?\d+)*\s?[MG]Hz\b|\b(?:commercial|industrial|automotive|extended|consumer)\b"
    r"|\b[A-Z]*\d+[A-Z]*-\d*[A-Z]?\d*\b|(?<!\w)-\d{2,3}[A-Z]?\b",
    re.IGNORECASE,
)
"""How a speed or temperature grade is named."""
_BYTES = "B"


def kind_of(source: DraftSource) -> str:
    """What kind of document it is by its title and file name: `errata`, `reference manual`, `data sheet`, `brief`."""
    name = re.sub(r"[_.]+", " ", f"{source.title} {source.file_name}")
    return next((kind for kind, pattern in ORDER if pattern.search(name)), _OTHER)


def rank(source: DraftSource) -> int:
    """The place of a document in the order of precedence, 0 first; an unknown kind stands with the data sheets."""
    kinds = [kind for kind, _ in ORDER]
    kind = kind_of(source)
    return kinds.index(kind) if kind in kinds else kinds.index("data sheet")


def decisions(sources: Mapping[str, DraftSource], candidates: Sequence[Candidate]) -> Iterator[str]:
    """What was settled: the base of KB in each document, whose value comes first, and what depends on a variant."""
    yield from _binary_sizes(sources, candidates)
    groups: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    fields: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for candidate in candidates:
        groups[candidate.field, candidate.instance or ""].append(candidate)
        fields[candidate.field, candidate.source].append(candidate)
    for (field, instance), group in groups.items():
        yield from _precedence(sources, f"{field} of {instance}" if instance else field, group)
    for (field, source), group in fields.items():
        yield from _variants(field, source, group)


def _binary_sizes(sources: Mapping[str, DraftSource], candidates: Sequence[Candidate]) -> Iterator[str]:
    for key in sources:
        sizes = [c for c in candidates if c.source == key and c.unit == _BYTES and _BINARY.search(c.text)]
        if sizes:
            many = "one size is" if len(sizes) == 1 else f"{len(sizes)} sizes are"
            yield f"{key}: K, M and G of bytes are read as 1024, 1024² and 1024³; {many} read so."


def _precedence(sources: Mapping[str, DraftSource], thing: str, group: Sequence[Candidate]) -> Iterator[str]:
    """Which document comes first where documents of different rank give different values."""
    by_source: dict[str, set[object]] = defaultdict(set)
    for candidate in group:
        by_source[candidate.source].add((candidate.value, candidate.min, candidate.typ, candidate.max))
    said = sorted(by_source, key=lambda key: (rank(sources[key]), list(sources).index(key)))
    for other in said[1:]:
        first = said[0]
        if by_source[first] != by_source[other] and rank(sources[first]) < rank(sources[other]):
            yield (
                f"{thing}: {first} ({kind_of(sources[first])}) and {other} ({kind_of(sources[other])}) differ; "
                f"{first} comes first."
            )


def _variants(field: str, source: str, group: Sequence[Candidate]) -> Iterator[str]:
    """Which values hold for one speed or temperature grade only."""
    graded = {
        grade.group(): (c.value, c.min, c.typ, c.max)
        for c in group
        for grade in [_GRADE.search(c.instance or "") or _GRADE.search(c.condition or "")]
        if grade
    }
    if len(set(graded.values())) > 1:
        yield f"{source}: {field} depends on the variant ({', '.join(sorted(graded))}); choose the one that is fitted."
