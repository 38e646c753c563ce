"""Fault 30: a jump to a marked spot that lands elsewhere. The cut-outs of twenty values are read as people do, by OCR.

The pages have different sizes, are turned, and show a part of themselves only.
"""

import io

import numpy as np
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.ocr.ocr import default_engine
from hwdoc_ingest.reading import no_progress
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from studio.pages.crops import crop_of
from studio.pages.page_picture import page_picture

PAGES = (
    # width, height, turned by, what of it is shown (left, bottom, right, top)
    (595, 842, 0, None),
    (595, 842, 90, None),
    (612, 792, 180, None),
    (300, 220, 0, None),
    (842, 1191, 270, None),
    (595, 842, 0, (60, 300, 520, 620)),
    (595, 842, 90, (60, 300, 520, 620)),
    (420, 300, 270, (30, 20, 390, 290)),
    (612, 792, 180, (100, 200, 560, 700)),
    (1191, 842, 0, (400, 100, 1100, 760)),
)
LONG = 150
"""Points that a line of text takes."""
ROW = 120
"""Pixels of height that each cut-out gets in the picture that is read."""


def rom(page):
    return 16 + 4 * page


def sram(page):
    return 200 + 16 * page


def document():
    """On each page a size of the boot ROM and one of the SRAM, upright as the page is shown."""
    out = io.BytesIO()
    canvas = Canvas(out, invariant=1)
    for number, (width, height, turned, shown) in enumerate(PAGES, start=1):
        canvas.setPageSize((width, height))
        canvas.setPageRotation(turned)
        left, bottom, right, top = shown or (0, 0, width, height)
        canvas.setCropBox((left, bottom, right, top))
        x, y = (left + right) / 2, (bottom + top) / 2
        along = {0: (-1, 0), 90: (0, -1), 180: (1, 0), 270: (0, 1)}[turned]
        canvas.saveState()
        canvas.translate(x + along[0] * LONG / 2, y + along[1] * LONG / 2)
        canvas.rotate(turned)
        canvas.setFont("Helvetica", 11)
        canvas.drawString(0, 20, f"The boot ROM holds {rom(number)} KB.")
        canvas.drawString(0, -20, f"The on-chip SRAM holds {sram(number)} KB.")
        canvas.restoreState()
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def spec_of(data):
    """The twenty sizes with the places that they were read from."""
    found = read_pdf_bytes(data, "sheet", "sheet.pdf", no_progress).candidates
    kinds = {"memory.rom.size_bytes": "rom", "memory.sram.size_bytes": "sram"}
    memories, provenance = {}, {}
    for each in found:
        name = f"{kinds[each.field]}_{each.page}"
        memories[name] = {"kind": kinds[each.field], "size_bytes": each.value}
        provenance[f"memories.{name}.size_bytes"] = {
            "source": "sheet", "page": each.page, "box": list(each.box), "text": each.text,
        }  # fmt: skip
    source = {"title": "Sheet", "document_digest": sha256(data)}
    plain = {"name": "tarn", "version": "1.0.0", "memories": memories, "provenance": provenance}
    return HardwareSpec.from_plain(plain | {"sources": {"sheet": source}}, "test")


def cut_out(spec, field, workspace):
    """What the card of an action shows of a value's place: the marked part of the cut-out."""
    crop = crop_of(spec, field)
    page = spec.provenance[field].page
    assert f"/{page}.png?" in crop.address
    assert crop.caption == f"Sheet, page {page}"
    picture = Image.open(page_picture(workspace / "sheet.pdf", spec.sources["sheet"].document_digest, page, workspace))
    shown = picture.crop((crop.left, crop.top, crop.left + crop.width, crop.top + crop.height)).convert("RGB")
    left, top, wide, high = crop.mark
    assert 0 <= left < left + wide <= crop.width
    assert 0 <= top < top + high <= crop.height
    return shown.crop((left, top, left + wide, top + high))


def words_of(pictures):
    """The words on each of some pictures, which are read as one tall picture."""
    tall = Image.new("RGB", (700, ROW * len(pictures)), "white")
    for at, picture in enumerate(pictures):
        assert picture.height < ROW
        tall.paste(picture, (20, ROW * at + (ROW - picture.height) // 2))
    found = [[] for _ in pictures]
    for word in default_engine().read(np.ascontiguousarray(np.asarray(tall))):
        across, down = np.mean(word.corners, axis=0)
        found[int(down // ROW)].append((across, word.text))
    return ["".join(words for _, words in sorted(row)).replace(" ", "") for row in found]


def test_fault_30_the_cut_out_holds_the_words_that_the_value_was_read_from(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    data = document()
    (tmp_path / "sheet.pdf").write_bytes(data)
    spec = spec_of(data)
    fields = [f"memories.{kind}_{page}.size_bytes" for page in range(1, len(PAGES) + 1) for kind in ("rom", "sram")]
    assert sorted(fields) == sorted(spec.provenance)
    said = words_of([cut_out(spec, field, tmp_path) for field in fields])
    wanted = [
        f"{name}holds{size(page)}KB"
        for page in range(1, len(PAGES) + 1)
        for name, size in (("ROM", rom), ("SRAM", sram))
    ]
    assert [want for want, have in zip(wanted, said, strict=True) if want not in have] == []


def test_fault_30_a_mark_on_the_wrong_page_or_line_would_be_noticed(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    data = document()
    (tmp_path / "sheet.pdf").write_bytes(data)
    plain = spec_of(data).plain()
    places = plain["provenance"]
    places["memories.rom_1.size_bytes"]["box"] = places["memories.sram_1.size_bytes"]["box"]
    places["memories.rom_6.size_bytes"]["page"] = 7
    moved = HardwareSpec.from_plain(plain, "test")
    first, other = words_of([cut_out(moved, f"memories.rom_{page}.size_bytes", tmp_path) for page in (1, 6)])
    assert f"{rom(1)}KB" not in first
    assert f"{rom(6)}KB" not in other
