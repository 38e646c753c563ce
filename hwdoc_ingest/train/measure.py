"""How well an encoder does on statements whose marks are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hwdoc_ingest.bert.encoder import Encoder, Opinion
from hwdoc_ingest.bert.labels import NO_FIELD, NOTHING
from hwdoc_ingest.train.example import Example


@dataclass(frozen=True)
class Figures:
    """Shares from 0 to 1, and the numbers that they were taken of."""

    statements: int
    values: int
    fields_right: float
    """Of all values: the likeliest field is the right one (or rightly none)."""
    precision: float
    """Of the values given a field: it is the right one."""
    recall: float
    """Of the values that have a field: it was given."""
    roles_right: float
    """Of the words that play a role: the likeliest role is the right one."""
    kinds_right: float

    def text(self) -> str:
        """One line."""
        return (
            f"{self.statements} statements, {self.values} values: field right {self.fields_right:.3f} "
            f"(precision {self.precision:.3f}, recall {self.recall:.3f}), role right {self.roles_right:.3f}, "
            f"kind right {self.kinds_right:.3f}"
        )


def measure(encoder: Encoder, examples: Sequence[Example]) -> Figures:
    """Reads the examples as at run time and compares."""
    count: Counter[str] = Counter()
    opinions = encoder.read([encoder.context(each.path, each.text, each.cells) for each in examples])
    for example, opinion in zip(examples, opinions, strict=True):
        count["kinds"] += encoder.kinds[int(opinion.kinds.argmax())] == example.kind
        _count_marks(encoder, example, opinion, count)
    return Figures(
        statements=len(examples),
        values=count["values"],
        fields_right=_share(count["right"], count["values"]),
        precision=_share(count["given right"], count["given"]),
        recall=_share(count["given right"], count["wanted"]),
        roles_right=_share(count["roles"], count["words"]),
        kinds_right=_share(count["kinds"], len(examples)),
    )


def _count_marks(encoder: Encoder, example: Example, opinion: Opinion, count: Counter[str]) -> None:
    for mark in example.marks:
        tokens = [
            at for at, place in enumerate(opinion.places) if place and place[0] < mark.end and place[1] > mark.start
        ]
        for at in tokens:
            role = encoder.roles[int(opinion.roles[at].argmax())]
            count["words"] += mark.label != NOTHING
            count["roles"] += role == mark.label
        if mark.label != "value" or not tokens:
            continue
        got = encoder.fields[int(opinion.fields[tokens].mean(0).argmax())]
        count["values"] += 1
        count["right"] += got == mark.field
        count["wanted"] += mark.field != NO_FIELD
        count["given"] += got != NO_FIELD
        count["given right"] += got == mark.field != NO_FIELD


def _share(part: int, whole: int) -> float:
    return round(part / max(1, whole), 4)
