"""`python -m hwdoc_ingest.unjudged DIR --out FOLDER`: draws candidates that no known fact judges, for judging by eye.

Known facts cover key pages, not every line; what a reader says beyond them counts neither as right nor as wrong. So
some of it is drawn at random, and each drawn candidate is put beside its marked place on the page, ten to a picture.
"""

from __future__ import annotations

import io
import random
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from PIL import Image as Picture
from PIL import ImageDraw, ImageFont

from hwdoc_ingest.evaluate import read_truths
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.read_many import read_many
from hwdoc_ingest.judging.scoring import Plain, agrees, judge
from hwdoc_ingest.ocr.page_image import render_page
from hwdoc_ingest.reading import Reading
from metainfer_core.cli import console
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes
from metainfer_core.values import canonical_json

DPI = 110
CROP = (860, 210)
"""Width and height in pixels of the part of a page around a value."""
BESIDE = 560
"""Width of the words beside it."""
A_SHEET = 10
_SAID = ("field", "value", "min", "typ", "max", "unit", "instance", "condition", "sharing", "confidence", "method")

Drawn = tuple[str, Plain]
"""A document's name and one of its candidates."""


def unjudged(candidates: Sequence[Plain], facts: Sequence[Plain]) -> list[Plain]:
    """The candidates that neither find a known fact, nor say one once more, nor contradict one."""
    judgement = judge(candidates, facts)
    settled = {*judgement.found.values(), *(at for at, _ in judgement.wrong)}
    return [
        candidate
        for at, candidate in enumerate(candidates)
        if at not in settled and not any(f["field"] == candidate["field"] and agrees(candidate, f) for f in facts)
    ]


def draw(by_document: Mapping[str, Sequence[Plain]], count: int, seed: int) -> list[Drawn]:
    """At most `count` of all candidates, at random over all documents, in the order of documents and pages."""
    pool = [(name, at) for name in sorted(by_document) for at in range(len(by_document[name]))]
    chosen = random.Random(seed).sample(pool, min(count, len(pool)))
    drawn = [(name, by_document[name][at], at) for name, at in chosen]
    drawn.sort(key=lambda each: (each[0], each[1].get("page") or 0, each[2]))
    return [(name, candidate) for name, candidate, _ in drawn]


def sheet(drawn: Sequence[Drawn], first: int, folder: Path) -> bytes:
    """A PNG of candidates, numbered from `first`, each beside its marked place on its page."""
    width, height = CROP
    picture = Picture.new("RGB", (width + BESIDE, (height + 6) * len(drawn)), "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(14)
    for at, (name, candidate) in enumerate(drawn):
        top = at * (height + 6)
        picture.paste(_place(folder / name, candidate), (0, top))
        pen.line((0, top - 3, width + BESIDE, top - 3), fill="blue", width=2)
        said = [f"{key}: {candidate[key]}" for key in _SAID if candidate.get(key) is not None]
        lines = [f"#{first + at} {name}, page {candidate['page']}", *said, candidate.get("text", "")[:160]]
        wrapped = [part for line in lines for part in textwrap.wrap(line, 72)]
        pen.multiline_text((width + 10, top), "\n".join(wrapped[: height // 17]), fill="black", font=font, spacing=2)
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def _place(document: Path, candidate: Plain) -> Picture.Image:
    width, height = CROP
    box = candidate.get("box")
    data = read_bytes(document, "PDF", 512 * MEBIBYTE)
    page = Picture.open(io.BytesIO(render_page(data, candidate["page"], DPI, [box] if box else [], document.name)))
    across, down = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2) if box else (300.0, 300.0)
    left = max(0, min(page.width - width, round(across * DPI / 72 - width / 2)))
    top = max(0, min(page.height - height, round(down * DPI / 72 - height / 2)))
    return page.crop((left, top, left + width, top + height))


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with docs/ and truth/*.json.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the list and the pictures go.")],
    count: Annotated[int, typer.Option(min=1, help="How many are drawn.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed draws the same.")] = 0,
    only: Annotated[str, typer.Option(help="Only documents whose name holds one of these, separated by commas.")] = "",
    without: Annotated[str, typer.Option("--except", help="No document whose name holds one of these.")] = "",
) -> None:
    """Draws candidates of the PDF documents of DIR that no known fact judges, and pictures them for judging by eye."""
    truths = {
        name: truth for name, truth in read_truths(folder / "truth", only, without).items() if name.endswith(".pdf")
    }
    names = [name for name in truths if (folder / "docs" / name).is_file()]
    with console.progress("unjudged") as progress:
        outcomes = read_many([folder / "docs" / name for name in names], progress)
    left: dict[str, list[Plain]] = {
        name: unjudged([_plain(each) for each in outcome.candidates], truths[name]["facts"])
        for name, outcome in zip(names, outcomes, strict=True)
        if isinstance(outcome, Reading)
    }
    drawn = draw(left, count, seed)
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(
        out / "drawn.json",
        canonical_json([{"doc": name, **candidate} for name, candidate in drawn]),
        "list of candidates",
    )
    for first in range(0, len(drawn), A_SHEET):
        picture = sheet(drawn[first : first + A_SHEET], first, folder / "docs")
        write_bytes(out / f"sheet{first // A_SHEET:02}.png", picture, "picture")
    typer.echo(f"{len(drawn)} of {sum(map(len, left.values()))} candidates that no known fact judges are in {out}.")


def _plain(candidate: Any) -> dict[str, Any]:
    return candidate_json(candidate) | {"box": candidate.box}


if __name__ == "__main__":
    application = typer.Typer(rich_markup_mode=None, add_completion=False)
    application.command()(command)
    console.run(application)
