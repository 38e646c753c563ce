import json
import os
import shlex
import subprocess
import sys
import time

import pytest
from browsing import Studio, browser_page, settled
from playwright.sync_api import expect

from metainfer_core.codegen.package import read_package
from metainfer_core.policy.policy import Policy
from metainfer_core.verify.report import BuildReport
from review_store.log import EventLog
from studio.jobs import jobs
from studio.policies import review_of, subject
from studio.texts import text

pytestmark = pytest.mark.slow  # a browser on a busy machine: `make test-full`

PASSPHRASE = b"correct horse battery staple\n"
PATIENCE = 240.0
POLICY = "policies/text_direction_on_tarnholt_v200.policy"
LINES = ("the numbers stay the same", "none that was measured", "switch it off and build again")


@pytest.fixture
def studio(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    started = Studio(tmp_path, LOGNAME="ada", USER="ada").start()
    monkeypatch.setenv("METAINFER_WORKSPACE", str(started.workspace))
    yield started
    started.stop()


def wait_for(path):
    end = time.monotonic() + PATIENCE
    while not path.exists():
        failed = [job.error for job in jobs() if job.state == "failed"]
        assert not failed
        assert time.monotonic() < end, f"{path} does not appear"
        time.sleep(0.3)


def command(words, folder, with_passphrase=False):
    """Runs meta-infer as on the signer's machine: the passphrase comes through a descriptor of its own."""
    read, write = os.pipe()
    os.write(write, PASSPHRASE)
    os.close(write)
    done = subprocess.run(
        [sys.executable, "-m", "metainfer_core", *words, "--json"]
        + (["--passphrase-fd", str(read)] if with_passphrase else []),
        cwd=folder,
        pass_fds=(read,),
        capture_output=True,
        timeout=300,
        check=False,
    )
    os.close(read)
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return json.loads(done.stdout)


@pytest.mark.slow
def test_from_an_empty_workspace_to_a_verified_package(studio, tmp_path):
    with browser_page() as page:
        lay_out_the_sample(studio, page)
        read_the_data_sheet(studio, page)
        studio.restart()
        confirm_what_was_read(studio, page)
        propose(studio, page)
        studio.restart()
        review(studio, page)
        studio.restart()
        sign(studio, page, tmp_path)
        studio.restart()
        compile_it(studio, page)
        studio.restart()
        look_at_the_report(studio, page, tmp_path)
        look_at_the_graph(studio, page)
        assert studio.outside(page) == []
        assert page.faults == []
    (package,) = (studio.workspace / "packages").glob("*.bin")
    built = read_package(package.read_bytes())
    policy = Policy.from_json(built.files["policy.json"])
    assert (built.manifest.development, built.manifest.review) == (False, "signed")
    assert next(action.override for action in policy.actions if action.id == "place@x") == {"memory": {"x": "dram"}}
    assert command(["validate", str(package)], tmp_path)["equal"] is True


def lay_out_the_sample(studio, page):
    page.goto(studio.address)
    page.get_by_role("button", name=text("home_sample_button")).click()
    wait_for(studio.workspace / "evaluation.npz")


def read_the_data_sheet(studio, page):
    page.goto(f"{studio.address}/manuals")
    box = page.get_by_role("combobox", name=text("manuals_choose"))
    box.click()
    page.get_by_role("option", name="tarnholt_v200_datasheet.pdf").click()
    page.keyboard.press("Escape")
    expect(page.get_by_label(text("manuals_chip"))).to_have_value("tarnholt_v200")
    page.get_by_role("button", name=text("manuals_read"), exact=True).click()
    wait_for(studio.workspace / "drafts" / "tarnholt_v200.yaml")


def confirm_what_was_read(studio, page):
    page.goto(f"{studio.address}/confirm")
    rows = page.locator(".desk .row")
    expect(rows.first).to_be_visible()
    rows.first.click()
    for _ in range(rows.count()):  # accepting goes on to the next one; a conflict is left to be decided
        page.keyboard.press("a")
        page.keyboard.press("n")
    expect(page.locator(".desk").get_by_text("saving")).to_have_count(0)
    page.get_by_role("button", name=text("save_open")).click()
    page.get_by_role("button", name=text("save_button")).click()
    wait_for(studio.workspace / "specs" / "tarnholt_v200_v1.0.0.yaml")


def propose(studio, page):
    page.goto(f"{studio.address}/adapt")
    expect(page.get_by_label(text("adapt_shapes"), exact=True)).to_have_value("x=[1,3,48,192]")
    page.get_by_role("button", name=text("adapt_start"), exact=True).click()
    wait_for(studio.workspace / POLICY)
    expect(page.get_by_text(text("adapt_candidates"))).to_be_visible()


def review(studio, page):
    """Approves all of it, by the bulk button, by keys and by forms, with one action overridden."""
    page.goto(f"{studio.address}/review?policy={POLICY}")
    page.get_by_text("Approve all", exact=False).first.click()
    page.get_by_role("button", name="Approve these", exact=False).click()
    row = page.locator(".queue .row[aria-selected=true]")
    expect(page.locator(".queue .row .shape.approved").first).to_be_visible()

    page.get_by_placeholder(text("review_search_hint")).fill("place@x")
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("data-id", "place@x")
    settled(page)
    page.locator(".queue .list").focus()
    page.keyboard.press("o")
    reason = page.get_by_label(text("form_reason"))
    expect(reason).to_be_focused()
    page.keyboard.type("the camera writes to DRAM: keys typed here fire nothing")
    page.get_by_label(text("form_memory_of", tensor="x")).click()
    page.get_by_role("option", name="dram").click()
    expect(page.get_by_text(text("form_legal"))).to_be_visible()
    expect(reason).to_have_value("the camera writes to DRAM: keys typed here fire nothing")
    page.get_by_role("button", name=text("form_override"), exact=True).click()
    expect(page.get_by_text("Overridden. Whoever")).to_be_visible()
    expect(row).to_contain_text("in dram")
    page.get_by_placeholder(text("review_search_hint")).fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".queue .row").nth(20)).to_be_attached()

    found = subject(studio.workspace / POLICY)
    for each in review_of(found).state.unreviewed:
        page.locator(f'.queue .row[data-id="{each.id}"]').click()
        expect(page.locator(".mi code").get_by_text(each.id, exact=True)).to_be_visible()
        settled(page)
        page.keyboard.press("a")
        if each.word == "required":
            expect(page.get_by_label(text("form_why_allowed"))).to_be_focused()
            for line in LINES:
                page.keyboard.type(line)
                page.keyboard.press("Tab")
            page.get_by_role("button", name=text("form_approve"), exact=True).click()
        expect(page.locator(f'.queue .row[data-id="{each.id}"] .shape.approved')).to_be_visible()
    expect(page.get_by_text(text("progress_done"))).to_be_visible()
    log = EventLog(studio.workspace)
    assert sum(record.event.plain()["kind"] == "overridden" for record in log.records()) == 1
    log.close()


def sign(studio, page, tmp_path):
    key = command(["keys", "new", "ada"], tmp_path, with_passphrase=True)
    command(
        ["keys", "trust", key["public_key"], "--role", "reviewer", "--role", "releaser", "--workspace",
         str(studio.workspace)],
        tmp_path,
    )  # fmt: skip
    page.goto(f"{studio.address}/sign?policy={POLICY}")
    expect(page.get_by_text("It can be signed.")).to_be_visible()
    shown = page.locator("code", has_text="meta-infer sign").last.inner_text()
    words = shlex.split(shown.replace("\\\n", " "))
    assert words[:2] == ["meta-infer", "sign"]
    made = command(words[1:], tmp_path, with_passphrase=True)
    page.locator('input[type="file"]').set_input_files(tmp_path / made["bundle"])
    expect(page.get_by_text("Verified, and kept as")).to_be_visible()
    wait_for(studio.workspace / "bundles" / "text_direction_on_tarnholt_v200_1.bundle")


def compile_it(studio, page):
    page.goto(f"{studio.address}/sign?policy={POLICY}")
    expect(page.get_by_text(text("bundle_trusted"))).to_be_visible()
    page.get_by_role("button", name=text("compile_start"), exact=True).click()
    wait_for(studio.workspace / "packages" / "text_direction_on_tarnholt_v200_1.bin")
    page.get_by_role("link", name=text("bundle_report")).click()
    expect(page.get_by_text(text("report_signed"))).to_be_visible()


def look_at_the_report(studio, page, tmp_path):
    page.goto(f"{studio.address}/report")
    for line in ("report_all_realised", "report_no_violation", "report_same_bits", "report_signed"):
        expect(page.get_by_text(text(line))).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name=text("report_save")).click()
    download.value.save_as(tmp_path / "report.html")
    report = BuildReport.from_json(next((studio.workspace / "packages").glob("*.report.json")).read_bytes())
    html = (tmp_path / "report.html").read_text()
    assert report.package_digest in html
    assert "<script" not in html


def look_at_the_graph(studio, page):
    page.goto(f"{studio.address}/model")
    page.get_by_role("tab", name=text("model_graph")).click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("#canvas .node").first).to_be_visible()
    assert frame.get_by_text("This app uses cookies").count() == 0
    assert frame.get_by_text("Please update to the newest version").count() == 0
