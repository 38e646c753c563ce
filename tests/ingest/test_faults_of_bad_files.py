"""Faults that users met in other tools, in reading files of bad faith and without a network.

Each name holds its number in docs/reference/faults.md.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from test_intake_pdf import one_page, pdf
from test_ocr_scans import picture

from hwdoc_ingest.intake.intake import Limits, read_safely
from hwdoc_ingest.reading import no_progress
from metainfer_core.errors import InputError

GIB = 1 << 30
LIMITS = Limits(seconds=300, resident_bytes=GIB)
SMALL = Limits(seconds=300, memory_bytes=GIB)
"""Room for the reader, and none for four billion blanks."""


def blanks(gibibytes):
    """So many blanks, packed twice."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(gibibytes << 10)) + packer.flush()
    return zlib.compress(packed, 9)


def refusal(path, limits):
    with pytest.raises(InputError) as fault:
        read_safely(path, "k", no_progress, limits)
    assert fault.value.fix
    assert Path(f"/proc/self/task/{os.getpid()}/children").read_text() == ""  # the child has ended
    return fault.value


def test_fault_22_a_stream_within_a_stream(tmp_path):
    path = pdf(tmp_path / "a.pdf", one_page(blanks(4), b"[/FlateDecode/FlateDecode]"))
    assert path.stat().st_size < 10_000
    stopped = refusal(path, LIMITS)
    assert stopped.what == f"{path}: reading this document takes too much memory."
    assert stopped.why == "It was stopped at the 1,024 MiB that one document may take."
    broken_down = refusal(path, SMALL)
    assert broken_down.what == f"{path}: this document cannot be read."
    assert "the 1,024 MiB of memory that one document may take are not enough" in broken_down.why


@pytest.mark.parametrize(
    ("pages", "count"),
    [
        ([b"<</Type/Pages/Kids[2 0 R]/Count 3>>"], 3),
        (
            [
                b"<</Type/Pages/Kids[3 0 R 3 0 R]/Count 4000>>",
                b"<</Type/Pages/Parent 2 0 R/Kids[2 0 R 2 0 R]/Count 2000>>",
            ],
            4000,
        ),
    ],
    ids=["one node", "two nodes"],
)
def test_fault_22_a_page_tree_that_holds_itself_and_nothing_else(tmp_path, pages, count):
    path = pdf(tmp_path / "a.pdf", [b"<</Type/Catalog/Pages 2 0 R>>", *pages])
    assert refusal(path, LIMITS).what == f"a.pdf: none of its {count:,} pages can be read."


def test_fault_22_a_broken_page_among_others_is_left_out_and_said(tmp_path):
    text = zlib.compress(b"BT /F1 12 Tf 50 700 Td (The boot ROM holds 64 KB.) Tj ET")
    path = pdf(tmp_path / "a.pdf", one_page(text, b"/FlateDecode", kids=b"3 0 R 2 0 R", count=2))
    reading = read_safely(path, "k", no_progress, LIMITS)
    assert [(each.field, each.value) for each in reading.candidates] == [("memory.rom.size_bytes", 65536)]
    assert [note.split(":")[0] for note in reading.notes] == ["Page 2 was left out"]


def test_fault_22_a_million_objects(tmp_path):
    """They are many and do nothing: the page among them is read, within the limits."""
    text = zlib.compress(b"BT /F1 12 Tf 50 700 Td (The boot ROM holds 64 KB.) Tj ET")
    objects = [*one_page(text, b"/FlateDecode"), *(b"<</A %d 0 R>>" % number for number in range(1_000_000))]
    data, table = bytearray(b"%PDF-1.4\n"), bytearray()
    for number, body in enumerate(objects, start=1):
        table += b"%010d 00000 n \n" % len(data)
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    count, place = len(objects) + 1, len(data)
    path = tmp_path / "a.pdf"
    path.write_bytes(data + end % (count, table, count, place))
    reading = read_safely(path, "k", no_progress, LIMITS)
    assert [(each.field, each.value) for each in reading.candidates] == [("memory.rom.size_bytes", 65536)]


ALONE = ("unshare", "--user", "--map-root-user", "--net")
"""A process without any route."""
GUARD = """
import os, sys
def refuse(event, _):
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        os.write(2, f"asked for the network: {event}\\n".encode())
        os._exit(99)
sys.addaudithook(refuse)
"""


def offline(tmp_path, code, *arguments):
    """Runs Python without network, models of others, or a home that can be written to."""
    can_part = shutil.which("unshare") and subprocess.run([*ALONE, "true"], stderr=subprocess.DEVNULL).returncode == 0
    models = tmp_path / "models"
    models.mkdir(exist_ok=True)
    scratch = tmp_path / "tmp"
    scratch.mkdir(exist_ok=True)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": "/proc",  # nobody can write there, whoever it is
        "HF_HOME": str(models),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
    }
    return subprocess.run(
        [*(ALONE if can_part else ()), sys.executable, "-c", GUARD + code, *map(str, arguments)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_fault_23_reading_asks_for_nothing_from_outside(tmp_path):
    """A page of text and a scanned one: tables, the encoder and OCR all have what they need on the machine."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(420, 300), invariant=1)
    canvas.drawString(30, 250, "The DMA controller has 8 channels.")
    canvas.showPage()
    canvas.drawImage(
        ImageReader(picture(["The L2 cache holds 1 MB.", "The crystal runs at 24 MHz."] * 3, 200)), 0, 0, 420, 300
    )
    canvas.showPage()
    canvas.save()
    (tmp_path / "sheet.pdf").write_bytes(out.getvalue())
    done = offline(
        tmp_path,
        "from metainfer_core.cli import main; main()",
        *("ingest", "sheet.pdf", "--chip", "tarn", "--output", "draft.yaml", "--json"),
    )
    assert done.returncode == 0, done.stderr
    said = {(each["field"], each["value"], each["method"][:4]) for each in json.loads(done.stdout)["candidates"]}
    assert ("dma.channels", 8, "sent") in said
    assert ("cpu.l2_cache.size_bytes", 1 << 20, "ocr+") in said
    assert not list((tmp_path / "models").rglob("*"))


def test_fault_23_a_reader_that_asked_would_be_noticed(tmp_path):
    done = offline(tmp_path, "import socket; socket.create_connection(('127.0.0.1', 9), timeout=5)")
    assert done.returncode == 99
    assert "asked for the network" in done.stderr
    done = offline(tmp_path, "import pathlib; (pathlib.Path.home() / '.cache').mkdir()")
    assert done.returncode == 1
    assert "/proc/.cache" in done.stderr
