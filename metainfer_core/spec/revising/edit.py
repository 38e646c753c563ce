"""Writes a changed spec into a file that people have commented: only what differs is touched, comments stay."""

from __future__ import annotations

import io
import pathlib
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarint import HexInt

from metainfer_core.errors import DefectError, InputError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, Document, Path, read_yaml
from metainfer_core.spec.files.yaml_file import parse_spec, write_spec
from metainfer_core.spec.hardware_spec import HardwareSpec

_BY_FILE_NAME = ("name", "version")
"""What a file may leave to its own name."""


def keep_comments(original: pathlib.Path, spec: HardwareSpec, output: pathlib.Path) -> None:
    """Writes `spec` to `output` with the comments and the order of the file `original`."""
    data = read_bytes(original, "hardware spec", BYTES_LIMIT)
    write_bytes(output, edited(data, spec, str(output)), "hardware spec")


def edited(data: bytes, spec: HardwareSpec, source: str) -> bytes:
    """The bytes of a spec file so changed that it holds `spec`, with its comments."""
    before, after = parse_spec(data, source), write_spec(spec)
    if before == spec:
        return data
    yaml = YAML(typ="rt")
    yaml.width = 4096
    yaml.preserve_quotes = True
    tree = yaml.load(data.decode("utf-8-sig"))
    dotted = [key for key in tree if "." in key]
    if dotted:
        raise InputError(
            f"{source}: {dotted[0]} cannot be edited in place.",
            "A dotted key is read, but comments are kept in nested keys only.",
            f"Write {dotted[0].split('.')[0]}: and what follows below it.",
        )
    _match(tree, read_yaml(after, source), read_yaml(write_spec(before), source).data, ())
    text = io.BytesIO()
    yaml.dump(tree, text)
    if parse_spec(text.getvalue(), source) != spec:
        raise DefectError(f"{source}: the edited file does not hold the spec that was to be saved.")
    return text.getvalue()


def _match(tree: CommentedMap, after: Document, before: dict[str, Any], path: Path) -> None:
    """Changes `tree` where `after` differs from `before`; what is equal stays as it was written."""
    new: dict[str, Any] = after.data
    for part in path:
        new = new[str(part)]
    for key in before.keys() - new.keys():
        tree.pop(key, None)
    for key, value in new.items():
        old, here = before.get(key), (*path, key)
        if old == value and (key in tree or key not in _BY_FILE_NAME):
            continue
        if isinstance(value, dict) and isinstance(old, dict) and isinstance(tree.get(key), CommentedMap):
            _match(tree[key], after, old, here)
        else:
            tree[key] = HexInt(value) if here in after.hex_at else value
