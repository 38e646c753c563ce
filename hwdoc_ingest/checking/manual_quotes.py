"""Whether the words that a spec quotes stand where it says: on that page, in that box."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from hwdoc_ingest.intake.document_pages import PageWords
from hwdoc_ingest.page.pages import Box, plain_text
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.spec.hardware_spec import Provenance

FOUND_SHARE = 0.8
"""Share of a quotation's words that a page must have: the rest is what two readings of one scan differ in."""
IN_BOX_SHARE = 0.5
"""Share of the letters in a box that must belong to the quotation; its edge may touch a neighbouring word."""
BOX_SLACK = 2.0
"""Points by which a word may stick out of its box."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+|[\u4e00-\u9fff]")


def tokens(text: str) -> tuple[str, ...]:
    """The words and numbers of a text in lower case, glued ones apart: `48KB L1` is 48, kb, l, 1."""
    return tuple(_TOKEN.findall(plain_text(text).lower()))


def letters(text: str) -> str:
    """A text without blanks, punctuation and case."""
    return re.sub(r"[\W_]+", "", plain_text(text).lower())


def holds(page: PageWords, quotation: str) -> bool:
    """Whether a page has the words of a quotation: as they stand, on a laid-out page also a row's in another order."""
    at = letters("".join(page.words)).find(letters(quotation))
    if not page.boxes:  # a text or a sheet, which is read in one way only
        return at >= 0 and (not page.opening or at < len(letters(page.opening)))
    if at >= 0:
        return True
    wanted = Counter(tokens(quotation))
    if not wanted:
        return False
    there = Counter(tokens(" ".join(page.words)))
    numbers = {token for token in wanted if token[0].isdigit()}
    found = sum(min(count, there[token]) for token, count in wanted.items())
    return numbers <= set(there) and found >= FOUND_SHARE * sum(wanted.values())


def page_that_holds(pages: Sequence[PageWords], quotation: str) -> PageWords | None:
    """The first page with the words of a quotation, as they stand."""
    wanted = letters(quotation)
    return next((page for page in pages if wanted and wanted in letters("".join(page.words))), None)


def words_in(page: PageWords, box: Box) -> str:
    """The words whose middle lies in a box."""
    left, top, right, bottom = box
    inside = []
    for word, (x0, y0, x1, y1) in zip(page.words, page.boxes, strict=True):
        across = min(x1, right + BOX_SLACK) - max(x0, left - BOX_SLACK)
        down = min(y1, bottom + BOX_SLACK) - max(y0, top - BOX_SLACK)
        if across > 0 and down >= 0.5 * (y1 - y0):
            inside.append((word, across / max(x1 - x0, 0.1)))
    return " ".join(word for word, share in inside if share >= 0.2)


def box_holds(page: PageWords, box: Box, quotation: str) -> bool:
    """Whether the words in a box hold the quotation, or belong to it."""
    wanted, there = letters(quotation), words_in(page, box)
    if wanted in letters(there):
        return True
    found = [word for word in map(letters, there.split()) if word]
    of_it = sum(len(word) for word in found if _belongs(word, wanted))
    return bool(found) and of_it >= IN_BOX_SHARE * sum(map(len, found))


def _belongs(word: str, wanted: str) -> bool:
    """Whether a page's word is one of the quotation's, or glues one of them to its neighbour."""
    return word in wanted or (len(wanted) > 2 and wanted in word)


def at_place(candidate: Candidate, place: Provenance) -> bool:
    """Whether a candidate was read where a provenance points: on that page, in the quoted words."""
    if str(candidate.page) != str(place.page):
        return False
    here, quoted = letters(candidate.text), letters(place.text)
    return bool(here and quoted) and (here in quoted or quoted in here)
