"""What comes next is in sight on a small screen and looks like a button in each language; Tab leaves a table."""

import pytest
from browsing import Studio, bottom, browser_page, settled
from finished import BUNDLE, PACKAGE, SPEC, finished
from fitted import PATH
from playwright.sync_api import expect

from studio.manuals.uploads import UPLOAD_LIMIT_MEGABYTES
from studio.review.review_keys import key_of
from studio.words.texts import text

SMALL = {"viewport": {"width": 1280, "height": 800}}
TABS_OF_A_TABLE = 8
"""At most: the buttons over it, the cell where the cursor was, the frame that scrolls."""
GROUND = "each => getComputedStyle(each).backgroundColor"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("done"), LOGNAME="ada", USER="ada")
    finished(started.workspace)
    yield started.start()
    started.stop()


def test_after_signing_compile_and_then_the_report_are_in_sight(studio):
    package = studio.workspace / PACKAGE
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/sign?policy={PATH}")
        settled(page)
        assert bottom(page.get_by_role("link", name=text("bundle_report"))) <= 800
        expect(page.get_by_text(text("sign_run"))).to_be_hidden()
        aside = package.rename(package.with_suffix(".aside"))
        page.reload()
        settled(page)
        assert bottom(page.get_by_role("button", name=text("compile_start"), exact=True)) <= 800
        aside.rename(package)


def test_a_bundle_from_another_machine_is_taken_in_where_signing_is_folded_away(studio):
    bundle = studio.workspace / BUNDLE
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/sign?policy={PATH}")
        settled(page)
        page.get_by_text(text("sign_again")).click()
        page.locator('input[type="file"]').set_input_files(bundle)
        expect(page.get_by_text(text("sign_kept", file=BUNDLE))).to_be_visible()
        assert list(bundle.parent.iterdir()) == [bundle]


def test_links_to_what_comes_next_look_like_buttons_in_both_languages(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/adapt?model=net.onnx&spec=specs/esp32s3_v1.0.0.yaml")
        settled(page)
        for speaks, label in (("en", "English"), ("zh", "中文")):
            page.get_by_text(label, exact=True).click()
            expect(page.get_by_role("heading", name=text("page_adapt", speaks), exact=True)).to_be_visible()
            settled(page)
            review = page.get_by_role("link", name=text("adapt_review", speaks, count=9))
            assert bottom(review) <= 800
            press = page.get_by_role("button", name=text("adapt_start", speaks)).evaluate(GROUND)
            assert review.evaluate(GROUND) == press
            expect(page.get_by_label(text("adapt_mode", speaks))).to_have_value(text("mode_balanced", speaks))


def test_how_a_package_is_verified_is_in_sight_beside_the_package(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/report?package={PACKAGE}")
        settled(page)
        verify = page.get_by_text(text("report_verify"))
        assert bottom(verify) <= 800
        verify.click()
        expect(page.get_by_text(f"validate {studio.workspace.resolve() / PACKAGE}")).to_be_visible()


def test_tab_leaves_a_table(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/report?package={PACKAGE}")
        settled(page)
        grid = page.get_by_test_id("stDataFrame")
        expect(grid.locator("canvas").first).to_be_visible()
        page.locator(".st-key-save_package button").focus()
        in_table = []
        for _ in range(40):
            page.keyboard.press("Tab")
            where = "document.activeElement.closest('[data-testid=stDataFrame]') !== null"
            in_table.append(page.evaluate(where))
            if in_table[-1] is False and True in in_table:
                break
        assert 1 <= in_table.count(True) <= TABS_OF_A_TABLE
        assert in_table[-1] is False
        page.keyboard.press("Shift+Tab")  # and back into it
        assert page.evaluate(where)


@pytest.fixture
def unbuilt(tmp_path):
    """A studio of its own: a job that a first try left behind would stand in the second one's way."""
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    finished(started.workspace)
    (started.workspace / PACKAGE).unlink()
    yield started.start()
    started.stop()


def test_the_keyboard_goes_on_at_a_long_job_and_at_its_result(unbuilt):
    running = page_part("job-open-")
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{unbuilt.address}/sign?policy={PATH}")
        settled(page)
        page.get_by_role("button", name=text("compile_start"), exact=True).press("Enter")
        expect(page.locator(running)).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name=text("job_cancel"))).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(page_part("job-cancelled-"))).to_be_focused()
        page.get_by_role("button", name=text("compile_start"), exact=True).press("Enter")
        expect(page.locator(running)).to_be_focused()
        expect(page.get_by_role("link", name=text("bundle_report"))).to_be_focused()
        page.goto(f"{unbuilt.address}/adapt?model=net.onnx&spec={SPEC}")
        settled(page)
        page.get_by_role("button", name=text("adapt_start")).press("Enter")
        expect(page.locator(running)).to_be_focused()
        page.get_by_label(text("adapt_goal"), exact=True).focus()
        expect(page.get_by_text(text("job_done"))).to_be_visible()
        settled(page)
        expect(page.get_by_label(text("adapt_goal"), exact=True)).to_be_focused()  # who has moved on is left alone


def page_part(key):
    return f'[class*="st-key-{key}"]'


def button_of(verb):
    key = key_of(verb)
    return f"{text(key.name)} {key.label}"


def test_the_help_of_a_button_does_not_take_the_click_on_the_button_above(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/review?policy={PATH}")
        settled(page)
        page.get_by_role("button", name=button_of("reject")).hover()
        expect(page.get_by_role("tooltip")).to_be_visible()
        above = page.get_by_role("button", name=button_of("tag")).bounding_box()
        bubble = page.get_by_role("tooltip").bounding_box()
        middle = above["y"] + above["height"] / 2
        assert bubble["y"] < middle < bubble["y"] + bubble["height"]
        page.mouse.click(above["x"] + above["width"] - 10, middle)
        expect(page.locator(".st-key-form_tag")).to_be_visible()


def test_the_button_for_a_file_speaks_the_reader_s_language(studio):
    with browser_page(120_000, **SMALL) as page:
        page.goto(f"{studio.address}/manuals?lang=zh")
        settled(page)
        box = page.get_by_test_id("stFileUploader")
        expect(box.get_by_role("button", name=text("upload", "zh"), exact=True)).to_be_visible()
        expect(page.get_by_text(text("upload_many", "zh", count=UPLOAD_LIMIT_MEGABYTES))).to_be_visible()
        expect(box.get_by_text("per file")).to_be_hidden()
