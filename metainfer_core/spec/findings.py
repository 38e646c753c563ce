"""A finding: one thing that is wrong, doubtful or missing in a spec file, with its place and the mend."""

from __future__ import annotations

from typing import Literal

from metainfer_core.values import Value

Severity = Literal["error", "warning", "note"]

CLASSES: dict[str, str] = {
    "HW000": "not readable as strict YAML",
    "HW001": "missing required field",
    "HW002": "unknown key",
    "HW003": "wrong type",
    "HW004": "missing or unknown unit",
    "HW005": "unit of the wrong dimension",
    "HW006": "ambiguous unit",
    "HW007": "implausible value",
    "HW008": "broken range",
    "HW009": "bare number where a range is needed",
    "HW010": "sharing not declared",
    "HW011": "hard and soft limits confused",
    "HW012": "fields contradict each other",
    "HW013": "alignment not a power of two, or against the line size",
    "HW014": "contradicts the manual",
    "HW015": "not found in the manual, or provenance does not match the page",
    "HW016": "stale or missing verification, or file name against version",
    "HW017": "the manual's condition is not carried into the spec",
}
"""Code to class of error. HW014, HW015 and HW017 need the document; hwdoc_ingest finds them."""


class Finding(Value):
    """One fault of a spec file."""

    code: str
    severity: Severity
    path: str
    """Field path, such as `memories.sram.size_bytes`; empty for the file as a whole."""
    line: int
    """1-based."""
    column: int
    message: str
    fix: str
