"""Words that others wrote (in models, manuals, file names) are shown as they are: never as markup, never as HTML."""

from __future__ import annotations

from studio.words.core_words import core_words
from studio.words.moments import with_exact_moments

_MARKUP = str.maketrans({character: "\\" + character for character in "\\`*_{}[]()#+-.!|<>$~:&"})


def plain_words(words: str) -> str:
    """Words of a file, a model or a manual, escaped so that Streamlit's Markdown shows them as they are."""
    return words.replace("\n", " ").translate(_MARKUP)


def error_words(error: Exception) -> str:
    """What an error says, in the reader's language where it is known there, escaped in the same way."""
    return plain_words(with_exact_moments(core_words(str(error))))
