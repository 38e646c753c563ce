"""Reads long manuals beside pdfplumber, in ratios of one run: python benchmarks/reading_manuals.py [MANUAL.pdf ...].

Without an argument it types a manual of 400 pages itself, most of them registers and prose. For each manual it tells
how long the limited child process took and what it held at most, how many pages were laid out, and which candidates
are lost by passing over the others. pdfplumber is no part of meta-infer: `uv run --with pdfplumber ...` brings it.
docling is not run: it loads its layout models from a hub, which an offline machine does not reach.
"""

from __future__ import annotations

import io
import resource
import sys
import tempfile
import time
from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.intake import read_safely
from hwdoc_ingest.intake.pdf_reading import candidates_of
from hwdoc_ingest.page.pages import PdfFile
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.rules import PARAMETERS
from hwdoc_ingest.rules.page_filter import can_matter
from hwdoc_ingest.statements.tagger import RuleTagger

PAGES = 400
FEATURES = (
    "1.1 Features",
    "Quad-core Cortex-A55 processor with a clock of up to 1.8 GHz",
    "32KB L1 instruction cache and 32KB L1 data cache for each core",
    "512KB unified L3 cache shared by all cores",
    "Internal SRAM size 64KB",
    "DMA controller with 8 channels",
)


def typed_manual() -> bytes:
    """A manual of which every twentieth page says something about the chip."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), invariant=1)
    for number in range(1, PAGES + 1):
        canvas.setFont("Helvetica", 9)
        canvas.drawString(60, 810, f"Chapter {number // 20 + 1}")
        if number % 20 == 1:
            lines = list(FEATURES) + ["The unit answers to requests of the processor as described below."] * 40
        elif number % 2:
            lines = ["The request is sampled at the rising edge; the reply follows when the unit is idle again."] * 48
        else:
            lines = [f"{31 - bit}    FIELD_{bit}    R/W    Selects the mode of the unit" for bit in range(32)]
            for row in range(34):
                canvas.line(60, 790 - 15 * row, 540, 790 - 15 * row)
            for x in (60, 110, 220, 270, 540):
                canvas.line(x, 790, x, 790 - 15 * 33)
        for at, line in enumerate(lines):
            canvas.drawString(64, 778 - 15 * at, line)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def in_the_child(data: bytes) -> tuple[float, float, int]:
    """Seconds by the clock and of the processor, and MiB that any child has held at most so far."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "manual.pdf"
        path.write_bytes(data)
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        read_safely(path, "manual", no_progress)
        seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, used, after.ru_maxrss >> 10


def text_pages(data: bytes, every: bool) -> tuple[float, int, set[tuple[object, ...]]]:
    """Processor seconds to read the text layer, pages laid out, and what they say."""
    begin = time.process_time()
    with PdfFile(data, "manual.pdf") as file:
        pages = [file.page(n) if every else file.page(n, can_matter) for n in range(1, file.count + 1)]
    found = candidates_of(pages, "manual", RuleTagger(PARAMETERS), no_progress)
    seconds = time.process_time() - begin
    said = {(c.field, str(c.value), c.min, c.max, c.instance) for c in found}
    return seconds, sum(page.matters for page in pages), said


def by_pdfplumber(data: bytes) -> float | None:
    """Processor seconds for the words and tables of all pages; None where it is not installed."""
    try:
        import pdfplumber
    except ModuleNotFoundError:
        return None
    begin = time.process_time()
    with pdfplumber.open(io.BytesIO(data)) as file:
        for page in file.pages:
            page.extract_words()
            page.extract_tables()
            page.close()
    return time.process_time() - begin


def main(paths: list[Path]) -> None:
    manuals = {path.name: path.read_bytes() for path in paths} or {f"typed, {PAGES} pages": typed_manual()}
    head = f"{'manual':34} {'clock s':>8} {'cpu s':>7} {'MiB':>5} {'laid out':>9} {'all/filter':>10} {'lost':>6}"
    print(f"{head} {'pdfplumber/ours':>15}")
    for name, data in manuals.items():
        wall, used, peak = in_the_child(data)
        seconds, laid_out, said = text_pages(data, every=False)
        all_seconds, count, all_said = text_pages(data, every=True)
        other = by_pdfplumber(data)
        ratio = "not installed" if other is None else f"{other / seconds:.1f}"
        lost = f"{len(all_said - said)}/{len(all_said)}"
        share = f"{laid_out}/{count}"
        row = f"{name[:34]:34} {wall:8.1f} {used:7.1f} {peak:5} {share:>9} {all_seconds / seconds:10.2f} {lost:>6}"
        print(f"{row} {ratio:>15}", flush=True)


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
