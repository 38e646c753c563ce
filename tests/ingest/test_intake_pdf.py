"""PDF files of bad faith, through the limited child process."""

import zlib

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.intake.intake import Limits, read_safely
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError

LIMITS = Limits(seconds=120, memory_bytes=4 << 30)
MEDIA = b"[0 0 612 792]"


def pdf(path, objects):
    """A PDF of these objects, numbered from 1; the first is its catalog."""
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    path.write_bytes(data + end % (len(offsets) + 1, table, len(offsets) + 1, len(data)))
    return path


def one_page(stream, filters, media=MEDIA, kids=b"3 0 R", count=1):
    return [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count),
        b"<</Type/Page/Parent 2 0 R/MediaBox%s/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>" % media,
        b"<</Length %d/Filter%s>>stream\n%s\nendstream" % (len(stream), filters, stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]


def refused(path):
    with pytest.raises(InputError) as fault:
        read_safely(path, "k", no_progress, LIMITS)
    assert fault.value.fix
    return str(fault.value)


def answered(path):
    """Whether the file was read, without anything in it, or refused with a way out: either is right."""
    try:
        return read_safely(path, "k", no_progress, LIMITS).candidates == ()
    except InputError as fault:
        return bool(fault.fix)


def locked(path, password):
    canvas = Canvas(str(path), encrypt=StandardEncryption(password, ownerPassword="owner"))
    canvas.drawString(72, 720, "The CPU has a 32 KB L1 instruction cache.")
    canvas.save()
    return path


def test_a_locked_pdf(tmp_path):
    assert "locked by a password" in refused(locked(tmp_path / "a.pdf", "secret"))


def test_a_pdf_that_only_forbids_editing_is_read(tmp_path):
    reading = read_safely(locked(tmp_path / "a.pdf", ""), "k", no_progress, LIMITS)
    assert [(c.field, c.value) for c in reading.candidates] == [("cpu.l1i_cache.size_bytes", 32768)]


def test_a_cut_pdf(tmp_path):
    path = locked(tmp_path / "a.pdf", "")
    path.write_bytes(path.read_bytes()[:700])
    assert "broken" in refused(path)


def test_a_program_that_begins_like_a_pdf(tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 200)
    assert "broken" in refused(path)


def test_too_many_pages(tmp_path):
    path = pdf(tmp_path / "a.pdf", one_page(b"", b"/FlateDecode", kids=b"3 0 R " * 20_000, count=20_000))
    assert "20,000 pages" in refused(path)


def test_a_page_tree_that_holds_itself(tmp_path):
    path = pdf(tmp_path / "a.pdf", one_page(b"", b"/FlateDecode", kids=b"2 0 R 3 0 R", count=2))
    assert answered(path)


def test_a_stream_that_unpacks_to_very_much(tmp_path):
    packed = zlib.compress(zlib.compress(b" " * (256 << 20), 9), 9)
    path = pdf(tmp_path / "a.pdf", one_page(packed, b"[/FlateDecode/FlateDecode]"))
    assert path.stat().st_size < 5_000
    assert answered(path)


def test_a_page_of_many_kilometres(tmp_path):
    words = zlib.compress(b"BT /F1 12 Tf 10 10 Td (a word) Tj ET")
    path = pdf(tmp_path / "a.pdf", one_page(words, b"/FlateDecode", media=b"[0 0 99999999 99999999]"))
    assert answered(path)
