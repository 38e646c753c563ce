"""Faults 5, 7, 8 and 11 where the fault is one of a browser: a real one on a real server, with a workspace for each."""

import json
import string
import time

import pytest
from browsing import Studio, browser_page, settled
from fitted import PATH, fitted
from playwright.sync_api import expect

from metainfer_core.bundle.trust import TrustFile
from review_store.record.log import EventLog
from review_store.review.decide import current_state
from review_store.review.workspace import read_policy
from studio.review.review_keys import KEYS
from studio.words.language import LANGUAGES
from studio.words.texts import text

OF_BROWSERS = {
    "Tab",
    "Escape",
    "Enter",
    "Backspace",
    "Delete",
    " ",
    "ArrowUp",
    "ArrowDown",
    "PageUp",
    "PageDown",
    "Home",
}
"""Keys that a browser takes for itself, besides F-keys and all that go with Control, Alt or Meta."""
VERDICTS = ("approved", "tagged", "overridden", "commented", "rejected", "withdrawn", "undone")
PATIENCE_SECONDS = 200


@pytest.fixture
def studio(tmp_path):
    started = Studio(tmp_path, LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace)
    started.start()
    yield started
    started.stop()


@pytest.fixture
def page(studio):
    with browser_page(patience_ms=1000 * PATIENCE_SECONDS) as opened:
        opened.goto(f"{studio.address}/review?policy={PATH}")
        expect(opened.locator(".queue .row")).to_have_count(9)
        settled(opened)
        yield opened
        assert opened.faults == []


def events(studio):
    log = EventLog(studio.workspace)
    found = [record.event.plain() for record in log.records()]
    log.close()
    return [(event["kind"], event.get("action", "")) for event in found if event["kind"] in VERDICTS]


def wait_for(studio, count):
    """The last event, as soon as there are so many."""
    end = time.monotonic() + PATIENCE_SECONDS
    while len(events(studio)) < count and time.monotonic() < end:
        time.sleep(0.1)
    found = events(studio)
    assert len(found) == count
    return found[-1] if found else None


def row(page, action):
    return page.locator(f'.queue .row[data-id="{action}"]')


def selected(page):
    return page.locator(".queue .row[aria-selected=true]")


def stand_on(page, action):
    row(page, action).click()
    expect(selected(page)).to_have_attribute("data-id", action)
    expect(page.locator(".mi code").get_by_text(action, exact=True).first).to_be_visible()
    settled(page)


def form(page, label):
    """The field of the open form with the cursor in it."""
    field = page.get_by_label(label)
    expect(field).to_be_focused()
    settled(page)
    return field


def test_fault_05_a_row_that_appears_on_top_is_not_hit(studio, page):
    """Someone puts a dangerous action on top of the policy while a row is selected, and then the key is pressed."""
    stand_on(page, "quantize@conv_2")
    path = studio.workspace / PATH
    plain = json.loads(path.read_bytes())
    plain["actions"].insert(0, plain["actions"][0] | {"node_id": "added", "risk": {"level": "high", "facts": ["New."]}})
    path.write_text(json.dumps(plain))
    page.keyboard.press("a")  # about a revision that the screen has not shown: nothing is written
    expect(page.locator(".queue .row")).to_have_count(10)
    expect(page.locator(".queue .row").first).to_have_attribute("data-id", "fuse@added")
    page.get_by_role("button", name=text("refused_elsewhere", action="quantize@conv_2")).click()
    expect(selected(page)).to_have_attribute("data-id", "quantize@conv_2")
    expect(page.get_by_text(text("policy_renewed"))).to_be_visible()
    assert events(studio) == []
    settled(page)
    page.keyboard.press("a")
    assert wait_for(studio, 1) == ("approved", "quantize@conv_2")
    expect(row(page, "quantize@conv_2").locator(".shape.approved")).to_be_visible()
    expect(row(page, "fuse@added").locator(".shape.approved")).to_have_count(0)


def test_a_key_that_waited_for_the_server_is_not_about_a_revision_that_came_meanwhile(studio, page):
    stand_on(page, "quantize@conv_2")
    studio.kill()
    page.keyboard.press("a")  # waits in the browser
    path = studio.workspace / PATH
    plain = json.loads(path.read_bytes())
    plain["actions"].insert(0, plain["actions"][0] | {"node_id": "added", "risk": {"level": "high", "facts": ["New."]}})
    path.write_text(json.dumps(plain))
    studio.start()
    page.get_by_role("button", name=text("revision_present")).click()  # the link still shows what stood there
    expect(page.locator(".queue .row")).to_have_count(10)
    page.get_by_role("button", name=text("refused_elsewhere", action="quantize@conv_2")).click()
    expect(page.get_by_text(text("policy_renewed"))).to_be_visible()
    assert events(studio) == []


def test_fault_07_no_letter_that_is_typed_into_a_box_is_a_verdict(studio, page):
    letters = string.ascii_letters + string.digits + "/?.,;:-_ "
    for key, action in (("c", "quantize@conv_1"), ("o", "quantize@conv_2")):  # a closed form keeps its words
        stand_on(page, action)
        page.keyboard.press(key)
        if key == "o":
            form(page, "bit width")
            page.get_by_label(text("form_reason")).click()
        reason = form(page, text("form_reason"))
        for letter in letters:
            page.keyboard.press(letter if letter != " " else "Space")
        expect(reason).to_have_value(letters)
        page.get_by_role("button", name=text("form_cancel"), exact=True).click()
        expect(page.get_by_label(text("form_reason"))).to_have_count(0)
        settled(page)
    search = page.get_by_placeholder(text("review_search_hint"))
    search.click()
    for letter in letters:
        page.keyboard.press(letter if letter != " " else "Space")
    expect(search).to_have_value(letters)
    expect(page.locator(".queue .keys")).to_be_hidden()
    search.fill("")
    page.keyboard.press("Enter")
    expect(page.locator(".queue .row")).to_have_count(9)
    assert events(studio) == []


def test_fault_08_one_table_of_keys_without_doubles_and_none_of_the_browsers_own():
    keys, verbs, names, hints, _ = zip(*KEYS, strict=True)
    assert len(set(keys)) == len(set(verbs)) == len(set(names)) == len(set(hints)) == len(KEYS)
    in_fields = {"Enter", "Escape"}  # where one types, browsers do with them what the table says
    assert in_fields < set(keys)
    assert not OF_BROWSERS & (set(keys) - in_fields)
    assert all(len(key) == 1 and key.isprintable() and not key.isupper() for key in set(keys) - in_fields)
    for language in LANGUAGES:
        assert (
            len({text(name, language) for name in names}) == len({text(hint, language) for hint in hints}) == len(KEYS)
        )


def open_the_list(page):
    row(page, "place@x").click()
    return "place@x"


def open_the_detail(page):
    stand_on(page, "place@relu_1")
    page.locator(".mi h3").first.click()
    return "place@relu_1"


def open_the_bulk_view(page):
    stand_on(page, "place@conv_2")
    page.locator(".st-key-bulk_popover button").first.click()
    expect(page.locator(".st-key-bulk button")).to_be_visible()
    settled(page)
    return "place@conv_2"


@pytest.mark.parametrize("view", [open_the_list, open_the_detail, open_the_bulk_view])
def test_fault_08_every_key_works_in_list_detail_and_bulk_view(studio, page, view):
    done = set()

    def press(key):
        settled(page)
        page.keyboard.press(key)
        done.add(key)

    action = view(page)
    ids = [each.get_attribute("data-id") for each in page.locator(".queue .row").all()]
    following = ids[ids.index(action) + 1]
    press("j")
    expect(selected(page)).to_have_attribute("data-id", following)
    press("k")
    expect(selected(page)).to_have_attribute("data-id", action)
    press("n")
    expect(selected(page)).to_have_attribute("data-id", following)
    press("k")
    expect(selected(page)).to_have_attribute("data-id", action)
    press("a")
    assert wait_for(studio, 1) == ("approved", action)
    press("k")
    expect(selected(page)).to_have_attribute("data-id", action)
    press("u")
    assert wait_for(studio, 2) == ("undone", action)
    press("w")  # there is nothing of ours left to take back: it is said, and nothing is written
    expect(page.get_by_text("has nothing here to withdraw")).to_be_visible()
    press("b")
    expect(page.get_by_test_id("stPopoverBody")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("stPopoverBody")).to_have_count(0)
    press("?")
    expect(page.locator(".queue .keys dt")).to_have_text([key.label for key in KEYS])
    expect(page.locator(".queue .keys dd")).to_have_text([f"{text(key.name)} {text(key.hint)}" for key in KEYS])
    page.keyboard.press("Escape")
    expect(page.locator(".queue .keys")).to_be_hidden()
    for key in ("r", "o", "x", "c", "l"):
        press(key)
        if key == "o":
            expect(page.locator('.st-key-form_override [class*="st-key-param_"] input').first).to_be_focused()
            settled(page)
        else:
            form(page, text("form_why_allowed" if key == "l" else "form_reason"))
        if page.locator("[role=combobox][aria-expanded=true]").count():
            page.keyboard.press("Escape")  # its choices first
            expect(page.locator("[role=combobox][aria-expanded=true]")).to_have_count(0)
        press("Escape")  # out of the field
        expect(page.locator(".queue .list")).to_be_focused()
        page.keyboard.press("Escape")  # out of the form
        expect(page.locator(".st-key-form_submit")).to_have_count(0)
    press("c")
    form(page, text("form_reason")).fill("which samples?")
    page.keyboard.press("Control+Enter")
    assert wait_for(studio, 3) == ("commented", action)
    done.add("Enter")
    press("/")
    expect(page.get_by_placeholder(text("review_search_hint"))).to_be_focused()
    assert done == {key for key, *_ in KEYS}
    assert len(events(studio)) == 3


EDITS = {
    "quantize@conv_1": {"scale of weights": "one for the tensor", "symmetric": True, "range widened to hold 0": True},
    "quantize@conv_2": {"scale of weights": "one for the tensor", "symmetric": True, "range widened to hold 0": True},
    "place@x": {"x": "psram"},
    "place@relu_1": {"b": "psram"},
    "place@conv_2": {"c": "psram"},
    "place@relu_2": {"y": "psram"},
}
"""Ten parameters, by the label of their field."""


def test_fault_11_ten_edits_of_overrides_one_after_the_other_are_all_there_after_a_reload(studio, page):
    assert sum(map(len, EDITS.values())) == 10
    for number, (action, edits) in enumerate(EDITS.items(), start=1):
        stand_on(page, action)
        page.keyboard.press("o")
        reason = page.get_by_label(text("form_reason"))
        expect(reason).to_be_visible()
        settled(page)
        for label, value in edits.items():
            if value is True:
                page.get_by_test_id("stCheckbox").filter(has_text=label).locator("label").click()
                expect(page.get_by_label(label, exact=True)).to_be_checked()
            else:
                label = text("form_memory_of", tensor=label) if action.startswith("place") else label
                page.get_by_role("combobox", name=label, exact=True).click()
                page.get_by_role("option", name=value, exact=True).click()
            settled(page)
        reason.fill(f"edit {number}")
        page.get_by_role("button", name=text("form_override"), exact=True).click()
        assert wait_for(studio, number) == ("overridden", action)
    page.reload()
    expect(page.locator(".queue .row")).to_have_count(9)
    log = EventLog(studio.workspace)
    state = current_state(log, read_policy(studio.workspace / PATH, None, None), TrustFile())
    log.close()
    stored = {each.id: each.action.override for each in state.actions if each.action.override}
    assert stored == {
        "quantize@conv_1": {"scheme": "tensor_wise", "symmetric": True, "zero_point_clip": True},
        "quantize@conv_2": {"scheme": "tensor_wise", "symmetric": True, "zero_point_clip": True},
        "place@x": {"memory": {"x": "psram"}},
        "place@relu_1": {"memory": {"b": "psram"}},
        "place@conv_2": {"memory": {"c": "psram"}},
        "place@relu_2": {"memory": {"y": "psram"}},
    }
