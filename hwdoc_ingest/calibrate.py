"""`python -m hwdoc_ingest.calibrate DIR`: fits the confidence to judged PDF documents, and tells how well it holds.

Every figure is of documents that the fit had not seen: each document in turn is left out, and the rest is fitted.
DIR is laid out as for `python -m hwdoc_ingest.evaluate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
import yaml

from hwdoc_ingest.calibration import Calibration, Evidence
from hwdoc_ingest.evaluate import SURE, read_truths
from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.pages import PdfFile
from hwdoc_ingest.pdf_reading import read_pages, weighed_candidates
from hwdoc_ingest.reading import Progress
from hwdoc_ingest.scoring import judge
from metainfer_core.cli import console
from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE, read_bytes, write_bytes

SHRINK = 1.0
"""Strength of the pull of all weights towards nothing (ridge)."""
SWEEPS = 200
LEAST_STEP = 25
"""Readings of one step at least."""
MARGIN = 0.1
"""Share of the highest step that is counted to the one below, the lowest scores of it."""
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, SURE, 1.0)
HEAD = """# How evidence becomes a chance (calibration.py). Written by `python -m hwdoc_ingest.calibrate`.
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
    """Weights by logistic regression, none negative; steps by pooling neighbours until the chances rise."""
    parts = np.array([each.evidence.parts() for each in readings])
    right = np.array([each.right for each in readings], float)
    weights = _logistic(parts, right)
    calibration = Calibration(weights=weights, steps=((0.0, 0.5),))
    scores = np.array([calibration.score(each.evidence) for each in readings])
    return Calibration(weights=calibration.weights, steps=_steps(scores, right))


def _logistic(parts: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Weights that fit best, by Newton steps along one after the other; the constant is fitted too, and dropped."""
    columns = np.column_stack([parts, np.ones(len(right))])
    weights, sums = np.zeros(columns.shape[1]), np.zeros(len(right))
    for _ in range(SWEEPS):
        for at, column in enumerate(columns.T):
            shrink = SHRINK if at < parts.shape[1] else 0.0
            chance = 1 / (1 + np.exp(-sums))
            slope = float(column @ (chance - right)) + shrink * weights[at]
            bend = float(column**2 @ (chance * (1 - chance))) + shrink + 1e-9
            moved = weights[at] - slope / bend
            moved = max(0.0, moved) if at < parts.shape[1] else moved
            sums += (moved - weights[at]) * column
            weights[at] = moved
    first, second, _constant = (round(float(weight), 3) for weight in weights)
    return first, second


def _steps(scores: npt.NDArray[np.float64], right: npt.NDArray[np.float64]) -> tuple[tuple[float, float], ...]:
    """Isotonic regression in steps of enough readings; the chance of a step is Laplace's, (right + 1) / (all + 2)."""
    order = np.argsort(scores, kind="stable")
    blocks: list[list[int]] = []
    for at in order:
        blocks.append([int(at)])
        while len(blocks) > 1 and _share(right, blocks[-2]) >= _share(right, blocks[-1]):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    while len(blocks) > 1 and min(map(len, blocks)) < LEAST_STEP:
        least = min(range(len(blocks)), key=lambda b: len(blocks[b]))
        into = least - 1 if least else 0
        blocks[into : into + 2] = [blocks[into] + blocks[into + 1]]
    if len(blocks) > 1:
        moved = int(MARGIN * len(blocks[-1]))
        blocks[-2:] = [blocks[-2] + blocks[-1][:moved], blocks[-1][moved:]]
    return tuple(
        (round(float(scores[block].min()), 3), round((float(right[block].sum()) + 1) / (len(block) + 2), 3))
        for block in blocks
    )


def _share(right: npt.NDArray[np.float64], block: list[int]) -> float:
    return float(right[block].mean())


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
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with docs/ and truth/*.json.")],
    only: Annotated[str, typer.Option(help="Only documents whose name holds one of these, separated by commas.")] = "",
    without: Annotated[str, typer.Option("--except", help="No document whose name holds one of these.")] = "",
    out: Annotated[Path | None, typer.Option(help="Write the calibration of all documents to this file.")] = None,
    json: console.Json = False,
) -> None:
    """Fits the confidence to judged PDF documents; prints how it holds on documents left out of the fit."""
    with console.progress("calibrate") as progress:
        readings = judged(folder, only, without, progress)
    if len({each.document for each in readings}) < 2:
        raise InputError(
            f"{folder}: there is too little to fit to.",
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
