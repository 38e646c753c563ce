"""Words into lines in reading order: baselines, gaps, and columns of prose."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from hwdoc_ingest.page.line_breaks import broken_off, keeps_hyphen
from hwdoc_ingest.page.pages import Box, Page, Word
from hwdoc_ingest.page.ruled_columns import ruled_gutter

WIDE_GAP = 1.4
"""A gap of this many font sizes parts two pieces of a line (a cell, a column, a dot leader)."""
LEADING_MARK = re.compile(r"^(?:\W{1,2}|\d{1,2}[.)]|\d{1,2}(?:\.\d{1,2}){1,5}\.?|[ivx]{1,4}[.)])$")
"""A bullet or a number that a heading or list item begins with."""
LEADER_PIECE = re.compile(r"^\.+$|\.{4,}|…|^\.(?=[-+\d])")
ADDRESS_END = re.compile(r"(?:0x[\dA-Fa-f_]+|\b[\dA-Fa-f]{4,8}h)\W*$")
GOES_ON = re.compile(
    r"(?:,|、|，|(?<=[\dBVzCAW])\s?[-~～]|[和与及或至到为是达]"
    r"|\b(?:and|or|of|the|with|to|for|in|a|an|by))$",
    re.IGNORECASE,
)
"""How a line ends that cannot end a sentence."""
ENDS_IN_NUMBER = re.compile(r"(?:[a-z\u4e00-\u9fff]|\bof|@|[~=<>≤≥±-])\s?\d+(?:\.\d+)?$")
UNIT = re.compile(r"(?:[kKMGT]i?[Bb](?:yte|it)?s?|[kKMG]?Hz|bits?|bytes?|m?[VAW]|°C|MT/s|Mbps|TOPS|GOPS)(?![A-Za-z\d])")
"""A number at the end of a line and its unit at the beginning of the next belong together."""
CJK = re.compile(r"[\u3000-\u30ff\u4e00-\u9fff\uff00-\uffef]")
SENTENCE_END = re.compile(r"[。；！？.;!?]$")
LEADING_RUN = re.compile(r"[\dA-Za-z.+-]{2,16}")
"""What is not broken at the end of a Chinese line."""
BULLET = re.compile(r"^(?:[•●○◦▪■□◼◆◇➢➤‣⁃∙·►▶✓⚫★♦\uf000-\uf0ff]|[-—*]|o|\(?[a-z0-9]\)|\d{1,2}\.)$")
VALUE = re.compile(r"^\W{0,3}(?:\d|0x|approx|up to|max|min|typ)", re.IGNORECASE)
LABEL_IN_A_FIGURE = re.compile(r"^\d+ ?[KMG]i?B [A-Za-z]")
"""A size with its own name is no name of what stands beside it: `32 KB I-cache`, in a block diagram."""
EQUATION = re.compile(r"^[A-Za-z]{1,8}\s?=\s?[-+]?\d")
DOT_LEADER = re.compile(r"(?:\.\s?){4,}|…+|_{4,}")


@dataclass(frozen=True)
class Line:
    """Words that stand side by side on one baseline with no wide gap between them."""

    words: tuple[Word, ...]

    @cached_property
    def box(self) -> Box:
        """The box around all words."""
        return around(word.box for word in self.words)

    @cached_property
    def size(self) -> float:
        """Font size of the largest word."""
        return max(word.size for word in self.words)

    @cached_property
    def base(self) -> float:
        """Baseline of the first word that is neither raised nor lowered."""
        return next((word.base for word in self.words if not word.raised), self.words[0].base)

    @cached_property
    def is_pair(self) -> bool:
        """Whether a wide gap parts it, as between a name and its value."""
        gaps = (b.box[0] - a.box[2] for a, b in pairwise(self.words[1:]))
        return any(gap > WIDE_GAP * self.size for gap in gaps) or bool(DOT_LEADER.search(self.text))

    @cached_property
    def text(self) -> str:
        """The words with spaces between them."""
        return join_words(self.words)[0]


def around(boxes: Iterable[Box]) -> Box:
    """The smallest box around the boxes."""
    every = list(boxes)
    return (
        min(box[0] for box in every),
        min(box[1] for box in every),
        max(box[2] for box in every),
        max(box[3] for box in every),
    )


def join_words(words: Sequence[Word]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text of the words, and where each word stands in it.

    A subscript is glued to what it stands at. A footnote mark is left out, an exponent is written `^n`. A word that
    was broken at the end of a line is whole.
    """
    text = ""
    places: list[tuple[int, int]] = []
    for index, word in enumerate(words):
        piece, glue = DOT_LEADER.sub(" … ", word.text).strip(), False
        if LEADER_PIECE.match(piece) and index:
            piece = piece.lstrip(".… ") if text.endswith((".", "…")) else "… " + piece.lstrip(".… ")
            piece = piece.strip()
        if word.raised and index:
            before = words[index - 1].text
            glue = True
            if word.raised > 0:
                piece = _raised_text(before, word.text)
            elif word.text == "16" and set(before) <= set("0123456789ABCDEFabcdef"):
                piece = "h"  # FFFE with a small 16 below is hexadecimal
        elif index and words[index - 1].raised and word.text[0] in ",.;:)":
            glue = True
        elif (
            index
            and word.box[0] - words[index - 1].box[2] < 0.02 * word.size
            and abs(word.base - words[index - 1].base) < 0.1 * word.size
        ):
            glue = not words[index - 1].raised
        elif index and text.endswith("-") and broken_off(words[index - 1], word):
            glue = True
            if not keeps_hyphen(words[index - 1].text):
                text = text[:-1]
                places[-1] = places[-1][0], len(text)
        if text and piece and not glue and not (CJK.match(text[-1]) and CJK.match(piece[0])):
            text += " "
        places.append((len(text), len(text) + len(piece)))
        text += piece
    return text, tuple(places)


def _raised_text(before: str, raised: str) -> str:
    """What a superscript after `before` says: an exponent, the end of an ordinal, or nothing (a footnote mark)."""
    if raised in ("st", "nd", "rd", "th", "TM", "®", "™", "o", "°"):
        return {"o": "°", "TM": "", "®": "", "™": ""}.get(raised, raised)
    if raised.lstrip("-").isdigit() and (
        before in ("2", "10", "cm", "mm", "m", "in") or before.endswith(("x10", "×10"))
    ):
        return "^" + raised
    return ""


def text_lines(page: Page) -> tuple[Line, ...]:
    """The lines of a page in reading order: left to right and down; two columns of prose or lists one by one.

    A row whose pieces read like a name and its value (`Storage temperature    -55 to 125 °C`) is one line.
    """
    return tuple(line for band in _bands(baselines(page.words), page.width, ruled_gutter(page)) for line in band)


def baselines(words: Sequence[Word]) -> list[list[Line]]:
    """Words grouped by baseline from the top, each group cut into lines at wide gaps."""
    upright = sorted((word for word in words if not word.raised), key=lambda word: (word.base, word.box[0]))
    groups: list[list[Word]] = []
    for word in upright:
        if groups and word.base - _middle_base(groups[-1]) < 0.4 * min(word.size, groups[-1][0].size):
            groups[-1].append(word)
        else:
            groups.append([word])
    for word in words:  # a raised or lowered word belongs to the line of the word it stands at
        if word.raised and groups:
            near = min(groups, key=lambda group: min(_distance(word, other) for other in group))
            near.append(word)
    return [_cut(sorted(group, key=lambda word: word.box[0])) for group in groups]


def _middle_base(group: list[Word]) -> float:
    return sum(word.base for word in group[-3:]) / len(group[-3:])


def _distance(word: Word, other: Word) -> float:
    return abs(word.box[0] - other.box[2]) + 2 * abs(word.base - other.base)


def _cut(words: list[Word]) -> list[Line]:
    pieces = [[words[0]]]
    reach = words[0].box[2]
    for word in words[1:]:
        gap = word.box[0] - reach
        leads = len(pieces[-1]) == 1 and LEADING_MARK.match(pieces[-1][0].text) and gap < 6 * word.size
        last = pieces[-1][-1].text
        follows = word.text.startswith(":") or LEADER_PIECE.search(last) or LEADER_PIECE.match(word.text)
        if gap > WIDE_GAP * max(word.size, pieces[-1][-1].size) and not leads and not follows:
            pieces.append([word])
        else:
            pieces[-1].append(word)
        reach = max(reach, word.box[2])
    return [Line(tuple(piece)) for piece in pieces]


def regions(page: Page) -> list[tuple[Word, ...]]:
    """The words of a page in the parts that two columns cut it into: above them, left, right, below; else all words."""
    split = _two_columns(baselines(page.words), page.width, ruled_gutter(page))
    if split is None:
        return [page.words]
    above, left, right, below = split
    parts = [[line for row in above for line in row], left, right, [line for row in below for line in row]]
    return [tuple(word for line in part for word in line.words) for part in parts if part]


def right_column(page: Page) -> tuple[float, float]:
    """The left edge and the top of the right one of two columns of text; zeros on a page of one column."""
    split = _two_columns(baselines(page.words), page.width, ruled_gutter(page))
    return (min(line.box[0] for line in split[2]), min(line.box[1] for line in split[2])) if split else (0.0, 0.0)


def _bands(rows: list[list[Line]], width: float, ruled: float | None = None) -> list[list[Line]]:
    """Lines in reading order, in bands: rows across the page, or two columns one after the other."""
    split = _two_columns(rows, width, ruled)
    if split is None:
        return [_as_pairs(row) for row in rows]
    above, left, right, below = split
    return [
        *_bands(above, width),
        *_bands(_rows_of(left), width),
        *_bands(_rows_of(right), width),
        *_bands(below, width),
    ]


_Split = tuple[list[list[Line]], list[Line], list[Line], list[list[Line]]]
"""Rows above two columns, the lines of the left and of the right one, rows below."""


def _two_columns(rows: list[list[Line]], width: float, ruled: float | None = None) -> _Split | None:
    """The best cut of rows into two columns, if there is one; `ruled` is where the page's tables part them."""
    run = max(_runs(rows, ruled), key=lambda each: each[1] - each[0], default=None) if ruled else None
    if ruled and run and all(_sides(rows[slice(*run)], ruled)):
        return rows[: run[0]], *_sides(rows[slice(*run)], ruled), rows[run[1] :]
    best: tuple[float, int, int, float] | None = None
    for step in range(30, 71, 2):
        gutter = width * step / 100
        for start, end in _runs(rows, gutter):
            for first, last in {(start, end), *_parts(rows, start, end)}:
                left, right = _sides(rows[first:last], gutter)
                few = min(len(left), len(right))
                score = few + (last - first) / 2  # a gutter that reaches further is the page's own
                centred = 0.42 * width < gutter < 0.58 * width
                if few < 5 or (best is not None and score <= best[0]):
                    continue
                headed = centred and few >= FEW_LINES and _have_heads(left, right)
                if headed or _are_columns(left, right, width) or (centred and _stand_apart(left, right)):
                    best = score, *_grown(rows, (start, end), (first, last), gutter), gutter
    if best is None:
        return None
    _, start, end, gutter = best
    left, right = _sides(rows[start:end], gutter)
    return rows[:start], left, right, rows[end:]


def _rows_of(lines: list[Line]) -> list[list[Line]]:
    rows: list[list[Line]] = []
    for line in lines:
        if rows and abs(rows[-1][0].base - line.base) < 0.4 * line.size:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _runs(rows: list[list[Line]], gutter: float) -> list[tuple[int, int]]:
    """Stretches of rows in which no line crosses a gutter; one crossing line inside a long stretch ends it."""
    runs: list[tuple[int, int]] = []
    start = 0
    for at, row in enumerate([*rows, None]):
        if row is None or any(line.box[0] < gutter < line.box[2] for line in row):
            if at - start >= 5:
                runs.append((start, at))
            start = at + 1
    return runs


def _sides(rows: list[list[Line]], gutter: float) -> tuple[list[Line], list[Line]]:
    """The lines left and right of a gutter."""
    every = [line for row in rows for line in row]
    return [line for line in every if line.box[2] <= gutter], [line for line in every if line.box[0] >= gutter]


def _parts(rows: list[list[Line]], start: int, end: int) -> list[tuple[int, int]]:
    """A stretch of rows parted where white runs across the page: text above a figure or a table."""
    pitch = line_pitch([row[0] for row in rows[start:end]])
    cuts = [at for at in range(start + 1, end) if rows[at][0].base - rows[at - 1][0].base > 1.9 * pitch]
    return list(pairwise([start, *cuts, end]))


def _grown(rows: list[list[Line]], run: tuple[int, int], part: tuple[int, int], gutter: float) -> tuple[int, int]:
    """A part that is two columns, and the rows next to it whose right side begins at the right column's own edge."""
    _, right = _sides(rows[part[0] : part[1]], gutter)
    edge = min(line.box[0] for line in right)

    def goes_on(row: list[Line]) -> bool:
        return all(
            edge - REACH * line.size < line.box[0] < edge + REACH * line.size for line in _sides([row], gutter)[1]
        )

    start, end = part
    while start > run[0] and goes_on(rows[start - 1]):
        start -= 1
    while end < run[1] and goes_on(rows[end]):
        end += 1
    return start, end


def _are_columns(left: list[Line], right: list[Line], width: float) -> bool:
    """Whether two sides are columns of prose or lists, not the cells of a table.

    Prose fills its column, and lists begin with bullets; the cells of a table do neither.
    """
    bullets = [sum(bool(BULLET.match(line.words[0].text)) for line in side) for side in (left, right)]
    if min(bullets) >= 3:
        return True
    wordy = all(sum(map(_word_count, side)) >= 3 * len(side) for side in (left, right))
    return wordy and all(_fills(side, width) for side in (left, right))


FEWEST_HEADS = 2
REACH = 3
"""Font sizes by which items are set in from the heading of their column."""
MANY_LINES = 15
"""Lines on each side from which on their heights tell columns from cells."""


FEW_LINES = 8
"""The same where hardly any stand level and each has several words."""


def _word_count(line: Line) -> int:
    """How many words a line has; Chinese is written without spaces, two letters a word."""
    return max(len(line.words), len(CJK.findall(line.text)) // 2)


def _stand_apart(left: list[Line], right: list[Line]) -> bool:
    """Whether lines of two sides stand at heights of their own, as columns do; the cells of a table stand level."""
    few = min(len(left), len(right))
    if few < FEW_LINES:
        return False
    heights = [line.base for line in left]
    level = sum(any(abs(line.base - height) < 0.6 for height in heights) for line in right)
    wordy = all(sum(map(_word_count, side)) >= 2 * len(side) for side in (left, right))
    return level < 0.4 * len(right) if few >= MANY_LINES else wordy and level < 0.25 * len(right)


def _have_heads(left: list[Line], right: list[Line]) -> bool:
    """Whether two sides have several headings each, some at heights of their own: cells have none."""
    sizes = sorted(line.size for line in (*left, *right))
    usual = sizes[len(sizes) // 2]
    heads = [[line for line in side if line.size > 1.15 * usual] for side in (left, right)]
    if min(map(len, heads)) < FEWEST_HEADS or any(
        2 * len(some) > len(side) for some, side in zip(heads, (left, right), strict=True)
    ):
        return False
    return any(all(abs(one.base - other.base) > usual for other in heads[0]) for one in heads[1])


def _fills(side: list[Line], width: float) -> bool:
    widths = sorted(line.box[2] - line.box[0] for line in side)
    widest = widths[int(len(widths) * 0.9)]
    full = sum(each > 0.8 * widest for each in widths)
    return widest > 0.18 * width and full >= 0.4 * len(widths)


def _as_pairs(row: list[Line]) -> list[Line]:
    """A row as one line if its later pieces are values of the first, else as it is."""
    if not 2 <= len(row) <= 4 or len(row[0].words) > 10:
        return row
    if not re.search(r"[A-Za-z\u4e00-\u9fff]{2}", row[0].text) or LABEL_IN_A_FIGURE.match(row[0].text):
        return row
    if all(_is_value(piece) for piece in row[1:]):
        return [Line(tuple(word for piece in row for word in piece.words))]
    return row


def _is_value(piece: Line) -> bool:
    """Whether a piece of a row is a value: it begins like one, or with a symbol that is set equal to one."""
    return len(piece.words) <= 12 and bool(VALUE.search(piece.text) or EQUATION.search(piece.text))


def drop_furniture(pages: Sequence[Page]) -> tuple[Page, ...]:
    """The pages without their running heads and feet: what stands at the same height on a third of the pages."""
    if len(pages) < 3:
        return tuple(pages)
    seen: dict[tuple[int, str], int] = {}
    for page in pages:
        for key in {_furniture_key(word, page) for word in page.words if _at_edge(word, page)}:
            seen[key] = seen.get(key, 0) + 1
    often = {key for key, count in seen.items() if count >= max(3, len(pages) / 4)}
    kept = []
    for page in pages:
        words = tuple(w for w in page.words if not (_at_edge(w, page) and _furniture_key(w, page) in often))
        kept.append(replace(page, words=words))
    return tuple(kept)


def _at_edge(word: Word, page: Page) -> bool:
    return word.box[1] < 0.1 * page.height or word.box[3] > 0.9 * page.height


def _furniture_key(word: Word, page: Page) -> tuple[int, str]:
    text = "#" if word.text.strip("-.").isdigit() else word.text
    return round(word.base / page.height * 250), text


def is_continued(line: Line, following: Line, right_edge: float) -> bool:
    """Whether the text of a line goes on in the next: the line reaches the right edge of its column."""
    if ADDRESS_END.search(line.text) and not following.text[:1].islower():
        return False  # rows of a memory map are as wide as each other
    text = line.text
    if GOES_ON.search(text) or text.count("(") > text.count(")"):
        return True
    if ENDS_IN_NUMBER.search(text) and UNIT.match(following.text):
        return True
    if re.search(r"\b[A-Za-z]{1,12}-$", text) and following.text[:1].isalpha():
        return True  # a name that is broken at its own hyphen: `D-` / `Cache`
    width = right_edge - line.box[0]
    chinese = CJK.fullmatch(text[-1:]) and CJK.fullmatch(following.text[:1])
    reach = 0.15 if chinese else 0.12 if following.text[:1].islower() or following.text[:1] in "(0123456789" else 0.06
    if CJK.search(text) and not SENTENCE_END.search(text):  # what follows would not have fitted
        run = LEADING_RUN.match(following.text)
        letters = len(run.group()) if run else 0
        reach = max(reach, 0.6 * letters * following.size / width) if letters > 1 and width > 0 else reach
    full = right_edge - reach * width < line.box[2] < right_edge + 0.15 * width
    return full or following.text[:1].islower()


def line_pitch(lines: Sequence[Line]) -> float:
    """The usual distance between baselines."""
    steps = sorted(b.base - a.base for a, b in pairwise(lines) if 0 < b.base - a.base < 4 * a.size)
    return steps[len(steps) // 2] if steps else 12.0
