"""The command `hwdoc-validator`: checks spec files before people rely on them."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from metainfer_core.cli import console, streams
from metainfer_core.errors import InputError
from metainfer_core.files import alone, read_bytes, write_bytes
from metainfer_core.spec.checking.safe_fixes import fixed
from metainfer_core.spec.checking.sarif import sarif
from metainfer_core.spec.checking.validate import in_order, validate
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT
from metainfer_core.spec.findings import Finding

MANUAL_CHECKS = "metainfer.manual_checks"
"""Entry-point group of what compares a spec with a document: `(data, source, manual, progress) -> findings`."""
ManualCheck = Callable[[bytes, str, Path, console.ProgressCallback], Iterable[Finding]]
WITHOUT_MANUAL = "Not checked, for want of the manual: HW014, HW015 against the page, HW017 (--manual DOC)."


def main() -> None:
    """Entry point of the command `hwdoc-validator`."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command(name="hwdoc-validator", epilog=EPILOG)(check)
    console.run(app)


EPILOG = (
    "Example: hwdoc-validator hwspecs/rk3588_v1.0.0.yaml --format sarif. Exit status: 0 no error found · 1 errors "
    "found · 2 bad input or usage."
)


def check(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC.yaml...", help="Spec files.")],
    manuals: Annotated[
        list[Path] | None,
        typer.Option("--manual", metavar="DOC", help="A document to hold the values against; may be repeated."),
    ] = None,
    output_format: Annotated[
        str, typer.Option("--format", metavar="text|json|sarif", help="How the findings are printed.")
    ] = "text",
    fix: Annotated[
        bool, typer.Option("--fix", help="Make the fixes that cannot change what the file means; comments stay.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    json: console.Json = False,
) -> None:
    """Finds what is wrong, doubtful or missing in spec files, each with line, reason and mend."""
    if output_format not in ("text", "json", "sarif"):
        raise typer.BadParameter(f"{output_format!r} is not one of text, json, sarif.", param_hint="--format")
    chosen: Any = "json" if json else output_format
    for path in specs:  # before the first is mended: of a command that is refused, nothing is done
        read_bytes(path, "hardware spec", BYTES_LIMIT)
    mended = {str(path): _mend(path) for path in specs} if fix else {}
    with console.progress("validate") as progress:
        found = {str(path): findings_of(path, manuals or (), progress) for path in specs}
    everything = [finding for findings in found.values() for finding in findings]
    _print(chosen, found, mended, bool(manuals))
    failing = ("error", "warning") if strict else ("error",)
    console.verdict(any(finding.severity in failing for finding in everything))


def _mend(path: Path) -> tuple[Finding, ...]:
    """Makes the safe fixes in one file; what was mended."""
    target = path.resolve()  # a link stays a link
    with alone(target):
        data = read_bytes(path, "hardware spec", BYTES_LIMIT)
        result = fixed(data, str(path), datetime.date.today())
        if result.data != data:
            write_bytes(target, result.data, "hardware spec", mode=target.stat().st_mode & 0o777)
    return result.mended


def findings_of(path: Path, manuals: Sequence[Path], progress: console.ProgressCallback) -> tuple[Finding, ...]:
    """All findings on one file, those against its documents too where they are given."""
    data = read_bytes(path, "hardware spec", BYTES_LIMIT)
    found = list(validate(data, str(path), datetime.date.today()))
    checks = list(entry_points(group=MANUAL_CHECKS)) if manuals else []
    if manuals and not checks:
        raise InputError(
            "Nothing that is installed compares a spec with its manual.",
            "HW014, HW015 against the page and HW017 need a package that offers it; nothing was checked.",
            "Install meta-infer with its extra 'ingest', or run without --manual for the other classes.",
        )
    for entry in checks:
        compare: ManualCheck = entry.load()
        for manual in manuals:
            found += compare(data, str(path), manual, progress)
    return in_order(found)


Found = dict[str, tuple[Finding, ...]]
"""Path to what was found in the file."""


def _print(chosen: Literal["text", "json", "sarif"], found: Found, mended: Found, with_manual: bool) -> None:
    if chosen == "sarif":
        streams.answer(console.json_text(sarif(found, version("meta-infer")), indent=2))
        return
    data = {"findings": _listed(found), "mended": _listed(mended), "files": list(found), "with_manual": with_manual}
    console.emit(chosen == "json", data, _text(found, mended, with_manual))


def _listed(found: Found) -> list[dict[str, Any]]:
    return [{"file": path, **finding.plain()} for path, findings in found.items() for finding in findings]


def _text(found: Found, mended: Found, with_manual: bool) -> str:
    lines = [
        f"{path}:{finding.line}:{finding.column}: mended {finding.code}: {finding.message}"
        for path, findings in mended.items()
        for finding in findings
    ]
    for path, findings in found.items():
        for finding in findings:
            place = f"{path}:{finding.line}:{finding.column}"
            lines += [f"{place}: {finding.severity} {finding.code}: {finding.message}", f"    fix: {finding.fix}"]
        counts = {name: sum(finding.severity == name for finding in findings) for name in ("error", "warning", "note")}
        summary = ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items())
        lines.append(f"{path}: {summary}")
    return "\n".join(lines if with_manual else [*lines, WITHOUT_MANUAL])
