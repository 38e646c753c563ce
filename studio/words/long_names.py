"""Long names without their middle, by one rule: converters join many names into one, whose ends tell nodes apart."""

from __future__ import annotations

import re

MOST_LETTERS = 72
"""Letters of a word that HTML shows in full: a digest with its name is no longer."""

_PIECES = re.compile(
    r"<(svg|style|title)\b.*?</\1>|<[^>]*>"  # drawings, and what is no text
    rf"|((?:[^\s<&]|&[#\w]+;){{{MOST_LETTERS + 1},}})",  # a long word; an escaped letter is one letter
    re.DOTALL,
)
_LETTERS = re.compile(r"&[#\w]+;|.", re.DOTALL)


def shortened(name: str, letters: int = 44) -> str:
    """A name of at most so many letters, with `…` in the place of its middle."""
    if len(name) <= letters:
        return name
    head, tail = _ends(letters)
    return f"{name[:head]}…{name[-tail:]}"


def short_words(sentence: str, letters: int = 60) -> str:
    """A sentence whose over-long words, which are names, are shortened."""
    return " ".join(shortened(word, letters) for word in sentence.split(" "))


def is_long(word: str) -> bool:
    """Whether a word loses its middle on a screen."""
    return len(word) > MOST_LETTERS


def cut_names(html: str) -> str:
    """HTML whose long names hide their middle: pointing at one shows the whole, and copying takes the whole."""
    return _PIECES.sub(lambda found: found[0] if found[2] is None else _cut(found[2]), html)


def _cut(word: str) -> str:
    letters = _LETTERS.findall(word)
    head, tail = _ends(MOST_LETTERS)
    first, middle, last = (
        "".join(each) for each in (letters[:head], letters[head : len(letters) - tail], letters[-tail:])
    )
    whole = word.replace('"', "&#34;")
    return f'<span class="long" title="{whole}">{first}<span class="cut">{middle}</span>{last}</span>'


def _ends(letters: int) -> tuple[int, int]:
    """How many letters stay at the beginning and at the end."""
    tail = letters // 2
    return letters - 1 - tail, tail
