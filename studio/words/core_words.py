"""Sentences of the core in the reader's language: reasons, refusals, risks, as they stand in policies and records.

The core speaks English, and that is what is signed. For Chinese readers `sentences_zh/` holds each sentence with `{1}`,
`{2}` ... where names and numbers stand; `{1:words}` stands for words that are translated themselves. A sentence that is
not there is shown as it is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

import yaml
from markupsafe import Markup

from metainfer_core.errors import MetaInferError
from studio.words.beside import beside, listed
from studio.words.language import Language, language
from studio.words.moments import moments_markup, with_exact_moments

FOLDER = "sentences_zh"
PARTS = "parts.yaml"
"""File of what is no sentence: it is translated only where words stand for themselves, in a hole or a cell."""
LONGEST = 2000
"""Characters of a sentence that is still looked up."""
_TERM_WORDS = 2
_HOLE = re.compile(r"\{(\d)(:words)?\}")


@dataclass(frozen=True)
class Pattern:
    """One sentence of the core with holes, and what it is in Chinese."""

    literals: tuple[str, ...]
    """The text between the holes, in order; one more than there are holes."""
    holes: tuple[str, ...]
    """Numbers of the holes, in order."""
    translated: frozenset[str]
    """Holes whose words are translated themselves."""
    chinese: str
    is_part: bool = False
    """Whether it is never a whole sentence."""

    @property
    def is_term(self) -> bool:
        """Whether it is too little to be a sentence: a word or two could also be somebody's name."""
        words = self.literals[0]
        return self.is_part or (not self.holes and len(words.split()) <= _TERM_WORDS and words[-1] not in ".?")

    def said(self, found: Mapping[str, str]) -> str:
        """The sentence in Chinese, with these words in its holes."""
        literal, *rest = _HOLE.split(self.chinese)
        words = literal
        for hole, then in zip(rest[::3], rest[2::3], strict=True):
            filled = found[hole] if hole in self.translated else listed(found[hole])
            words = beside(beside(words, filled), then)
        return words

    def filled(self, sentence: str) -> dict[str, str] | None:
        """What stands in the holes, or None where it is another sentence; takes time in proportion to its length."""
        first, *rest = self.literals
        if not rest:
            return {} if sentence == first else None
        if not sentence.startswith(first) or not sentence.endswith(rest[-1]):
            return None
        at, end = len(first), len(sentence) - len(rest[-1])
        found = {}
        for hole, literal in zip(self.holes[:-1], rest[:-1], strict=True):
            stop = sentence.find(literal, at + 1, end)
            if stop < 0:
                return None
            found[hole] = sentence[at:stop]
            at = stop + len(literal)
        if at >= end:
            return None
        return {**found, self.holes[-1]: sentence[at:end]}


def core_words(sentences: str) -> str:
    """Sentences of the core, one a line, as the reader of this window reads them."""
    if language() != "zh":
        return sentences
    return "\n".join(in_chinese(sentence) for sentence in sentences.split("\n"))


def core_term(words: str) -> str:
    """A word or two of the core, such as the title of an action, in the reader's language."""
    return said_in(language(), words)


def said_in(speaks: Language, words: str) -> str:
    """The same in a language that is named, for what is drawn outside of a window."""
    return in_chinese(words, is_part=True) if speaks == "zh" else words


def refusal_words(error: MetaInferError) -> str:
    """What an error says is wrong, and why, in the reader's language."""
    return with_exact_moments(" ".join(core_words(part) for part in (error.what, error.why) if part))


def core_markup(sentence: str) -> Markup:
    """The same as HTML; where it is translated, the words that were recorded show when one points at it."""
    shown = core_words(sentence)
    if shown == sentence:
        return moments_markup(sentence)
    return Markup('<span title="{}">{}</span>').format(sentence, moments_markup(shown))


def in_chinese(sentence: str, is_part: bool = False) -> str:
    """A sentence of the core in Chinese, or as it is where nobody has translated it.

    Args:
        sentence: What the core said.
        is_part: Whether it stands in a hole for words; only there a word alone, such as `tensor`, is no name.
    """
    if len(sentence) > LONGEST:
        return sentence
    if (said := _whole(sentence, is_part)) is not None:
        return said
    for pattern, found in _fitting(sentence, is_part):
        return pattern.said(found | {hole: in_chinese(found[hole], is_part=True) for hole in pattern.translated})
    return sentence


@functools.lru_cache(maxsize=8192)
def _whole(sentence: str, is_part: bool) -> str | None:
    """It in Chinese, with all that stands in holes for words; None where a word of it would stay in English.

    Sentences in a row, and parts in a list, are taken one by one first: a hole would hold all the others as well.
    """
    for between, joined in ((". ", ""), ("; ", "；"))[: 2 if is_part else 1]:
        if (row := _one_by_one(sentence, between, joined, is_part)) is not None:
            return row
    for pattern, found in _fitting(sentence, is_part):
        words = {hole: _whole(found[hole], is_part=True) for hole in pattern.translated}
        known = {hole: each for hole, each in words.items() if each is not None}
        if len(known) == len(words):
            return pattern.said(found | known)
    if is_part and sentence[-1:] not in ("", "."):  # a sentence within another has lost its full stop
        ended = _whole(f"{sentence}.", is_part=True)
        return None if ended is None else ended.removesuffix("。")
    return None


def _one_by_one(sentence: str, between: str, joined: str, is_part: bool) -> str | None:
    pieces = sentence.split(between)
    ended = [piece + between.rstrip(" ;") for piece in pieces[:-1]] + pieces[-1:]
    if len(pieces) == 1 or not all(pieces):
        return None
    said = [each for piece in ended if (each := _whole(piece, is_part)) is not None]
    return joined.join(said) if len(said) == len(ended) else None


def _fitting(sentence: str, is_part: bool) -> Iterator[tuple[Pattern, dict[str, str]]]:
    """The patterns that it fits, with what stands in their holes."""
    for pattern in patterns():
        found = pattern.filled(sentence) if is_part or not pattern.is_term else None
        if found is not None:
            yield pattern, found


@functools.cache
def patterns() -> tuple[Pattern, ...]:
    """All sentences that are translated: those that hold another one first, then those that say more of themselves."""
    every = [_pattern(english, chinese, english in parts()) for english, chinese in sentences().items()]
    return tuple(sorted(every, key=lambda each: (not each.translated, -sum(map(len, each.literals)), each.literals)))


@functools.cache
def sentences() -> dict[str, str]:
    """English sentence with holes to the Chinese one, of all files of the folder."""
    found: dict[str, str] = {}
    for file in sorted(files(__package__).joinpath(FOLDER).iterdir(), key=lambda each: each.name):
        if file.name.endswith(".yaml"):
            found |= yaml.safe_load(file.read_text("utf-8"))
    return found


@functools.cache
def parts() -> frozenset[str]:
    """Those that are no sentences."""
    return frozenset(yaml.safe_load(files(__package__).joinpath(FOLDER, PARTS).read_text("utf-8")))


def _pattern(english: str, chinese: str, is_part: bool) -> Pattern:
    pieces = _HOLE.split(english)
    holes = tuple(pieces[1::3])
    translated = frozenset(hole for hole, words in zip(holes, pieces[2::3], strict=True) if words)
    return Pattern(tuple(pieces[0::3]), holes, translated, chinese, is_part)
