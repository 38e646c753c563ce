"""Fault 22, as the studio meets it: the job of a hostile file fails in clear words, and another one goes on."""

import time
import zlib

import pytest
from reportlab.pdfgen.canvas import Canvas

from metainfer_core.spec.drafting.draft_file import read_draft
from studio.background import jobs
from studio.files.workspace import files_of
from studio.manuals.uploads import read_into_draft, take_in

MANY_PAGES = b"""%PDF-1.4
1 0 obj
<</Type/Catalog/Pages 2 0 R>>
endobj
2 0 obj
<</Type/Pages/Kids[2 0 R]/Count 4000>>
endobj
trailer<</Size 3/Root 1 0 R>>
%%EOF
"""


def bomb():
    """A page whose contents unpack, twice, to four billion blanks."""
    packer = zlib.compressobj(9)
    packed = zlib.compress(b"".join(packer.compress(b" " * (1 << 20)) for _ in range(4096)) + packer.flush(), 9)
    return b"".join((
        b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n",
        b"2 0 obj\n<</Type/Pages/Kids[3 0 R]/Count 1>>\nendobj\n",
        b"3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R>>\nendobj\n",
        b"4 0 obj\n<</Length %d/Filter[/FlateDecode/FlateDecode]>>stream\n" % len(packed),
        packed + b"\nendstream\nendobj\n",
        b"trailer<</Size 5/Root 1 0 R>>\n%%EOF\n",
    ))  # fmt: skip


def sheet(path):
    canvas = Canvas(str(path), invariant=1)
    canvas.drawString(72, 720, "The boot ROM holds 64 KB.")
    canvas.save()
    return path.read_bytes()


def ended(job, workspace):
    end = time.monotonic() + 300
    while time.monotonic() < end:
        found = jobs.job(job.id, workspace)
        if not found.is_open:
            return found
        time.sleep(0.1)
    raise AssertionError("the job does not end")


@pytest.mark.parametrize(
    ("hostile", "words"),
    [(bomb, "takes too much memory"), (lambda: MANY_PAGES, "none of its 4,000 pages can be read")],
    ids=["a stream within a stream", "a page tree that holds itself"],
)
def test_fault_22_the_job_of_a_hostile_file_fails_and_the_other_goes_on(tmp_path, hostile, words):
    workspace = tmp_path / "w"
    bad = read_into_draft("bad", [], [take_in("bad.pdf", hostile(), workspace)], "ada", workspace)
    good = read_into_draft("good", [], [take_in("good.pdf", sheet(tmp_path / "s.pdf"), workspace)], "ada", workspace)
    failed = ended(bad, workspace)
    assert failed.state == "failed"
    assert words in failed.error.what
    assert failed.error.fix
    assert ended(good, workspace).state == "done"
    assert [path.name for path in files_of("manual", workspace)] == ["good.pdf"]
    draft = read_draft(workspace / "drafts" / "good.yaml")
    assert [(each.field, each.value) for each in draft.candidates] == [("memory.rom.size_bytes", 65536)]
