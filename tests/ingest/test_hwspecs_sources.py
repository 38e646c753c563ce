"""Every value of the specs that come with the product stands on the page that it names, in the words that it quotes."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import openpyxl
import pytest

from hwdoc_ingest.ocr.ocr_pages import read_page
from hwdoc_ingest.page.pages import PdfFile, Word
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec, Provenance

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / ".." / "shared" / "corpus"
SPECS = sorted((ROOT / "hwspecs").glob("*.yaml"))
SCANS = ("rk3399_datasheet_v1.8_scan.pdf", "rk3568_datasheet_v1.3_mixed.pdf")
"""Documents with pages that only OCR can read."""


def squeezed(text: str) -> str:
    """A text without spaces, and with one kind of hyphen, star and multiplication sign."""
    table = str.maketrans({"‑": "-", "–": "-", "−": "-", "—": "-", "∗": "*", "×": "x", "，": ",", "’": "'"})
    return re.sub(r"\s+", "", text.translate(table))


def pieces(text: str) -> list[str]:
    """The words of a quotation: cells, and in them runs of letters, digits and points."""
    return re.findall(r"[A-Za-z0-9.]+|[\u4e00-\u9fff]+", text.translate(str.maketrans("‑–−—", "----")))


@lru_cache(maxsize=512)
def page_words(file_name: str, page: int) -> tuple[Word, ...]:
    (path,) = CORPUS.rglob(file_name)
    with PdfFile(path.read_bytes(), file_name) as file:
        return read_page(file, page)[0].words


@lru_cache(maxsize=64)
def text_lines(file_name: str) -> tuple[str, ...]:
    (path,) = CORPUS.rglob(file_name)
    return tuple(path.read_text(encoding="utf-8", errors="replace").splitlines())


@lru_cache(maxsize=16)
def sheet_text(file_name: str, sheet: str) -> str:
    (path,) = CORPUS.rglob(file_name)
    workbook = openpyxl.load_workbook(path, read_only=True, data_only=True)
    rows = workbook[sheet].iter_rows(values_only=True)
    return squeezed(" ".join(str(cell) for row in rows for cell in row if cell is not None))


def missing(spec: HardwareSpec, place: Provenance) -> list[str]:
    """The words of a quotation that do not stand where it says; for a PDF also a box that holds none of them."""
    file_name = str(spec.sources[place.source].file_name)
    if file_name.endswith(".pdf"):
        words = page_words(file_name, int(str(place.page)))
        page = squeezed("".join(word.text for word in words))
        lost = [piece for piece in pieces(place.text) if squeezed(piece) not in page]
        if place.box is not None:
            left, top, right, bottom = place.box
            inside = [
                word.text
                for word in words
                if word.box[0] < right + 2
                and word.box[2] > left - 2
                and word.box[1] < bottom + 2
                and word.box[3] > top - 2
            ]
            held = squeezed("".join(inside))
            if not any(squeezed(piece) in held for piece in pieces(place.text)):
                lost.append(f"nothing of it in the box: {held[:40]}")
        return lost
    if file_name.endswith(".xlsx"):
        text = sheet_text(file_name, str(place.page))
        return [piece for piece in pieces(place.text) if squeezed(piece) not in text]
    line = int(str(place.page))
    here = squeezed("".join(text_lines(file_name)[line - 1 : line + 3]))
    return [] if squeezed(place.text.removesuffix("...")) in here else [place.text]


def faults(spec: HardwareSpec, scans: bool) -> dict[str, list[str]]:
    found = {}
    for path, place in spec.provenance.items():
        if (spec.sources[place.source].file_name in SCANS) is scans and (lost := missing(spec, place)):
            found[path] = lost
    return found


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_the_words_of_each_value_stand_on_its_page(path: Path) -> None:
    assert faults(read_spec(path), scans=False) == {}


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in SPECS if path.stem.startswith(("rk3399", "rk3568"))], ids=str)
def test_the_words_of_each_value_stand_on_its_scanned_page(path: Path) -> None:
    assert faults(read_spec(path), scans=True) == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"page": 3}, True),
        ({"text": "Operating Frequency up to 111 MHz"}, True),
        ({"box": (400.0, 700.0, 420.0, 710.0)}, True),
        ({}, False),
    ],
)
def test_a_wrong_page_word_or_box_is_seen(change: dict[str, object], told: bool) -> None:
    spec = read_spec(ROOT / "hwspecs" / "microsparc_ii_v1.0.0.yaml")
    place = spec.provenance["compute_units.sparc_v8.clock_hz"]
    assert bool(missing(spec, Provenance(**{**place.__dict__, **change}))) is told
