import re
import time
from pathlib import Path

import pytest
from browsing import Studio, browser_page, settled
from commands import command, pasted
from playwright.sync_api import expect

from hwdoc_ingest.sample.command import DATASHEET, sample_files
from metainfer_core.codegen.package import read_package
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.drafting.draft_file import read_draft
from metainfer_core.verify.report import BuildReport
from review_store.record.log import EventLog
from studio.background.jobs import jobs
from studio.drafts.decision_log import read_log
from studio.files.policies import review_of, subject
from studio.review.decisions import field_key
from studio.words.texts import text

PATIENCE = 600.0
"""Seconds, on a machine that does many other things. Everything is waited for by what it leaves behind."""
REAL = Path(__file__).parents[3] / "shared" / "corpus" / "dev" / "docs" / "dec_alpha21264_product_brief.pdf"
POLICY = "policies/text_direction_on_tarnholt_v200.policy"
BUNDLE = "text_direction_on_tarnholt_v200_1"
LINES = ("the numbers stay the same", "none that was measured", "switch it off and build again")


@pytest.fixture
def studio(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    started = Studio(tmp_path, LOGNAME="ada", USER="ada").start()
    monkeypatch.setenv("METAINFER_WORKSPACE", str(started.workspace))
    yield started
    started.stop()


def until(is_so, what):
    """Waits for something, and for no job that fails; a model with open shapes is read again with its data's."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        failed = [(job.order.kind, job.error) for job in jobs() if job.state == "failed" and job.order.kind != "model"]
        assert not failed
        assert time.monotonic() < end, what
        time.sleep(0.3)


def wait_for(path):
    until(path.exists, f"{path} does not appear")


def killed_while_it_runs(studio, page, kind):
    """Kills the server while a job of a kind is open. The job goes on; the screen comes back with it."""
    until(lambda: any(job.order.kind == kind for job in jobs()), f"no job {kind}")
    before = [job.id for job in jobs() if job.order.kind == kind]
    studio.kill()
    studio.start()
    page.reload()
    settled(page)
    assert [job.id for job in jobs() if job.order.kind == kind] == before


def test_from_an_empty_workspace_to_a_verified_package(studio, tmp_path):
    files = tmp_path / "mine"
    files.mkdir()
    for name, data in sample_files().items():
        (files / name).write_bytes(data)
    with browser_page(patience_ms=int(PATIENCE * 1000)) as page:
        look_at_nothing(studio, page)
        read_manuals(studio, page, [(files / DATASHEET, "tarnholt_v200"), (REAL, "dec_alpha21264_product")])
        bring_in_the_model(studio, page, files)
        confirm_what_was_read(studio, page, "dec_alpha21264_product", keys=3)
        confirm_what_was_read(studio, page, "tarnholt_v200")
        save_the_spec(studio, page)
        propose(studio, page)
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
    assert command(["validate", package], tmp_path)["equal"] is True


def look_at_nothing(studio, page):
    """The workspace is empty; each screen says what to do first."""
    assert not list(studio.workspace.glob("[!.]*"))
    for screen in ("", "manuals", "confirm", "specs", "model", "adapt", "review", "sign", "report"):
        page.goto(f"{studio.address}/{screen}")
        expect(page.get_by_test_id("stMainBlockContainer").locator("a:visible, button:visible").first).to_be_visible()
    page.goto(studio.address)
    expect(page.get_by_role("button", name=text("home_sample_button"))).to_be_visible()


def read_manuals(studio, page, manuals):
    """Uploads each; the server is killed while the first is read."""
    for number, (manual, chip) in enumerate(manuals):
        page.goto(f"{studio.address}/manuals")
        page.locator('input[type="file"]').set_input_files(manual)
        name = page.get_by_label(text("manuals_chip"))
        expect(name.and_(page.locator(f'[value="{chip}"]'))).to_be_visible()  # beside an older field, for a moment
        settled(page)
        expect(name).to_have_count(1)
        page.get_by_role("button", name=text("manuals_read"), exact=True).click()
        if number == 0:
            killed_while_it_runs(studio, page, "ingest")
        wait_for(studio.workspace / "drafts" / f"{chip}.yaml")
        wait_for(studio.workspace / "manuals" / manual.name)


def bring_in_the_model(studio, page, files):
    page.goto(f"{studio.address}/model")
    page.get_by_role("button", name=text("model_bring")).click()
    taken = [files / name for name in ("text_direction.onnx", "calibration.npz", "evaluation.npz")]
    page.locator('input[type="file"]').set_input_files(taken)
    for path in taken:
        expect(page.get_by_test_id("stToast").filter(has_text=path.name)).to_be_visible()
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)


def confirm_what_was_read(studio, page, chip, keys=None):
    """Accepts by key, in bursts; the server is killed in the middle, and what was decided stands."""
    path = f"drafts/{chip}.yaml"
    page.goto(f"{studio.address}/confirm?draft={path}")
    figures = page.locator(".desk .figures")
    expect(figures).to_contain_text("0 of ")
    total = int(re.search(r"0 of (\d+) confirmed", figures.inner_text())[1])
    draft = read_draft(studio.workspace / path)
    half = (keys or total) // 2
    for pressed in range(keys or total):  # accepting goes on to the next one; a conflict is left to be decided
        page.keyboard.press("a")
        if not keys:
            page.keyboard.press("n")
        if pressed == half:
            expect(page.locator(".desk").get_by_text("saving")).to_have_count(0)
            before = len(read_log(draft.digest, studio.workspace))
            assert before > 0
            studio.kill()
            studio.start()
            page.goto(f"{studio.address}/confirm?draft={path}")
            expect(figures).to_contain_text(f"of {total} confirmed")
            assert len(read_log(draft.digest, studio.workspace)) == before
    expect(page.locator(".desk").get_by_text("saving")).to_have_count(0)
    accepted = [each for each in read_log(draft.digest, studio.workspace) if each.decision.kind == "accept"]
    assert len(accepted) >= (keys or total // 2)


def save_the_spec(studio, page):
    page.get_by_role("button", name=text("save_open")).click()
    page.get_by_role("button", name=text("save_button")).click()
    wait_for(studio.workspace / "specs" / "tarnholt_v200_v1.0.0.yaml")


def propose(studio, page):
    spec = "specs/tarnholt_v200_v1.0.0.yaml"
    page.goto(f"{studio.address}/adapt?model=models/text_direction.onnx&spec={spec}")
    expect(page.get_by_label(text("adapt_shapes"), exact=True)).to_have_value("x=[1,3,48,192]")
    settled(page)
    page.get_by_role("button", name=text("adapt_start"), exact=True).click()
    killed_while_it_runs(studio, page, "adapt")
    wait_for(studio.workspace / POLICY)
    expect(page.get_by_text(text("adapt_candidates"))).to_be_visible()


def review(studio, page):
    """Approves all of it, by the bulk button, by keys and by forms, with one action overridden."""
    page.goto(f"{studio.address}/review?policy={POLICY}")
    page.locator(".st-key-bulk_popover").get_by_role("button").first.click()
    page.get_by_role("button", name="Approve these", exact=False).click()
    row = page.locator(".queue .row[aria-selected=true]")
    expect(page.locator(".queue .row .shape.approved").first).to_be_visible()

    page.get_by_placeholder(text("review_search_hint")).fill("place@x")
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("data-id", "place@x")
    settled(page)
    page.locator(".queue .list").focus()
    page.keyboard.press("o")
    memory = page.get_by_role("combobox", name=text("form_memory_of", tensor="x"))
    page.keyboard.type("dra")  # before the form is there, too
    expect(memory).to_be_focused()
    expect(memory).to_have_value("dra")
    page.keyboard.press("ArrowDown")
    page.get_by_role("option", name="dram").click()
    expect(page.get_by_text(text("form_legal"))).to_be_visible()
    reason = page.get_by_label(text("form_reason"))
    reason.click()
    page.keyboard.type("the camera writes to DRAM: keys typed here fire nothing")
    expect(reason).to_have_value("the camera writes to DRAM: keys typed here fire nothing")
    until(lambda: is_kept(studio, "keys typed here fire nothing", "dram"), "the form is not kept")
    studio.kill()  # half-typed forms outlive the server and the tab
    studio.start()
    page.goto(f"{studio.address}/review?policy={POLICY}&q=place%40x")
    expect(row).to_have_attribute("data-id", "place@x")
    expect(page.get_by_text(text("form_legal"))).to_be_visible()
    expect(reason).to_have_value("the camera writes to DRAM: keys typed here fire nothing")
    settled(page)
    page.get_by_role("button", name=text("form_override"), exact=True).click()
    expect(page.get_by_text(text("said_override"))).to_be_visible()
    expect(row).to_contain_text("in dram")
    page.get_by_placeholder(text("review_search_hint")).fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".queue .row").nth(20)).to_be_attached()

    page.get_by_placeholder(text("review_search_hint")).blur()
    found = subject(studio.workspace / POLICY)
    for each in review_of(found).state.unreviewed:
        page.locator(f'.queue .row[data-id="{each.id}"]').click()
        expect(page.locator(".mi code").get_by_text(each.id, exact=True)).to_be_visible()
        settled(page)
        page.keyboard.press("a")
        if each.word == "required":
            expect(page.locator(f".st-key-{field_key('why_allowed', each.id)} textarea")).to_be_focused()
            for line in LINES:
                page.keyboard.type(line)
                page.keyboard.press("Tab")
            page.get_by_role("button", name=text("form_approve"), exact=True).click()
        expect(page.locator(f'.queue .row[data-id="{each.id}"] .shape.approved')).to_be_visible()
    expect(page.get_by_text(text("progress_done"))).to_be_visible()
    log = EventLog(studio.workspace)
    assert sum(record.event.plain()["kind"] == "overridden" for record in log.records()) == 1
    log.close()


def is_kept(studio, *words):
    kept = [path.read_text() for path in (studio.workspace / ".studio" / "typed").rglob("*.json")]
    return any(all(each in form for each in words) for form in kept)


def sign(studio, page, tmp_path):
    """Pastes each command as it is shown into a shell of its own; the screen follows what they write."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    page.goto(f"{studio.address}/sign?policy={POLICY}")
    expect(page.get_by_text("It can be signed.")).to_be_visible()
    expect(page.get_by_text(text("sign_no_releaser"))).to_be_visible()
    for word in (" keys new ", " keys trust "):
        pasted(page.locator("code", has_text=word).inner_text(), elsewhere, tmp_path / "config")
    expect(page.get_by_text(text("sign_no_releaser"))).to_have_count(0)
    pasted(page.locator("code", has_text=" sign ").last.inner_text(), elsewhere, tmp_path / "config")
    wait_for(studio.workspace / "bundles" / f"{BUNDLE}.bundle")
    expect(page.get_by_text(text("bundle_trusted"))).to_be_visible()
    page.get_by_text(text("sign_again")).click()
    page.locator('input[type="file"]').set_input_files(studio.workspace / "bundles" / f"{BUNDLE}.bundle")
    expect(page.get_by_text("Verified, and kept as")).to_be_visible()  # as who signed on another machine does
    assert [each.name for each in (studio.workspace / "bundles").iterdir()] == [f"{BUNDLE}.bundle"]


def compile_it(studio, page):
    page.goto(f"{studio.address}/sign?policy={POLICY}")
    expect(page.get_by_text(text("bundle_trusted"))).to_be_visible()
    page.get_by_role("button", name=text("compile_start"), exact=True).click()
    killed_while_it_runs(studio, page, "compile")
    wait_for(studio.workspace / "packages" / f"{BUNDLE}.bin")
    page.get_by_role("link", name=text("bundle_report")).click()
    expect(page.get_by_text(text("report_signed"))).to_be_visible()


def look_at_the_report(studio, page, tmp_path):
    page.goto(f"{studio.address}/report?package=packages/{BUNDLE}.bin")
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
    page.goto(f"{studio.address}/model?model=models/text_direction.onnx")
    page.get_by_role("tab", name=text("model_graph")).click()
    frame = page.frame_locator("iframe")
    expect(frame.locator("#canvas .node").first).to_be_visible()
    assert frame.get_by_text("This app uses cookies").count() == 0
    assert frame.get_by_text("Please update to the newest version").count() == 0
