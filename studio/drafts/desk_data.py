"""What the desk for confirming a draft needs at each run: what was decided, by whom, and where documents are shown.

The places themselves do not change while a draft is confirmed: each window fetches them once (desk_routes.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from metainfer_core.spec.drafting.draft import SpecDraft
from studio.drafts.before import before, before_data
from studio.drafts.decision_log import Recorded
from studio.drafts.desk_routes import places_link, value_link
from studio.drafts.draft_places import GROUPS, digest_of
from studio.drafts.draft_state import last_seqs, standing
from studio.files.documents import document_with, is_purged
from studio.pages.page_routes import document_link
from studio.words.language import language
from studio.words.texts import TEXTS, text

SURE = 0.9
"""From this confidence on a reading needs no second look."""
THRESHOLDS = (0.98, 0.95, 0.9, 0.85, 0.8)
"""Above which values may be accepted together, the first unless another is chosen."""

KEYS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("accept", ("a",), "a"),
    ("edit", ("e",), "e"),
    ("reject", ("r",), "r"),
    ("unknown", ("u",), "u"),
    ("unsure", ("n",), "n"),
    ("next", ("j", "ArrowDown"), "j ↓"),
    ("previous", ("k", "ArrowUp"), "k ↑"),
    ("undo", ("Backspace",), "⌫"),
    ("zoom", ("z",), "z"),
    ("sure", ("s",), "s"),
    ("carry", ("c",), "c"),
    ("help", ("?",), "?"),
)
"""Every key once: what it does, the names browsers give it, and how it is shown. 1 to 9 choose a reading."""

WORDS = "desk_"
DESK_GROUPS = ("all", *GROUPS, "conflicts", "changed", "missing")
_SHOWN_AS = {".pdf": "pdf", ".svd": "text", ".dts": "text", ".dtsi": "text", ".csv": "text"}


@dataclass(frozen=True)
class View:
    """What a window looks at, as its address says."""

    place: str = ""
    group: str = "all"

    @classmethod
    def of(cls, sent: Any) -> View:
        """The view in a message of a window; what is wrong in it is left out."""
        sent = sent if isinstance(sent, dict) else {}
        return cls(str(sent.get("place", "")), str(sent.get("group", "all")))


def desk_data(
    draft: SpecDraft,
    name: str,
    log: tuple[Recorded, ...],
    refused: Sequence[dict[str, Any]],
    actor: str,
    view: View,
    workspace: Path | None = None,
) -> dict[str, Any]:
    """All that the component is handed.

    Args:
        draft: The draft.
        name: Path of its file in the workspace.
        log: What was decided about it.
        refused: What was sent and could not be written down, with the reason.
        actor: Who sits there.
        view: What the address asks to look at.
        workspace: The workspace; the studio's own if not given.
    """
    acked: dict[str, int] = {}
    for window, number in [(each.decision.window, each.decision.number) for each in log] + [
        (each["window"], each["number"]) for each in refused
    ]:
        acked[window] = max(acked.get(window, 0), number)
    return {
        "draft": digest_of(draft),
        "places_at": places_link(name, digest_of(draft)),
        "value_at": value_link(),
        "actor": actor,
        "cursor": view.place,
        "group": view.group,
        "groups": [{"key": key, "title": text(f"group_{key}")} for key in DESK_GROUPS],
        "before": before_data(draft, before(draft, name, workspace)),
        "standing": {
            key: {"kind": each.kind, "actor": each.actor, "index": each.index, "given": each.given}
            for key, each in standing(log).items()
        },
        "seqs": last_seqs(log),
        "acked": acked,
        "refused": list(refused),
        "documents": {
            key: _document(source.document_digest, source.file_name, workspace) for key, source in draft.sources.items()
        },
        "keys": [{"act": act, "keys": names, "shown": shown_as} for act, names, shown_as in KEYS],
        "words": {key.removeprefix(WORDS): TEXTS[key][language()] for key in TEXTS if key.startswith(WORDS)},
        "sure": SURE,
        "thresholds": THRESHOLDS,
    }


def _document(digest: str, name: str, workspace: Path | None) -> dict[str, str]:
    path = document_with(digest, workspace)
    if path is None:
        return {"kind": "purged" if is_purged(digest, workspace) else "absent", "name": name}
    return {"kind": _SHOWN_AS.get(path.suffix.lower(), "other"), "name": name, **document_link(digest)}
