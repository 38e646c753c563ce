"""The change log of a spec: what a new version says differently, one line a version."""

from __future__ import annotations

from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import diff

_NAMED_IN_FULL = 4
_OF_THE_RECORD = ("version", "name", "change_log", "last_verified_date", "verification_method")


def with_log_entry(before: HardwareSpec | None, after: HardwareSpec, reason: str | None) -> HardwareSpec:
    """`after` with a line for its version (`v2.3.1: l2_cache.latency_cycles: 12 → 13.5, per SDK changelog`).

    The same version keeps its line; a spec without a predecessor gets "first version".
    """
    if any(line.startswith(f"v{after.version}:") for line in after.change_log):
        return after
    sentences = []
    if before is not None:
        changes = [change for change in diff(before, after) if change.path not in _OF_THE_RECORD]
        sentences = [change.sentence for change in changes[:_NAMED_IN_FULL]]
        if len(changes) > _NAMED_IN_FULL:
            sentences.append(f"{len(changes) - _NAMED_IN_FULL} more values")
    what = "; ".join(sentences) or ("first version" if before is None else "no value differs")
    line = f"v{after.version}: {what}" + (f", {reason}" if reason else "")
    return HardwareSpec.from_plain(after.plain() | {"change_log": [*after.change_log, line]})
