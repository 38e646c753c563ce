"""The whole flow: prepare, adapt, compile, check, report."""

from metainfer_core.pipeline.reporting import make_report
from metainfer_core.pipeline.steps import (
    Adapted,
    Compiled,
    Prepared,
    adapt,
    approved_actions,
    compile_policy,
    illegal_actions,
    missing_ranges,
    prepare,
    samples_for,
)

__all__ = [
    "Adapted",
    "Compiled",
    "Prepared",
    "adapt",
    "approved_actions",
    "compile_policy",
    "illegal_actions",
    "make_report",
    "missing_ranges",
    "prepare",
    "samples_for",
]
