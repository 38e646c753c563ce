"""The few words that specs and drafts quote from a document: taken out, with a digest of each left behind."""

from __future__ import annotations

from pathlib import Path

from metainfer_core.bundle.statement import Digest
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import DRAFT_LIMIT, parse_draft, write_draft
from metainfer_core.spec.files.yaml_file import parse_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.edit import edited
from metainfer_core.values import Value, sha256


class Quotation(Value):
    """Words that stood in a file."""

    file: str
    """Path in the workspace."""
    place: str
    """Path of the spec value, or `candidate 12`."""
    words_digest: Digest
    """SHA-256 of the words in UTF-8: who has the document can show that they are in it."""


def read_quoting(path: Path) -> SpecDraft | HardwareSpec | None:
    """The draft or the spec in a YAML file; None where it is neither."""
    try:
        data = read_bytes(path, "file", DRAFT_LIMIT)
        if b"\ncandidates:" in b"\n" + data:
            return parse_draft(data, str(path))
        return parse_spec(data, str(path))
    except InputError:
        return None


def names_of(found: SpecDraft | HardwareSpec, digest: str) -> set[str]:
    """What a document with this digest is called in a draft or a spec."""
    sources = [each for each in found.sources.values() if each.document_digest == digest]
    return {each.file_name for each in sources if each.file_name}


def quoted(found: SpecDraft | HardwareSpec, digest: str) -> dict[str, str]:
    """Place to the words that are quoted there from the document."""
    keys = {key for key, each in found.sources.items() if each.document_digest == digest}
    if isinstance(found, SpecDraft):
        return {
            f"candidate {index}": each.text
            for index, each in enumerate(found.candidates)
            if each.source in keys and each.text
        }
    return {path: each.text for path, each in found.provenance.items() if each.source in keys and each.text}


def quotations(workspace: Path, path: Path, words: dict[str, str]) -> tuple[Quotation, ...]:
    """The digests of words that stand in a file of a workspace."""
    name = path.relative_to(workspace).as_posix()
    return tuple(Quotation(file=name, place=place, words_digest=sha256(text.encode())) for place, text in words.items())


def without_words(found: SpecDraft, digest: str) -> SpecDraft:
    """The draft without what it quotes from the document; places, values and boxes stay."""
    places = quoted(found, digest)
    plain = found.plain()
    for index, candidate in enumerate(plain.get("candidates", [])):
        if f"candidate {index}" in places:
            candidate.pop("text", None)
    return SpecDraft.from_plain(plain, "draft")


def take_words_out(path: Path, found: SpecDraft | HardwareSpec, digest: str) -> None:
    """Writes the file anew without what it quotes from the document; a spec keeps its comments and its values."""
    if isinstance(found, SpecDraft):
        write_bytes(path, write_draft(without_words(found, digest)), "draft")
        return
    plain = found.plain()
    for place in quoted(found, digest):
        plain["provenance"][place].pop("text", None)
    bare = HardwareSpec.from_plain(plain, str(path))
    if bare.values_digest != found.values_digest:
        raise InputError(f"{path}: its values would change with its quotations.", fix="Report it with the file.")
    write_bytes(path, edited(read_bytes(path, "hardware spec", DRAFT_LIMIT), bare, str(path)), "hardware spec")
