"""Words that are broken at the end of a line: `proces-` and `sor`, `write-` and `back`."""

from __future__ import annotations

import re

from hwdoc_ingest.page.pages import Word

_BROKEN = re.compile(r"(?P<first>[A-Za-z\d(][\w(/-]*?)-")
_KEEPS_HYPHEN = re.compile(
    r"(?:\(?(?:write|read|copy|set|on|off|non|load|store|high|low|big|little|fully|direct|multi|single|dual|quad|triple"
    r"|general|special|floating|fixed|one|two|three|four|five|six|seven|eight|ten|sixteen|back|self|user|cross|round"
    r"|super|in|out|built|half|full|real|well|byte|word|bit|page|line|block|cycle|clock|low|wide|long|first|second))"
    r"|.*[\d/-].*|(?-i:[A-Z]{2,}\d*)",
    re.IGNORECASE,
)
"""First parts of compound words, which have their hyphen anywhere in a line."""


def broken_off(last: Word, word: Word) -> bool:
    """Whether a word at the end of a line goes on at the beginning of the next."""
    return (
        word.base - last.base > 0.5 * word.size
        and word.box[0] < last.box[0]
        and word.text[:1].islower()
        and bool(_BROKEN.fullmatch(last.text))
    )


def keeps_hyphen(text: str) -> bool:
    """Whether a word that ends in a hyphen at the end of a line has one anywhere: `set-` of `set-associative`."""
    return bool(_KEEPS_HYPHEN.fullmatch(text.rstrip("-")))
