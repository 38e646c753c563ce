"""`python -m hwdoc_ingest.evaluate DIR`: reads documents whose facts are known, and tells how much was right.

DIR holds the documents in `docs/` and one JSON file for each in `truth/`: {"doc": file name, "kind", "scanned",
"facts": [{"field", "value", "unit", "min", "typ", "max", "instance", "page", "expect"}]}.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from hwdoc_ingest.fields import candidate_json
from hwdoc_ingest.intake.document_pages import words_in
from hwdoc_ingest.intake.intake import pages_safely
from hwdoc_ingest.intake.read_many import read_many
from hwdoc_ingest.judging.marked_boxes import holds
from hwdoc_ingest.judging.scoring import BOUNDS, Plain, judge
from hwdoc_ingest.reading import Progress, Reading
from metainfer_core.cli import console
from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.files import read_bytes
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.values import read_json

SURE = 0.98
"""Confidence from which on a candidate may be accepted without a person."""

_GROUPS = {"pdf": "digital", **dict.fromkeys(("dts", "dtsi", "svd", "xlsx", "csv"), "structured")}
_SAID = ("field", "instance", "value", *BOUNDS, "unit", "strength", "sharing", "condition")
_SHOWN = ("field", "instance", "value", *BOUNDS, "unit", "page")


def evaluate(folder: Path, only: str, without: str, auto: float, workers: int, progress: Progress) -> dict[str, Any]:
    """Reads every document of `folder` that `only` and `without` leave, and scores what was read."""
    begin = time.monotonic()
    truths = read_truths(folder / "truth", only, without)
    present = [folder / "docs" / name for name in truths if (folder / "docs" / name).is_file()]
    outcomes = read_many(present, progress, workers)
    predicted = {
        path.name: [_entry(candidate) for candidate in outcome.candidates]
        for path, outcome in zip(present, outcomes, strict=True)
        if isinstance(outcome, Reading)
    }
    report = score(truths, predicted, auto, BoxCheck(folder / "docs", progress))
    report["unreadable"] = [
        {"doc": path.name, "what": outcome.what, "why": outcome.why}
        for path, outcome in zip(present, outcomes, strict=True)
        if isinstance(outcome, MetaInferError)
    ]
    report["seconds"] = round(time.monotonic() - begin, 3)
    return report


def _entry(candidate: Candidate) -> dict[str, Any]:
    return candidate_json(candidate) | {"box": candidate.box}


BoxesOf = Callable[[str, Sequence[tuple[Plain, Plain]]], list[Plain]]
"""Called with a document's name and its marked candidates with their facts; gives those whose box is wrong."""


@dataclass(frozen=True)
class BoxCheck:
    """Looks whether the marked boxes of candidates hold their values, in the documents of a folder."""

    folder: Path
    progress: Progress

    def __call__(self, name: str, found: Sequence[tuple[Plain, Plain]]) -> list[Plain]:
        """Of candidates with their facts those whose box does not hold the value, each with the words in it."""
        if not found:
            return []
        numbers = sorted({candidate["page"] for candidate, _ in found})
        pages = pages_safely(self.folder / name, numbers, self.progress)
        missed: list[Plain] = []
        for candidate, fact in found:
            page = pages.page(candidate["page"])
            words = words_in(page, candidate["box"]) if page else ""
            if not holds(words, candidate, str(fact.get("raw") or "")):
                missed.append({**candidate, "words": words})
        return missed


def no_box_check(name: str, found: Sequence[tuple[Plain, Plain]]) -> list[Plain]:
    """Looks at nothing: for candidates without documents."""
    return []


def read_truths(folder: Path, only: str = "", without: str = "") -> dict[str, dict[str, Any]]:
    """The known facts by document name, of the documents whose name holds a part of `only` and none of `without`."""
    if not folder.is_dir():
        raise InputError(
            f"{folder}: there is no such folder.", "It holds one JSON file for each document.", "Give DIR."
        )
    truths = {}
    for path in sorted(folder.glob("*.json")):
        truth = read_json(read_bytes(path, "truth file"), str(path))
        if not isinstance(truth, dict) or not isinstance(truth.get("doc"), str) or not _are_facts(truth.get("facts")):
            raise InputError(f"{path}: this is no truth file.", 'It needs "doc" and "facts", each with a "field".')
        name = Path(truth["doc"]).name
        if (not only or _names(only, name)) and not _names(without, name):
            truths[name] = truth
    return truths


def _are_facts(facts: object) -> bool:
    return isinstance(facts, list) and all(isinstance(f, dict) and isinstance(f.get("field"), str) for f in facts)


def _names(parts: str, name: str) -> bool:
    return any(part and part in name for part in parts.split(","))


def score(
    truths: Mapping[str, dict[str, Any]],
    predicted: Mapping[str, Sequence[Plain]],
    auto: float = SURE,
    boxes: BoxesOf = no_box_check,
) -> dict[str, Any]:
    """The figures of all documents together, by kind of document, and document by document."""
    totals: dict[str, Counter[str]] = {}
    documents = []
    for name, truth in truths.items():
        kind = "scan" if truth.get("scanned") else _GROUPS.get(truth.get("kind", "pdf"), "digital")
        counts, shown = _of_document(name, predicted.get(name, ()), truth["facts"], auto, boxes)
        for group in (kind, "all"):
            totals.setdefault(group, Counter()).update(counts)
        documents.append({"name": name, "kind": kind, **counts, **shown})
    together = _rates(totals.pop("all", Counter()), auto)
    by_kind = {kind: _rates(counts, auto) for kind, counts in sorted(totals.items())}
    missing = [name for name in truths if name not in predicted]
    return {**together, "by_kind": by_kind, "not_predicted": missing, "documents": documents}


def _of_document(
    name: str,
    candidates: Sequence[Plain],
    facts: Sequence[Plain],
    auto: float,
    boxes: BoxesOf,
) -> tuple[dict[str, int], dict[str, Any]]:
    try:
        judgement = judge(candidates, facts)
    except InputError as error:
        raise InputError(f"{name}: {error.what}", error.why, error.fix) from error
    known = [at for at, fact in enumerate(facts) if fact.get("expect") != "unknown"]
    pairs = [(candidates[by], facts[at]) for at, by in judgement.found.items()]
    wrong = [(candidates[by], facts[at]) for by, at in judgement.wrong]
    marked = [(candidate, fact) for candidate, fact in pairs if candidate.get("box")]
    empty = boxes(name, marked)
    counts = {
        "facts": len(known),
        "found": len(pairs),
        "wrong": len(wrong),
        "page_right": sum(candidate.get("page") == fact.get("page") for candidate, fact in pairs),
        "shown_right": sum(_shown(candidate, candidates).get("page") == fact.get("page") for candidate, fact in pairs),
        "boxed": len(marked),
        "box_right": len(marked) - len(empty),
        "unjudged": len(candidates) - len(pairs) - len(wrong),
        "auto_found": sum(_sure(candidate, auto) for candidate, _ in pairs),
        "auto_wrong": sum(_sure(candidate, auto) for candidate, _ in wrong),
    }
    shown = {
        "missed": [_show(facts[at]) for at in known if at not in judgement.found],
        "wrong_candidates": [
            {"drafted": _show(candidate, "confidence"), "truth": _show(fact, "expect")} for candidate, fact in wrong
        ],
        "other_page": [
            {"drafted": _show(candidate, "text"), "truth": _show(fact)}
            for candidate, fact in pairs
            if candidate.get("page") != fact.get("page")
        ],
        "empty_boxes": [_show(candidate, "box", "words") for candidate in empty],
    }
    return counts, shown


def _shown(found: Plain, candidates: Sequence[Plain]) -> Plain:
    """Of all places that say the same the one that a draft shows: the first of the surest."""
    said = {key: found.get(key) for key in _SAID}
    same = [each for each in candidates if {key: each.get(key) for key in _SAID} == said]
    return max(same, key=lambda each: each.get("confidence") or 0)


def _sure(candidate: Plain, auto: float) -> bool:
    return bool((candidate.get("confidence") or 0) >= auto)


def _show(entry: Plain, *further: str) -> dict[str, Any]:
    return {key: entry[key] for key in (*_SHOWN, *further) if entry.get(key) is not None}


def _rates(counts: Mapping[str, int], auto: float) -> dict[str, Any]:
    found, wrong, facts = counts.get("found", 0), counts.get("wrong", 0), counts.get("facts", 0)
    return {
        "recall": found / max(facts, 1),
        "precision": found / max(found + wrong, 1),
        "facts": facts,
        "found": found,
        "wrong": wrong,
        "page_right": counts.get("page_right", 0) / max(found, 1),
        "shown_right": counts.get("shown_right", 0) / max(found, 1),
        "box": counts["box_right"] / counts["boxed"] if counts.get("boxed") else None,
        "boxed": counts.get("boxed", 0),
        "unjudged": counts.get("unjudged", 0),
        "auto_accept": {
            "threshold": auto,
            "covered": counts.get("auto_found", 0),
            "wrong": counts.get("auto_wrong", 0),
        },
    }


def as_text(report: Mapping[str, Any]) -> str:
    """The report for people."""
    lines = [
        f"{row['name']:48} {row['kind']:10} found {row['found']:3}/{row['facts']:3} "
        f"wrong {row['wrong']:3} unjudged {row['unjudged']:5}"
        for row in report["documents"]
    ]
    for kind, row in (("all", report), *report["by_kind"].items()):
        sure = row["auto_accept"]
        lines.append(
            f"{kind:10} recall {row['recall']:.3f} precision {row['precision']:.3f} page {row['page_right']:.3f} "
            f"shown {row['shown_right']:.3f} "
            f"box {'-' if row['box'] is None else format(row['box'], '.3f')} of {row['boxed']} "
            f"sure {sure['covered']} of which wrong {sure['wrong']}"
        )
    lines += [f"not read: {entry['what']}" for entry in report["unreadable"]]
    return "\n".join([*lines, f"{report['seconds']:.1f} s"])


def command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder with docs/ and truth/*.json.")],
    only: Annotated[str, typer.Option(help="Only documents whose name holds one of these, separated by commas.")] = "",
    without: Annotated[str, typer.Option("--except", help="No document whose name holds one of these.")] = "",
    auto: Annotated[float, typer.Option(help="Confidence from which on no person looks.")] = SURE,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Documents read at the same time.")] = 1,
    json: console.Json = False,
) -> None:
    """Reads the documents of DIR and scores what was read against their known facts."""
    with console.progress("evaluate") as progress:
        report = evaluate(folder, only, without, auto, workers, progress)
    console.emit(json, report, as_text(report))
    console.verdict(bool(report["unreadable"]))


if __name__ == "__main__":
    application = typer.Typer(rich_markup_mode=None, add_completion=False)
    application.command()(command)
    console.run(application)
