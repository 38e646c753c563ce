"""Parses a compiled device tree: flattened in a blob (.dtb), or as the folders in which Linux shows the one it runs on.

The blob's format is that of the Devicetree Specification v0.4, chapter 5. In a folder each folder is a node and each
file a property with the same bytes.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Node, Property
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes

MAX_DEPTH = 64
MAX_FILES = 100_000
MAX_PROPERTY_BYTES = 1 << 20
_BEGIN_NODE, _END_NODE, _PROPERTY, _NOTHING, _END = 1, 2, 3, 4, 9
_TEXTS = ("compatible", "model", "status", "device_type")


def parse_blob(data: bytes, path: Path) -> DeviceTree:
    """The tree in `data`; raises InputError with the byte that cannot be read. `path` only names it in messages."""

    def fault(at: int, why: str) -> InputError:
        return InputError(f"{path}: this device tree blob is broken at byte {at}.", why, "Get the file again.")

    def word(at: int) -> int:
        if not 0 <= at <= len(data) - 4:
            raise fault(at, f"The file ends at byte {len(data)}.")
        return int(struct.unpack_from(">I", data, at)[0])

    def name_at(at: int) -> tuple[str, int]:
        end = data.find(b"\x00", at, at + 1024)
        if end < 0:
            raise fault(at, "A name does not end.")
        return data[at:end].decode("ascii", "replace"), end + 1

    structure, strings = word(8), word(12)
    tree = DeviceTree(Node("", None))
    open_nodes: list[Node] = []
    at = structure
    while (token := word(at)) != _END:
        at += 4
        if token == _BEGIN_NODE:
            name, at = name_at(at)
            parent = open_nodes[-1] if open_nodes else None
            node = tree.root if parent is None else parent.children.setdefault(name, Node(name, parent))
            open_nodes.append(node)
            if len(open_nodes) > MAX_DEPTH:
                raise fault(at, f"Nodes are nested more than {MAX_DEPTH} deep.")
        elif token == _END_NODE and open_nodes:
            open_nodes.pop()
        elif token == _PROPERTY and open_nodes:
            length, name = word(at), name_at(strings + word(at + 4))[0]
            at += 8
            if length > len(data) - at:
                raise fault(at, f"The property {name!r} is longer than the file.")
            open_nodes[-1].properties[name] = _property(name, data[at : at + length], open_nodes[-1].path)
            at += length
        elif token != _NOTHING:
            raise fault(at - 4, f"{token} is no token of a device tree.")
        at = (at + 3) & ~3
    return _finished(tree)


def parse_folder(folder: Path) -> tuple[DeviceTree, bytes]:
    """The tree in a folder such as /proc/device-tree, and all its bytes in a fixed order; follows no links."""
    tree = DeviceTree(Node("", None))
    everything: list[bytes] = []
    waiting = [(folder, tree.root)]
    while waiting:
        place, node = waiting.pop()
        try:
            for entry in sorted(os.scandir(place), key=lambda entry: entry.name):
                if len(everything) > MAX_FILES:
                    raise InputError(
                        f"{folder}: this folder has more than {MAX_FILES:,} files.", fix="Give a device tree."
                    )
                if entry.is_dir(follow_symlinks=False):
                    child = node.children.setdefault(entry.name, Node(entry.name, node))
                    waiting.append((Path(entry.path), child))
                elif entry.is_file(follow_symlinks=False):
                    data = read_bytes(Path(entry.path), "property", MAX_PROPERTY_BYTES)
                    node.properties[entry.name] = _property(entry.name, data, node.path)
                    everything += [f"{node.path} {entry.name}".encode(), data]
        except OSError as error:
            raise InputError(
                f"{place}: this folder cannot be read.", f"{error.strerror}.", "Check its rights."
            ) from error
    return _finished(tree), b"\n".join(everything)


def _finished(tree: DeviceTree) -> DeviceTree:
    for node in tree.root.walk():
        handle = node.number("phandle")
        if handle is not None:
            tree.phandles[handle] = node
    _name_by_symbols(tree)
    return tree


def _property(name: str, data: bytes, path: str) -> Property:
    texts = _as_texts(name, data)
    if texts:
        return Property(name, None, f"{name} = " + ", ".join(f'"{text}"' for text in texts) + ";", (), texts, path)
    if len(data) % 4 or not data:
        return Property(name, None, f"{name};", path=path)
    cells = tuple(Cell(number, f"0x{number:x}", None, 0) for number in struct.unpack(f">{len(data) // 4}I", data))
    shown = " ".join(cell.words for cell in cells[:16]) + (" ..." if len(cells) > 16 else "")
    return Property(name, None, f"{name} = <{shown}>;", cells, path=path)


def _as_texts(name: str, data: bytes) -> tuple[str, ...]:
    """A blob does not say what is text: taken for it is what ends in NUL and is printable all through."""
    if not data.endswith(b"\x00") or data.startswith(b"\x00"):
        return ()
    parts = data[:-1].split(b"\x00")
    if not all(part and all(32 <= byte < 127 for byte in part) for part in parts):
        return ()
    if len(data) == 4 and name not in _TEXTS and not name.endswith("-names"):
        return ()
    return tuple(part.decode("ascii") for part in parts)


def _name_by_symbols(tree: DeviceTree) -> None:
    """Gives labels back where the blob was compiled with `-@`, which keeps them in /__symbols__."""
    symbols = tree.root.children.get("__symbols__")
    for label, found in (symbols.properties if symbols else {}).items():
        node = tree.at_path(found.texts[0]) if found.texts else None
        if node is not None:
            node.labels.append(label)
            tree.labels[label] = node
