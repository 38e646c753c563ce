"""Digest of the rules: approvals go stale when the code that proposes, refuses, rewrites or applies changes."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

CORE = Path(__file__).parents[1]
RULES = ("actions", "policy/apply.py")
"""Folders and files of the core that decide what an approved action does."""


MEASURING = (*RULES, "numerics", "verify/effect.py", "verify/suffix_runs.py")
"""Those that decide what is measured of an action."""


@functools.cache
def ruleset_digest() -> str:
    """Of what an approved action does."""
    return _digest(RULES, (".py",))


@functools.cache
def measuring_digest() -> str:
    """Of what is measured of an action: measurements that were kept are good as long as it stays."""
    return _digest(MEASURING, (".py", ".hpp", ".h", ".cpp"))


def rules_have_changed() -> bool:
    """Whether the files hold other rules than those this program took up: it was updated while it runs."""
    return _digest(RULES, (".py",)) != ruleset_digest()


def _digest(rules: tuple[str, ...], suffixes: tuple[str, ...]) -> str:
    """`sha256:` and hex digits over the sources, each with its path, in sorted order."""
    files = [
        path
        for rule in rules
        for path in ([CORE / rule] if rule.endswith(".py") else sorted((CORE / rule).rglob("*")))
        if path.suffix in suffixes
    ]
    content = hashlib.sha256()
    for name, path in sorted((path.relative_to(CORE).as_posix(), path) for path in files):
        data = path.read_bytes()
        content.update(f"{name} {len(data)}\n".encode() + data)
    return f"sha256:{content.hexdigest()}"
