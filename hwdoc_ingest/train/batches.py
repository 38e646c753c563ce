"""Examples as numbers: tokens, and the role, field and kind that they should get."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from hwdoc_ingest.bert.context import context
from hwdoc_ingest.bert.labels import KINDS, NO_FIELD, NOTHING, ROLE_LABELS
from hwdoc_ingest.train.example import Example

IGNORED = -100
"""A label that no loss counts."""
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Learnt:
    """One example as numbers."""

    ids: tuple[int, ...]
    roles: tuple[int, ...]
    fields: tuple[int, ...]
    kind: int


@dataclass(frozen=True)
class Batch:
    """Some examples of like length: arrays of (examples, tokens), and the kinds."""

    ids: Numbers
    mask: Numbers
    roles: Numbers
    fields: Numbers
    kinds: Numbers


def as_numbers(example: Example, vocabulary: Tokenizer, fields: Sequence[str]) -> Learnt:
    """The tokens of an example with their labels.

    A field is asked only of numbers: those of a value, and any other token with a digit, which has none.
    """
    read = context(vocabulary, example.path, example.text, example.cells)
    number_of = {name: at for at, name in enumerate(fields)}
    roles, asked = [], []
    for place in read.places:
        role, field = IGNORED, IGNORED
        if place is not None:
            mark = next((m for m in example.marks if m.start < place[1] and m.end > place[0]), None)
            role = ROLE_LABELS.index(mark.label if mark else NOTHING)
            if mark and mark.label == "value":
                field = number_of[mark.field]
            elif any(c.isdigit() for c in example.text[place[0] : place[1]]):
                field = number_of[NO_FIELD]
        roles.append(role)
        asked.append(field)
    return Learnt(read.ids, tuple(roles), tuple(asked), KINDS.index(example.kind))


def batches(examples: Sequence[Learnt], size: int, rng: random.Random, padding: int) -> Iterator[Batch]:
    """Batches of like length in random order."""
    order = sorted(range(len(examples)), key=lambda at: (len(examples[at].ids), rng.random()))
    groups = [order[at : at + size] for at in range(0, len(order), size)]
    rng.shuffle(groups)
    for group in groups:
        chosen = [examples[at] for at in group]
        longest = max(len(each.ids) for each in chosen)
        yield Batch(
            ids=_padded([each.ids for each in chosen], longest, padding),
            mask=_padded([(1,) * len(each.ids) for each in chosen], longest, 0),
            roles=_padded([each.roles for each in chosen], longest, IGNORED),
            fields=_padded([each.fields for each in chosen], longest, IGNORED),
            kinds=np.array([each.kind for each in chosen], np.int64),
        )


def _padded(rows: Sequence[tuple[int, ...]], length: int, padding: int) -> Numbers:
    return np.array([[*row, *[padding] * (length - len(row))] for row in rows], np.int64)
