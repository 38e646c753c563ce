"""Parses XML of unknown origin into a plain tree that keeps line numbers; entities and document types are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from metainfer_core.errors import InputError

MAX_DEPTH = 64
MAX_ELEMENTS = 4_000_000
_CHUNK_BYTES = 1 << 16


@dataclass(slots=True)
class Element:
    """One element with the line that its start tag stands on."""

    tag: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def child(self, tag: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.tag == tag), None)

    def all(self, *tags: str) -> Iterator[Element]:
        """The children of those names, in order."""
        return (child for child in self.children if child.tag in tags)

    def words(self, tag: str) -> str:
        """The text of the first child of that name, empty when there is none."""
        found = self.child(tag)
        return found.text if found else ""


def parse_xml(data: bytes, path: Path) -> Element:
    """The outermost element; raises InputError with the line that is wrong. `path` only names it in messages."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
    outermost: list[Element] = []
    opened: list[Element] = []
    count = 0

    def fault(why: str, fix: str = "Get the file again from its vendor.") -> InputError:
        return InputError(f"{path}:{parser.CurrentLineNumber}: this XML cannot be read.", why, fix)

    def on_doctype(*_: object) -> None:
        raise fault(
            "It declares a document type, through which a file can swell or fetch others; no SVD needs one.",
            "Take the <!DOCTYPE ...> out.",
        )

    def on_start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS:
            raise fault(f"It has more than {MAX_ELEMENTS:,} elements.", "Give the part that describes the device.")
        if len(opened) >= MAX_DEPTH:
            raise fault(f"Elements are nested more than {MAX_DEPTH} deep.")
        element = Element(tag.rpartition(":")[2], parser.CurrentLineNumber, attributes)
        (opened[-1].children if opened else outermost).append(element)
        opened.append(element)

    def on_end(_: str) -> None:
        closed = opened.pop()
        closed.text = closed.text.strip()

    def on_text(text: str) -> None:
        if len(opened[-1].text) < 10_000:
            opened[-1].text += text

    parser.StartDoctypeDeclHandler = on_doctype
    parser.StartElementHandler = on_start
    parser.EndElementHandler = on_end
    parser.CharacterDataHandler = on_text
    try:
        for start in range(0, len(data), _CHUNK_BYTES):  # an exception in a handler ends it only between pieces
            parser.Parse(data[start : start + _CHUNK_BYTES], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise fault(f"{expat.ErrorString(error.code)} (column {error.offset}).") from error
    except (ValueError, LookupError) as error:  # an encoding that Python does not know
        raise fault(f"{error}.") from error
    return outermost[0]
