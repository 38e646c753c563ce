"""Checks on the record around the values: who verified them when, under which version, and where they come from."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from pathlib import Path

from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.files.report import Report
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import leaves

STALE_AFTER_DAYS = 365
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
OF_PEOPLE = (
    "name", "vendor", "version", "last_verified_date", "verification_method", "change_log", "sensitive_layers",
    "sdk_version", "firmware_version", "driver_version", "microcode_version", "deadline_ms", "dynamic_rules",
    "recovery_rules",
)  # fmt: skip
"""What people decide or write down themselves; no document has to give it."""
Check = Callable[[HardwareSpec, Report], None]


def required(spec: HardwareSpec, report: Report) -> None:
    """HW001: what every plan needs."""
    if not spec.compute_units:
        report.add(
            "HW001",
            "compute_units",
            "The spec has no compute unit, so nothing can be planned on it.",
            "Add compute_units: {cpu: {kind: cpu, ...}}.",
            "warning",
        )
    if not any(memory.kind in ("sram", "tcm", "dram", "psram") for memory in spec.memories.values()):
        report.add(
            "HW001",
            "memories",
            "The spec has no memory that tensors can be placed in.",
            "Add memories: {sram: {kind: sram, size_bytes: ...}}.",
            "warning",
        )
    for name, memory in spec.memories.items():
        if memory.size_bytes is None:
            report.add("HW001", f"memories.{name}", f"memories.{name} has no size_bytes.", "Add size_bytes.", "warning")


def verification(spec: HardwareSpec, report: Report) -> None:
    """HW016: when and how the values were last checked."""
    date = spec.last_verified_date
    if date is None:
        report.add("HW016", "", "last_verified_date is missing.", "Add the day of the last check.", "warning")
    else:
        try:
            verified = datetime.date.fromisoformat(date)
        except ValueError:
            message = f"last_verified_date is {date!r}, not a date."
            report.add("HW016", "last_verified_date", message, 'Write "2026-01-31".')
        else:
            age = (report.today - verified).days
            if age < 0:
                message = f"last_verified_date, {date}, lies in the future."
                report.add("HW016", "last_verified_date", message, "Write the day of the last check.")
            elif age > STALE_AFTER_DAYS:
                message = f"The last check was {age} days ago; after {STALE_AFTER_DAYS} it counts as stale."
                report.add("HW016", "last_verified_date", message, "Check the values again.", "warning")
    if spec.verification_method is None:
        report.add("HW016", "", "verification_method is missing.", "Say how the values were checked.", "warning")


def version(spec: HardwareSpec, report: Report) -> None:
    """HW016: the file's name, the version and the change log say the same."""
    if not _VERSION.fullmatch(spec.version):
        report.add("HW016", "version", f"version is {spec.version!r}, not x.y.z.", "Write three numbers.")
    name = Path(report.source).name
    expected = f"{spec.name}_v{spec.version}.yaml"
    if name != expected:
        message = f"The file is called {name}, but holds {spec.name} version {spec.version}."
        report.add("HW016", "version", message, f"Rename it to {expected}, or mend name or version.")
    if not any(f"v{spec.version}" in line for line in spec.change_log):
        message = f"The change log has no line for v{spec.version}."
        report.add("HW016", "change_log", message, f'Add "v{spec.version}: what changed, and why".', "warning")


def traced(spec: HardwareSpec, report: Report) -> None:
    """HW015: every value has a place in a document, or a reason why it is assumed."""
    values = leaves(spec)
    for path, place in spec.provenance.items():
        where = f"provenance.{path}"
        if place.source not in spec.sources:
            message = f"The provenance of {path} names the source {place.source!r}, which is not among `sources`."
            report.add("HW015", where, message, "Add it to `sources`, with the digest of the document.")
        if path in spec.assumed:
            report.add("HW015", where, f"{path} has a provenance and is assumed.", "Keep one of the two.")
        if shape_at(path) is None or not any(known == path or known.startswith(path + ".") for known in values):
            message = f"There is a provenance for {path}, but no such value."
            report.add("HW015", where, message, "Remove it, or add the value.")
    for key, source in spec.sources.items():
        if not _DIGEST.fullmatch(source.document_digest):
            message = f"The digest of {key} is not sha256: and 64 hex digits."
            report.add("HW015", f"sources.{key}.document_digest", message, "Write what `sha256sum` prints.")
    known_paths = (*spec.provenance, *spec.assumed)
    untraced = [
        path
        for path in values
        if path.split(".")[0] not in OF_PEOPLE
        and not path.endswith(".kind")
        and not any(path == known or path.startswith(known + ".") for known in known_paths)
    ]
    if untraced:
        some = ", ".join(untraced[:5]) + (f" and {len(untraced) - 5} more" if len(untraced) > 5 else "")
        message = f"{len(untraced)} values have neither a place in a document nor a reason: {some}."
        report.add(
            "HW015", untraced[0], message, "Add `provenance:`, or move them to `assumed:` with a reason.", "warning"
        )


CHECKS: tuple[Check, ...] = (required, verification, version, traced)
