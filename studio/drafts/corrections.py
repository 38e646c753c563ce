"""What people corrected in drafts, as training data: `python -m studio.drafts.corrections WORKSPACE [FILE]`.

One JSON object a line: `document` (digest), `page`, `text` (the document's words), `field`, `proposed` (what was read:
value, unit, min, typ, max in the field's base unit), `corrected` (the same keys as a person gave them; null where they
rejected the reading).
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from metainfer_core.errors import MetaInferError
from metainfer_core.files import write_bytes
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.field_shapes import unit_key
from metainfer_core.spec.quantities import QuantityError, key_unit, parse_quantity, unit
from studio.drafts.decision_log import read_log
from studio.drafts.draft_places import digest_of, draft_in, places
from studio.drafts.draft_state import Standing, given, standing
from studio.files.workspace import files_of, workspace_folder

FILE = "corrections.jsonl"
_ENDS = ("min", "typ", "max")


def corrections(draft: SpecDraft, stands: Mapping[str, Standing]) -> Iterator[dict[str, Any]]:
    """What was corrected in one draft, in the order of its places: readings rejected, and values given instead."""
    for place in places(draft):
        stand = stands.get(place.key)
        if stand is None or stand.kind not in ("edit", "reject"):
            continue
        of_place = place.indexes if stand.kind == "reject" else place.indexes[:1]
        for index in of_place:
            candidate = draft.candidates[index]
            corrected = None if stand.kind == "reject" else _given(candidate, place.key, stand.given)
            yield {
                "document": draft.sources[candidate.source].document_digest,
                "page": candidate.page,
                "text": candidate.text,
                "field": candidate.field,
                "proposed": _read(candidate),
                "corrected": corrected,
            }


def all_corrections(workspace: Path | None = None) -> tuple[dict[str, Any], ...]:
    """What was corrected in all drafts of a workspace; a draft that cannot be read is left out."""
    found: list[dict[str, Any]] = []
    for path in files_of("draft", workspace):
        try:
            draft = draft_in(path)
            log = read_log(digest_of(draft), workspace)
            found += corrections(draft, standing(log)) if log else ()
        except MetaInferError:
            continue
    return tuple(found)


def export_corrections(workspace: Path | None = None, path: Path | None = None) -> tuple[Path, int]:
    """Writes what was corrected to a file, `corrections.jsonl` in the workspace; where, and how many there are."""
    found = all_corrections(workspace)
    path = path or (workspace or workspace_folder()) / FILE
    lines = [json.dumps(each, ensure_ascii=False, sort_keys=True) + "\n" for each in found]
    write_bytes(path, "".join(lines).encode(), "corrections")
    return path, len(found)


def _read(candidate: Candidate) -> dict[str, Any]:
    plain = candidate.plain()
    return {key: plain[key] for key in ("value", "unit", *_ENDS) if key in plain}


def _given(candidate: Candidate, path: str, words: str) -> dict[str, Any]:
    """What a person typed, in the field's own unit, as a reading would say it."""
    own = unit(candidate.unit or "")
    value, base = given(path, words), key_unit(unit_key(path))
    if isinstance(value, str) and path.startswith("other.") and own:
        with contextlib.suppress(QuantityError):  # a text is its own value
            value, base = parse_quantity(value, own).plain(), own
    factor = float(base.factor / own.factor) if base and own and base.dimension == own.dimension else 1.0
    found: dict[str, Any] = {"unit": candidate.unit} if candidate.unit else {}
    if not isinstance(value, dict):
        return found | {"value": value * factor if isinstance(value, float) else value}
    ends = {name: value[name] * factor for name in _ENDS if name in value}
    return found | ({"value": ends["typ"]} if set(ends) == {"typ"} else ends)


def _main(words: list[str]) -> int:
    if not 1 <= len(words) <= 2 or not Path(words[0]).is_dir():
        sys.stderr.write("usage: python -m studio.drafts.corrections WORKSPACE [FILE]; WORKSPACE is a folder\n")
        return 2
    try:
        path, count = export_corrections(Path(words[0]), Path(words[1]) if len(words) > 1 else None)
    except MetaInferError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_status
    sys.stdout.write(f"{path}: {count} corrections\n")
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
