"""Commands of `meta-infer`: ingest, which drafts a spec from documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hwdoc_ingest.drafting.draft import draft, of_chip
from hwdoc_ingest.drafting.growing_draft import GrowingDraft
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.read_many import read_many
from hwdoc_ingest.reading import Reading
from metainfer_core.cli import console
from metainfer_core.cli.streams import tell
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import check_outputs, write_bytes
from metainfer_core.spec.drafting.draft_file import write_draft


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command("ingest", epilog="Example: meta-infer ingest datasheet.pdf board.dtsi --chip rk3588 -o draft.yaml")(
        ingest
    )


def ingest(
    documents: Annotated[
        list[Path], typer.Argument(metavar="DOC...", help="PDF, .xlsx, .csv, .svd, .dts, .dtsi or .dtb of one chip.")
    ],
    chip: Annotated[str, typer.Option("--chip", help="Name of the chip.")] = "",
    known_as: Annotated[
        str | None, typer.Option("--known-as", help="Its name in documents on several chips, where that is another.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="DRAFT.yaml", help="Where the draft goes.")
    ] = None,
    so_far: Annotated[
        Path | None,
        typer.Option("--so-far", metavar="FILE", help="What was found so far, as JSON, while documents are read."),
    ] = None,
    workers: Annotated[int, typer.Option("--workers", min=1, max=64, help="Documents read at the same time.")] = 1,
    json: console.Json = False,
) -> None:
    """Drafts the spec of a chip from its documents: each value with page, words and confidence."""
    if output is not None and not chip.strip():
        raise InputError(
            "The draft needs the name of its chip.", "--output is given without --chip.", "Add --chip NAME."
        )
    if output is not None:
        check_outputs([output], "draft", documents)
    if so_far is not None:
        check_outputs([so_far], "draft so far", documents)
    growing = GrowingDraft(chip.strip(), so_far) if so_far else None
    with console.progress("ingest") as progress:
        outcomes = read_many(documents, progress, workers, growing)
    if chip.strip():
        outcomes = [
            of_chip(outcome, chip.strip(), known_as) if isinstance(outcome, Reading) else outcome
            for outcome in outcomes
        ]
    readings = [outcome for outcome in outcomes if isinstance(outcome, Reading)]
    if len(documents) == 1 and isinstance(outcomes[0], MetaInferError):
        raise outcomes[0]
    failed = [outcome for outcome in outcomes if isinstance(outcome, MetaInferError)]
    for error in failed:
        tell(str(error))
    if output is not None and readings:
        write_bytes(output, write_draft(draft(chip.strip(), readings, known_as)), "draft")
    if growing:
        growing.remove()
    answers = [_answer(path, outcome) for path, outcome in zip(documents, outcomes, strict=True)]
    data = answers[0] if len(answers) == 1 else {"documents": answers}
    console.emit(json, data, _text(documents, outcomes, output if readings else None))
    if failed:
        raise typer.Exit(max(error.exit_status for error in failed))


def _answer(path: Path, outcome: Reading | MetaInferError) -> dict[str, Any]:
    if isinstance(outcome, MetaInferError):
        return {"doc": path.name, "candidates": [], "error": console.error_answer(outcome)}
    candidates = [candidate_json(candidate) for candidate in outcome.candidates]
    return {"doc": path.name, "candidates": candidates, "notes": list(outcome.notes)}


def _text(documents: Sequence[Path], outcomes: Sequence[Reading | MetaInferError], output: Path | None) -> str:
    lines = []
    for path, outcome in zip(documents, outcomes, strict=True):
        if isinstance(outcome, MetaInferError):
            lines.append(f"{path.name}: not read")
            continue
        fields = len({candidate.field for candidate in outcome.candidates})
        lines.append(f"{path.name}: {len(outcome.candidates)} candidates for {fields} kinds of field")
        lines += [f"  note: {note}" for note in outcome.notes]
    lines.append(f"Draft: {output}" if output else "No draft was written (--output DRAFT.yaml writes one).")
    return "\n".join(lines)
