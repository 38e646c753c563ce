"""Command `meta-infer review diff`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.cli.console import Json, emit, verdict
from metainfer_core.explain.render import text_lines
from review_store.review.policy_diff import ActionChange, change_text, policy_diff
from review_store.review.workspace import read_policy


def diff_command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="The earlier revision.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="The later one.")],
    as_json: Json = False,
) -> None:
    """What differs between two policies, action by action; status 1 if anything does."""
    changes = policy_diff(read_policy(old, None, None), read_policy(new, None, None))
    lines = [line for each in changes for line in _lines(each)]
    emit(as_json, {"changes": list(map(_data, changes))}, text_lines(lines or ["No action differs."]))
    verdict(bool(changes))


def _lines(change: ActionChange) -> list[str]:
    return [f"{change.action_id}: {change.change}", *(f"    {change_text(each)}" for each in change.fields)]


def _data(change: ActionChange) -> dict[str, Any]:
    fields = {each.field: {"before": each.before, "after": each.after} for each in change.fields}
    return {"id": change.action_id, "change": change.change, "fields": fields}
