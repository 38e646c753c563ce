"""The seam where a learned model goes: a tagger marks the spans of a statement, and nothing else.

What a span means for the chip (which field, which core) is settled afterwards by `bind`, whoever tagged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.statements.statement import Statement

Role = Literal["parameter", "value", "bound", "condition", "sharing", "strength"]


@dataclass(frozen=True)
class Span:
    """A stretch of a statement's text that plays a role in a constraint."""

    role: Role
    start: int
    end: int
    label: str = ""
    """`min`, `typ` or `max` of a bound; `shared` or `per_core`; `must` or `recommended`; else empty."""
    sureness: float = 1.0
    """How sure the tagger is, 0 to 1."""


class Tagger(Protocol):
    """Marks spans in statements."""

    name: str
    """Stands in a candidate's `method`."""

    def tag(self, statements: Sequence[Statement]) -> Sequence[tuple[Span, ...]]:
        """The spans of each statement, in the order of the statements."""
        ...


_BOUND = re.compile(
    r"(?P<max>\bDC (?:to|[-–])(?=\s?\d)|\bup\s?to\b|\bmaximum(?: of)?\b"
    r"|\bmax\b\.?|\bat most\b|\bless than\b|\bno more than\b|\bbelow\b"
    r"|\bnot exceed\b|最大|最高|高达|不超过|≤)"
    r"|(?P<min>\bminimum(?: of)?\b|\bmin\b\.?|\bat least\b|\bover\b(?=\s+\d)|\bmore than\b|\bin excess of\b"
    r"|最小|最低|至少|≥)"
    r"|(?P<typ>\btypical(?:ly)?\b|\btyp\b\.?|\bnominal\b|\babout\b|\bapproximately\b|典型|约)",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"(?:@|\bat\b|\bwhen\b|\bif\b|\bfor\b|\bin\b(?=\s+[\w-]+\s+mode)|\bwith\b(?=\s+\d)|=)\s*[^,;|()]{1,40}",
    re.IGNORECASE,
)
_SHARING = re.compile(
    r"(?P<shared>\bshared?\b|\bshares\b|\bcommon to\b|\bfor all\b|共享|共用)"
    r"|(?P<per_core>\bper[- ](?:core|cpu|cog)\b"
    r"|\beach\b(?!(?:\s+[\w-]+){0,2}\s+(?:process|task|thread|page|line|way|set|bank|entry|channel|cycle|transfer"
    r"|access)\b)"
    r"|\bprivate\b|\bowned by\b|\bdedicated\b|每个|独立)",
    re.IGNORECASE,
)
_STRENGTH = re.compile(
    r"(?P<must>\bmust\b|\bshall\b|\bhas to\b|\brequired\b|\bmandatory\b|absolute maximum|必须)"
    r"|(?P<recommended>\bshould\b|\brecommend(?:ed)?\b|\bpreferred\b|\bpreferably\b|推荐|建议)",
    re.IGNORECASE,
)
_LABELLED: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("bound", _BOUND),
    ("sharing", _SHARING),
    ("strength", _STRENGTH),
)


class RuleTagger:
    """Tags by word lists and number phrases. It makes no guess: what no rule names gets no span.

    Args:
        parameters: Finds the names of parameters by the dimension of their values (the ontology of
            `hwdoc_ingest.rules`).
    """

    name = "rule"

    def __init__(self, parameters: Mapping[str, re.Pattern[str]]) -> None:
        self.parameters = parameters

    def tag(self, statements: Sequence[Statement]) -> Sequence[tuple[Span, ...]]:
        """The spans of each statement, in the order of the statements."""
        return [self._spans(statement) for statement in statements]

    def _spans(self, statement: Statement) -> tuple[Span, ...]:
        text = statement.text
        amounts = find_amounts(text)
        if not amounts:
            return ()
        spans = [Span("value", amount.start, amount.end) for amount in amounts]
        for dimension in self._dimensions(statement, {amount.dimension for amount in amounts}):
            found = self.parameters[dimension].finditer(text)
            spans += [Span("parameter", m.start(), m.end()) for m in found if m.end() > m.start()]
        spans += [Span("condition", m.start(), m.end()) for m in _CONDITION.finditer(text)]
        for role, pattern in _LABELLED:
            spans += [Span(role, m.start(), m.end(), m.lastgroup or "") for m in pattern.finditer(text)]
        return tuple(sorted(spans, key=lambda span: (span.start, span.end, span.role)))

    def _dimensions(self, statement: Statement, found: set[str]) -> list[str]:
        """Dimensions that the values may have; in a row the unit often stands in a cell of its own."""
        bounded = any(cell.bound for cell in statement.cells)
        return sorted(self.parameters if bounded else found & set(self.parameters))
