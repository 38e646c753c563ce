"""What a rule is: which words name a parameter, where it must stand, and how a number near it is bound to a field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.statements.tagger import Role, Span


@dataclass(frozen=True)
class Tagged:
    """A statement with the spans that a tagger marked."""

    statement: Statement
    spans: tuple[Span, ...]

    @property
    def text(self) -> str:
        """The statement's text."""
        return self.statement.text

    @cached_property
    def amounts(self) -> tuple[Amount, ...]:
        """Number phrases that the tagger marked as values."""
        values = self.of("value")
        return tuple(a for a in find_amounts(self.text) if any(v.start < a.end and v.end > a.start for v in values))

    @cached_property
    def path_text(self) -> str:
        """The path of headings and parent items as one text, innermost last; a first page is the document's summary."""
        return " > ".join((*(("summary",) if self.statement.page == 1 else ()), *self.statement.path))

    @cached_property
    def parent(self) -> str:
        """The innermost heading or parent item."""
        return self.statement.path[-1] if self.statement.path else ""

    @cached_property
    def describes_register(self) -> bool:
        """Whether it tells what the bits of a register mean: its numbers are settings, not what the chip has."""
        if any(ACCESS.fullmatch(self.statement.cell_text(cell)) for cell in self.statement.cells):
            return True
        return bool(ENCODING.search(self.text)) or any(REGISTER_PAGES.search(p) for p in self.statement.path[-3:])

    @cached_property
    def is_of_accelerator(self) -> bool:
        """Whether it begins with a DSP, GPU or NPU, whose clock and caches it then gives."""
        head = _HEAD.match(self.text)
        named = (head and ACCELERATOR.search(head.group())) or _ACCELERATOR_HAS.match(self.text)
        return bool(named and not CPU_NAME.search(self.text))

    def of(self, role: Role) -> list[Span]:
        """The spans of one role."""
        return [span for span in self.spans if span.role == role]


@dataclass(frozen=True)
class Found:
    """What a rule makes of a statement, before confidence and provenance."""

    field: str
    start: int
    end: int
    value: str | float | bool | tuple[str | float, ...] | None = None
    min: float | None = None
    typ: float | None = None
    max: float | None = None
    instance: str | None = None
    condition: str | None = None
    sharing: str | None = None
    sureness: float = 0.9
    """Chance that it is right if every word was read right."""
    guessed: bool = False
    """Whether it was told by the company of words alone, not by a rule."""


InstanceOf = Callable[[Tagged, int, int], str | None]
"""The instance for a value that stands at a stretch of the text, or None."""


def words(pattern: str) -> re.Pattern[str]:
    """A pattern that ignores case."""
    return re.compile(pattern, re.IGNORECASE)


ENCODING = re.compile(
    r"\bb[01]{2,}\b|\d'[bhd][\dA-Fa-f]|\[\d+:\d+\]|(?<!-)(?<!\d )\bbits? \d+\b|^\s*\d+\s*:\s|\b[01]\s*=\s*\w"
)
"""How a register's bits are described: its numbers are settings, not what the chip has."""
ACCESS = re.compile(r"(?:R/?W|R/?O|W/?O|R|W|R/?W1?C|W1C|W1S|R/W1?[CS]|RC|rw|ro|wo|r|w|r/w|RW/?\w{1,3}|WARL|WLRL)")
"""A cell that says how a register is read and written."""
REGISTER_PAGES = re.compile(
    r"register (?:descriptions?|summary|map|definitions?|list|interface)\b|寄存器(?:描述|列表|说明)", re.IGNORECASE
)
NEVER = re.compile(r"(?!)")
CONTRAST = re.compile(r"\b(?:while|whereas|where\s?as)\b", re.IGNORECASE)
"""Between two clauses that each tell of a thing of its own: `the one has 2 KB, while the other has 1 KB`."""


@dataclass(frozen=True)
class QuantityRule:
    """Binds a number with a dimension to a field when the parameter's name stands near it."""

    field: str
    dimension: str
    """As in `Amount.dimension`: bytes, bits, count, frequency, voltage ..."""
    parameter: re.Pattern[str]
    """Names of the parameter."""
    context: re.Pattern[str] | None = None
    """Must stand in the statement or its path."""
    forbids: re.Pattern[str] = NEVER
    """Must not stand in the statement; of a long sentence, in the clause of name and number."""
    forbids_path: re.Pattern[str] = NEVER
    """Must not stand in the two innermost headings."""
    not_beside: re.Pattern[str] = NEVER
    """Must not stand right beside the number, which is marked by a NUL: another name that it belongs to."""
    low: float = 0.0
    high: float = float("inf")
    scale: float = 1.0
    """The field's unit is this many of the amount's base unit (1e12 for TOPS)."""
    typical_field: str = ""
    """Field of the typical value in a row that gives a typical and a largest one; empty where one field holds both."""
    gap_words: int = 3
    """How many words may stand between name and number."""
    before: bool = True
    """Whether the number may stand before the name (`64KB L1 cache`)."""
    after: bool = True
    """Whether the number may stand after the name (`cache size: 64KB`)."""
    instance: InstanceOf | None = None
    whole: bool = True
    """Whether a count must be a whole number."""
    ranged: bool = False
    """Whether a lone number in a sentence is a test condition, not the parameter: a bound or a range is needed."""
    spans_zero: bool = False
    """Whether a range must begin at 0 or below: at 20 to 26 °C a reel of parts is kept; it is no chip's limit."""
    lists: bool = False
    """Whether several values may be choices."""
    only_bounds: bool = False
    """Whether it reads only rows of tables with columns of bounds."""
    sureness: float = 0.9


FindRule = Callable[[Tagged], Iterator[Found]]
"""A rule of its own form, for what is no number near a name."""


ACCELERATOR = re.compile(r"\b(?:DSP|GPU|NPU|KPU|BPU|VPU|TPU|AI|tensor)s?\b|\bneural\b", re.IGNORECASE)
_HEAD = re.compile(r"^[^,;:]{3,40}?(?:[,;:]|\bat\b|\bwith\b|@)")
"""What a list item is about: its words before the first mark."""
_ACCELERATOR_HAS = re.compile(
    r"\W*(?:the|each|every|this|its|an?|one|both)?\s*(?:[\w-]+ ){0,2}?"
    r"(?:(?-i:DSP|GPU|[NKBTV]PU|(?:NV)?DLA)s?|(?:neural|AI|deep[- ]learning|tensor) (?:network )?"
    r"(?:engine|accelerator|processor|core|(?:processing )?unit)s?)(?: \([^()]{1,24}\))? (?:cores? )?"
    r"(?:has|have|packs?|includes?|contains?|features?|integrates?|comes?|offers?|provides?|uses?|accesses|owns)\b",
    re.IGNORECASE,
)
"""A sentence whose subject is an accelerator: `Each NPU has 2 MB of SRAM`."""
CPU_NAME = re.compile(r"\bCPUs?\b(?! clock frequency)|Cortex|\bMCU\b|\bARM\b|\bRISC-V\b|\bprocessors?\b", re.IGNORECASE)

LONG = 70
"""Letters of a sentence from which on what its other clauses speak of is another matter."""
LONG_IN_CHINESE = 45
"""The same for a Chinese sentence, which says as much in fewer letters."""
_CLAUSE = re.compile(
    r"[;；。]|[,，](?=\s|[\u4e00-\u9fff]|\Z)(?!\s*(?:and|or)\b)|\.\s"
    r"|\band (?=(?:also )?(?:supports?|features|includes|integrates|contains|comes|offers|provides)\b)"
)


def is_long(tagged: Tagged) -> bool:
    """Whether a sentence has room for clauses about other things."""
    longest = LONG if tagged.statement.printed is None else LONG_IN_CHINESE
    several = sum(bool(find_amounts(part)) for part in tagged.text.split("; ")) > 1
    return not tagged.statement.is_row and (several or len(tagged.text) > longest)


def clause(text: str, start: int, end: int) -> str:
    """The clause of a stretch of the text, with what leads into it."""
    before = [match.end() for match in _CLAUSE.finditer(text, 0, start)]
    after = _CLAUSE.search(text, end)
    return text[before[-1] if before else 0 : after.start() if after else len(text)]


_OWN_NUMBER = re.compile(r"(?<=\d.)\s?\([^()\d]{8,}\d[^()]*\)|(?<=\d..)\s?\([^()\d]{8,}\d[^()]*\)")
"""A parenthesis after a number that gives another by its own name: `-25 to 75 °C (junction at most 115 °C)`."""


_OPERATION = re.compile(
    r"\b(?:recommended|general|normal) (?:DC )?operat\w+|\boperating (?:conditions?|ranges?)\b|推荐工作|工作条件",
    re.IGNORECASE,
)


def tells_operation(tagged: Tagged) -> bool:
    """Whether a row's own caption says that it is about operation, whatever the heading above says of limits."""
    return tagged.statement.is_row and bool(_OPERATION.search(tagged.parent))


def applies(rule: QuantityRule, tagged: Tagged, header: str = "") -> bool:
    """Whether the context of a rule holds in a statement, or in one with the header of its values before it."""
    text = f"{header} {tagged.text}" if header else tagged.text
    if rule.field.startswith(("cpu.", "memory.sram", "memory.local")) and tagged.is_of_accelerator:
        return False
    if not rule.parameter.search(text) and not rule.parameter.search(tagged.parent):
        return False
    above = tagged.statement.path[-1:] if tells_operation(tagged) else tagged.statement.path[-2:]
    if (not is_long(tagged) and rule.forbids.search(_OWN_NUMBER.sub(" ", text))) or any(
        rule.forbids_path.search(part) for part in above
    ):
        return False
    if rule.only_bounds and not any(cell.bound for cell in tagged.statement.cells):
        return False
    return rule.context is None or bool(rule.context.search(text) or rule.context.search(tagged.path_text))
