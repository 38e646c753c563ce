"""Digest of the rules: approvals go stale when the code that proposes, refuses, rewrites or applies changes."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

CORE = Path(__file__).parents[1]
RULES = ("actions", "policy/apply.py")
"""Folders and files of the core that decide what an approved action does."""


@functools.cache
def ruleset_digest() -> str:
    """`sha256:` and hex digits over the sources, each with its path, in sorted order."""
    files = [
        path for rule in RULES for path in ([CORE / rule] if rule.endswith(".py") else (CORE / rule).rglob("*.py"))
    ]
    content = hashlib.sha256()
    for name, path in sorted((path.relative_to(CORE).as_posix(), path) for path in files):
        data = path.read_bytes()
        content.update(f"{name} {len(data)}\n".encode() + data)
    return f"sha256:{content.hexdigest()}"
