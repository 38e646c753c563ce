"""What somebody sees who looks for the first time, on a small screen."""

import re

import pytest
from browsing import Studio, bottom, browser_page, settled
from drafts import with_draft
from fitted import PATH, fitted
from playwright.sync_api import expect

from studio.files.policies import review_of, subject
from studio.words.texts import text

SMALL = {"viewport": {"width": 1280, "height": 800}}


@pytest.fixture
def studio(tmp_path, monkeypatch):
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium")
    with_draft(started.workspace)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(started.workspace))
    yield started.start()
    started.stop()


def test_what_to_press_is_in_sight_on_a_small_screen(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/adapt?model=net.onnx&spec=esp32s3%401.0.0")
        settled(page)
        assert bottom(page.get_by_role("button", name=text("adapt_start"))) <= 800
        page.goto(f"{studio.address}/manuals")
        settled(page)
        assert bottom(page.get_by_role("button", name=text("manuals_read"), exact=True)) <= 800
        expect(page.get_by_text(text("manuals_read_first"))).to_be_visible()
        page.goto(f"{studio.address}/review?policy={PATH}")
        settled(page)
        low = page.get_by_role("button", name=text("bulk_open", count=7))
        assert bottom(low) < page.locator(".queue .row").first.bounding_box()["y"]
        assert bottom(page.locator(".st-key-do_approve").get_by_role("button")) <= 800
        assert page.faults == []


def test_the_list_of_low_risk_shows_whole_names(studio):
    state = review_of(subject(studio.workspace / PATH)).state
    low = [each.id for each in state.actions if each.action.risk.level == "low"]
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/review?policy={PATH}")
        settled(page)
        page.get_by_role("button", name=text("bulk_open", count=7)).click()
        names = page.locator(".st-key-bulk_list").get_by_test_id("stCheckbox")
        expect(names).to_have_count(7)
        assert [each.rsplit(" · ", 1)[1] for each in names.all_inner_texts()] == low
        assert names.evaluate_all("all => all.every(one => one.getBoundingClientRect().right <= innerWidth)")
        page.get_by_role("button", name=text("bulk_confirm", count=7)).click()
        expect(page.get_by_text(text("bulk_done", count=7))).to_be_visible()


def test_the_form_closes_when_a_version_is_saved_and_the_next_step_is_offered(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/confirm")
        expect(page.locator(".desk .figures")).to_contain_text("0 of 4 confirmed")
        page.get_by_role("button", name=text("save_open")).click()
        expect(page.get_by_text(text("save_nothing"))).to_be_visible()
        page.keyboard.press("Escape")
        page.locator(".desk .row").first.click()
        page.keyboard.press("a")
        expect(page.locator(".desk .figures")).to_contain_text("1 of 4 confirmed")
        settled(page)
        page.get_by_role("button", name=text("save_open")).click()
        page.get_by_role("button", name=text("save_button")).click()
        expect(page.get_by_text("tarn_v1.0.0.yaml is saved, with 1 accepted or given values.")).to_be_visible()
        expect(page.get_by_role("button", name=text("save_button"))).to_have_count(0)
        page.get_by_role("link", name=text("saved_adapt")).click()
        expect(page.get_by_role("heading", name=text("page_adapt"))).to_be_visible()
        settled(page)
        expect(page).to_have_url(re.compile(r"[?&]spec=specs%2Ftarn_v1\.0\.0\.yaml"))
        expect(page.get_by_role("combobox", name=text("choose_spec"))).to_have_value("specs/tarn_v1.0.0.yaml")
        assert page.faults == []


def test_a_link_to_another_page_wins_over_a_key_right_after_it_and_the_key_is_not_lost(studio):
    with browser_page(60_000, **SMALL) as page:
        page.goto(f"{studio.address}/confirm")
        expect(page.locator(".desk .figures")).to_contain_text("0 of 4 confirmed")
        settled(page)
        page.locator(".desk .row").first.click()
        page.evaluate("""() => {
            document.querySelector('[data-testid="stSidebarNavLink"][href$="/specs"]').click();
            window.dispatchEvent(new KeyboardEvent("keydown", { key: "a" }));
        }""")
        page.wait_for_timeout(1500)
        settled(page)
        expect(page.get_by_role("heading", name=text("page_specs"), exact=True)).to_be_visible()
        page.get_by_test_id("stSidebarNavLink").filter(has_text=text("page_confirm")).click()
        expect(page.locator(".desk .figures")).to_contain_text("1 of 4 confirmed")
        assert page.faults == []
