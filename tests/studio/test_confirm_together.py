"""Two people and a revision at the desk, in a real browser; the server is restarted under them."""

import os

import pytest
from browsing import Studio, browser_page
from drafts import CLOCK, DMA, OTP, ROM, revised_draft, small_draft, with_draft
from playwright.sync_api import expect

from metainfer_core.spec.drafting.draft_file import write_draft
from studio.drafts.decision_log import read_log
from studio.drafts.desk_messages import take
from studio.drafts.draft_state import standing
from studio.drafts.save_spec import save_version

FIRST, NEXT = "confirm?draft=drafts/tarn.yaml", "confirm?draft=drafts/tarn-2.yaml"


@pytest.fixture
def studio(tmp_path):
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    with_draft(started.workspace)
    started.start()
    yield started
    started.stop()


def opened(page, studio, address):
    page.goto(f"{studio.address}/{address}")
    desk = page.locator(".desk")
    expect(desk.locator(".row").first).to_be_visible()
    return desk


def at(desk, key):
    desk.locator(f'.row[data-place="{key}"]').click()
    expect(desk.locator(f'.row.current[data-place="{key}"]')).to_be_visible()


def saved(desk):
    expect(desk.get_by_text("saving")).to_have_count(0)


def kinds(workspace, draft):
    return {key: each.kind for key, each in standing(read_log(draft.digest, workspace)).items()}


def test_two_windows_do_not_overwrite_each_other_and_a_restart_loses_nothing(studio):
    with browser_page() as page:
        one = opened(page, studio, FIRST)
        second = page.context.browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        second.set_default_timeout(120_000)
        other = opened(second, studio, FIRST)

        at(one, ROM)
        page.keyboard.press("1")
        saved(one)
        at(other, ROM)
        second.keyboard.press("r")  # it has not seen the decision of the first
        expect(other.locator(".figures")).to_contain_text("1 of 4 confirmed")
        at(other, ROM)
        expect(other.get_by_role("alert")).to_contain_text("decided this place in another window meanwhile")
        assert kinds(studio.workspace, small_draft()) == {ROM: "accept"}

        studio.stop()
        at(one, DMA)
        page.keyboard.press("a")  # nobody is there to write it down
        expect(one.locator(".figures")).to_contain_text("2 of 4 confirmed")
        studio.start()
        page.reload()
        expect(one.locator(".figures")).to_contain_text("2 of 4 confirmed")
        saved(one)
        assert kinds(studio.workspace, small_draft()) == {ROM: "accept", DMA: "accept"}

        at(one, CLOCK)
        expect(one.locator("[data-act=sure]")).to_contain_text("None above 0.98: look lower")
        expect(one.locator("[data-act=sure]")).to_be_enabled()
        page.keyboard.press("s")  # what is opened to look lower shows what is open there
        expect(page.get_by_role("dialog", name="1 above 0.95, none in conflict").locator(".row")).to_have_count(1)
        page.keyboard.press("Escape")
        page.keyboard.press("e")
        field = one.locator(".editor input")
        expect(field).to_have_attribute("placeholder", "such as 800 MHz; kept in Hz")
        field.fill("900 KiB")
        expect(one.locator(".editor .wrong")).to_contain_text("a frequency in Hz is expected")
        page.keyboard.press("Enter")
        expect(field).to_be_visible()
        field.fill("900 MHz")
        expect(one.locator(".editor .said")).to_have_text("The spec will hold 900 MHz")
        page.keyboard.press("Enter")
        expect(one.locator(".figures")).to_contain_text("3 of 4 confirmed")
        expect(one.locator("[data-act=sure]")).to_be_disabled()
        expect(one.locator("[data-act=sure]")).to_have_attribute("title", "Nothing open is above 0.80.")
        page.keyboard.press("s")
        expect(page.get_by_role("dialog")).to_have_count(0)

        expect(one.locator(".done")).to_have_count(0)
        page.keyboard.press("n")
        page.keyboard.press("u")
        expect(one.locator(".done")).to_have_text("All that was read is decided. Next: Save a version, at the top.")
        page.keyboard.press("?")
        keys = page.get_by_role("dialog", name="Keys")
        expect(keys.locator("dt")).to_have_count(15)
        expect(keys).to_contain_text("Next unsure")
        page.keyboard.press("Escape")
        assert page.faults == []


def test_a_revision_is_carried_over_by_one_key_and_only_the_changes_are_asked(studio):
    workspace, draft = studio.workspace, small_draft()
    choices = {ROM: 1, CLOCK: 3, DMA: 0, OTP: 4}
    event = {"number": 1, "kind": "accept", "places": list(choices), "choices": choices}
    take({"draft": draft.digest, "window": "e" * 16, "events": [event]}, draft, "ada", workspace)
    save_version(draft, standing(read_log(draft.digest, workspace)), "ada", "1.0.0", "", None, workspace)
    path = workspace / "drafts" / "tarn-2.yaml"
    path.write_bytes(write_draft(revised_draft()))
    later = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))
    with browser_page() as page:
        desk = opened(page, studio, NEXT)
        expect(desk.get_by_role("button", name="Carry over the 2 of tarn 1.0.0")).to_be_visible()
        page.keyboard.press("c")
        listed = page.get_by_role("dialog").locator(".row")
        expect(listed).to_have_count(2)
        page.get_by_role("button", name="Accept those ticked").click()
        expect(desk.locator(".figures")).to_contain_text("2 of 4 confirmed")
        saved(desk)
        assert kinds(workspace, revised_draft()) == {OTP: "accept", ROM: "accept"}
        desk.get_by_role("button", name="Changed 2").click()
        expect(desk.locator(".row")).to_have_count(2)
        at(desk, DMA)
        expect(desk.locator(".was")).to_have_text("Was 8 in tarn 1.0.0: the documents say something else now.")
        at(desk, CLOCK)
        expect(desk.locator(".card .big")).to_have_text("not found any more")
        page.keyboard.press("u")
        saved(desk)
        assert kinds(workspace, revised_draft())[CLOCK] == "unknown"
        assert page.faults == []
