"""Reads device trees, from source (.dts, .dtsi) or as a blob (.dtb), into candidates."""

from __future__ import annotations

from pathlib import Path

from hwdoc_ingest.device_trees.device_tree_blob import parse_blob, parse_folder
from hwdoc_ingest.device_trees.device_tree_blocks import block_candidates
from hwdoc_ingest.device_trees.device_tree_cpus import cpu_candidates
from hwdoc_ingest.device_trees.device_tree_nodes import DeviceTree
from hwdoc_ingest.device_trees.device_tree_said import Said
from hwdoc_ingest.device_trees.device_tree_source import parse_source
from hwdoc_ingest.page.plain_text import decode
from hwdoc_ingest.reading import LIMIT_BYTES, Progress, Reading
from metainfer_core.files import read_bytes
from metainfer_core.spec.drafting.draft import Candidate, DraftSource
from metainfer_core.values import sha256

_MAX_NOTES = 60
_KNOWN_WORDS = ("&", "GIC_", "IRQ_TYPE_")


def read_device_tree(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of device tree source; `page` is the line."""
    data = read_bytes(path, "device tree", LIMIT_BYTES["device-tree"])
    progress("parsing the device tree", 0, 0)
    text = decode(data, path)
    tree = parse_source(text, path)
    source = DraftSource(
        title=_title(tree, path), document_digest=sha256(data), file_name=path.name, pages=len(text.splitlines())
    )
    return _reading(tree, key, source, progress)


def read_device_tree_blob(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of a device tree blob; `page` is the path of the node."""
    data = read_bytes(path, "device tree", LIMIT_BYTES["device-tree-blob"])
    progress("parsing the device tree", 0, 0)
    tree = parse_blob(data, path)
    source = DraftSource(title=_title(tree, path), document_digest=sha256(data), file_name=path.name)
    return _reading(tree, key, source, progress)


def read_device_tree_folder(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of the device tree that a Linux system runs on; `page` is the path of the node."""
    progress("reading the device tree", 0, 0)
    tree, everything = parse_folder(path)
    source = DraftSource(title=_title(tree, path), document_digest=sha256(everything), file_name=path.name)
    return _reading(tree, key, source, progress)


def _title(tree: DeviceTree, path: Path) -> str:
    model = tree.root.texts("model") or tree.root.texts("compatible")[-1:]
    return f"Device tree {path.name}" + (f" ({model[0]})" if model else "")


def _reading(tree: DeviceTree, key: str, source: DraftSource, progress: Progress) -> Reading:
    said = Said(tree, key)
    candidates = [*_chip(tree, said), *cpu_candidates(tree, said)]
    nodes = list(tree.root.walk())
    for index, node in enumerate(nodes):
        if index % 1000 == 0:
            progress("reading nodes", index, len(nodes))
        candidates.extend(block_candidates(node, tree, said))
    return Reading(key=key, source=source, candidates=tuple(candidates), notes=_notes(tree))


def _chip(tree: DeviceTree, said: Said) -> list[Candidate]:
    found = tree.root.properties.get("compatible")
    if found is None or not found.texts:
        return []
    return [said("chip.name", found.texts[-1].rpartition(",")[2], found, confidence=0.7)]


def _notes(tree: DeviceTree) -> tuple[str, ...]:
    notes = list(tree.notes)
    for node in tree.root.walk():
        for name, found in sorted(node.properties.items()):
            unknown = [cell for cell in found.cells if cell.value is None and not cell.words.startswith(_KNOWN_WORDS)]
            if name in ("reg", "interrupts") and unknown:
                place, words = unknown[0].line, unknown[0].words
                notes.append(f"line {place}: {words} in {name} of {node.title} is defined elsewhere.")
        reach = node.properties.get("dma-ranges")
        if reach and reach.cells:
            notes.append(f"line {reach.line}: DMA below {node.title} reaches only part of the addresses: {reach.words}")
    if len(notes) > _MAX_NOTES:
        notes[_MAX_NOTES:] = [f"{len(notes) - _MAX_NOTES} more such notes."]
    return tuple(notes)
