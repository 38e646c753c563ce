"""Words that others wrote (in models, manuals, file names) are shown as they are: never as markup, never as HTML."""

from __future__ import annotations

_MARKUP = str.maketrans({character: "\\" + character for character in "\\`*_{}[]()#+-.!|<>$~:&"})


def plain_words(words: str) -> str:
    """Words of a file, a model or a manual, escaped so that Streamlit's Markdown shows them as they are."""
    return words.replace("\n", " ").translate(_MARKUP)
