import fcntl
import json
import re
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from browsing import Studio, browser_page, settled
from finished import decided
from fitted import PATH, fitted
from playwright.sync_api import expect

from review_store.record.log import EventLog
from studio.background.job import AT_THE_SAME_TIME
from studio.background.jobs import jobs_folder
from studio.review.review_keys import KEYS
from studio.words.texts import text

DECISIONS = ("approved", "tagged", "overridden", "commented", "rejected", "withdrawn", "undone")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("review"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium")
    started.start()
    yield started
    started.stop()


@pytest.fixture
def page(studio):
    with browser_page() as opened:
        opened.goto(f"{studio.address}/review?policy={PATH}")
        expect(opened.locator(".queue .row")).to_have_count(9)
        settled(opened)
        yield opened
        assert studio.outside(opened) == []
        assert opened.faults == []


def events(studio):
    log = EventLog(studio.workspace)
    found = [record.event.plain() for record in log.records()]
    log.close()
    return [(event["kind"], event.get("action", "")) for event in found if event["kind"] in DECISIONS]


def selected(page):
    return page.locator(".queue .row[aria-selected=true]")


def test_feature_04_fast_keys_each_count_once_and_typing_fires_nothing(studio, page):
    page.locator('.queue .row[data-id="quantize@conv_1"]').click()
    page.keyboard.type("aaa", delay=5)
    for action in ("quantize@conv_1", "quantize@conv_2", "quantize@add"):
        expect(page.locator(f'.queue .row[data-id="{action}"] .shape.approved')).to_be_visible()
    assert events(studio) == [("approved", each) for each in ("quantize@conv_1", "quantize@conv_2", "quantize@add")]
    assert selected(page).get_attribute("data-id") == "place@x"

    page.keyboard.press("c")
    reason = page.get_by_label(text("form_reason"))
    expect(reason).to_be_focused()
    page.keyboard.type("a r o c u j k ? / aj aj")
    expect(reason).to_have_value("a r o c u j k ? / aj aj")
    expect(page.locator(".queue .keys")).to_be_hidden()
    assert len(events(studio)) == 3
    assert selected(page).get_attribute("data-id") == "place@x"
    page.get_by_role("button", name=text("form_comment"), exact=True).click()
    expect(page.get_by_text("Written.")).to_be_visible()
    assert events(studio)[3:] == [("commented", "place@x")]


def commented(page, words):
    """The line of the history that says it."""
    return page.get_by_role("listitem").filter(has_text=text("told_commented", who="ada")).filter(has_text=words)


def test_what_is_typed_before_the_form_is_there_lands_in_it_and_outlives_a_refresh(studio, page):
    before = events(studio)
    page.locator('.queue .row[data-id="place@relu_1"]').click()
    page.keyboard.type("cask aj ?")  # the first letter opens the form, the rest is meant for it
    reason = page.get_by_label(text("form_reason"))
    expect(reason).to_be_focused()
    expect(reason).to_have_value("ask aj ?")
    page.keyboard.type(" or not")
    expect(reason).to_have_value("ask aj ? or not")
    typed = studio.workspace / ".studio" / "typed"
    for _ in range(600):  # kept without leaving the field
        if any("ask aj ? or not" in path.read_text() for path in typed.rglob("*.json")):
            break
        page.wait_for_timeout(200)
    page.reload()
    expect(selected(page)).to_have_attribute("data-id", "place@relu_1")
    expect(page.get_by_label(text("form_reason"))).to_have_value("ask aj ? or not")
    assert events(studio) == before
    settled(page)
    page.get_by_role("button", name=text("form_comment"), exact=True).click()
    expect(commented(page, "ask aj ? or not")).to_be_visible()
    assert not list(typed.rglob("*.json"))


@pytest.mark.parametrize(
    ("action", "verb", "ahead", "field", "value"),
    [
        ("quantize@conv_1", "o", "4a", ("spinbutton", "bit width"), "4"),  # a number takes no letters
        ("place@conv_2", "o", "psr", ("combobox", "memory of c"), "psr"),  # of a list, it looks for a choice
        ("quantize@conv_2", "mouse", "", ("spinbutton", "bit width"), "8"),
        ("fuse@add", "mouse", "", ("combobox", "compute unit"), "lx7"),
        ("place@x", "r", "why", ("textbox", "Reason, for those who come after you"), "why"),
    ],
)
def test_the_cursor_stands_in_the_first_field_of_a_form_and_takes_what_is_typed_ahead(
    page, action, verb, ahead, field, value
):
    page.locator(f'.queue .row[data-id="{action}"]').click()
    expect(page.locator(".mi code").get_by_text(action, exact=True)).to_be_visible()
    settled(page)
    if verb == "mouse":
        page.locator(".st-key-do_override").get_by_role("button").click()
    else:
        page.keyboard.type(f"{verb}{ahead}")
    first = page.get_by_role(field[0], name=field[1], exact=True)
    expect(first).to_be_focused()
    expect(first).to_have_value(value)
    settled(page)
    page.wait_for_timeout(600)  # longer than the pause at which typing is taken: a list's choice is not made by it
    expect(first).to_be_focused()
    expect(first).to_have_value(value)
    if first.get_attribute("aria-expanded") == "true":
        page.keyboard.press("Escape")  # closes the list of choices
    page.get_by_role("button", name=text("form_cancel"), exact=True).click()
    expect(first).to_be_hidden()


def test_keys_typed_ahead_do_in_a_checkbox_and_a_number_what_they_do_there(page):
    typing = (Path(__file__).parents[2] / "studio" / "review" / "review_typing.js").read_text()
    page.set_content('<input type="checkbox"><input type="number" value="8"><textarea>it </textarea>')
    found = page.evaluate(f"""() => {{
        {typing}
        const [box, number, area] = document.querySelectorAll('input, textarea');
        enter(box, 'a b');
        const ticked = [box.checked, document.activeElement === box];
        enter(number, 'x');
        const kept = number.value;
        enter(number, '-12');
        enter(area, 'fits');
        return [...ticked, kept, number.value, area.value];
    }}""")
    assert found == [True, True, "8", "-12", "it fits"]


def test_feature_15_no_other_machine_is_asked_for_anything(studio, page):
    page.locator(".queue .row").nth(2).click()
    page.keyboard.press("?")
    page.reload()
    settled(page)
    assert len(page.asked) > 5
    assert studio.outside(page) == []
    page.asked.append("https://fonts.example/")
    assert studio.outside(page) == ["https://fonts.example/"]  # it would have been noticed
    page.asked.pop()


def test_feature_04_keys_move_and_help_shows_them(studio, page):
    page.locator(".queue .row").first.click()
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.locator(".queue .list").focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    expect(selected(page)).to_have_attribute("data-id", "fuse@add")
    expect(page.locator(".mi code").get_by_text("fuse@add", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"policy=policies%2Fnet_on_esp32s3\.policy.*action=fuse(@|%40)add"))
    approved = {action for kind, action in events(studio) if kind == "approved"}
    ids = [each.get_attribute("data-id") for each in page.locator(".queue .row").all()]
    page.keyboard.press("n")
    following = next(each for each in ids[ids.index("fuse@add") + 1 :] if each not in approved)
    expect(selected(page)).to_have_attribute("data-id", following)
    page.keyboard.press("?")
    expect(page.locator(".queue .keys dt")).to_have_count(len(KEYS))
    page.keyboard.press("Escape")
    expect(page.locator(".queue .keys")).to_be_hidden()
    page.keyboard.press("/")
    expect(page.get_by_placeholder(text("review_search_hint"))).to_be_focused()


def test_the_name_of_a_parameter_is_not_broken_by_a_long_value(studio, page):
    page.goto(f"{studio.address}/review?policy={PATH}&action=quantize%40conv_2")
    table = page.locator(".mi table.params, .mi table").filter(has_text=text("card_proposed")).last
    expect(table).to_contain_text("symmetric")
    settled(page)
    lines = table.evaluate(
        """table => {
            table.rows[1].cells[1].textContent = 'block/conv;'.repeat(60);
            const name = [...table.rows].map(row => row.cells[0]).find(cell => cell.textContent === 'symmetric');
            const range = document.createRange();
            range.selectNodeContents(name);
            return range.getClientRects().length;
        }"""
    )
    assert lines == 1


def test_the_head_of_the_next_card_is_in_view_from_wherever_one_reads(studio, page):
    page.locator(".queue .row").first.click()
    settled(page)
    page.locator(".queue .list").focus()
    main = page.get_by_test_id("stMain")
    main.evaluate("each => each.scrollTo(0, each.scrollHeight)")
    head = page.locator(".st-key-review_card")
    hidden = head.evaluate("each => each.getBoundingClientRect().top")
    assert hidden < 0, "the page is too short to show anything"
    page.keyboard.press("j")
    expect(selected(page)).to_have_attribute("data-id", "fuse@add")
    expect(page.locator(".mi code").get_by_text("fuse@add", exact=True)).to_be_in_viewport()
    settled(page)
    assert 0 < head.evaluate("each => each.getBoundingClientRect().top") < 200
    expect(page.locator(".queue .list")).to_be_focused()


def test_what_was_written_is_said_in_view_however_far_down_its_form_was(studio, page):
    page.locator('.queue .row[data-id="place@relu_2"]').click()
    settled(page)
    page.locator(".queue .list").focus()
    page.keyboard.press("o")
    page.get_by_text(text("form_off"), exact=True).click()
    reason = page.get_by_label(text("form_reason"))
    reason.fill("a test")
    page.get_by_test_id("stMain").evaluate("each => each.scrollTo(0, each.scrollHeight)")
    expect(page.get_by_role("button", name=text("form_override"), exact=True)).to_be_enabled()
    reason.press("Control+Enter")
    expect(page.get_by_text(text("said_override"))).to_be_in_viewport()
    page.keyboard.press("u")  # as it was, for the other tests
    expect(page.get_by_text(text("said_undo"))).to_be_in_viewport()


@contextmanager
def nothing_begins(studio):
    """Both places for jobs are taken, so that what is asked for waits."""
    with ExitStack() as held:
        for number in range(AT_THE_SAME_TIME):
            folder = jobs_folder(studio.workspace)
            folder.mkdir(parents=True, exist_ok=True)
            fcntl.flock(held.enter_context((folder / f"slot-{number}").open("w")), fcntl.LOCK_EX)
        yield


def test_a_form_that_cannot_be_written_yet_says_so_and_is_written_once_its_effect_was_seen(studio, page):
    page.locator('.queue .row[data-id="place@relu_1"]').click()
    settled(page)
    page.locator(".queue .list").focus()
    before = len(events(studio))
    page.keyboard.press("o")
    page.get_by_text(text("form_off"), exact=True).click()
    reason = page.get_by_label(text("form_reason"))
    write = page.get_by_role("button", name=text("form_override"), exact=True)
    place = page.locator(".st-key-form_submit")
    with nothing_begins(studio):
        reason.fill("not needed here")
        expect(page.get_by_text(text("effect_measuring"))).to_be_visible()
        reason.press("Control+Enter")
        expect(place).to_have_attribute("data-not-yet", text("form_not_yet_measured"))
        expect(place).to_be_in_viewport()
        reason.press_sequentially(" at all")
        reason.press("Control+Enter")  # before the pause at which what was typed is taken
        page.wait_for_timeout(1_000)
        expect(place).to_have_attribute("data-not-yet", text("form_not_yet_measured"))
        reason.press("End")  # who goes on to type is not taken away
        expect(place).not_to_have_attribute("data-not-yet", text("form_not_yet_measured"))
        reason.press("Control+Enter")
        expect(place).to_have_attribute("data-not-yet", text("form_not_yet_measured"))
    expect(write).to_be_focused()
    assert len(events(studio)) == before
    page.keyboard.press("Enter")
    expect(page.get_by_text(text("said_override"))).to_be_visible()
    assert events(studio)[before:] == [("overridden", "place@relu_1")]

    off = page.get_by_role("radio", name=text("form_off"), exact=True)
    page.locator(".queue .list").focus()
    page.keyboard.press("o")  # the form shows what holds
    expect(off).to_be_checked()
    expect(reason).to_be_focused()
    page.keyboard.press("Shift+Tab")  # to what is chosen, though another choice stands nearer
    expect(off).to_be_focused()
    page.get_by_role("button", name=text("form_cancel"), exact=True).click()
    expect(off).to_have_count(0)
    page.locator(".queue .list").focus()
    page.keyboard.press("u")
    expect(page.get_by_text(text("said_undo"))).to_be_visible()


@pytest.mark.parametrize("height", [800, 1080])
def test_the_head_of_the_card_stays_in_view_with_the_field_that_one_types_into(studio, page, height):
    page.set_viewport_size({"width": 1280, "height": height})
    page.locator('.queue .row[data-id="fuse@add"]').click()
    head = page.locator(".card_head")
    expect(head.get_by_text("fuse@add", exact=True)).to_be_visible()
    settled(page)
    approve = page.get_by_role("button", name=re.compile("^Approve a"))
    stood = approve.bounding_box()
    decided(studio.workspace, ["quantize@conv_2"], "tag", "ben", reason="Look closer at these ranges. " * 20)
    page.locator('.queue .row[data-id="quantize@conv_2"]').click()
    expect(head.get_by_text("quantize@conv_2", exact=True)).to_be_visible()
    settled(page)
    assert approve.bounding_box() == stood  # whatever is to be said of an action, its buttons are where they were
    page.locator(".queue .list").focus()
    page.keyboard.press("o")
    expect(page.get_by_label("bit width", exact=True)).to_be_focused()
    for seen in (head, page.get_by_label("bit width", exact=True)):
        expect(seen).to_be_in_viewport(ratio=1)
    settled(page)  # the measured effect, when it comes, moves what stands below it
    page.get_by_label(text("form_reason")).focus()
    expect(page.get_by_label(text("form_reason"))).to_be_in_viewport(ratio=1)
    expect(head).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name=text("form_cancel"), exact=True).click()
    expect(page.get_by_label(text("form_reason"))).to_have_count(0)
    page.mouse.move(700, 400)
    page.mouse.wheel(0, 5000)  # to the end of a long explanation
    expect(page.locator(".st-key-review_card h3").first).not_to_be_in_viewport()
    for verb in ("approve", "next_open", "reject", "withdraw"):
        expect(page.locator(f".st-key-do_{verb}").get_by_role("button")).to_be_in_viewport(ratio=1)
    expect(head).to_be_in_viewport(ratio=1)


def test_the_field_that_one_types_into_stays_in_view_when_something_arrives_above_it(studio, page):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator('.queue .row[data-id="place@relu_2"]').click()
    expect(page.locator(".card_head").get_by_text("place@relu_2", exact=True)).to_be_visible()
    settled(page)
    page.locator(".queue .list").focus()
    page.keyboard.press("c")
    reason = page.get_by_label(text("form_reason"))
    expect(reason).to_be_focused()
    long = "Where does this tensor lie while the next model runs? " * 30
    decided(studio.workspace, ["place@relu_2"], "tag", "ben", reason=long)
    page.keyboard.type("I think")  # at the pause the screen is drawn anew, with what ben asked above the form
    expect(page.get_by_text(text("question_open", who="ben"))).to_have_count(1)
    settled(page)
    expect(reason).to_be_focused()
    expect(reason).to_be_in_viewport(ratio=1)
    page.mouse.move(700, 400)
    page.mouse.wheel(0, -5000)  # who looks elsewhere is not pulled back
    expect(reason).not_to_be_in_viewport()
    page.keyboard.type(" so")
    expect(reason).to_be_in_viewport(ratio=1)
    expect(reason).to_have_value("I think so")
    page.get_by_role("button", name=text("form_cancel"), exact=True).click()


def test_fault_06_two_browsers_do_not_overwrite_each_other(studio, page):
    address = page.url.split("?")[0] + f"?policy={PATH}&action=place%40conv_2"
    page.goto(address)
    expect(selected(page)).to_have_attribute("data-id", "place@conv_2")
    settled(page)
    page.locator(".queue .list").focus()
    page.keyboard.press("c")
    expect(page.get_by_label(text("form_reason"))).to_be_focused()
    page.keyboard.type("mine")
    with_other = page.context.browser.new_context().new_page()
    with_other.goto(address)
    expect(selected(with_other)).to_have_attribute("data-id", "place@conv_2")
    settled(with_other)
    with_other.locator(".queue .list").focus()
    with_other.keyboard.press("a")
    expect(with_other.locator('.queue .row[data-id="place@conv_2"] .shape.approved')).to_be_visible()
    page.get_by_role("button", name=text("form_comment"), exact=True).click()
    expect(page.get_by_text(text("conflict_title"))).to_be_visible()
    expect(page.get_by_label(text("form_reason"))).to_have_value("mine")
    assert ("commented", "place@conv_2") not in events(studio)
    page.get_by_role("button", name=text("form_comment"), exact=True).click()
    expect(commented(page, "mine")).to_be_visible()
    assert events(studio)[-2:] == [("approved", "place@conv_2"), ("commented", "place@conv_2")]


def test_a_hostile_name_stays_text(studio, page):
    plain = json.loads((studio.workspace / PATH).read_bytes())
    name = "<img src=http://evil.example/x onerror=alert(1)>"
    plain["actions"][1] |= {"sentence": name, "why": [{"claim": f"{name} [a](http://evil.example)"}]}
    other = studio.workspace / "policies" / "hostile.policy"
    other.write_text(json.dumps(plain))
    page.goto(f"{studio.address}/review?policy=policies/hostile.policy&action=fuse%40add")
    expect(page.get_by_text(name).first).to_be_visible()
    assert page.locator('img[src*="evil"]').count() == 0
    other.unlink()
