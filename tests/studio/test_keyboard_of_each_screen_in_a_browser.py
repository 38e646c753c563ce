"""Before and after the review, without a mouse: what opens is entered, what only the mouse shows is reached too."""

import re

import pytest
from browsing import Studio, browser_page, settled
from finished import SPEC, finished
from fitted import PATH, model_bytes
from playwright.sync_api import expect

from studio.words.texts import text

SMALL = {"viewport": {"width": 1280, "height": 800}}
SEES = """each => {
    const box = each.getBoundingClientRect();
    let shown = 1;
    for (let part = each; part; part = part.parentElement) shown *= getComputedStyle(part).opacity;
    return shown > 0.9 && box.top >= 0 && box.bottom <= innerHeight && getComputedStyle(each).visibility === 'visible';
}"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("screens"), LOGNAME="ada", USER="ada")
    finished(started.workspace)
    yield started.start()
    started.stop()


@pytest.fixture
def page(studio):
    with browser_page(120_000, **SMALL) as opened:
        yield opened
        assert opened.faults == []


def focused(page):
    return page.locator(":focus")


def listening(page):
    """Waits until the keyboard's script knows which screen stands, so that the next one is another."""
    settled(page)
    page.wait_for_function("() => window.metaInferKeyboard?.stands")


def test_a_model_is_brought_in_and_is_the_one_that_is_shown(studio, page, tmp_path):
    (tmp_path / "brought.onnx").write_bytes(model_bytes())
    page.on("filechooser", lambda _: None)  # from here on the browser tells of it: who asks later may miss it
    page.goto(f"{studio.address}/model?model=net.onnx&spec={SPEC}")
    expect(page.get_by_role("tab", name=text("model_nodes"))).to_be_visible()
    listening(page)
    page.locator('[data-testid="stMain"] [data-testid="stPopover"] button').press("Enter")
    expect(page.locator('[data-testid="stPopoverBody"]')).to_be_focused()
    page.keyboard.press("Tab")
    expect(focused(page)).to_contain_text("Upload")
    assert focused(page).evaluate(SEES)
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Enter")
    chooser.value.set_files(tmp_path / "brought.onnx")
    expect(page.get_by_role("combobox", name=text("choose_model"))).to_have_value("models/brought.onnx")
    assert "model=models%2Fbrought.onnx" in page.url


def test_the_keyboard_stays_in_the_field_whose_choice_changes(studio, page):
    page.goto(f"{studio.address}/adapt?model=net.onnx&spec={SPEC}")
    settled(page)
    chip = page.get_by_role("combobox", name=text("choose_spec"))
    chip.focus()
    for name in ("rk3588@1.0.0", "k210@1.0.0"):
        page.keyboard.type(name)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**spec={name.partition('@')[0]}**")
        settled(page)
        expect(chip).to_have_value(name)
        expect(chip).to_be_focused()


def test_no_heading_takes_a_tab_and_the_buttons_of_a_table_are_seen(studio, page):
    page.goto(f"{studio.address}/specs")
    expect(page.locator('[data-testid="stDataFrame"]')).to_be_visible()
    settled(page)
    page.locator('[data-testid="stMain"]').focus()
    page.keyboard.press("Tab")
    expect(page.get_by_role("combobox", name=text("spec_open"))).to_be_focused()
    page.keyboard.press("Tab")
    expect(focused(page)).to_have_attribute("kind", "elementToolbar")
    page.wait_for_function(f"() => ({SEES})(document.activeElement)", timeout=10_000)


def test_one_key_leads_to_the_chief_button_of_a_screen_from_within_a_field_too(studio, page):
    page.goto(f"{studio.address}/adapt?model=net.onnx&spec={SPEC}")
    listening(page)
    expect(page.get_by_text(text("main_key"))).to_be_visible()
    page.get_by_role("combobox", name=text("choose_model")).focus()
    page.keyboard.press("Alt+m")
    expect(page.get_by_role("button", name=text("adapt_start"))).to_be_focused()
    page.keyboard.press("Alt+m")  # and on to the next, which leads to the review
    expect(page.locator('[class*="st-key-next_"] a')).to_be_focused()
    page.goto(f"{studio.address}/specs")
    listening(page)
    page.keyboard.press("Alt+m")  # the library has none
    expect(page.get_by_role("heading", name=text("page_specs"))).to_be_focused()


def test_the_keyboard_begins_at_the_heading_of_the_screen_that_was_chosen(studio, page):
    page.goto(f"{studio.address}/home")
    listening(page)
    page.get_by_test_id("stSidebarNavLink").filter(has_text=text("page_specs")).press("Enter")
    expect(page.get_by_role("heading", name=text("page_specs"))).to_be_focused()
    settled(page)
    chosen = page.get_by_role("combobox", name=text("spec_open"))
    chosen.focus()
    page.keyboard.type("rk3588@1.0.0")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("rk3588 1.0.0")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    settled(page)
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name=text("spec_all"))).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=text("page_specs"))).to_be_focused()
    page.get_by_test_id("stSidebar").get_by_text("中文", exact=True).click()  # who is elsewhere is left alone
    expect(page.get_by_role("heading", name=text("page_specs", "zh"))).to_be_visible()
    settled(page)
    page.wait_for_timeout(300)
    expect(page.get_by_role("heading", level=1)).not_to_be_focused()


def test_the_boxes_of_a_chip_are_buttons_for_the_keyboard(studio, page):
    page.goto(f"{studio.address}/specs?spec=rk3588@1.0.0")
    box = page.locator('[data-pick="compute_units.npu"][role=button]')
    box.focus()
    settled(page)
    page.keyboard.press("Enter")
    expect(page.get_by_role("strong").filter(has_text="compute_units.npu")).to_be_visible()
    expect(box).to_be_focused()
    page.keyboard.press("Tab")
    expect(focused(page)).to_have_attribute("data-pick", re.compile("."))
    other = focused(page).get_attribute("data-pick")
    assert other != "compute_units.npu"
    page.keyboard.press("Space")
    expect(page.get_by_role("strong").filter(has_text=other)).to_be_visible()


def test_a_command_is_copied_without_a_mouse(studio, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"{studio.address}/sign?policy={PATH}")
    settled(page)
    page.get_by_text(text("sign_again")).click()
    command = page.locator('[data-testid="stCode"]').first
    expect(command).to_be_visible()
    command.focus()
    page.keyboard.press("Tab")
    expect(focused(page)).to_have_attribute("aria-label", "Copy to clipboard")
    assert focused(page).evaluate(SEES)
    page.keyboard.press("Enter")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('meta-infer sign')")


def test_the_page_says_that_the_studio_has_stopped_and_goes_on_when_it_is_back(studio, page):
    page.goto(f"{studio.address}/home")
    expect(page.get_by_role("heading", name=text("page_home"))).to_be_visible()
    settled(page)
    studio.kill()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(text("server_gone_what"))
    expect(dialog.get_by_role("heading")).to_have_text(text("server_gone"))
    studio.start()
    expect(dialog).to_be_hidden()
    settled(page)


def test_who_sits_there_stays_when_the_window_is_loaded_anew_and_is_nobody_elses(studio, page):
    page.goto(f"{studio.address}/home")
    page.get_by_test_id("stSidebar").get_by_role("button", name="ada").click()
    named = page.get_by_test_id("stPopoverBody").get_by_role("textbox")
    named.fill("ben")
    named.press("Enter")
    who = page.get_by_test_id("stSidebar").get_by_test_id("stPopover").first
    expect(who).to_contain_text("ben")
    settled(page)
    page.reload()
    expect(who).to_contain_text("ben")
    settled(page)
    who.get_by_role("button").click()
    expect(named).to_have_value("ben")
    other = page.context.new_page()
    other.goto(f"{studio.address}/home")
    settled(other)
    expect(other.get_by_test_id("stSidebar").get_by_test_id("stPopover").first).to_contain_text("ada")
