import re

import pytest
from browsing import Studio, browser_page
from playwright.sync_api import expect
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.sample.command import DATASHEET, sample_files
from metainfer_core.spec.drafting.draft_file import read_draft
from metainfer_core.spec.files.yaml_file import read_spec
from studio.drafts.decision_log import read_log


@pytest.fixture
def studio(tmp_path):
    started = Studio(tmp_path).start()
    yield started
    started.stop()


@pytest.fixture
def page():
    with browser_page(viewport={"width": 1280, "height": 800}) as opened:
        yield opened


def brief_that_contradicts(path):
    """A second document of the chip, which gives its NPU half of what the data sheet does."""
    canvas = Canvas(str(path), invariant=True)
    for line, words in enumerate(("Tarnholt V200 product brief", "Features", "NPU with 512 MACs per cycle")):
        canvas.drawString(60, 780 - 30 * line, words)
    canvas.save()
    return path


def within(inner, outer):
    """Whether something is seen from its left end to its right one."""
    box, around = inner.bounding_box(), outer.bounding_box()
    return around["x"] <= box["x"] and box["x"] + box["width"] <= around["x"] + around["width"]


def test_from_an_uploaded_data_sheet_to_a_saved_spec(studio, page, tmp_path):
    sheet = tmp_path / DATASHEET
    sheet.write_bytes(sample_files()[DATASHEET])
    brief = brief_that_contradicts(tmp_path / "tarnholt_v200_brief.pdf")

    # The first address that a new server is asked for is a screen's own.
    page.goto(f"{studio.address}/manuals")
    expect(page.get_by_role("link", name="Confirm")).to_be_visible()
    page.locator('input[type="file"]').set_input_files([sheet, brief])
    expect(page.get_by_label("Name of the chip")).to_have_value("tarnholt_v200")
    page.get_by_role("button", name="Read", exact=True).press("Enter")
    expect(page.get_by_text(re.compile("reading pages|reading sentences|waits for its turn|starting"))).to_be_visible()
    to_confirm = page.locator(".st-key-drafts").get_by_role("link", name="Confirm")
    expect(to_confirm).to_be_focused()  # the keyboard goes on where the reading has led to
    to_confirm.press("Enter")

    desk = page.locator(".desk")
    row = desk.locator(".row")
    expect(row.first).to_be_visible()
    expect(desk.locator(".mark.current")).to_be_visible()
    assert within(desk.locator(".mark.current"), desk.locator(".view"))
    total = int(re.search(r"0 of (\d+) confirmed", desk.locator(".figures").inner_text())[1])
    assert total > 20

    def current():
        return desk.locator(".row.current").get_attribute("data-place")

    # By key: accept the first, then two more faster than any run of a script.
    first = current()
    page.keyboard.press("a")
    expect(desk.locator(".figures")).to_contain_text(f"1 of {total} confirmed")
    second = current()
    assert second != first
    page.keyboard.press("u")
    page.keyboard.press("j")
    third = current()
    page.keyboard.press("r")
    expect(desk.locator(".figures")).to_contain_text(f"3 of {total} confirmed")

    # By mouse: a row, then the button; by hand: a value with its unit, typed while keys are letters and not acts.
    cache = desk.locator('.row[data-place="compute_units.cpu.l2_cache.size_bytes"]')
    cache.click()
    expect(desk.locator(".card h2")).to_have_text("CPU L2 cache size")
    expect(desk.locator(".card .big")).to_have_text("512 KiB")
    clock = desk.locator('.row[data-place="compute_units.npu.clock_hz"]')
    clock.evaluate("row => row.scrollIntoView()")
    desk.get_by_role("button", name="Accept", exact=True).click()
    expect(cache.locator(".mark-of")).to_have_text("✓")
    # Python's answer comes while the button of the mouse is down: the click still counts.
    clock.hover()
    page.mouse.down()
    expect(page.locator("[data-testid='stApp']")).to_have_attribute("data-test-script-state", "notRunning")
    page.wait_for_timeout(1500)
    page.mouse.up()
    expect(clock).to_contain_class("current")
    page.keyboard.press("e")
    desk.locator(".editor input").fill("")
    page.keyboard.type("900 MHz")
    page.keyboard.press("Enter")
    expect(clock.locator(".value")).to_have_text("900 MHz")

    # A conflict shows all places side by side.
    conflict = desk.locator(".row", has_text="readings differ").first
    differing = int(conflict.locator(".value").inner_text().split()[0])
    conflict.click()
    expect(desk.locator(".crop")).to_have_count(differing)
    expect(desk.locator(".crop img").first).to_be_visible()
    page.keyboard.press("2")
    expect(desk.locator(".figures")).to_contain_text(f"6 of {total} confirmed")
    page.keyboard.press("Backspace")
    expect(desk.locator(".figures")).to_contain_text(f"5 of {total} confirmed")
    expect(desk.get_by_text("saving")).to_have_count(0)

    # Nothing is lost when the server is stopped and started, or the window is opened anew.
    studio.restart()
    page.goto(f"{studio.address}/confirm")
    expect(desk.locator(".figures")).to_contain_text(f"5 of {total} confirmed")

    # A choice that is asked for, and the last column of a wide line, are seen without scrolling.
    desk.locator(".row", has_text="one of 2").first.click()
    expect(desk.locator(".others button").last).to_be_in_viewport(ratio=1)
    wide = desk.locator('.row[data-place="other.cpu.clock_hz[fCPU]"]')
    wide.click()
    expect(desk.locator(".quote")).to_have_text("CPU clock frequency | fCPU | 100 | - | 1000 | MHz")
    expect(desk.locator(".mark.current")).to_be_visible()
    assert within(desk.locator(".mark.current"), desk.locator(".view"))

    # A burst of keys: each counts once.
    page.locator(".row").first.click()
    for _ in range(12):
        page.keyboard.press("n")
        page.keyboard.press("a")
    expect(desk.locator(".figures")).to_contain_text(f"17 of {total} confirmed")
    expect(desk.get_by_text("saving")).to_have_count(0)

    page.get_by_role("button", name="Save a version").click()
    page.get_by_role("button", name="Save this version").click()
    expect(page.get_by_text("tarnholt_v200_v1.0.0.yaml is saved")).to_be_visible()

    draft = read_draft(studio.workspace / "drafts" / "tarnholt_v200.yaml")
    log = read_log(draft.digest, studio.workspace)
    kinds = [each.decision.kind for each in log]
    assert kinds[:7] == ["accept", "unknown", "reject", "accept", "edit", "accept", "undo"]
    assert [each.decision.places[0] for each in log][:3] == [first, second, third]
    assert kinds[7:] == ["accept"] * 12
    spec = read_spec(studio.workspace / "specs" / "tarnholt_v200_v1.0.0.yaml")
    assert spec.compute_units["cpu"].l2_cache.size_bytes.typ == 512 * 1024
    assert spec.compute_units["npu"].clock_hz.typ == 9e8
    assert spec.provenance["compute_units.cpu.l2_cache.size_bytes"].text
    assert spec.assumed["compute_units.npu.clock_hz"].startswith("Given by ")

    assert studio.outside(page) == []
    assert page.faults == []
