"""Keeping a workspace on the screens: where manuals lie, what was purged, retrained weights, pages and backups."""

import errno
import json
import os
import re
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from fitted import NAME, PATH, fitted, model_bytes
from onnx import numpy_helper
from reportlab.pdfgen.canvas import Canvas
from screens import screen

from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import InputError
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import write_draft
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.values import sha256
from review_store.keeping import manual_purge
from review_store.keeping.backup import KEPT_HIDDEN
from review_store.keeping.manual_files import choose_manual_folder
from review_store.keeping.manual_purge import purge, traces_of
from review_store.review.decide import Decision, decide
from review_store.review.workspace import default_person, now
from studio.background import job, jobs
from studio.background.job_view import job_title
from studio.drafts.desk_data import View, desk_data
from studio.files.documents import document_with
from studio.files.policies import review_of, subject
from studio.files.workspace import files_of, folder_for, in_workspace, workspace_files
from studio.pages.crops import crop_of, source_is_purged
from studio.review.review_page import page_of
from studio.server.backup import backup_order
from studio.words.plain_words import plain_words
from studio.words.texts import text

STUDIO = Path(__file__).parents[2] / "studio"
AT = "2026-11-30T12:00:00Z"


def write_manual(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path), invariant=1)
    canvas.drawString(72, 700, "512 KiB of memory")
    canvas.save()
    return sha256(path.read_bytes())


def write_draft_of(workspace, digest):
    draft = SpecDraft.from_plain(
        {
            "chip": "chip",
            "sources": {"m": {"title": "Manual", "document_digest": digest, "file_name": "chip.pdf"}},
            "candidates": [{"field": "sram.size_bytes", "value": 524288, "source": "m", "page": 1, "text": "512 KiB"}],
        },
        "draft",
    )
    (workspace / "drafts").mkdir(parents=True, exist_ok=True)
    (workspace / "drafts" / "chip.yaml").write_bytes(write_draft(draft))
    return draft


def test_every_folder_of_the_studio_is_purged_or_backed_up_on_purpose():
    """A new one must be put into one of these lists: is it made from manuals, can it be made again?"""
    code = "".join(path.read_text() for path in STUDIO.rglob("*.py"))
    names = set(re.findall(r'hidden_folder\("(\w+)"', code))
    assert re.search(r'^FOLDER = "growing"', (STUDIO / "drafts" / "growing.py").read_text(), re.MULTILINE)
    assert len(re.findall(r"hidden_folder\([^\")]", code)) == 2  # its definition, and that of growing drafts
    names.add("growing")
    made_from_manuals = {manual_purge.PAGES, manual_purge.DRAFTS, manual_purge.GROWING, "quarantine"}
    of_this_moment = {"servers"}  # what runs now: neither saved, nor made from manuals
    assert names - of_this_moment == made_from_manuals | set(KEPT_HIDDEN)
    assert manual_purge.JOBS in KEPT_HIDDEN


def test_manuals_in_a_folder_of_ones_own_are_found_by_name_and_digest(tmp_path):
    workspace, vault = tmp_path / "workspace", tmp_path / "vault"
    (vault / ".hidden").mkdir(parents=True)
    digest = write_manual(vault / "nda" / "chip.pdf")
    write_manual(vault / ".hidden" / "other.pdf")
    (vault / "key.onnx").write_bytes(b"no manual")
    write_manual(workspace / "manuals" / "own.pdf")
    choose_manual_folder(workspace, vault)
    assert [file.name for file in workspace_files(workspace)] == ["manuals/nda/chip.pdf", "manuals/own.pdf"]
    assert folder_for("manual", workspace) == vault
    assert folder_for("spec", workspace) == workspace / "specs"
    assert in_workspace("manuals/nda/chip.pdf", workspace) == vault / "nda" / "chip.pdf"
    assert in_workspace("manuals/own.pdf", workspace) == workspace / "manuals" / "own.pdf"
    (tmp_path / "outside.pdf").write_bytes(b"x")
    for name in ("manuals/.hidden/other.pdf", "manuals/../outside.pdf", "nda/chip.pdf", "manuals/nda"):
        with pytest.raises(InputError, match="has no file"):
            in_workspace(name, workspace)
    assert document_with(digest, workspace) == vault / "nda" / "chip.pdf"
    choose_manual_folder(workspace, None)
    assert [path.name for path in files_of("manual", workspace)] == ["own.pdf"]


def test_an_upload_reaches_a_folder_on_another_disk(tmp_path, monkeypatch):
    real = os.link

    def link(source, target):
        if Path(source).parent.name == "here":
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(source, target)

    monkeypatch.setattr(os, "link", link)
    source, target = tmp_path / "here" / "a.pdf", tmp_path / "there" / "a.pdf"
    for path in (source, target):
        path.parent.mkdir()
    source.write_bytes(b"document")
    job._take_place(source, target)
    assert (source.exists(), target.read_bytes()) == (False, b"document")
    source.write_bytes(b"another")
    with pytest.raises(FileExistsError):
        job._take_place(source, target)
    assert (source.read_bytes(), target.read_bytes()) == (b"another", b"document")
    assert [path.name for path in target.parent.iterdir()] == ["a.pdf"]


def test_the_desk_says_purged_instead_of_missing(tmp_path):
    digest = write_manual(tmp_path / "manuals" / "chip.pdf")
    draft = write_draft_of(tmp_path, digest)

    def kind():
        return desk_data(draft, "drafts/chip.yaml", (), (), "ada", View(), tmp_path)["documents"]["m"]["kind"]

    assert kind() == "pdf"
    (tmp_path / "manuals" / "chip.pdf").rename(tmp_path / "away")
    assert kind() == "absent"
    (tmp_path / "away").rename(tmp_path / "manuals" / "chip.pdf")
    purge(tmp_path, traces_of(tmp_path, digest), False, "ada", AT)
    assert kind() == "purged"
    write_manual(tmp_path / "manuals" / "given_back.pdf")
    assert kind() == "pdf"


# The screens


def captions(page):
    return [each.value for each in page.caption]


def test_the_manuals_screen_shows_and_chooses_the_folder_and_purges(tmp_path, monkeypatch):
    workspace, vault = tmp_path / "workspace", tmp_path / "vault"
    vault.mkdir()
    digest = write_manual(workspace / "manuals" / "chip.pdf")
    write_draft_of(workspace, digest)
    page = screen("manuals", workspace, monkeypatch)
    assert str(workspace / "manuals") in [each.value for each in page.code]
    page.text_input(key="keep_folder_given").set_value(str(tmp_path / "nowhere"))
    page.button(key="FormSubmitter:keep_folder-Keep them there").click().run()
    assert "cannot hold manuals" in page.error[0].value
    page.text_input(key="keep_folder_given").set_value(str(vault))
    page.button(key="FormSubmitter:keep_folder-Keep them there").click().run()
    assert str(vault) in [each.value for each in page.code]
    page.selectbox(key="keep_purge_choice").set_value("manuals/chip.pdf").run()
    page.toggle(key="keep_purge_words").set_value(True).run()
    assert (workspace / "manuals" / "chip.pdf").exists()
    page.button(key="keep_purge").click().run()
    assert not page.exception
    assert not (workspace / "manuals" / "chip.pdf").exists()
    assert "512 KiB" not in (workspace / "drafts" / "chip.yaml").read_text()
    assert page.success[0].value == text("keep_purge_done", name=plain_words("manuals/chip.pdf"))
    assert any("chip.pdf was purged on" in each.value for each in page.text)
    assert not page.selectbox


def write_retrained(workspace):
    """The same graph with weights that moved a little."""
    proto = onnx.load_from_string(model_bytes())
    rng = np.random.default_rng(11)
    for tensor in proto.graph.initializer:
        values = numpy_helper.to_array(tensor)
        moved = values * (1 + rng.normal(0, 0.01, values.shape)).astype(values.dtype)
        tensor.CopyFrom(numpy_helper.from_array(moved, tensor.name))
    (workspace / "retrained.onnx").write_bytes(proto.SerializeToString())


def test_a_policy_is_taken_over_on_the_adapt_screen_and_what_stayed_confirmed_on_review(tmp_path, monkeypatch):
    fitted(tmp_path)
    write_retrained(tmp_path)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    old = review_of(subject(tmp_path / PATH))
    ids = tuple(each.id for each in old.state.actions)
    lines = Justification(why_allowed="measured", accuracy_effect="small", fallback="keep float")
    decide(old.log, old.state, Decision(default_person(), ids, ("approve",), lines), now(), None)
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    assert "reapply" not in [each.key for each in page.button]  # there is no policy of other weights
    page = screen("adapt", tmp_path, monkeypatch, model="retrained.onnx", spec="esp32s3@1.0.0")
    assert page.selectbox(key="reapply_policy").options == [PATH]
    page.button(key="reapply").click().run()
    assert not page.exception
    assert [each.value for each in page.error] == []
    (made,) = (each for each in jobs.jobs(tmp_path) if each.order.kind != "model")  # which the screen reads
    made = finished(made.id, tmp_path)
    assert (made.order.kind, made.state) == ("reapply", "done"), made.error
    new = f"policies/retrained_on_{NAME.rpartition('_on_')[2]}.policy"
    assert Path(made.answer()["policy"]) == tmp_path / new
    assert Policy.from_json((tmp_path / new).read_bytes()).name == NAME
    page = screen("review", tmp_path, monkeypatch, policy=new)
    page.session_state["carry_popover"] = True
    page.run()
    assert not page.exception, page.exception
    assert text("carry_hint") in captions(page)
    lines = [
        each.label.replace("\\", "") for each in page.checkbox if each.key.startswith("carry_tick_") and each.value
    ]
    named = {each for each in ids if any(line.endswith(f":gray[{each}]") for line in lines)}
    assert named
    assert len(named) == len(lines)
    page.button(key="carry").click().run()
    assert not page.exception
    state = review_of(subject(tmp_path / new)).state
    assert {each.id for each in state.actions if each.word == "approved"} == named
    assert named < set(ids) or all(each.word == "approved" for each in state.actions)


def test_the_page_of_a_review_is_written_with_the_studios_own_spec(tmp_path, monkeypatch):
    fitted(tmp_path)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    found = subject(tmp_path / PATH)
    page = page_of(review_of(found), found.spec.spec).decode()
    assert f"<h1>Review of {NAME}, {found.spec.spec.name}" in page
    assert page.count("<article") == len(found.policy.actions)
    shown = screen("review", tmp_path, monkeypatch, policy=PATH)
    assert not shown.exception
    (button,) = shown.get("download_button")  # in sight, with nothing opened
    assert (button.proto.label, button.proto.disabled) == (text("record_page"), False)
    (tmp_path / PATH).write_text(json.dumps({**found.policy.plain(), "spec_digest": f"sha256:{64 * '0'}"}))
    (button,) = screen("review", tmp_path, monkeypatch, policy=PATH).get("download_button")
    assert (button.proto.help, button.proto.disabled) == (text("record_page_no_spec"), True)


def finished(job_id, workspace, seconds=120):
    until = time.monotonic() + seconds
    while (found := jobs.job(job_id, workspace)).is_open:
        assert time.monotonic() < until
        time.sleep(0.2)
    return found


def test_a_backup_is_a_job(tmp_path, monkeypatch):
    workspace = tmp_path / "workspace"
    fitted(workspace)
    page = screen("home", workspace, monkeypatch)
    assert page.text_input(key="backup_given").value == str(tmp_path / "workspace.backup")
    made = finished(jobs.start(backup_order(tmp_path / "w.backup"), workspace).id, workspace)
    assert (made.order.kind, made.state) == ("backup", "done"), made.error
    assert made.answer()["faults"] == []
    assert (tmp_path / "w.backup").stat().st_size > 1000
    assert job_title(made) == text("backup_title", file="w.backup")


def test_the_specs_screen_says_purged(tmp_path, monkeypatch):
    digest = write_manual(tmp_path / "manuals" / "chip.pdf")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "chip_v1.0.0.yaml").write_text(
        "name: chip\nversion: 1.0.0\nmemories:\n  sram:\n    kind: sram\n    size_bytes: 524288\n"
        f"sources:\n  m:\n    title: Manual\n    document_digest: {digest}\n"
        "provenance:\n  memories.sram.size_bytes:\n    source: m\n    page: 1\n    box: [72, 80, 200, 100]\n"
    )
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    spec = read_spec(tmp_path / "specs" / "chip_v1.0.0.yaml")
    field = "memories.sram.size_bytes"
    assert crop_of(spec, field).caption == "Manual, page 1"
    assert not source_is_purged(spec, field)
    purge(tmp_path, traces_of(tmp_path, digest), False, "ada", AT)
    assert crop_of(spec, field) is None
    assert source_is_purged(spec, field)
    assert not source_is_purged(spec, "memories.sram.kind")
