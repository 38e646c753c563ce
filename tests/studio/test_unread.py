import sys

import pytest
from drafts import small_draft
from screens import screen

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.draft import DraftSource, SpecDraft
from metainfer_core.spec.drafting.draft_file import write_draft
from studio.background import jobs
from studio.files.documents import file_digest
from studio.files.workspace import hidden_folder, workspace_files
from studio.manuals.unread import discard_unread, read_again, unread_manuals, unread_uploads
from studio.manuals.uploads import chip_from_name, discard, read_into_draft, take_in
from studio.words.texts import text

SLOW = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def cancelled(tmp_path, monkeypatch):
    """An upload and a manual that were to be read together, and the job that was cancelled."""
    monkeypatch.setattr(jobs, "COMMAND", SLOW)
    manual = with_manual(tmp_path, "known.csv")
    upload = take_in("sheet.csv", b"a,b\n", tmp_path)
    job = read_into_draft("tarn", [manual], [upload], "ada", tmp_path)
    assert unread_uploads(tmp_path) == (), "it is being read"
    jobs.cancel(job.id, tmp_path)
    yield manual, upload
    for each in jobs.jobs(tmp_path):
        jobs.cancel(each.id, tmp_path)


def with_manual(workspace, name, data=b"known,1\n"):
    path = workspace / "manuals" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def with_draft_from(workspace, manual):
    source = DraftSource(title="Sheet", document_digest=file_digest(manual), file_name="another name.csv")
    draft = SpecDraft(chip="tarn", sources={"sheet": source}, candidates=small_draft().candidates)
    path = workspace / "drafts" / "tarn.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(write_draft(draft))


def kept_apart(workspace):
    return sorted(path.name for path in hidden_folder("quarantine", workspace).rglob("*"))


def unread_of(workspace):
    files = workspace_files(workspace)
    manuals, drafts = ([file for file in files if file.kind == kind] for kind in ("manual", "draft"))
    return [file.name for file in unread_manuals(manuals, drafts, workspace)]


def test_a_cancelled_reading_is_taken_up_again_with_all_that_was_to_be_read(tmp_path, cancelled):
    manual, upload = cancelled
    (unread,) = unread_uploads(tmp_path)
    assert (unread.uploads, unread.chip, unread.known) == ((upload,), "tarn", (manual,))
    job = read_again(unread, unread.chip, "bob", tmp_path)
    assert (job.order.subject, job.order.actor) == ("drafts/tarn.yaml", "bob")
    assert job.order.arguments[:5] == ("ingest", str(manual), str(upload), "--chip", "tarn")
    assert dict(job.order.moves) == {str(upload): str(tmp_path / "manuals" / "sheet.csv")}
    assert unread_uploads(tmp_path) == ()
    for act in (lambda: read_again(unread, "tarn", "eve", tmp_path), lambda: discard_unread(unread, tmp_path)):
        with pytest.raises(InputError, match=r"^sheet\.csv: this is no longer unread\."):
            act()
    assert upload.read_bytes() == b"a,b\n"


def test_what_is_discarded_leaves_nothing_in_quarantine(tmp_path, cancelled):
    manual, _ = cancelled
    discard_unread(unread_uploads(tmp_path)[0], tmp_path)
    assert (kept_apart(tmp_path), unread_uploads(tmp_path)) == ([], ())
    assert manual.exists()


def test_an_upload_that_no_job_tells_of_is_unread_too(tmp_path):
    path = take_in("RK3588 Datasheet v1.4.csv", b"a,b\n", tmp_path)
    (path.parent / ".half-written.tmp").write_bytes(b"x")
    (unread,) = unread_uploads(tmp_path)
    assert (unread.uploads, unread.chip, unread.known) == ((path,), "rk3588", ())


def with_pictures(workspace, document):
    """Pages of a document that were drawn, as page_picture keeps them."""
    folder = hidden_folder("pages", workspace) / file_digest(document).removeprefix("sha256:")
    folder.mkdir(parents=True)
    (folder / "1-144.png").write_bytes(b"a page")
    return folder


def test_the_pages_of_what_is_discarded_go_with_it_but_those_of_no_other_document(tmp_path):
    first, second = (take_in(name, b"a,b\n", tmp_path) for name in ("sheet.csv", "the same.csv"))
    manual = with_manual(tmp_path, "known.csv")
    upload_of_it = take_in("known again.csv", manual.read_bytes(), tmp_path)
    alike, kept = with_pictures(tmp_path, first), with_pictures(tmp_path, manual)
    discard(upload_of_it, tmp_path)
    discard(first, tmp_path)
    assert (alike.is_dir(), kept.is_dir()) == (True, True)  # another document holds the same
    discard(second, tmp_path)
    assert (alike.exists(), kept.is_dir()) == (False, True)
    assert kept_apart(tmp_path) == []


def test_only_what_is_in_quarantine_can_be_discarded(tmp_path):
    manual = with_manual(tmp_path, "known.csv")
    with pytest.raises(InputError, match="this is no upload"):
        discard(manual, tmp_path)
    assert manual.exists()


def test_the_screen_reads_again_without_a_second_upload(tmp_path, monkeypatch, cancelled):
    _, upload = cancelled
    page = screen("manuals", tmp_path, monkeypatch)
    key = upload.parent.name
    assert text("unread") in [each.value for each in page.header]
    assert page.text_input(key=f"unread-chip-{key}").value == "tarn"
    page.button(key=f"again-{key}").click().run()
    assert not page.exception
    newest = jobs.jobs(tmp_path)
    assert [str(upload) in each.order.moves for each in newest] == [True, True]
    assert sorted(each.state in ("waiting", "running") for each in newest) == [False, True]
    assert text("unread") not in [each.value for each in page.header]


def test_the_screen_discards(tmp_path, monkeypatch, cancelled):
    _, upload = cancelled
    page = screen("manuals", tmp_path, monkeypatch)
    page.button(key=f"discard-{upload.parent.name}").click().run()
    assert not page.exception
    assert kept_apart(tmp_path) == []
    assert text("unread") not in [each.value for each in page.header]


def test_an_upload_with_a_wrong_name_of_its_chip_is_not_kept_twice(tmp_path, monkeypatch):
    page = screen("manuals", tmp_path, monkeypatch)
    page.file_uploader(key="uploads-0").upload("sheet.csv", b"a,b\n").run()
    chip = next(each for each in page.text_input if each.label == text("manuals_chip"))
    chip.set_value("../x").run()
    page.button(key="read").click().run()
    assert "cannot be the name of a chip" in page.error[0].value
    assert kept_apart(tmp_path) == []


def test_manuals_are_told_apart_by_what_they_hold(tmp_path):
    first, _ = with_manual(tmp_path, "a.csv"), with_manual(tmp_path, "b.csv", b"other,2\n")
    assert unread_of(tmp_path) == ["manuals/a.csv", "manuals/b.csv"]
    with_draft_from(tmp_path, first)
    assert unread_of(tmp_path) == ["manuals/b.csv"]
    first.write_bytes(b"the next revision\n")
    assert unread_of(tmp_path) == ["manuals/a.csv", "manuals/b.csv"]


def test_the_one_unread_manual_is_chosen_already(tmp_path, monkeypatch):
    first = with_manual(tmp_path, "a.csv")
    with_manual(tmp_path, "b.csv", b"other,2\n")
    page = screen("manuals", tmp_path, monkeypatch)
    assert (page.multiselect(key="chosen-0").value, page.button(key="read").disabled) == ([], True)
    with_draft_from(tmp_path, first)
    page = screen("manuals", tmp_path, monkeypatch)
    assert [file.name for file in page.multiselect(key="chosen-0").value] == ["manuals/b.csv"]
    assert not page.button(key="read").disabled
    page.file_uploader(key="uploads-0").upload("sheet.csv", b"a,b\n").run()
    assert page.multiselect(key="chosen-0").value == [], "an upload is read alone"
    assert next(each for each in page.text_input if each.label == text("manuals_chip")).value == "sheet"


def test_a_chosen_manual_that_is_taken_away_breaks_nothing(tmp_path, monkeypatch):
    manual = with_manual(tmp_path, "a.csv")
    page = screen("manuals", tmp_path, monkeypatch)
    assert [file.name for file in page.multiselect(key="chosen-0").value] == ["manuals/a.csv"]
    manual.unlink()
    page.run()
    assert not page.exception
    assert page.button(key="read").disabled


@pytest.mark.parametrize(
    ("name", "chip"), [("RK3588 Datasheet v1.4.pdf", "rk3588"), ("a/Tarn.Holt-V2.pdf", "tarn_holt_v2"), ("芯.pdf", "")]
)
def test_a_first_guess_of_the_chip(name, chip):
    assert chip_from_name(name) == chip
