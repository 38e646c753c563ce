"""Operator tables that are set as an outline: a heading for each operator, below it list items that limit it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hwdoc_ingest.layout.sections import CONTENTS, body_size
from hwdoc_ingest.operators.operator_names import Operator, operators_of
from hwdoc_ingest.operators.operator_words import group_named
from hwdoc_ingest.page.pages import Box, Page, Word
from hwdoc_ingest.page.text_lines import BULLET, Line, around, baselines

_NUMBERED = re.compile(r"^(?P<number>\d{1,2}(?:\.\d{1,3}){0,4})\.?\s+(?P<title>\S.{0,80})$")
_CHIP = re.compile(r"[A-Z]{1,8}[-_]?\d{2,6}[A-Z]{0,3}")
_PROCESSOR = re.compile(r"\bCPU\b|处理器")
MIN_OPERATORS = 5
"""A document with fewer headings that name operators has no outline of operators."""


@dataclass
class Item:
    """One list item or line below an operator's heading, with the items that it stands under."""

    page: int
    indent: float
    text: str
    boxes: list[Box]
    parents: tuple[Item, ...] = ()
    bullet: bool = True
    group: str = ""
    """The line without a bullet, such as `Inputs`, that it stands below."""

    @property
    def box(self) -> Box:
        """Around all its words on the page where it begins."""
        return around(self.boxes)


@dataclass
class OperatorSection:
    """What stands below one heading that names operators."""

    operators: tuple[Operator, ...]
    title: str
    page: int
    box: Box
    families: tuple[str, ...]
    """Chips that the heading above speaks of; none where it names none."""
    items: list[Item] = field(default_factory=list)
    group: str = ""
    """The group that its last item stands in."""


@dataclass(frozen=True)
class _Heading:
    number: str
    title: str
    page: int
    line: Line


def operator_sections(pages: Sequence[Page]) -> tuple[OperatorSection, ...]:
    """The sections of a document that limit operators of an accelerator, in order; none for another document."""
    lines = _without_running_heads([(page.number, line) for page in pages for line in _lines(page)], pages)
    size = body_size([line for _, line in lines])
    headings = [heading for number, line in lines if (heading := _heading(number, line, size)) is not None]
    known = [heading for heading in headings if _names_operator(heading)]
    if len(known) < MIN_OPERATORS:
        return ()
    parents = {_parent(heading.number) for heading in known if heading.number}
    chapter = max((heading.line.size for heading in headings if heading.number), default=1.6 * size)
    return tuple(_sections(lines, headings, parents, chapter))


def chips_in(text: str) -> tuple[str, ...]:
    """The chips that a heading names: `RK3566/RK3568`."""
    return tuple(_CHIP.findall(text)) if re.fullmatch(rf"[^a-z]{{0,12}}{_CHIP.pattern}.{{0,60}}", text) else ()


def _lines(page: Page) -> Iterator[Line]:
    """Whole lines, whatever gaps they have."""
    for pieces in baselines(_on_their_lines(page.words)):
        yield Line(tuple(word for piece in pieces for word in piece.words))


def _on_their_lines(words: Sequence[Word]) -> list[Word]:
    """The words with large bullets on the line of what follows them, which else would look raised beside them."""
    found = list(words)
    for index, (word, following) in enumerate(pairwise(words)):
        beside = word.box[1] < (following.box[1] + following.box[3]) / 2 < word.box[3]
        if BULLET.match(word.text) and beside and 0 < following.box[0] - word.box[2] < 2 * word.size:
            found[index] = replace(word, base=following.base, size=following.size, raised=0)
            found[index + 1] = replace(following, raised=0)
    return found


def _without_running_heads(lines: list[tuple[int, Line]], pages: Sequence[Page]) -> list[tuple[int, Line]]:
    """The lines without those that stand at one height at the edge of three pages or more."""
    heights = {page.number: page.height for page in pages}
    edge = {
        (number, line): (round(line.base), line.text)
        for number, line in lines
        if not 0.09 < line.base / heights[number] < 0.93
    }
    often = Counter(edge.values())
    return [
        (number, line)
        for number, line in lines
        if (number, line) not in edge or (often[edge[number, line]] < 3 and not line.text.strip("- ").isdigit())
    ]


def _heading(page: int, line: Line, size: float) -> _Heading | None:
    """A numbered line, or one in larger letters that names an operator."""
    text = line.text.strip()
    if len(text) > 90 or CONTENTS.search(text) or re.search(r"(?:\. ){3}", text):
        return None
    found = _NUMBERED.match(text)
    if found and line.size > 1.05 * size:
        return _Heading(found["number"], found["title"].strip(), page, line)
    if line.size > 1.15 * size and not BULLET.match(line.words[0].text):
        title = re.sub(r"(?i)\s+(?:constraints?|operator|layer|limitations?|op)$", "", text)
        if any(operator.is_known for operator in operators_of(title)):
            return _Heading("", title, page, line)
        if len(line.words) <= 8:
            return _Heading("", text, page, line)
    return None


def _names_operator(heading: _Heading) -> bool:
    return any(operator.is_known for operator in operators_of(heading.title))


def _parent(number: str) -> str:
    return number.rpartition(".")[0]


def _depth(heading: _Heading, chapter: float) -> int:
    """How deep a heading stands: by its number, else a chapter's by its size in points, else below all numbers."""
    if heading.number:
        return heading.number.count(".") + 1
    return 0 if heading.line.size > 0.98 * chapter and not _names_operator(heading) else 9


def _sections(
    lines: list[tuple[int, Line]], headings: list[_Heading], parents: set[str], chapter: float
) -> Iterator[OperatorSection]:
    by_line = {id(heading.line): heading for heading in headings}
    above: dict[int, str] = {}
    section: OperatorSection | None = None
    for page, line in lines:
        heading = by_line.get(id(line))
        if heading is None:
            if section is not None:
                _add(section, page, line)
            continue
        if section is not None:
            yield section
            section = None
        depth = _depth(heading, chapter)
        above = {at: title for at, title in above.items() if at < depth} | {depth: heading.title}
        outer = [title for at, title in sorted(above.items()) if at < depth]
        is_operator = _names_operator(heading) or (bool(heading.number) and _parent(heading.number) in parents)
        if is_operator and depth > 1 and not any(_PROCESSOR.search(title) for title in outer[-2:]):
            operators = operators_of(heading.title)
            if operators:
                families = chips_in(outer[-1]) if outer else ()
                section = OperatorSection(operators, heading.title, page, line.box, families)
    if section is not None:
        yield section


def _add(section: OperatorSection, page: int, line: Line) -> None:
    """A line as an item of its own, or as the end of the item before."""
    first = line.words[0]
    bullet = bool(BULLET.match(first.text)) and len(line.words) > 1
    words = line.words[1:] if bullet else line.words
    text = Line(words).text.strip()
    last = section.items[-1] if section.items else None
    indent = first.box[0]
    if not bullet and last is not None and last.bullet and indent > last.indent + 2 and page - last.page <= 1:
        last.text = f"{last.text}{' ' if last.text[-1:].isascii() else ''}{text}"
        if page == last.page:
            last.boxes.append(line.box)
        return
    if not bullet:
        if group_named(text):
            section.group = text
        section.items.append(Item(page, indent, text, [line.box], (), False, section.group))
        return
    before = next((item for item in reversed(section.items) if item.bullet), None)
    above = (*before.parents, before) if before is not None and before.group == section.group else ()
    parents = tuple(item for item in above if item.indent < indent - 2)
    section.items.append(Item(page, indent, text, [Line(words).box], parents, True, section.group))
