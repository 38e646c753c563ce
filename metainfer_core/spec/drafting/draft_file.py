"""SpecDraft files: YAML that people can read, cut down and hand to `meta-infer spec accept`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.files.strict_yaml import read_yaml, value_from
from metainfer_core.spec.files.yaml_writer import yaml_number, yaml_text

DRAFT_LIMIT = 32 * MEBIBYTE


def read_draft(path: Path) -> SpecDraft:
    """The draft in a file; raises InputError with the line of the first fault."""
    return parse_draft(read_bytes(path, "draft", DRAFT_LIMIT), str(path))


def parse_draft(data: bytes, source: str) -> SpecDraft:
    """The draft in the bytes of a file called `source`."""
    document = read_yaml(data, source, DRAFT_LIMIT)
    if not isinstance(document.data, dict) or "candidates" not in document.data:
        raise InputError(
            f"{source}: this is not a draft.",
            "A draft has the keys chip, sources and candidates.",
            "Make one with `meta-infer ingest DOC... --chip NAME --output DRAFT.yaml`.",
        )
    return value_from(document, document.data, SpecDraft)


def write_draft(draft: SpecDraft) -> bytes:
    """The bytes of a draft file; `read_draft` gives the same value back. Each candidate is headed by its index."""
    plain = draft.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    lines = [f"format: {draft.format}", f"chip: {yaml_text(draft.chip)}", "sources:" if draft.sources else ""]
    for key, source in plain.get("sources", {}).items():
        lines.append(f"  {yaml_text(key)}:")
        lines += [f"    {name}: {_flow(value)}" for name, value in source.items()]
    lines.append("notes:" if draft.notes else "")
    lines += [f"  - {yaml_text(note)}" for note in draft.notes]
    lines.append("candidates:" if draft.candidates else "candidates: []")
    for index, candidate in enumerate(plain.get("candidates", [])):
        lines.append(f"  # {index}")
        pairs = [f"{name}: {_flow(value)}" for name, value in candidate.items()]
        lines += [f"  - {pairs[0]}", *(f"    {pair}" for pair in pairs[1:])]
    return ("\n".join(line for line in lines if line) + "\n").encode()


def _flow(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_text(key)}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return yaml_number(value) if isinstance(value, int | float) else yaml_text(str(value))
