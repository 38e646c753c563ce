"""Checks a spec file: the fourteen classes of error that can be found without the document."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass

from metainfer_core.errors import InputError
from metainfer_core.spec.checking import consistency, plausibility
from metainfer_core.spec.files.report import Report
from metainfer_core.spec.files.spec_reader import SpecReader
from metainfer_core.spec.files.strict_yaml import read_yaml
from metainfer_core.spec.files.yaml_file import named_by_file
from metainfer_core.spec.findings import Finding
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising import record

CHECKS = (*plausibility.CHECKS, *consistency.CHECKS, *record.CHECKS)
"""All checks on values; those on the form are made while reading."""


def validate(data: bytes, source: str, today: datetime.date) -> tuple[Finding, ...]:
    """Every finding on the bytes of a spec file, in the order of the file.

    Args:
        data: The file.
        source: Its path; name and version in it are held against those inside.
        today: The day against which the date of the last verification is held.
    """
    try:
        opened = open_spec(data, source, today)
    except InputError as error:
        return (unreadable(error),)
    if opened.spec is not None:
        for check in CHECKS:
            check(opened.spec, opened.report)
    return in_order(opened.report.findings)


@dataclass(frozen=True)
class OpenedSpec:
    """A spec file on its way through the checks."""

    report: Report
    """Holds what is wrong with its form; checks on values add to it."""
    spec: HardwareSpec | None
    """What could be read of it; None where too much is wrong."""


def open_spec(data: bytes, source: str, today: datetime.date) -> OpenedSpec:
    """Reads the bytes of a spec file as far as they go; raises InputError where they are no strict YAML."""
    document = read_yaml(data, source)
    reader = SpecReader(document)
    plain = named_by_file(reader.read(), source)
    report = Report(document, plain, source, today)
    report.findings += reader.findings
    try:
        spec = HardwareSpec.from_plain({"name": "unknown", "version": "0.0.0", **plain}, source)
    except InputError as error:
        if not any(finding.severity == "error" for finding in reader.findings):
            report.add("HW003", "", f"{error.what} {error.why}", error.fix)
        return OpenedSpec(report, None)
    return OpenedSpec(report, spec)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings as their places follow each other in the file."""
    return tuple(sorted(findings, key=lambda finding: (finding.line, finding.column, finding.code, finding.message)))


def unreadable(error: InputError) -> Finding:
    """The finding for a file that cannot be read at all; its place is in the error's message."""
    line, column = 1, 1
    places = error.what.split(": ")[0].rsplit(":", 2)
    if len(places) == 3 and places[1].isdigit() and places[2].isdigit():
        line, column = int(places[1]), int(places[2])
    message = f"{error.what} {error.why}".strip()
    return Finding(code="HW000", severity="error", path="", line=line, column=column, message=message, fix=error.fix)
