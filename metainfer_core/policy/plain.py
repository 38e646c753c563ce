"""The plain `.policy` form, which people and other tools write: read as it is, and written back under the same names.

{"version": "1.2", "actions": [{"node_id": "Conv_12", "action": "quantize", "params": {"bit_width": 6}}]}
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metainfer_core.actions.catalog import KINDS
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.values import canonical_json, read_json

VERSION = "1.2"
MOST_ACTIONS = 100_000
PLAIN_FIELDS = ("node_id", "action", "params")
REVIEW_FIELDS = ("override", "review_required", "zero_point_clip", "precision_sensitive")


def read_policy(path: Path) -> Policy:
    """The policy in a file, in our own form or the plain one; see `parse_policy`."""
    return parse_policy(read_bytes(path, "policy"), str(path))


def parse_policy(data: bytes, source: str = "policy") -> Policy:
    """The policy in a file's bytes. What a plain one holds beside its fields is named in `warnings` and left out.

    Raises:
        InputError: It is not a policy; the message names `source` and the place.
    """
    found = read_json(data, source)
    if not isinstance(found, Mapping):
        raise InputError(f"{source}: a policy is a JSON object.", f"Found {_kind(found)}.", "Give a policy file.")
    if "format" in found:
        return Policy.from_plain(found, source)
    return _read_plain(found, source)


def plain_form(policy: Policy) -> bytes:
    """The policy in the plain form: its actions and the reviewers' fields, without evidence."""
    names = (*PLAIN_FIELDS, *REVIEW_FIELDS)
    actions = [{key: value for key, value in line.plain().items() if key in names} for line in policy.actions]
    return canonical_json({"version": VERSION, "actions": actions})


def _read_plain(found: Mapping[str, Any], source: str) -> Policy:
    version = found.get("version")
    if version != VERSION:
        raise InputError(
            f"{source}: version is {version!r}." if "version" in found else f"{source}: version is missing.",
            f"The plain policy form is version {VERSION!r}.",
            f'Write "version": "{VERSION}" if the file keeps to that form.',
        )
    lines = found.get("actions")
    if not isinstance(lines, list):
        raise InputError(
            f"{source}: actions is {'missing' if lines is None else _kind(lines)}.",
            "It must be a list of objects with node_id, action and params.",
            "Give the list; it may be empty.",
        )
    if len(lines) > MOST_ACTIONS:
        raise InputError(f"{source}: {len(lines):,} actions.", f"At most {MOST_ACTIONS:,} are read.", "Split it.")
    notes = [_unknown(key) for key in sorted(found) if key not in ("version", "actions")]
    actions = tuple(_read_line(line, f"actions[{index}]", source, notes) for index, line in enumerate(lines))
    seen: set[str] = set()
    for action in actions:
        if action.id in seen:
            notes.append(f"{action.id} stands twice; a review needs one line for each action on a node.")
        seen.add(action.id)
    return Policy(actions=actions, warnings=tuple(notes))


def _read_line(line: object, place: str, source: str, notes: list[str]) -> PolicyAction:
    if not isinstance(line, Mapping):
        raise InputError(
            f"{source}: {place} is {_kind(line)}.",
            "An action is an object with node_id, action and params.",
            "Mend it.",
        )
    known = (*PLAIN_FIELDS, *REVIEW_FIELDS)
    notes += [_unknown(f"{place}.{key}") for key in sorted(line) if key not in known]
    kept = {key: value for key, value in line.items() if key in known}
    for key in ("node_id", "action"):
        if not isinstance(kept.get(key), str) or not kept[key]:
            raise InputError(
                f"{source}: {place}.{key} is {_kind(kept[key]) if key in kept else 'missing'}.",
                f"{'The id of a node' if key == 'node_id' else 'The name of an action kind'} is a text.",
                "Give it.",
            )
    if kept["action"] not in {kind.name for kind in KINDS}:
        names = ", ".join(kind.name for kind in KINDS)
        notes.append(f"{place}: {kept['action']} is no action kind of this version ({names}): it cannot be applied.")
    return PolicyAction.from_plain(kept, f"{source}: {place}")


def _unknown(place: str) -> str:
    return f"{place} is not a field of a plain policy: it was left out."


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: f"the text {value!r}"[:60], type(None): "null"}
    return names.get(type(value), f"{value!r}"[:60])
