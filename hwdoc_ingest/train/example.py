"""Example: a statement with the role of its words and the field of its numbers, written in a small markup.

`[p L1 cache]` is a parameter, `[v 32 KB]` a value of the field in question, `[- 1.8 V]` a value of no field,
`[v:cpu.cores 4]` a value of another field; `[max up to]`, `[min at least]`, `[typ about]`, `[c at 25 degC]`,
`[shared ...]`, `[each ...]`, `[must ...]` and `[rec ...]` are the other roles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hwdoc_ingest.bert.labels import NO_FIELD, Kind

MARK = re.compile(r"\[(?P<tag>-|v(?::[\w.]+)?|p|max|min|typ|c|shared|each|must|rec) (?P<text>[^\[\]]+)\]")
_LABELS = {"p": "parameter", "c": "condition", "each": "per_core", "rec": "recommended"}


@dataclass(frozen=True)
class Mark:
    """A stretch of an example's text with its role, and the field if it is a value."""

    start: int
    end: int
    label: str
    field: str = ""


@dataclass(frozen=True)
class RowCell:
    """A cell of an example's row."""

    header: str
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """One statement to learn from."""

    text: str
    marks: tuple[Mark, ...]
    kind: Kind
    path: tuple[str, ...] = ()
    cells: tuple[RowCell, ...] = ()


def sentence(markup: str, field: str, kind: Kind, path: tuple[str, ...] = ()) -> Example:
    """An example from a sentence in markup; `field` is that of its `[v ...]`."""
    text, marks = _parse(markup, field, 0)
    return Example(text, tuple(marks), kind, path)


def row(cells: list[tuple[str, str]], field: str, kind: Kind, path: tuple[str, ...] = ()) -> Example:
    """An example from the headers and cells of a table row in markup; empty cells are left out."""
    text = ""
    marks: list[Mark] = []
    placed: list[RowCell] = []
    for header, markup in cells:
        if not markup:
            continue
        text += " | " if text else ""
        piece, inside = _parse(markup, field, len(text))
        placed.append(RowCell(header, len(text), len(text) + len(piece)))
        marks += inside
        text += piece
    return Example(text, tuple(marks), kind, path, tuple(placed))


def _parse(markup: str, field: str, at: int) -> tuple[str, list[Mark]]:
    text, end = "", 0
    marks: list[Mark] = []
    for match in MARK.finditer(markup):
        text += markup[end : match.start()]
        tag = match["tag"]
        label = "value" if tag[0] in "v-" else _LABELS.get(tag, tag)
        own = NO_FIELD if tag == "-" else tag[2:] or field if tag[0] == "v" else ""
        marks.append(Mark(at + len(text), at + len(text) + len(match["text"]), label, own))
        text += match["text"]
        end = match.end()
    return text + markup[end:], marks
