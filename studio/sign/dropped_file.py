"""A file that is dropped where a signed bundle is asked for, and is something else: what it is."""

from __future__ import annotations

import json
from pathlib import Path

from studio.files.workspace import kind_of

_BEGINNINGS = (
    (b"%PDF", "manual"),
    (b"-----BEGIN ENCRYPTED PRIVATE KEY", "key"),
    (b"-----BEGIN PRIVATE KEY", "key"),
    (b"-----BEGIN OPENSSH PRIVATE KEY", "key"),
)
LOOKED_AT = 8 * 1024 * 1024


def what_it_is(name: str, data: bytes) -> str | None:
    """A word for the kind of a file that is no bundle; None where it may be one, so that its checks say what it is."""
    if not data:
        return "empty"
    found = next((kind for start, kind in _BEGINNINGS if data.lstrip()[:64].startswith(start)), None)
    if found is not None:
        return found
    try:
        plain = json.loads(data) if len(data) <= LOOKED_AT else None
    except (ValueError, RecursionError):
        plain = None
    if isinstance(plain, dict):
        if "payloadType" in plain:
            return None
        if "actions" in plain:
            return "policy"
        if str(plain.get("format", "")).startswith("metainfer.public_key/"):
            return "public_key"
    by_name = kind_of(Path(name)) if Path(name).suffix.lower() not in (".yaml", ".yml") else "spec"
    if by_name is None and plain is None and len(data) <= LOOKED_AT:
        return "unreadable"
    return by_name if by_name != "bundle" else None
