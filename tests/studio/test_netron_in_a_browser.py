"""Netron inside of the studio: each sees their own model, nothing leaves, and no date stops it."""

import datetime
import re

import pytest
from branching import branching
from browsing import Studio, browser_page, settled
from playwright.sync_api import expect

from studio.words.texts import text

NODES = """(wanted) => {
    const inner = document.querySelector('iframe')?.contentDocument;
    const words = [...(inner?.querySelectorAll('.node text') ?? [])].map((each) => each.textContent);
    return words.some((each) => each.includes(wanted));
}"""
WORDS = "() => document.querySelector('iframe').contentDocument.body.innerText"
MODELS = {"ours.onnx": ("Tanh", "Ceil"), "theirs.onnx": ("Ceil", "Tanh")}
"""Model to an operator that it alone has, and one that it has not."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("netron"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    for name, (operator, _) in MODELS.items():
        (started.workspace / name).write_bytes(branching(40).replace(b"Relu", operator.encode()))
    started.start()
    yield started
    started.stop()


def see(studio, page, name):
    page.goto(f"{studio.address}/model?model={name}")
    tab = page.get_by_role("tab", name=text("model_graph"))
    expect(tab).to_be_visible()
    settled(page)
    tab.click()
    expect(page.locator("iframe")).to_be_visible()
    page.wait_for_function(NODES, arg=MODELS[name][0])


def test_fault_18_two_people_with_two_models_each_see_their_own(studio):
    with browser_page() as mine:
        theirs = mine.context.browser.new_context().new_page()
        pages = {"ours.onnx": mine, "theirs.onnx": theirs}
        for name, page in pages.items():
            see(studio, page, name)
        for name, page in pages.items():
            has, has_not = MODELS[name]
            for tab in (page, page.context.new_page()):
                if tab is not page:
                    see(studio, tab, name)
                assert tab.evaluate(NODES, has)
                assert not tab.evaluate(NODES, has_not)
        assert studio.outside(mine) == []


def test_fault_15_no_request_leaves_no_box_appears_and_no_date_stops_it(studio):
    later = datetime.datetime.now() + datetime.timedelta(days=400)
    with browser_page() as page:
        page.clock.install(time=later)
        page.route(re.compile(rf"^(?!http://127\.0\.0\.1:{studio.port}/|blob:|data:)"), lambda route: route.abort())
        see(studio, page, "ours.onnx")
        page.wait_for_timeout(3000)  # Netron asks some time after it has loaded
        assert page.evaluate("new Date().getFullYear()") == later.year
        assert page.evaluate(NODES, "Tanh")
        assert not re.search("(?i)update|consent|cookie|accept", page.evaluate(WORDS))
        assert studio.outside(page) == []
