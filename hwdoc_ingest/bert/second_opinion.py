"""A second opinion on what the rules read.

The encoder never makes a number: it only says what a number of the text is about. Numbers, units and their case come
from the text by `number_phrases`, as for the rules.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hwdoc_ingest.bert.encoder import Encoder, Opinion
from hwdoc_ingest.bert.labels import NO_FIELD, ROLES, Kind
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.judging.marked_boxes import holds
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.statements.tagger import Span
from metainfer_core.spec.drafting.draft import Candidate

BOUNDS = ("min", "typ", "max")
MAYBE_NOTHING = 0.3
SURELY_ELSEWHERE = 0.5
"""Most that a confirmed number may be about no field, and its statement about another chip or the past."""
ELSEWHERE: tuple[Kind, ...] = ("other_chip", "example", "history", "ordering")
"""Statements that say nothing of the chip as it is."""
MOST_STATEMENTS = 4000
"""Of one document; a manual of 400 pages has about a hundred from which something was read."""
DIGITS = 2
"""Chances are rounded so: machines differ in the last digits of a sum."""


@dataclass(frozen=True)
class Second:
    """What the encoder says of one statement."""

    encoder: Encoder
    opinion: Opinion
    statement: Statement

    def chance(self, field: str, amount: Amount) -> float | None:
        """The chance that a number is about a field; None where the encoder cannot tell."""
        tokens = self._tokens(amount.start, amount.end)
        if not tokens or field not in self.encoder.fields:
            return None
        return round(float(self.opinion.fields[tokens, self.encoder.fields.index(field)].mean()), DIGITS)

    def likeliest(self, amount: Amount) -> tuple[str, float]:
        """The field that a number is most likely about, with its chance; no field if it stands too far back."""
        tokens = self._tokens(amount.start, amount.end)
        if not tokens:
            return NO_FIELD, 1.0
        chances = self.opinion.fields[tokens].mean(0)
        return self.encoder.fields[int(chances.argmax())], round(float(chances.max()), DIGITS)

    def confirms(self, candidate: Candidate) -> bool:
        """Whether the words bear out a candidate that says a number.

        They do when the encoder holds the number for a property that has a field, and the statement for one about the
        chip as it is. Which field it is about is left to the rules, which tell like fields apart more sharply. Names
        and addresses are not asked about; a number that words alone say (`direct-mapped`) must stand there.
        """
        numbers = numbers_of(candidate)
        if not numbers:
            return True
        if self.elsewhere > SURELY_ELSEWHERE:
            return False
        amounts = amounts_with(numbers, find_amounts(self.statement.text))
        if not amounts:
            return holds(self.statement.text, candidate_json(candidate))
        nothing = [chance for amount in amounts for chance in [self.chance(NO_FIELD, amount)] if chance is not None]
        return min(nothing, default=1.0) <= MAYBE_NOTHING

    @property
    def elsewhere(self) -> float:
        """The chance that the statement is not about the chip as it is."""
        chances = dict(zip(self.encoder.kinds, self.opinion.kinds, strict=True))
        return round(float(sum(chances[kind] for kind in ELSEWHERE)), DIGITS)

    def spans(self) -> tuple[Span, ...]:
        """The words that play a role, each stretch with how sure the encoder is of it."""
        found: list[Span] = []
        best = self.opinion.roles.argmax(1)
        for at, place in enumerate(self.opinion.places):
            label = self.encoder.roles[int(best[at])]
            if place is None or label not in ROLES:
                continue
            role, name = ROLES[label]
            sure = round(float(self.opinion.roles[at].max()), DIGITS)
            last = found[-1] if found else None
            if last and (last.role, last.label) == (role, name) and place[0] - last.end <= 1:
                found[-1] = Span(role, last.start, place[1], name, min(last.sureness, sure))
            else:
                found.append(Span(role, *place, name, sure))
        return tuple(found)

    def _tokens(self, start: int, end: int) -> list[int]:
        return [at for at, place in enumerate(self.opinion.places) if place and place[0] < end and place[1] > start]


def second_opinions(encoder: Encoder, statements: Sequence[Statement]) -> list[Second]:
    """What the encoder says of each statement."""
    contexts = [encoder.context(each.path, each.text, each.cells) for each in statements]
    opinions = encoder.read(contexts)
    return [Second(encoder, opinion, each) for opinion, each in zip(opinions, statements, strict=True)]


def _numbers(value: object) -> list[float]:
    items = value if isinstance(value, tuple) else (value,)
    return [float(item) for item in items if isinstance(item, int | float) and not isinstance(item, bool)]


def numbers_of(candidate: Candidate) -> list[float]:
    """The numbers that a candidate says: its value or values, and its bounds."""
    return [number for key in ("value", *BOUNDS) for number in _numbers(getattr(candidate, key))]


def amounts_with(numbers: Sequence[float], amounts: Sequence[Amount]) -> list[Amount]:
    """The number phrases of a statement that say one of the numbers."""
    return [a for a in amounts if any(is_same_but_unit(value, number) for value in a.values for number in numbers)]


def is_same_but_unit(printed: float, number: float) -> bool:
    """Whether a printed number is a candidate's but for the unit, which may stand in another cell."""
    if printed == number:
        return True
    if printed == 0 or number == 0 or not math.isfinite(printed * number):
        return False
    ratio = number / printed
    return ratio > 0 and any(
        abs(round(power) - power) < 1e-9 for power in (math.log10(ratio) / 3, math.log2(ratio) / 10)
    )


def confirmed(encoder: Encoder, candidates: Sequence[Candidate], statements: Sequence[Statement]) -> list[bool]:
    """For each candidate whether the statement that it was read in bears it out.

    Of the statements of a document the first `MOST_STATEMENTS` are asked about; what stands in others is not confirmed.
    """
    different = list({id(each): each for each in statements}.values())[:MOST_STATEMENTS]
    opinions = {id(each.statement): each for each in second_opinions(encoder, different)}
    return [
        id(statement) in opinions and opinions[id(statement)].confirms(candidate)
        for candidate, statement in zip(candidates, statements, strict=True)
    ]
