import json
import sys
import time

import pytest
from drafts import CLOCK, ROM, desk, small_draft
from screens import ROOT, screen
from serving import served

from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import read_draft, write_draft
from studio.background import jobs
from studio.drafts.desk_routes import desk_routes
from studio.drafts.draft_places import draft_in
from studio.drafts.growing import growing_drafts, growing_path
from studio.files.documents import document_with, file_digest
from studio.files.workspace import hidden_folder
from studio.manuals.uploads import read_into_draft, take_in
from studio.words.texts import text

NAME = "drafts/tarn.yaml"
SLOW = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def reading(tmp_path, monkeypatch):
    """A job that reads an upload and takes its time."""
    monkeypatch.setattr(jobs, "COMMAND", SLOW)
    upload = take_in("sheet.csv", b"a,b\n", tmp_path)
    job = read_into_draft("tarn", [], [upload], "ada", tmp_path)
    yield job
    jobs.cancel(job.id, tmp_path)


def found_so_far(workspace, count):
    draft = small_draft()
    part = SpecDraft(chip=draft.chip, sources=draft.sources, candidates=draft.candidates[:count])
    path = growing_path(workspace / NAME, workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(part.to_json())


def test_what_is_found_appears_while_the_job_runs_and_cannot_be_decided_yet(tmp_path, monkeypatch, reading):
    assert screen("confirm", tmp_path, monkeypatch).get("bidi_component") == [], "nothing is found yet"
    found_so_far(tmp_path, 2)
    page = screen("confirm", tmp_path, monkeypatch)
    data = desk(page)
    assert (data["growing"], data["standing"]) == (True, {})
    assert [each.key for each in page.button if each.key == "save"] == []
    with served(desk_routes()) as get:
        keys = [place["key"] for place in json.loads(get(data["places_at"])[2])["places"]]
    assert (ROM in keys, CLOCK in keys) == (True, False)
    time.sleep(0.02)
    found_so_far(tmp_path, 4)
    page.run()
    assert desk(page)["draft"] != data["draft"]
    links = screen("manuals", tmp_path, monkeypatch).get("page_link")
    assert text("manuals_look", chip="tarn", count=4) in [each.label for each in links]


def test_when_all_has_been_read_the_draft_takes_its_place(tmp_path, monkeypatch, reading):
    found_so_far(tmp_path, 2)
    (tmp_path / "drafts" / "tarn.yaml").write_bytes(write_draft(small_draft()))
    jobs.cancel(reading.id, tmp_path)
    assert growing_drafts(tmp_path) == ()
    data = desk(screen("confirm", tmp_path, monkeypatch))
    assert (data["growing"], data["draft"]) == (False, small_draft().digest)


def test_an_upload_can_be_looked_at_while_it_is_read(tmp_path, reading):
    (upload,) = hidden_folder("quarantine", tmp_path).glob("*/sheet.csv")
    assert document_with(file_digest(upload), tmp_path) == upload


def test_two_readings_of_one_chip_at_once_get_a_draft_each(tmp_path, reading):
    found_so_far(tmp_path, 1)
    other = read_into_draft("tarn", [ROOT / "x.pdf"], [], "ada", tmp_path)
    assert other.order.subject == "drafts/tarn-2.yaml"
    jobs.cancel(other.id, tmp_path)


def test_a_draft_is_read_from_yaml_once(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    path = tmp_path / "d.yaml"
    path.write_bytes(write_draft(small_draft()))
    assert draft_in(path) == read_draft(path)
    (copy,) = hidden_folder("drafts", tmp_path).glob("*.json")
    assert SpecDraft.from_json(copy.read_bytes()) == small_draft()
    copy.write_bytes(b"torn")
    later = tmp_path / "later.yaml"
    later.write_bytes(path.read_bytes())
    assert draft_in(later) == small_draft()
