"""An override's effect stands in the form while one still types, and the keyboard alone saves it with that."""

import pytest
from browsing import Studio, browser_page, settled
from fitted import PATH, fitted
from playwright.sync_api import expect

from metainfer_core.bundle.trust import TrustFile
from review_store.record.log import EventLog
from review_store.review.decide import current_state
from review_store.review.workspace import read_policy
from studio.words.texts import text

ACTION = "quantize@conv_2"


@pytest.fixture
def studio(tmp_path):
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace)
    started.start()
    yield started
    started.stop()


def override_of(studio):
    log = EventLog(studio.workspace)
    found = current_state(log, read_policy(studio.workspace / PATH, None, None), TrustFile()).action(ACTION).override
    log.close()
    return found


def test_what_an_override_does_is_there_before_it_is_saved_by_keyboard(studio):
    with browser_page() as page:
        page.goto(f"{studio.address}/review?policy={PATH}&action={ACTION}")
        expect(page.locator(".queue .row")).to_have_count(9)
        settled(page)
        page.locator(".queue .list").focus()
        page.keyboard.press("o")
        bits = page.get_by_label("bits of weights", exact=True)
        expect(bits).to_be_visible()
        settled(page)
        bits.fill("4")
        page.keyboard.press("Tab")
        expect(page.get_by_text(text("form_legal"))).to_be_visible()
        save = page.get_by_role("button", name=text("form_override"), exact=True)
        expect(save).to_be_disabled()
        page.get_by_label(text("form_reason")).focus()
        page.keyboard.type("it has to fit")  # while it is being measured
        form = page.locator(".st-key-form_override")
        expect(form.locator(".measured")).to_contain_text("the whole policy 35.1 dB → 19.9 dB")
        expect(form.locator(".measured")).to_contain_text("y has 19.9 dB; the budget is 20 dB.")
        expect(form.locator(".predicted")).to_contain_text("bytes moved")
        expect(page.get_by_label(text("form_reason"))).to_have_value("it has to fit")
        expect(save).to_be_enabled()
        settled(page)
        page.get_by_label(text("form_reason")).focus()
        for _ in range(20):
            page.keyboard.press("Tab")
            if save.evaluate("(button) => button === document.activeElement"):
                break
        page.keyboard.press("Enter")
        expect(page.get_by_text(text("said_override"))).to_be_visible()
        assert page.faults == []
    event = override_of(studio)
    assert (event.override, event.reason) == ({"weight_bits": 4}, "it has to fit")
    assert event.measured.after.broken == ("y has 19.9 dB; the budget is 20 dB.",)
