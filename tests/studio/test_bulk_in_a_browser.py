"""Many actions that are approved together, on a small screen: read, unticked, approved."""

import json

import pytest
from browsing import Studio, browser_page, settled
from fitted import PATH, fitted
from playwright.sync_api import expect

from review_store.record.log import EventLog
from studio.words.texts import text

ALIKE = 45
WHOLE_LINES = """name => {
    const list = document.querySelector(`.st-key-${name}_list`);
    const shown = list.getBoundingClientRect();
    const bottom = Math.min(shown.bottom, innerHeight);
    const lines = [...list.querySelectorAll('[data-testid="stCheckbox"]')].map(each => each.getBoundingClientRect());
    return lines.filter(each => each.top >= shown.top && each.bottom <= bottom).length;
}"""


@pytest.fixture
def many(tmp_path):
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium")
    path = started.workspace / PATH
    plain = json.loads(path.read_bytes())
    (like,) = [each for each in plain["actions"] if f"{each['action']}@{each['node_id']}" == "quantize@conv_2"]
    names = [f"/model/layers.{number}/block/conv" for number in range(ALIKE)]
    plain["actions"] += [{**like, "node_id": name, "nodes": [name]} for name in names]
    path.write_text(json.dumps(plain))
    yield started.start()
    started.stop()


def test_a_list_to_approve_shows_many_lines_and_its_button_on_a_small_screen(many):
    with browser_page(120_000, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{many.address}/review?policy={PATH}")
        expect(page.locator(".queue .row")).to_have_count(54)
        settled(page)
        for name, at_least in (("bulk", 15), ("several", 10)):
            page.locator(f".st-key-{name}_popover button").first.press("Enter")
            boxes = page.locator(f".st-key-{name}_list").get_by_test_id("stCheckbox")
            expect(boxes).to_have_count(52 if name == "bulk" else 53)
            settled(page)
            expect(page.locator(f".st-key-{name} button")).to_be_in_viewport(ratio=1)
            expect(page.get_by_test_id("stPopoverBody")).to_be_focused()
            if name == "several":
                page.get_by_label(text("form_fallback")).focus()
            page.keyboard.press("Tab")  # not through the whole list
            expect(page.locator(f".st-key-{name} button")).to_be_focused()
            whole = page.evaluate(WHOLE_LINES, name)
            assert whole >= at_least, (name, whole)
            boxes.last.scroll_into_view_if_needed()
            expect(boxes.last).to_be_in_viewport(ratio=1)
            page.keyboard.press("Escape")
            expect(boxes.first).to_be_hidden()
        assert page.faults == []


def test_fault_04_what_is_ticked_is_approved_and_nothing_that_is_hidden_or_unticked(many):
    with browser_page(120_000, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{many.address}/review?policy={PATH}&q=layers.4")
        expect(page.locator(".queue .row")).to_have_count(6)  # 4 and 40 to 44; 48 others are hidden
        settled(page)
        page.locator(".st-key-bulk_popover button").first.click()
        boxes = page.locator(".st-key-bulk_list").get_by_test_id("stCheckbox")
        expect(boxes).to_have_count(6)
        for count, name in ((5, "layers.4/"), (4, "layers.41/"), (3, "layers.43/")):
            boxes.filter(has_text=name).click()
            expect(page.get_by_role("button", name=text("bulk_confirm", count=count))).to_be_visible()
            expect(page.get_by_text(text("bulk_hint", count=count))).to_be_visible()  # the line over it says the same
            settled(page)
        page.get_by_role("button", name=text("bulk_confirm", count=3)).click()
        expect(page.get_by_text(text("bulk_done", count=3))).to_be_visible()
        log = EventLog(many.workspace)
        written = [record.event.plain() for record in log.records()]
        log.close()
        approved = [event["action"] for event in written if event["kind"] == "approved"]
        assert approved == [f"quantize@/model/layers.{number}/block/conv" for number in (40, 42, 44)]
