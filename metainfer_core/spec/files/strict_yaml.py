"""YAML text as plain data with the place of every key and value; what could be read in two ways is refused.

The scalars are those of YAML 1.2's core schema (what JSON Schema editors assume): `true`, `null`, `12`, `0x1f`,
`1.5e3`; `yes`, `012` and `2024-01-01` stay texts. Anchors, aliases, tags, merge keys and second documents are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, TypeVar

import pydantic
import yaml

from metainfer_core.errors import InputError
from metainfer_core.values import Value, first_fault

BYTES_LIMIT = 4 << 20
BYTES_PER_NODE = 16
"""A file may hold as many values as its size limit divided by this: no real one has shorter values on average."""
DEPTH_LIMIT = 32
LARGEST = 1e30
Path = tuple[str | int, ...]
AnyValue = TypeVar("AnyValue", bound=Value)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_INT = re.compile(r"[-+]?[0-9]+")
_HEX = re.compile(r"0x[0-9a-fA-F][0-9a-fA-F_]*")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class Mark:
    """A place in a file, both numbers 1-based."""

    line: int
    column: int


@dataclass(frozen=True)
class Document:
    """Plain data, and where each part of it stands."""

    source: str
    data: Any
    marks: dict[Path, Mark]
    """Place of each key (its value, in a list)."""
    hex_at: frozenset[Path] = frozenset()
    """Where the number was written as hexadecimal."""

    def mark(self, path: Path) -> Mark:
        """The place of a path, or of the nearest part of it that stands in the file."""
        while path not in self.marks and path:
            path = path[:-1]
        return self.marks.get(path, Mark(1, 1))

    def where(self, path: Path) -> str:
        """`file:line:column` of a path."""
        mark = self.mark(path)
        return f"{self.source}:{mark.line}:{mark.column}"


def read_yaml(data: bytes, source: str, limit_bytes: int = BYTES_LIMIT) -> Document:
    """One YAML document, strictly; raises InputError with file, line and column."""
    text = _text(data, source, limit_bytes)
    try:
        _refuse_events(text, source, limit_bytes // BYTES_PER_NODE)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise InputError(f"{place}: this is not YAML.", f"{error.problem or error}.", "Mend the text there.") from error
    except yaml.YAMLError as error:
        raise InputError(f"{source}: this is not YAML.", f"{error}.".replace("\n", " "), "Mend the text.") from error
    except RecursionError as error:
        raise InputError(f"{source}: nested too deeply to be read.", fix="Use a flatter file.") from error
    if root is None:
        raise InputError(f"{source}: the file is empty.", fix="Give a file that holds something.")
    marks: dict[Path, Mark] = {}
    hex_at: set[Path] = set()
    plain = _build(root, (), source, marks, hex_at)
    return Document(source, plain, marks, frozenset(hex_at))


def value_from(document: Document, plain: dict[str, Any], value_class: type[AnyValue]) -> AnyValue:
    """The value in plain data that came from `document`; an InputError names the line of what is wrong."""
    try:
        return value_class.from_plain(plain, document.source)
    except InputError as error:
        cause = error.__cause__
        if not isinstance(cause, pydantic.ValidationError):
            raise
        raise InputError(**first_fault(cause, document.where(tuple(cause.errors()[0]["loc"])))) from error


def _text(data: bytes, source: str, limit_bytes: int) -> str:
    if len(data) > limit_bytes:
        raise InputError(
            f"{source}: the file is too large.",
            f"It has {len(data):,} bytes; at most {limit_bytes:,} are read.",
            "Give a smaller file.",
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{source}: byte {error.start} is not UTF-8.", fix="Save the file as UTF-8 text.") from error


def _refuse_events(text: str, source: str, most: int) -> None:
    depth = documents = 0
    for count, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        start = event.start_mark
        place = f"{source}:{start.line + 1}:{start.column + 1}" if start else source
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise InputError(
                f"{place}: anchors and aliases (&, *) are not read.",
                "A small file can grow without bound through them.",
                "Write the value out in each place.",
            )
        if tag := getattr(event, "tag", None):
            raise InputError(f"{place}: the tag {tag!r} is not read.", fix="Write the value without a tag.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentStartEvent):
            documents += 1
        if depth > DEPTH_LIMIT:
            raise InputError(f"{place}: nested too deeply.", f"At most {DEPTH_LIMIT} levels.", "Use a flatter file.")
        if count > most:
            raise InputError(f"{place}: too many values.", f"At most {most:,} are read.", "Give a smaller file.")
        if documents > 1:
            raise InputError(f"{place}: a second document begins here.", fix="Keep one document in a file.")


def _build(node: yaml.Node, path: Path, source: str, marks: dict[Path, Mark], hex_at: set[Path]) -> Any:
    marks.setdefault(path, Mark(node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, yaml.SequenceNode):
        return [_build(child, (*path, index), source, marks, hex_at) for index, child in enumerate(node.value)]
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            mark = Mark(key_node.start_mark.line + 1, key_node.start_mark.column + 1)
            place = f"{source}:{mark.line}:{mark.column}"
            if not isinstance(key_node, yaml.ScalarNode):
                raise InputError(f"{place}: a key must be a text.", fix="Write a name before the colon.")
            key = key_node.value
            if key in found:
                first = marks[(*path, key)]
                raise InputError(
                    f"{place}: the key {key!r} stands twice.",
                    f"It already stands in line {first.line}; a reader would keep only one of them.",
                    "Keep one of the two.",
                )
            if key == "<<":
                raise InputError(f"{place}: merge keys (<<) are not read.", fix="Write the values out.")
            marks[(*path, key)] = mark
            found[key] = _build(value_node, (*path, key), source, marks, hex_at)
        return found
    return _scalar(node, path, source, hex_at)


def _scalar(node: yaml.Node, path: Path, source: str, hex_at: set[Path]) -> Any:
    text = str(node.value)
    if not isinstance(node, yaml.ScalarNode) or node.style:  # quoted or block text
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    if len(text) > 400:
        return text
    number: int | float
    if _HEX.fullmatch(text):
        hex_at.add(path)
        number = int(text.replace("_", ""), 16)
    elif _INT.fullmatch(text):
        number = int(text)
    elif _FLOAT.fullmatch(text):
        number = float(text)
    else:
        return text
    if abs(number) > LARGEST:
        place = f"{source}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"
        raise InputError(f"{place}: {text[:60]} is larger than any number that is kept.", fix="Mend the number.")
    return number
