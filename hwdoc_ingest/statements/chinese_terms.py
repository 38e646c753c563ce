"""Simplified Chinese statements in the English that the rules know, each letter with where it stands in the document.

The rules are written once, for English words. A statement with Chinese in it is put before them term by term
(chinese_terms.yaml). What is quoted and boxed stays what the document prints.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import chain, pairwise
from typing import Any

import yaml

from hwdoc_ingest.statements.statement import EARLIER, Printed, Statement

CHINESE = re.compile(r"[\u3400-\u9fff\uff01-\uff5e]")
"""Han characters, and the wide forms of Latin letters, digits and marks."""
_TABLE: dict[str, Any] = yaml.safe_load(files(__package__).joinpath("chinese_terms.yaml").read_text("utf-8"))
_WIDE = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
"""The wide form of each ASCII character."""
_MARKS: dict[str, str] = _WIDE | _TABLE["marks"]
_ORDER = [(re.compile(pattern, re.IGNORECASE), re.split(r"\\(\d)", said)) for pattern, said in _TABLE["order"]]
_BORDER = re.compile(r"(?<=[\u3400-\u9fff])(?=[A-Za-z\d])|(?<=[A-Za-z\d])(?=[\u3400-\u9fff])")
"""Where Chinese and Latin letters touch."""
_TERMS: dict[str, str] = {name.lower(): said for name, said in _TABLE["terms"].items()}
_TERM = re.compile(
    "|".join(_BORDER.sub(" ?", re.escape(name)) for name in sorted(_TERMS, key=len, reverse=True)), re.IGNORECASE
)
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
_NUMERAL = re.compile(
    r"[一二两三四五六七八九十]{1,3}(?=\s*(?:个|颗|路|发射|级(?!缓存|高速|指令|数据|\s*cache)|组|位|通道))",
    re.I,
)
_FULL_STOP = re.compile(r"(?:[。！？；]|(?<=[\u4e00-\u9fff]);)(?!$)")
_WORDS_TOUCH = re.compile(r"\w\0(?:\w|[-+]\d)")


@dataclass(frozen=True)
class Traced:
    """A text whose letters know where in the document's text they come from."""

    text: str
    origins: tuple[tuple[int, int], ...]
    """For each letter a stretch of the printed text; an empty one for a space that was put in."""

    def cut(self, start: int, end: int) -> Traced:
        """A stretch of it."""
        return Traced(self.text[start:end], self.origins[start:end])

    def said(self, start: int, end: int, words: str) -> Traced:
        """Other words for a stretch of it."""
        origin = self.origins[start][0], self.origins[end - 1][1]
        return Traced(words, (origin,) * len(words))


_SPACE = Traced(" ", ((0, 0),))


def sentences(statement: Statement) -> Iterator[Statement]:
    """Its sentences: a Chinese line is one word, so that sentences end inside of it."""
    ends = [] if statement.is_row else [match.end() for match in _FULL_STOP.finditer(statement.text)]
    for start, end in pairwise([0, *ends, len(statement.text)]):
        inside = [
            (word, (max(a, start) - start, min(b, end) - start))
            for word, (a, b) in zip(statement.words, statement.places, strict=True)
            if a < end and b > start
        ]
        if not ends:
            yield statement
        elif inside:
            words, places = zip(*inside, strict=True)
            earlier = (statement.earlier + statement.text[:start])[-EARLIER:]
            yield replace(statement, text=statement.text[start:end], words=words, places=places, earlier=earlier)


def in_english(statement: Statement) -> Statement:
    """The statement as the rules read it; the same object when nothing in it is Chinese."""
    headers = [part for cell in statement.cells for part in (cell.header, cell.group)]
    if not any(CHINESE.search(part) for part in (statement.text, statement.earlier, *statement.path, *headers)):
        return statement
    traced = _translated(statement.text)
    path = tuple(english(part) for part in statement.path)
    first, last = _extents(traced, len(statement.text))
    return replace(
        statement,
        text=traced.text,
        places=tuple(_moved(place, first, last) for place in statement.places),
        path=path,
        earlier=english(statement.earlier),
        cells=tuple(
            replace(cell, header=english(cell.header), group=english(cell.group), start=start, end=end)
            for cell in statement.cells
            for start, end in [_moved((cell.start, cell.end), first, last)]
        ),
        printed=Printed(statement.text, traced.origins, statement.path),
    )


@functools.cache
def english(text: str) -> str:
    """A heading or header in English words."""
    return " ".join(_translated(text).text.split()) if CHINESE.search(text) else text


def _translated(text: str) -> Traced:
    pieces = [(at, at + 1, _MARKS.get(letter, letter)) for at, letter in enumerate(text)]
    origins = tuple((start, end) for start, end, said in pieces for _ in said)
    traced = Traced("".join(said for _, _, said in pieces), origins)
    traced = _replaced(traced, [(each, [str(_count(each.group()))]) for each in _NUMERAL.finditer(traced.text)])
    for pattern, said in _ORDER:
        traced = _replaced(traced, [(match, said) for match in pattern.finditer(traced.text)])
    return _with_terms(traced)


def _count(numeral: str) -> int:
    """The number that a numeral up to 99 says: `五`, `十六`, `三十二`."""
    tens, ten, ones = numeral.rpartition("十")
    return (_DIGITS.get(tens, 1) * 10 if ten else 0) + _DIGITS.get(ones, 0)


def _replaced(traced: Traced, matches: list[tuple[re.Match[str], list[str]]]) -> Traced:
    """The text with other words for each match: literal words and numbers of its groups by turns."""
    pieces, at = [], 0
    for match, said in matches:
        pieces.append(traced.cut(at, match.start()))
        for turn, part in enumerate(said):
            pieces.append(traced.cut(*match.span(int(part))) if turn % 2 else traced.said(*match.span(), part))
        at = match.end()
    return _joined([*pieces, traced.cut(at, len(traced.text))])


def _with_terms(traced: Traced) -> Traced:
    """The text with English for each Chinese term, and a space where words would touch."""
    pieces, at = [], 0
    for match in _TERM.finditer(traced.text):
        said = _TERMS[match.group().lower().replace(" ", "")]
        pieces += [traced.cut(at, match.start()), traced.said(*match.span(), said)]
        at = match.end()
    pieces.append(traced.cut(at, len(traced.text)))
    apart: list[Traced] = []
    for piece in (each for each in pieces if each.text):
        touch = apart and _WORDS_TOUCH.search(apart[-1].text[-1:] + "\0" + piece.text[:2])
        apart += [_SPACE, piece] if touch else [piece]
    whole = _joined(apart)
    cuts = [0, *(match.start() for match in _BORDER.finditer(whole.text)), len(whole.text)]
    return _joined([part for ends in pairwise(cuts) for part in (whole.cut(*ends), _SPACE)][:-1])


def _joined(pieces: Sequence[Traced]) -> Traced:
    return Traced("".join(p.text for p in pieces), tuple(chain.from_iterable(p.origins for p in pieces)))


def _extents(traced: Traced, letters: int) -> tuple[list[int], list[int]]:
    """For each printed letter where its words begin and end in the English text."""
    first, last = [len(traced.text)] * letters, [0] * letters
    for at, (start, end) in enumerate(traced.origins):
        for letter in range(start, end):
            first[letter], last[letter] = min(first[letter], at), max(last[letter], at + 1)
    return first, last


def _moved(place: tuple[int, int], first: list[int], last: list[int]) -> tuple[int, int]:
    start, end = min(first[slice(*place)], default=0), max(last[slice(*place)], default=0)
    return (start, end) if start < end else (0, 0)
