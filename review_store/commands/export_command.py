"""Command `meta-infer review export`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.bundle.trust import Time, time_text
from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.errors import InputError
from metainfer_core.files import check_outputs, read_bytes, write_bytes
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from review_store.commands.review_options import ModelFile, PolicyFile, SpecFile, Workspace, opened, policy_of
from review_store.export.page_export import PDF_LIMIT, export_page
from review_store.export.review_text import records_csv, records_json_lines
from review_store.keeping.manual_files import manual_with
from review_store.record.log import EventLog
from review_store.review.state import ReviewState, reviewed_policy
from review_store.review.workspace import DEFAULT_WORKSPACE, trust_path

FORMS = ("policy", "jsonl", "csv", "html")


def export(
    policy: PolicyFile,
    output: Annotated[Path, typer.Option("--output", help="File to write.")],
    form: Annotated[
        str,
        typer.Option(
            "--format", help="policy: with overrides applied; jsonl or csv: all events about it; html: all on one page."
        ),
    ] = "policy",
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    manual: Annotated[
        list[Path] | None, typer.Option("--manual", help="For html: a document that is cut from; several times.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="DATE", help="For html: the day that overrides are judged on; today."),
    ] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Writes the reviewed policy, or the record of its review."""
    check_outputs([output], "export", [policy, model, hw_spec, *(manual or ()), trust_path(workspace)])
    if form not in FORMS:
        raise InputError(f"--format {form}: there is no such format.", fix="Give policy, jsonl, csv or html.")
    if form != "html" and (manual or as_of is not None):
        raise InputError("--manual and --as-of are for --format html alone.", fix="Leave them out, or give html.")
    bound, spec = policy_of(policy, model, hw_spec)
    log, state = opened(workspace, bound)
    if form == "policy":
        data = reviewed_policy(state).to_json() + b"\n"
    elif form == "jsonl":
        data = records_json_lines(log.records(state.lineage))
    elif form == "csv":
        data = records_csv(log.records(state.lineage))
    else:
        data = _page(workspace, log, state, spec, manual or [], as_of)
    write_bytes(output, data, "export")
    emit(as_json, {"output": str(output), "bytes": len(data)}, f"{output}: {len(data):,} bytes.")


def _page(
    workspace: Path,
    log: EventLog,
    state: ReviewState,
    spec: HardwareSpec | None,
    manuals: list[Path],
    as_of: str | None,
) -> bytes:
    if spec is None:
        raise InputError(
            "The page of a review shows where each value of the hardware comes from.",
            "The hardware spec is not given.",
            "Add --hw-spec.",
        )
    given = {sha256(read_bytes(path, "manual", PDF_LIMIT)): path for path in manuals}

    def find(digest: str) -> Path | None:
        return given.get(digest) or manual_with(workspace, digest)

    with progress("Writing the page") as report:
        return export_page(workspace, log, state, spec, find, _day(as_of), report)


def _day(text: str | None) -> Time:
    """The first second of a day, in UTC."""
    if text is None:
        return time_text(datetime.now(UTC).replace(hour=0, minute=0, second=0))
    try:
        return time_text(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC))
    except ValueError as error:
        raise InputError(f"--as-of {text}: this is not a date.", f"{error}.", "Write it as 2027-06-30.") from error
