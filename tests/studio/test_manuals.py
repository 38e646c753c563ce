import time
from pathlib import Path

import pytest
from drafts import with_draft
from screens import screen

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.draft_file import read_draft
from studio.background import jobs
from studio.background.job_view import duration, progress_sentence
from studio.files.workspace import files_of
from studio.manuals.uploads import read_into_draft, take_in
from studio.words.texts import text

SVD = b"""<?xml version="1.0"?>
<device schemaVersion="1.3"><name>TARN</name><peripherals>
<peripheral><name>UART0</name><baseAddress>0x40001000</baseAddress>
<interrupt><name>UART0</name><value>5</value></interrupt></peripheral>
</peripherals></device>"""


def ended(workspace, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        (job, *_) = jobs.jobs(workspace)
        if not job.is_open:
            return job
        time.sleep(0.1)
    raise AssertionError("the job does not end")


def test_an_empty_screen_teaches(tmp_path, monkeypatch):
    page = screen("manuals", tmp_path, monkeypatch)
    assert text("manuals_nothing") in [each.value for each in page.caption]
    assert page.button(key="read").disabled


def test_an_upload_is_read_by_a_job_and_only_then_becomes_a_manual(tmp_path, monkeypatch):
    page = screen("manuals", tmp_path, monkeypatch)
    page.file_uploader(key="uploads-0").upload("Tarn Datasheet v2.svd", SVD).run()
    chip = next(each for each in page.text_input if each.label == text("manuals_chip"))
    assert chip.value == "tarn"
    page.button(key="read").click().run()
    assert not page.exception
    assert page.button(key="read").disabled, "the boxes are empty again"
    assert files_of("manual", tmp_path) == (), "before it has been read it is in quarantine"
    job = ended(tmp_path)
    assert job.state == "done", job.error
    assert [path.relative_to(tmp_path).as_posix() for path in files_of("manual", tmp_path)] == [
        "manuals/Tarn_Datasheet_v2.svd"
    ]
    draft = read_draft(tmp_path / "drafts" / "tarn.yaml")
    bases = {(each.instance, each.value) for each in draft.candidates if each.field == "mmio.base"}
    assert bases == {("UART0", "0x40001000")}
    page = screen("manuals", tmp_path, monkeypatch)
    assert "**tarn**" in [each.value for each in page.markdown]


def test_the_name_of_the_chip_is_one_field_that_keeps_what_was_typed_before_the_document(tmp_path, monkeypatch):
    page = screen("manuals", tmp_path, monkeypatch)
    page.text_input(key="chip").input("tarn_9").run()
    page.file_uploader(key="uploads-0").upload("Tarn Datasheet v2.svd", SVD).run()
    assert page.text_input(key="chip").value == "tarn_9"
    page.text_input(key="chip").input("").run()
    assert page.text_input(key="chip").value == "", "who empties it is not overruled"
    page.text_input(key="chip").input("tarn_9").run()
    page.button(key="read").click().run()
    assert not page.exception
    assert page.text_input(key="chip").value == "", "the next document is another chip's"
    assert ended(tmp_path).state == "done"
    assert [path.name for path in files_of("draft", tmp_path)] == ["tarn_9.yaml"]


def test_a_hostile_upload_stays_in_quarantine_and_says_why(tmp_path):
    path = take_in("../../evil name.pdf", b"%PDF-1.7 and nothing", tmp_path)
    assert path.parent.parent == tmp_path / ".studio" / "quarantine"
    assert path.name == "evil_name.pdf"
    read_into_draft("tarn", [], [path], "ada", tmp_path)
    job = ended(tmp_path)
    assert job.state == "failed"
    assert "the PDF cannot be opened" in job.error.what
    assert files_of("manual", tmp_path) == ()
    assert files_of("draft", tmp_path) == ()


def test_of_several_uploads_those_that_can_be_read_become_manuals(tmp_path):
    good, bad = take_in("good.svd", SVD, tmp_path), take_in("bad.pdf", b"%PDF-1.7 and nothing", tmp_path)
    read_into_draft("tarn", [], [good, bad], "ada", tmp_path)
    job = ended(tmp_path)
    assert job.state == "failed"
    assert [path.name for path in files_of("manual", tmp_path)] == ["good.svd"]
    assert bad.exists()
    assert len(files_of("draft", tmp_path)) == 1


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.exe", b"1", "no kind of document"),
        ("name.exe:x.pdf", b"1", "has no colon"),
        ("pdf", b"1", "no kind of document"),
        ("a.pdf", b"", "the file is empty"),
        ("a.pdf", b"MZ this is a program", "this is a Windows program"),
    ],
)
def test_uploads_that_are_not_taken(tmp_path, name, data, why):
    with pytest.raises(InputError, match=why):
        take_in(name, data, tmp_path)
    assert not list(tmp_path.rglob("*.*"))


@pytest.mark.parametrize("chip", ["", "  ", "../x", "a/b", "a b", "-x", "x" * 61])
def test_a_chip_needs_a_name_that_can_be_a_file(tmp_path, chip):
    with pytest.raises(InputError, match="cannot be the name of a chip"):
        read_into_draft(chip, [Path("x.pdf")], [], "ada", tmp_path)


def test_a_second_draft_of_a_chip_leaves_the_first_alone(tmp_path, monkeypatch):
    with_draft(tmp_path)
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    job = read_into_draft("tarn", [tmp_path / "x.pdf"], [], "ada", tmp_path)
    assert job.order.subject == "drafts/tarn-2.yaml"


def test_the_list_tells_how_far_each_draft_is(tmp_path, monkeypatch):
    with_draft(tmp_path)
    page = screen("manuals", tmp_path, monkeypatch)
    shown = [each.value for each in page.markdown]
    at = shown.index("**tarn**")
    assert shown[at + 1 : at + 4] == ["4", "0", "1"]
    assert [link.label for link in page.get("page_link")] == [text("draft_confirm")]


def test_time_is_said_as_people_say_it(tmp_path):
    assert [duration(seconds) for seconds in (0.4, 59.6, 200, 3900)] == ["0 s", "1 min 0 s", "3 min 20 s", "1 h 5 min"]
    order = jobs.Order(kind="ingest", title="t", arguments=())
    job = jobs.Job("1", tmp_path, order, "running", step="reading pages", done=3, total=12, seconds=8, seconds_left=24)
    assert progress_sentence(job) == "reading pages · 3 of 12 · 8 s · about 24 s left"
    assert progress_sentence(jobs.Job("1", tmp_path, order, "waiting")) == text("job_waiting_turn")
