"""Findings as SARIF 2.1.0, which code hosts show beside the line (OASIS standard)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.findings import Finding


def sarif(findings: Mapping[str, Iterable[Finding]], tool_version: str) -> dict[str, Any]:
    """One SARIF log for the findings of several files, keyed by path."""
    rules = [
        {
            "id": each.code,
            "shortDescription": {"text": each.title},
            "fullDescription": {"text": each.why},
            "help": {"text": f"Bad:\n{each.bad}\nGood:\n{each.good}"},
        }
        for each in CLASSES.values()
    ]
    order = {code: index for index, code in enumerate(CLASSES)}
    results = [_result(path, finding, order) for path in findings for finding in findings[path]]
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "hwdoc-validator", "version": tool_version, "rules": rules}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _result(path: str, finding: Finding, order: Mapping[str, int]) -> dict[str, Any]:
    region = {"startLine": finding.line, "startColumn": finding.column}
    return {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": finding.severity,
        "message": {"text": f"{finding.message} {finding.fix}".strip()},
        "locations": [{"physicalLocation": {"artifactLocation": {"uri": path}, "region": region}}],
    }
