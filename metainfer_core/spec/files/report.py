"""Where checks put what they find: it knows where in the file each value of a spec stands."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

from metainfer_core.spec.files.strict_yaml import Document, Path
from metainfer_core.spec.findings import Finding, Severity
from metainfer_core.spec.hardware_spec import HardwareSpec, Quantity
from metainfer_core.values import Value


class Report:
    """Collects findings on one file."""

    def __init__(self, document: Document, plain: dict[str, Any], source: str, today: datetime.date) -> None:
        self.document, self.plain, self.source, self.today = document, plain, source, today
        self.findings: list[Finding] = []

    def add(self, code: str, path: str, message: str, fix: str, severity: Severity = "error") -> None:
        """A finding at the place where the value of `path` stands in the file."""
        mark = self.document.mark(self._place(path))
        self.findings.append(
            Finding(
                code=code,
                severity=severity,
                path=path,
                line=mark.line,
                column=mark.column,
                message=message,
                fix=fix,
            )
        )

    def _place(self, path: str) -> Path:
        """Where a field path stands: in the `assumed` block, in that of the provenance, or in the body of the file."""
        parts = path.split(".")
        if parts[0] == "provenance" and ("provenance", path[len("provenance.") :]) in self.document.marks:
            return "provenance", path[len("provenance.") :]
        for length in range(len(parts), 0, -1):
            assumed = ("assumed", ".".join(parts[:length]))
            if assumed in self.document.marks:
                return assumed
        return tuple(parts) if path else ()


def quantities(value: Value | HardwareSpec, path: str = "") -> Iterator[tuple[str, Quantity]]:
    """Path and quantity, for every quantity in a value."""
    for name in type(value).model_fields:
        yield from _inside(getattr(value, name), f"{path}.{name}" if path else name)


def _inside(item: Any, path: str) -> Iterator[tuple[str, Quantity]]:
    if isinstance(item, Quantity):
        yield path, item
    elif isinstance(item, Value):
        yield from quantities(item, path)
    elif isinstance(item, dict):
        for key, inner in item.items():
            yield from _inside(inner, f"{path}.{key}")
