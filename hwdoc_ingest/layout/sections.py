"""Lines into statements of running text, each with the path of headings and list items that it stands under."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.page.text_lines import BULLET, CJK, DOT_LEADER, GOES_ON, SENTENCE_END, Line, is_continued
from hwdoc_ingest.statements.statement import EARLIER, Statement, sentence
from hwdoc_ingest.sureness.standing import EXAMPLE

NUMBERED = re.compile(
    r"^(?:(?:chapter|section|appendix|part)\s+)?(\d{1,2}(?:\.\d{1,3}){0,5})\.?\s+(?=[A-Z\u4e00-\u9fff])|^第[一二三四五六七八九十\d]+[章节]",
    re.IGNORECASE,
)
HEADING_NUMBER = re.compile(r"chapter|section|appendix|part|\d{1,2}(?:\.\d{1,3})*\.?", re.IGNORECASE)
CONTENTS = re.compile(r"(?:\.\s?){5,}\s*\d+$|…+\s*\d+$")
PARENT = re.compile(r"^[A-Z\u4e00-\u9fff](?=.*[A-Za-z]{2}|.*[\u4e00-\u9fff]{2})")
"""A line without a bullet that may have items below it."""
COUNTED = re.compile(r"^\d{1,4}(?:\.\d+)?\s*(?:[个路组条种级通片位项款套颗核]|[x×]\s)")
"""A number that counts things: `27 个 GPIO` is no section 27."""
STARTS_WITH_VALUE = re.compile(
    r"^\d+(?:\.\d+)?\s?(?:[kKMG]?i?(?:B|Hz|bits?|bytes?)|m?[VAW]|nm|°C|[GT]OPS|[MG]FLOPS|MT/s)\b(?!\S*:)", re.IGNORECASE
)
"""A line that begins with a quantity gives one; it heads nothing."""
TITLE_WORD = re.compile(r"[A-Z][\w/-]{0,30}|of|and|the|for|to|in|on|with|&")
"""A word of a line that heads a paragraph in its own size: with a capital, no number, no mark at the end."""
LOWEST = 7
"""The level of such a heading."""
MOST_INDENT = 2.6
"""Font sizes by which the first line of a paragraph may be set in; in Chinese two letters are usual."""
LONG_IN_CHINESE = 12
"""Chinese letters of a line that is prose: where it reaches the edge of the page, its sentence goes on."""
FEWEST_OF_PROSE = 4
"""Words of a line that a sentence may go on from into the next column."""
MAX_DEPTH = 5
MAX_HEADING = 90


@dataclass
class Outline:
    """Where the reader is in the document: the headings above, kept from page to page."""

    headings: list[tuple[int, str]] = field(default_factory=list)
    items: list[tuple[float, str]] = field(default_factory=list)
    """Open list items with the place where their text begins."""
    left: float | None = None
    """Where the column begins that the places of the open items are measured in."""

    def path(self) -> tuple[str, ...]:
        """Headings and open list items, outermost first."""
        return tuple(text for _, text in self.headings) + tuple(text for _, text in self.items)

    def heading(self, level: int, text: str) -> None:
        """A new heading closes those of its level and below, and all list items."""
        self.headings = [(at, title) for at, title in self.headings if at < level] + [(level, text)]
        self.items = []

    def column(self, left: float) -> None:
        """Goes on at the top of another column: the open items move with it."""
        if self.left is not None:
            self.items = [(at + left - self.left, text) for at, text in self.items]
        self.left = left

    def item(self, indent: float, text: str) -> None:
        """A list item closes those that are not further left."""
        self.items = [(at, title) for at, title in self.items if at < indent - 2][-MAX_DEPTH:]
        self.items.append((indent, text))


def heading_level(line: Line, body_size: float) -> int | None:
    """The level of a heading (1 is the outermost), or None for text."""
    text = line.text
    if len(text) > MAX_HEADING or CONTENTS.search(text) or text.endswith((".", ",", ";")):
        return None
    if BULLET.match(line.words[0].text) and len(line.words) > 1 and not NUMBERED.match(text):
        return None
    if COUNTED.match(text) or STARTS_WITH_VALUE.match(text):
        return None
    numbered = NUMBERED.match(text)
    if numbered and (line.size > 1.05 * body_size or len(text) < 60):
        number = numbered.group(1) or "1"
        digits_after = re.match(r"[A-Z\u4e00-\u9fff]", text[numbered.end() :])
        if digits_after and (line.size > 1.05 * body_size or "." in number or text.lower().startswith("chapter")):
            return 1 + number.count(".")
    if (
        line.size > 1.2 * body_size
        and len(line.words) <= 10
        and re.search(r"[A-Za-z]{3}|[A-Z]{2}[\w/-]*\d\d|[\u4e00-\u9fff]{2}", text)
    ):
        return 2
    capitals = re.sub(r"[^A-Za-z]", "", text)
    written_in_latin = not re.search(r"[\u4e00-\u9fff]", text)
    if (
        len(capitals) > 6
        and capitals.isupper()
        and written_in_latin
        and len(line.words) <= 6
        and line.size >= body_size
    ):
        return 3
    return None


BODY_SHARE = 0.25
"""Share of the text that a size must have to be the body's: tables often hold most of it, in a smaller one."""


def _is_run_in_title(block: Sequence[Line], following: Sequence[Line]) -> bool:
    """Whether a few words on a line of their own, in the text's size, head the paragraph right below."""
    line = block[0]
    titled = len(line.words) <= 6 and all(TITLE_WORD.fullmatch(word.text) for word in line.words)
    if len(block) > 1 or len(following) < 2 or not titled or line.is_pair:
        return False
    near = following[0].base - line.base < 3 * line.size and abs(following[0].box[0] - line.box[0]) < 2 * line.size
    return near and not BULLET.match(following[0].words[0].text)


def body_size(lines: Sequence[Line]) -> float:
    """The font size of running text: the largest that much of the text is set in."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size, 1)] += len(line.text)
    if not sizes:
        return 10.0
    most = sizes.most_common(1)[0][0]
    much = [size for size, letters in sizes.items() if letters >= BODY_SHARE * sizes.total() and size <= 1.25 * most]
    return max(much, default=most)


def statements(page: int, lines: Sequence[Line], outline: Outline, size: float, by_ocr: bool) -> Iterator[Statement]:
    """The sentences of some lines in reading order; headings and list items are noted in the outline."""
    example = ""  # the sentence that leads into a list of what an example has
    blocks = list(_blocks(lines, size))
    lefts = column_lefts(lines)
    for block, following in zip(blocks, [*blocks[1:], []], strict=False):
        first = block[0]
        if first in lefts:
            outline.column(lefts[first])
        if CONTENTS.search(first.text):
            continue
        level = heading_level(first, size) if len(block) == 1 else None
        if level is None and _is_run_in_title(block, following):
            level = LOWEST
        if level is not None:
            outline.heading(level, first.text)
            example = ""
            yield replace(sentence(page, _titled(first), outline.path()[:-1], by_ocr), is_heading=True)
            continue
        words = [word for line in block for word in line.words]
        bullet = bool(BULLET.match(words[0].text)) and len(words) > 1
        indent = first.box[0]
        words = words[1:] if bullet else words
        outline.items = [(at, text) for at, text in outline.items if at < indent - 2]
        said = _in_paragraph(
            _sentences(page, words, outline.path() + ((example,) if bullet and example else ()), by_ocr)
        )
        yield from said
        if not bullet:
            leads = said[-1].text.endswith((":", "：")) and EXAMPLE.search(said[-1].text)
            example = said[-1].text[:120] if leads else ""
        if bullet or (len(block) == 1 and PARENT.match(first.text) and len(words) <= 12):
            outline.item(indent, sentence(page, words, (), by_ocr).text[:120])


def column_lefts(lines: Sequence[Line]) -> dict[Line, float]:
    """The lines that begin a column, each with the left edge of what stands in it: there the text goes up again."""
    starts = [0, *(at for at in range(1, len(lines)) if lines[at].base < lines[at - 1].base - lines[at].size)]
    parts = (lines[start:end] for start, end in pairwise([*starts, len(lines)]))
    return {part[0]: min(line.box[0] for line in part) for part in parts if part}


def _titled(line: Line) -> Sequence[Word]:
    """The words of a heading without the number that it stands at: `2.1 Cortex-A53` tells of no single core."""
    if not NUMBERED.match(line.text):
        return line.words
    at = next((at for at, word in enumerate(line.words) if not HEADING_NUMBER.fullmatch(word.text)), 0)
    return line.words[at:]


def _blocks(lines: Sequence[Line], size: float) -> Iterator[list[Line]]:
    """Lines that make one paragraph or list item."""
    block: list[Line] = []
    for line in lines:
        if block and not _same_block(block, line, lines, size):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _same_block(block: list[Line], line: Line, lines: Sequence[Line], size: float) -> bool:
    last = block[-1]
    if line.is_pair or (last.is_pair and not GOES_ON.search(last.text)):
        return False
    if line.base < last.base:
        return _goes_on_in_next_column(last, line, lines, size)
    if BULLET.match(line.words[0].text) or not 0 < line.base - last.base < 2.2 * max(last.size, line.size):
        return False
    if heading_level(last, size) is not None or abs(line.size - last.size) > 0.15 * size:
        return False
    begins_at = block[0].words[0]
    hangs = bool(BULLET.match(begins_at.text)) and len(block[0].words) > 1
    text_at = block[0].words[1].box[0] if hangs else last.box[0]
    ended = bool(SENTENCE_END.search(last.text)) or not is_continued(last, line, _right_edge(last, lines))
    below_item = hangs and abs(line.box[0] - text_at) < 2 and not last.text.endswith((".", "。"))
    if ended and heading_level(line, size) is not None and not below_item:
        return False
    if hangs and line.box[0] < block[0].box[0] - 2:
        return False  # left of the item's own mark
    indented = len(block) == 1 and not hangs and 0 < last.box[0] - line.box[0] < MOST_INDENT * size
    if not indented and abs(line.box[0] - text_at) > 1.5 * size and abs(line.box[0] - block[0].box[0]) > 1.5 * size:
        return False
    edge = _right_edge(last, lines)
    return (below_item and (_is_numbered(line) or not _fitted(last, line, edge))) or is_continued(last, line, edge)


def _goes_on_in_next_column(last: Line, line: Line, lines: Sequence[Line], size: float) -> bool:
    """Whether a sentence that is broken off at the foot of a column ends at the top of the next one."""
    if line.box[0] < last.box[2] or abs(line.size - last.size) > 0.05 * size or SENTENCE_END.search(last.text):
        return False
    prose = len(last.words) >= FEWEST_OF_PROSE and line.text[:1].islower() and not BULLET.match(line.words[0].text)
    edge = _right_edge(last, lines)
    return prose and last.box[2] + line.words[0].box[2] - line.words[0].box[0] > edge - 0.02 * (edge - last.box[0])


def _fitted(last: Line, line: Line, edge: float) -> bool:
    """Whether the first word of a line would have had room at the end of the line before."""
    word = line.words[0].box
    return last.box[2] + 0.25 * last.size + word[2] - word[0] < edge


def _is_numbered(line: Line) -> bool:
    """Whether a line begins as the heading of a section does: right below an item it goes on with a figure."""
    return bool(NUMBERED.match(line.text))


def _right_edge(line: Line, lines: Sequence[Line]) -> float:
    """The right edge of the column that a line stands in, far off where the lines end raggedly (a list)."""
    edges = sorted(
        other.box[2]
        for other in lines
        if other.box[0] < line.box[2] and other.box[2] > line.box[0] and abs(other.base - line.base) < 15 * line.size
    )
    edge = edges[int(0.9 * (len(edges) - 1))]
    near = sum(abs(each - edge) < 0.06 * (edge - line.box[0]) for each in edges)
    if near >= max(2, 0.2 * len(edges)) or len(edges) < 4:
        return edge
    return edges[-1] if len(CJK.findall(line.text)) >= LONG_IN_CHINESE else 2 * edge + 100


_END = re.compile(r"(?:[.!?][\"')\]]?|[。；！？])$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|Fig|No|vs|approx|max|min|typ|Co|Ltd|Inc|[A-Z])\.$", re.IGNORECASE
)


def _in_paragraph(sentences: Iterable[Statement]) -> list[Statement]:
    """The sentences of one paragraph, each with those before it."""
    said: list[Statement] = []
    for each in sentences:
        said.append(replace(each, earlier=" ".join(other.text for other in said)[-EARLIER:]))
    return said


def _sentences(page: int, words: Sequence[Word], path: tuple[str, ...], by_ocr: bool) -> Iterator[Statement]:
    run: list[Word] = []
    for index, word in enumerate(words):
        run.append(word)
        following = words[index + 1].text if index + 1 < len(words) else "A"
        ends = _END.search(word.text) and not _ABBREVIATION.search(word.text) and not DOT_LEADER.search(word.text)
        leads = not word.text.strip(".…") or not following.strip(".…")  # the dots between a name and its value
        if ends and not leads and not following[0].islower():
            yield sentence(page, run, path, by_ocr)
            run = []
    if run:
        yield sentence(page, run, path, by_ocr)
