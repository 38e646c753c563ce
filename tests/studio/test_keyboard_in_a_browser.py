"""A whole review without a mouse: every control is reached by Tab or a key, shows its focus, and lets go of it."""

from __future__ import annotations

import pytest
from browsing import Studio, browser_page, settled
from fitted import PATH, fitted
from playwright.sync_api import expect

from review_store.record.log import EventLog
from studio.words.texts import text

MOST_TABS = 120
FOCUSED = """() => {
    let active = document.activeElement;
    while (active && active.shadowRoot && active.shadowRoot.activeElement) active = active.shadowRoot.activeElement;
    if (!active || active === document.body) return null;
    const label = active.labels && active.labels.length ? active.labels[0].innerText : '';
    const name = active.getAttribute('aria-label') || label || active.innerText || active.placeholder || '';
    const hasCaret = active.matches('textarea, input:not([type=checkbox]):not([type=radio])');
    const near = [active, active.parentElement, active.parentElement && active.parentElement.parentElement];
    const shows = hasCaret || near.filter(Boolean).some(each => {
        const style = getComputedStyle(each);
        return style.outlineStyle !== 'none' || style.boxShadow !== 'none';
    });
    return {role: active.getAttribute('role') || active.tagName.toLowerCase(), name: name.trim(), shows};
}"""
DECISIONS = ("approved", "tagged", "overridden", "commented", "undone")


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("keyboard"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium", a2="medium", a3="medium")
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
        assert opened.faults == []


def tab_to(page, name, role=None, key="Tab"):
    """Presses Tab until something of that name has the focus, and asks that one can see where it is."""
    passed = []
    for _ in range(MOST_TABS):
        found = page.evaluate(FOCUSED)
        lines = found["name"].splitlines() if found else []  # an icon has a line of its own
        if found and any(line.startswith(name) for line in lines) and role in (None, found["role"]):
            assert found["shows"], f"{found} does not show that it has the focus"
            return
        passed.append(found and f"{found['role']} {found['name'][:30]!r}")
        page.keyboard.press(key)
    raise AssertionError(f"{name!r} is not reached by {key}; passed {passed}")


def press(page, name, key="Enter", role="button"):
    """Goes to a control and presses it."""
    tab_to(page, name, role)
    page.keyboard.press(key)
    settled(page)


def events(studio):
    log = EventLog(studio.workspace)
    found = [record.event.plain() for record in log.records()]
    log.close()
    return [(event["kind"], event.get("action", "")) for event in found if event["kind"] in DECISIONS]


def to_the_queue(page):
    tab_to(page, text("queue_actions"), "listbox")


def selected(page):
    return page.locator(".queue .row[aria-selected=true]").get_attribute("data-id")


def test_a_review_by_keyboard_alone(studio, page):
    ids = [each.get_attribute("data-id") for each in page.locator(".queue .row").all()]
    to_the_queue(page)
    dangerous = selected(page)
    assert dangerous == ids[0]

    page.keyboard.press("a")  # it is of high risk: three lines are asked for
    expect(page.get_by_label(text("form_why_allowed"))).to_be_focused()
    for words in ("It fits.", "None.", "Switch it off."):
        page.keyboard.type(words)
        page.keyboard.press("Tab")
    press(page, text("form_approve"))
    expect(page.locator(f'.queue .row[data-id="{dangerous}"] .shape.approved')).to_be_visible()

    expect(page.locator(".queue .list")).to_be_focused()  # what had the cursor is gone
    page.keyboard.press("j")
    sent_back = selected(page)
    page.keyboard.press("r")
    expect(page.get_by_label(text("form_reason"))).to_be_focused()
    page.keyboard.type("Look at the ranges.")
    press(page, text("form_tag"))
    expect(page.locator(f'.queue .row[data-id="{sent_back}"] .shape.required')).to_be_visible()

    to_the_queue(page)
    page.keyboard.press("c")
    expect(page.get_by_label(text("form_reason"))).to_be_focused()
    page.keyboard.type("Which samples?")
    press(page, text("form_comment"))
    expect(page.get_by_text(text("said_comment"), exact=True)).to_be_visible()

    to_the_queue(page)
    page.keyboard.press("u")
    expect(page.get_by_text(text("said_undo"), exact=True)).to_be_visible()
    assert [kind for kind, _ in events(studio)] == ["approved", "tagged", "commented", "undone"]

    page.keyboard.press("l")  # what was asked is answered with the same three lines
    expect(page.get_by_label(text("form_why_allowed"))).to_have_value("It fits.")
    expect(page.get_by_label(text("form_fallback"))).to_have_value("Switch it off.")
    expect(page.get_by_label(text("form_why_allowed"))).to_be_focused()
    assert len(events(studio)) == 4
    press(page, text("form_answer", who="ada"))
    expect(page.locator(f'.queue .row[data-id="{sent_back}"] .shape.approved')).to_be_visible()
    assert events(studio)[4:] == [("approved", sent_back)]
    assert {action for _, action in events(studio)} == {dangerous, sent_back}


def test_an_override_bulk_approval_and_the_way_to_sign_by_keyboard_alone(studio, page):
    decided = len(events(studio))
    to_the_queue(page)
    while not selected(page).startswith("quantize@"):
        page.keyboard.press("j")
        settled(page)
    quantize = selected(page)
    page.keyboard.press("o")
    expect(page.get_by_label("bit width", exact=True)).to_be_focused()
    tab_to(page, "symmetric", "input")
    page.keyboard.press("Space")
    settled(page)
    tab_to(page, text("form_reason"), "textarea")
    page.keyboard.type("Weights lie around zero.")
    expect(page.get_by_role("button", name=text("form_override"), exact=True)).to_be_enabled()  # it is measured
    press(page, text("form_override"))
    expect(page.get_by_label(text("form_reason"))).to_be_hidden()
    assert events(studio)[decided:] == [("overridden", quantize)]

    low = page.locator(".queue .row:has(.shape.pending):has(.low)").count()
    press(page, text("bulk_open", count=low))
    expect(page.get_by_test_id("stPopoverBody")).to_be_focused()  # not behind all that stands on the page
    press(page, text("bulk_confirm", count=low))
    expect(page.get_by_text(text("bulk_done", count=low))).to_be_visible()
    assert [kind for kind, _ in events(studio)[decided + 1 :]] == ["approved"] * low

    tab_to(page, text("page_sign"), "a", key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name=text("page_sign"), exact=True)).to_be_visible()
