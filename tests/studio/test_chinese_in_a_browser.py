"""The Chinese interface: what people read is Chinese, but for names, paths, commands, code and words of documents."""

from __future__ import annotations

import re

import pytest
from browsing import Studio, browser_page, settled
from finished import decided
from fitted import PATH, fitted
from playwright.sync_api import expect

SHOWN = """() => {
    const texts = [];
    const walk = (node) => {
        if (node.nodeType === Node.TEXT_NODE) {
            const near = node.parentElement;
            if (near && near.checkVisibility({opacityProperty: true})) texts.push(node.textContent);
        } else if (!['CODE', 'PRE', 'KBD', 'STYLE', 'SCRIPT', 'BLOCKQUOTE', 'CANVAS'].includes(node.nodeName)) {
            for (const child of (node.shadowRoot || node).childNodes) walk(child);
        }
    };
    walk(document.body);
    return texts.map(each => each.trim()).filter(Boolean);
}"""
SENTENCE = re.compile(r"[A-Za-z][A-Za-z'-]*(?: [A-Za-z][A-Za-z'-]*){2,}")
"""Three Latin words one after the other."""
OURS = ("It is high for this test.", "It is medium for this test.", "It is low for this test.")
"""What the workspace of these tests says itself."""
DOCUMENT = re.compile(
    r"MB per file|data sheet|Technical Reference|Skip to main content|Link to heading|Jacob et al|Howard et al"
)
"""Titles and words of documents, and what Streamlit says itself and lets nobody set."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("chinese"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium")
    decided(started.workspace, ["place@x"], "tag", reason="是否读取两次？")
    decided(started.workspace, ["place@relu_1"], "approve")
    decided(started.workspace, ["place@conv_2"], "reject", reason="不可以")
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def page(studio):
    with browser_page(locale="zh-CN") as opened:
        yield opened
        assert opened.faults == []


def latin(page):
    found = [each for each in page.evaluate(SHOWN) if SENTENCE.search(each)]
    return [each for each in found if each not in OURS and not DOCUMENT.search(each)]


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("", "主页"),
        (f"review?policy={PATH}&action=quantize%40conv_1", "审批"),
        (f"sign?policy={PATH}", "签名"),
        (f"adapt?policy={PATH}", "适配"),
        ("specs", "硬件规格"),
        ("manuals", "手册"),
    ],
)
def test_what_people_read_is_chinese(studio, page, address, words):
    page.goto(f"{studio.address}/{address}")
    settled(page)
    expect(page.get_by_text(words).first).to_be_visible()
    settled(page)
    found = latin(page)
    assert found == [], found


@pytest.mark.parametrize(("language", "state"), [("zh", "已批准 1"), ("en", "approved 1")])
def test_every_filter_of_the_queue_is_seen_whole(studio, page, language, state):
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"{studio.address}/review?policy={PATH}&lang={language}")
    expect(page.locator(".st-key-state").get_by_role("button", name=state)).to_be_visible()
    for key, chips in (("risk", 3), ("state", 4), ("me", 1)):
        row = page.locator(f".st-key-{key} [role=toolbar]")
        expect(row.get_by_role("button")).to_have_count(chips)
        ends = row.evaluate("row => [...row.children].map(chip => chip.getBoundingClientRect().right)")
        room = row.evaluate("row => row.closest('[data-testid=stColumn]').getBoundingClientRect().right")
        assert max(ends) <= room + 1, (key, ends, room)


@pytest.mark.parametrize(
    ("address", "words"),
    [("sign?", "融合"), ("review?action=quantize%40conv_1&", "位宽"), ("review?action=quantize%40conv_1&", "目标硬件")],
)
def test_kinds_and_parameters_have_chinese_names(studio, page, address, words):
    page.goto(f"{studio.address}/{address}policy={PATH}&lang=zh")
    expect(page.get_by_text(words, exact=True).first).to_be_visible()
