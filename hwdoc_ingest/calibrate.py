"""`python -m hwdoc_ingest.calibrate DIR...`: fits the confidence to judged PDF documents, and tells how well it holds.

Every figure is of documents that the fit had not seen: each document in turn is left out, and the rest is fitted.
DIR is laid out as for `python -m hwdoc_ingest.evaluate`; METAINFER_OCR_FOLDER names a folder that keeps what OCR saw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from hwdoc_ingest.evaluate import SURE, read_truths
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.pdf_reading import read_pages, weighed_candidates
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.page.pages import PdfFile
from hwdoc_ingest.reading import Progress
from hwdoc_ingest.sureness.calibration import Calibration, Evidence
from metainfer_core.cli import console
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes

COUNTS = 4
"""Counts of doubts that are told apart: none, one, two, more."""
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, SURE, 1.0)
HEAD = """# How doubts become a chance (calibration.py). Written by `python -m hwdoc_ingest.calibrate`.
"""


@dataclass(frozen=True)
class Judged:
    """One reading of a document whose facts are known."""

    document: str
    by_ocr: bool
    evidence: Evidence
    right: bool


def judged(folder: Path, only: str, without: str, progress: Progress) -> list[Judged]:
    """The readings of all PDF documents of a folder that the known facts confirm or contradict."""
    found: list[Judged] = []
    for name, truth in read_truths(folder / "truth", only, without).items():
        path = folder / "docs" / name
        if path.suffix != ".pdf" or not path.is_file():
            continue
        with PdfFile(read_bytes(path, "PDF", 512 * MEBIBYTE), name) as file:
            pages, _ = read_pages(file, progress)
        weighed = weighed_candidates(pages, name, progress)
        judgement = judge([candidate_json(candidate) for candidate, _ in weighed], truth["facts"])
        right, wrong = set(judgement.found.values()), {at for at, _ in judgement.wrong}
        found += [
            Judged(name, candidate.method.startswith("ocr"), evidence, at in right)
            for at, (candidate, evidence) in enumerate(weighed)
            if at in right or at in wrong
        ]
    return found


def fit(readings: Sequence[Judged]) -> Calibration:
    """The share of right readings by their count of doubts, Laplace's (right + 1) / (all + 2), never rising."""
    groups: list[list[Judged]] = [
        [each for each in readings if min(each.evidence.doubts, COUNTS - 1) == count and not each.evidence.guessed]
        for count in range(COUNTS)
    ]
    pooled: list[tuple[int, list[Judged]]] = []  # for how many counts, and their readings
    for group in groups:
        pooled.append((1, group))
        while len(pooled) > 1 and _share(pooled[-2][1]) < _share(pooled[-1][1]):
            (first, before), (second, after) = pooled[-2:]
            pooled[-2:] = [(first + second, before + after)]
    return Calibration(chances=tuple(round(_share(group), 3) for count, group in pooled for _ in range(count)))


def _share(readings: Sequence[Judged]) -> float:
    return (sum(each.right for each in readings) + 1) / (len(readings) + 2)


def left_out(readings: Sequence[Judged]) -> list[tuple[Judged, float]]:
    """Each reading with its chance by a fit on all other documents."""
    chances = []
    for name in dict.fromkeys(each.document for each in readings):
        calibration = fit([each for each in readings if each.document != name])
        chances += [(each, calibration.chance(each.evidence)) for each in readings if each.document == name]
    return chances


def reliability(chances: Sequence[tuple[Judged, float]]) -> dict[str, Any]:
    """How often readings of a chance were right, the expected calibration error, and what lies above the threshold."""
    bins = []
    error = 0.0
    for low, high in pairwise(BINS):
        inside = [(each, chance) for each, chance in chances if low <= chance < high or chance == high == 1.0]
        if inside:
            said = sum(chance for _, chance in inside) / len(inside)
            share = sum(each.right for each, _ in inside) / len(inside)
            error += abs(said - share) * len(inside) / len(chances)
            bins.append(
                {"from": low, "to": high, "readings": len(inside), "said": round(said, 3), "right": round(share, 3)}
            )
    sure = [each for each, chance in chances if chance >= SURE]
    return {
        "readings": len(chances),
        "bins": bins,
        "expected_calibration_error": round(error, 4),
        "sure_right": sum(each.right for each in sure),
        "sure_wrong": sum(not each.right for each in sure),
        "right": sum(each.right for each, _ in chances),
    }


def as_text(report: dict[str, dict[str, Any]]) -> str:
    """The reliability tables for people."""
    lines = []
    for kind, table in report.items():
        lines.append(
            f"{kind}: {table['readings']} readings, "
            f"expected calibration error {table['expected_calibration_error']:.3f}; "
            f"at {SURE} and above {table['sure_right']} of {table['right']} right ones and {table['sure_wrong']} wrong"
        )
        lines += [
            f"  {row['from']:.2f} to {row['to']:.2f}: {row['readings']:4} readings, said {row['said']:.3f}, "
            f"right {row['right']:.3f}"
            for row in table["bins"]
        ]
    return "\n".join(lines)


def command(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR...", help="Folders with docs/ and truth/*.json.")],
    only: Annotated[str, typer.Option(help="Only documents whose name holds one of these, separated by commas.")] = "",
    without: Annotated[str, typer.Option("--except", help="No document whose name holds one of these.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the calibration of all documents to this file.")] = None,
    json: console.Json = False,
) -> None:
    """Fits the confidence to judged PDF documents; prints how it holds on documents left out of the fit."""
    with console.progress("calibrate") as progress:
        readings = [each for folder in folders for each in judged(folder, only, without, progress)]
    if len({each.document for each in readings}) < 2:
        raise InputError(
            f"{', '.join(map(str, folders))}: there is too little to fit to.",
            f"Known facts judge {len(readings)} readings; those of two PDF documents are needed at least.",
            "Add documents and their facts.",
        )
    chances = left_out(readings)
    report = {
        kind: reliability(some)
        for kind, by_ocr in (("all", None), ("digital", False), ("scanned", True))
        if (some := [(each, chance) for each, chance in chances if by_ocr in (None, each.by_ocr)])
    }
    if out is not None:
        plain = fit(readings).plain()
        write_bytes(
            out, (HEAD + yaml.safe_dump(plain, default_flow_style=None, sort_keys=True)).encode(), "calibration"
        )
    console.emit(json, report, as_text(report))


if __name__ == "__main__":
    application = typer.Typer(rich_markup_mode=None, add_completion=False)
    application.command()(command)
    console.run(application)
