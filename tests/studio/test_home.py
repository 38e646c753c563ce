import fcntl
import json

import pytest
from finished import BUNDLE, LINES, PACKAGE, SPEC, decided, finished
from fitted import PATH, fitted
from screens import screen

from hwdoc_ingest.sample.command import DATASHEET
from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import InputError
from metainfer_core.files import write_bytes
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import write_draft
from metainfer_core.spec.files.yaml_file import save_spec, write_spec
from metainfer_core.spec.library import default_folder, load
from studio.background.jobs import Order, jobs_folder
from studio.cli import lay_out_sample
from studio.files.workspace import in_workspace, kind_of, workspace_files
from studio.home.stations import rows
from studio.manuals.uploads import take_in_spec
from studio.words.texts import text


def states(row):
    return [(station.name, station.state) for station in row.stations]


def test_an_empty_workspace_offers_the_sample_and_lays_it_out(tmp_path, monkeypatch):
    page = screen("home", tmp_path, monkeypatch)
    assert page.markdown[0].value == text("home_empty")
    assert next(link.label for link in page.get("page_link")) == f"**{text('start_manual')}**"
    shipped = len({path.stem.partition("_v")[0] for path in default_folder().glob("*_v*.yaml")})
    assert text("start_shipped", count=shipped) in [link.label for link in page.get("page_link")]
    page.button(key="sample").click().run(timeout=120)
    assert not page.exception
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == [
        "NOTICE.txt",
        "calibration.npz",
        "evaluation.npz",
        DATASHEET,
        "text_direction.onnx",
    ]
    assert not [button for button in page.button if button.key == "sample"]
    assert "**text\\_direction\\.onnx** × no chip yet" in [each.value for each in page.markdown]


def test_a_chip_without_a_model_waits_for_one(tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    save_spec(load("rk3588"), tmp_path / "specs" / "rk3588_v1.0.0.yaml")
    page = screen("home", tmp_path, monkeypatch)
    assert text("home_no_model", chip="rk3588") in [each.label for each in page.get("page_link")]
    assert text("home_nothing_waits") not in [each.value for each in page.caption]
    (tmp_path / "m.onnx").write_bytes(b"1")
    page = screen("home", tmp_path, monkeypatch)
    assert text("home_no_model", chip="rk3588") not in [each.label for each in page.get("page_link")]


def test_rows_tell_what_is_next_and_what_blocks(tmp_path):
    assert rows(tmp_path) == ()
    (tmp_path / "m.onnx").write_bytes(b"1")
    (row,) = rows(tmp_path)
    assert (row.model, row.chip, row.done) == ("m.onnx", "", 0)
    assert states(row)[0] == ("manual", "next")
    assert row.stations[2].sentence == text("station_policy_no_spec")

    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "a.yaml").write_bytes(write_draft(SpecDraft(chip="tarn")))
    (row,) = rows(tmp_path)
    assert row.chip == "tarn"
    assert states(row)[:3] == [("manual", "done"), ("spec", "next"), ("policy", "blocked")]
    assert row.next.parameters == {"draft": "drafts/a.yaml"}

    (tmp_path / "specs").mkdir()
    save_spec(load("rk3588"), tmp_path / "specs" / "rk3588_v1.0.0.yaml")
    first, second = rows(tmp_path)
    assert (first.chip, first.done, second.chip) == ("rk3588", 2, "tarn")
    assert states(first) == [
        ("manual", "done"),
        ("spec", "done"),
        ("policy", "next"),
        ("review", "blocked"),
        ("signed", "blocked"),
        ("built", "blocked"),
    ]
    assert first.next.parameters == {"model": "m.onnx", "spec": "specs/rk3588_v1.0.0.yaml"}


def test_a_policy_for_a_chip_of_the_library_has_its_row(tmp_path, monkeypatch):
    fitted(tmp_path)
    (row,) = rows(tmp_path)
    assert (row.model, row.chip) == ("net.onnx", "esp32s3")
    assert [each.state for each in row.stations] == ["done", "done", "done", "next", "blocked", "blocked"]
    page = screen("home", tmp_path, monkeypatch)
    waiting = next(link for link in page.get("page_link") if link.label.startswith(f"**{text('do_review')}**"))
    assert "0 of 9 actions are approved" in waiting.label


def test_a_model_alone_waits_for_a_manual(tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_bytes(b"1")
    page = screen("home", tmp_path, monkeypatch)
    labels = [link.label for link in page.get("page_link")]
    assert labels[0].startswith(f"**{text('do_manual')}** · m\\.onnx · Upload a manual")
    assert text("home_nothing_waits") not in [each.value for each in page.caption]


def test_a_broken_file_does_not_take_the_screen_down(tmp_path, monkeypatch):
    (tmp_path / "broken_v1.0.0.yaml").write_text("memories: [1, {")
    (tmp_path / "m.onnx").write_bytes(b"1")
    (tmp_path / "p.policy").write_text("{")
    (tmp_path / "p.bin").write_text("{")
    assert [row.chip for row in rows(tmp_path)] == [""]
    screen("home", tmp_path, monkeypatch)


def test_names_are_words_and_no_markup(tmp_path, monkeypatch):
    (tmp_path / "[x](http:__evil)*b*<b>.onnx").write_bytes(b"1")
    page = screen("home", tmp_path, monkeypatch)
    shown = next(each.value for each in page.markdown if "evil" in each.value)
    assert shown.startswith(r"**\[x\]\(http\:\_\_evil\)\*b\*\<b\>\.onnx** × ")


def test_files_are_found_by_kind_and_links_are_not_followed(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / ".studio").mkdir()
    (tmp_path / "specs" / "chip_v1.0.0.yaml").write_bytes(b"12345")
    (tmp_path / "d.yaml").write_text("format: metainfer.spec_draft/1\n")
    (tmp_path / "m.onnx").write_bytes(b"1")
    (tmp_path / ".studio" / "hidden.onnx").write_bytes(b"1")
    (tmp_path / "link.onnx").symlink_to(tmp_path / "m.onnx")
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    found = [(file.kind, file.name, file.size_bytes) for file in workspace_files(tmp_path)]
    assert found == [("draft", "d.yaml", 31), ("spec", "specs/chip_v1.0.0.yaml", 5), ("model", "m.onnx", 1)]
    assert kind_of(tmp_path / "notes.yaml") is None


def test_an_address_leads_to_files_of_the_workspace_only(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "m.onnx").write_bytes(b"1")
    (tmp_path / "out.onnx").write_bytes(b"1")
    (tmp_path / "w" / "l.onnx").symlink_to(tmp_path / "out.onnx")
    assert in_workspace("m.onnx", tmp_path / "w") == tmp_path / "w" / "m.onnx"
    for name in ("../out.onnx", str(tmp_path / "out.onnx"), "l.onnx", "", ".", "no.onnx", "a\0b", ".studio/x"):
        with pytest.raises(InputError, match="The workspace has no file"):
            in_workspace(name, tmp_path / "w")


def test_laying_out_the_sample_again_leaves_what_is_there_alone(tmp_path):
    assert len(lay_out_sample(tmp_path)) == 5
    (tmp_path / DATASHEET).write_bytes(b"mine")
    (tmp_path / "text_direction.onnx").unlink()
    assert [path.name for path in lay_out_sample(tmp_path)] == ["text_direction.onnx"]
    assert (tmp_path / DATASHEET).read_bytes() == b"mine"


def test_a_spec_file_is_kept_when_it_is_right_and_else_told_with_its_line(tmp_path):
    data = write_spec(load("rk3588@1.0.0"))
    assert take_in_spec("anything.yaml", data, tmp_path) == tmp_path / "specs" / "rk3588_v1.0.0.yaml"
    with pytest.raises(InputError, match="A version is never changed"):
        take_in_spec("again.yaml", data, tmp_path)
    with pytest.raises(InputError, match=r"bad\.yaml:3"):
        take_in_spec("bad.yaml", b"name: x\nversion: [1\n", tmp_path)
    with pytest.raises(InputError, match="cannot be the name of a file"):
        take_in_spec("out.yaml", data.replace(b"name: rk3588", b"name: ../../x", 1), tmp_path)


# The way of one model, in every state that it can be in


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Copies of a workspace in which all is done."""

    def made():
        folder = tmp_path_factory.mktemp("finished")
        finished(folder)
        return folder

    return made


def way(workspace):
    (row,) = [row for row in rows(workspace) if row.chip == "esp32s3"]
    return {station.name: (station.state, station.sentence) for station in row.stations}, row


def job_of(workspace, kind, about, status=None):
    """A job's folder: still running if it has no status."""
    order = Order(kind=kind, title=f"{kind} of {about}", arguments=("x",), subject=about)
    folder = jobs_folder(workspace) / f"20300101T000000-{kind}"
    write_bytes(folder / "order.json", order.to_json(), "job")
    if status is not None:
        write_bytes(folder / "end.json", json.dumps({"exit_status": status, "seconds": 1.0}).encode(), "job")
        write_bytes(folder / "stdout", json.dumps({"error": {"what": "The chip has no room."}}).encode(), "job")


def test_all_done_is_said_and_nothing_waits(whole, monkeypatch):
    workspace = whole()
    found, row = way(workspace)
    assert {name: state for name, (state, _) in found.items()} == dict.fromkeys(found, "done")
    assert row.next is None
    assert found["signed"][1] == text("station_signed_done", file=BUNDLE)
    page = screen("home", workspace, monkeypatch)
    assert text("row_complete") in [each.value for each in page.caption]


def test_a_decision_taken_back_makes_what_was_signed_and_built_of_it_stale(whole):
    workspace = whole()
    decided(workspace, ["place@x"], "withdraw")
    found, row = way(workspace)
    assert found["review"] == ("next", text("station_review_count", decided=8, total=9))
    assert found["signed"] == ("blocked", text("station_signed_reopened", file=BUNDLE, count=1))
    assert found["built"] == ("blocked", text("station_built_earlier", target="native-cpu"))
    assert row.next.name == "review"


def test_another_decision_approved_again_has_to_be_signed_anew(whole):
    workspace = whole()
    decided(workspace, ["place@x"], "tag", reason="is it read twice?")
    assert way(workspace)[0]["review"][0] == "next"
    decided(workspace, ["place@x"], "approve", justification=Justification.from_plain(LINES, "test"))
    found, row = way(workspace)
    assert found["review"][0] == "done"
    assert found["signed"] == ("next", text("station_signed_stale", file=BUNDLE))
    assert row.next.name == "signed"


def test_a_policy_of_other_rules_leads_to_where_it_is_proposed_anew(whole, monkeypatch):
    workspace = whole()
    monkeypatch.setattr("studio.home.release_stations.ruleset_digest", lambda: "sha256:" + 64 * "0")
    found, row = way(workspace)
    assert text("station_other_rules") in found["review"][1]
    assert row.next.page == "adapt"
    assert dict(row.next.parameters) == {"model": "net.onnx", "spec": SPEC}


def test_a_missing_signer_and_a_bundle_that_is_not_trusted_are_said(whole):
    workspace = whole()
    (workspace / "trust.json").unlink()
    found, _ = way(workspace)
    assert found["review"][0] == "done"
    assert found["signed"] == ("next", text("station_signed_nobody"))
    assert found["built"][0] == "blocked"
    (workspace / "trust.json").write_text("{")
    found, _ = way(workspace)
    assert found["review"][1].endswith(text("station_trust_broken"))


def test_compiling_is_next_runs_or_has_failed(whole):
    workspace = whole()
    (workspace / PACKAGE).unlink()
    assert way(workspace)[0]["built"] == ("next", text("station_built_next"))
    job_of(workspace, "compile", BUNDLE, status=1)
    found, row = way(workspace)
    assert found["built"] == ("failed", text("station_failed", why="The chip has no room."))
    assert (row.next.name, row.next.page, row.next.parameters) == ("built", "sign", {"policy": PATH})


def test_a_search_that_failed_says_so_where_it_is_started_again(whole):
    workspace = whole()
    (workspace / PATH).unlink()
    found, _ = way(workspace)
    assert found["policy"] == ("next", text("station_policy_next"))
    assert [found[name][0] for name in ("review", "signed", "built")] == ["blocked"] * 3
    job_of(workspace, "adapt", "net.onnx", status=2)
    found, row = way(workspace)
    assert found["policy"] == ("failed", text("station_failed", why="The chip has no room."))
    assert (row.next.page, row.next.parameters) == ("adapt", {"model": "net.onnx", "spec": SPEC})


def test_what_runs_is_said_to_run(whole):
    workspace = whole()
    (workspace / PATH).unlink()
    job_of(workspace, "adapt", "net.onnx")
    with (jobs_folder(workspace) / "20300101T000000-adapt" / "alive").open("w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        found, row = way(workspace)
    assert found["policy"] == ("running", text("station_policy_running"))
    assert row.next is None


def test_a_record_that_cannot_be_read_does_not_stop_home(tmp_path, monkeypatch):
    fitted(tmp_path)
    (tmp_path / "review.db").write_bytes(b"no database" * 50)
    page = screen("home", tmp_path, monkeypatch)
    assert text("home_rows") in [each.value for each in page.header]
    page = screen("review", tmp_path, monkeypatch, policy=PATH)
    assert "review.db: the review store cannot be used." in page.error[0].value.replace("\\", "")
    assert (tmp_path / "review.db").read_bytes() == b"no database" * 50
