"""What the encoder reads of a statement, token by token, and where each token stands in the statement's text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from tokenizers import Tokenizer

from metainfer_core.errors import DefectError

PATH_TOKENS = 28
"""Most tokens of the headings above a statement."""
TOKENS = 128
"""Most tokens altogether: what stands further back in a long statement gets no opinion."""
CHARACTERS = 4000
"""Most characters of a text that are looked at: 128 tokens are fewer."""
PATH_PARTS = 2
CLS, SEP = "[CLS]", "[SEP]"


class HeadedCell(Protocol):
    """A cell of a row: see `hwdoc_ingest.statements.statement.Cell`."""

    @property
    def header(self) -> str:
        """Words of the column's header."""
        ...

    @property
    def start(self) -> int:
        """Where its text begins in the row's text."""
        ...

    @property
    def end(self) -> int:
        """Where its text ends in the row's text."""
        ...


@dataclass(frozen=True)
class Context:
    """A statement as the encoder reads it: `[CLS] headings [SEP] text [SEP]`, a row with its headers."""

    ids: tuple[int, ...]
    places: tuple[tuple[int, int] | None, ...]
    """Where each token stands in the statement's text; None for headings, headers and marks."""


def context(vocabulary: Tokenizer, path: Sequence[str], text: str, cells: Sequence[HeadedCell]) -> Context:
    """The tokens of a statement under its innermost headings.

    Args:
        vocabulary: The encoder's tokenizer.
        path: Headings and parent items, outermost first.
        text: The statement's text.
        cells: Its cells if it is a row.
    """
    separator = _number(vocabulary, SEP)
    above = vocabulary.encode(" > ".join(path[-PATH_PARTS:])[-CHARACTERS:], add_special_tokens=False).ids[-PATH_TOKENS:]
    ids = [_number(vocabulary, CLS), *above, separator]
    places: list[tuple[int, int] | None] = [None] * len(ids)
    for piece, at in _pieces(text, cells):
        encoded = vocabulary.encode(piece, add_special_tokens=False)
        ids += encoded.ids
        places += [None if at is None else (at + start, at + end) for start, end in encoded.offsets]
    return Context((*ids[: TOKENS - 1], separator), (*places[: TOKENS - 1], None))


def _pieces(text: str, cells: Sequence[HeadedCell]) -> Iterator[tuple[str, int | None]]:
    """Stretches of the text with where they begin, and the headers between them."""
    if not cells:
        yield text[:CHARACTERS], 0
    for cell in cells[:TOKENS]:
        if cell.header:
            yield f"{cell.header[:CHARACTERS]}:", None
        yield text[cell.start : min(cell.end, cell.start + CHARACTERS)], cell.start
        yield "|", None


def _number(vocabulary: Tokenizer, token: str) -> int:
    number: int | None = vocabulary.token_to_id(token)
    if number is None:
        raise DefectError(f"The vocabulary of the weights lacks {token}.")
    return number
