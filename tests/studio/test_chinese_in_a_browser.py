"""The Chinese interface: what people read is Chinese, but for names, paths, commands, code and words of documents."""

from __future__ import annotations

import re

import pytest
from browsing import Studio, browser_page, settled
from finished import LINES, decided, finished
from finished import SPEC as FINISHED_SPEC
from fitted import PATH
from latin import SHOWN, english
from playwright.sync_api import expect

NAMES = frozenset(
    """
It is high for this test.
It is medium for this test.
It is low for this test.
Series
Datasheet
boot
npu
gpu
dram
net
add
psram
sram
rom
ada
tarn
sheet
quantized
""".strip().splitlines()
) | {*LINES.values()}
"""Words of the documents, the model and the people of these tests."""
SPEC = f"spec={FINISHED_SPEC}"
SCREENS = {
    "": (),
    "manuals": (),
    "confirm?draft=drafts/tarn.yaml": (),
    f"specs?{SPEC}": ("字段", "检查结果", "兼容性", "比较"),
    f"model?model=net.onnx&{SPEC}": ("屋顶线", "计算图", "图表"),
    "model?model=net.onnx&spec=rk3588%401.0.0": ("屋顶线", "计算图", "图表"),
    "specs?spec=rk3588%401.0.0": ("字段", "检查结果", "兼容性", "比较"),
    f"adapt?model=net.onnx&{SPEC}": (),
    f"review?policy={PATH}&action=quantize%40conv_1": (),
    f"review?policy={PATH}&action=place%40x": (),
    f"sign?policy={PATH}": (),
    "report": (),
}
"""Addresses, each with the tabs that are opened there."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("chinese"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    finished(started.workspace)
    decided(started.workspace, ["place@x"], "tag", reason="是否读取两次？")
    decided(started.workspace, ["place@relu_1"], "comment", reason="先看一下")
    decided(started.workspace, ["place@conv_2"], "reject", reason="不可以")
    decided(started.workspace, ["place@relu_2"], "withdraw")
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def page(studio):
    with browser_page(patience_ms=40_000, locale="zh-CN") as opened:
        yield opened
        assert opened.faults == []


def looked_at(page, address, tabs=()):
    """Every text of a screen and of its tabs, once nothing is worked out in the background any more."""
    page.goto(address)
    settled(page)
    expect(page.get_by_test_id("stProgress")).to_have_count(0)
    settled(page)
    texts = page.evaluate(SHOWN)
    for tab in tabs:
        page.get_by_role("tab", name=re.compile(f"^{tab}")).first.click()
        settled(page)
        texts += page.evaluate(SHOWN)
    return texts


@pytest.mark.parametrize(("address", "tabs"), SCREENS.items())
def test_no_english_is_left_on_a_screen(studio, page, address, tabs):
    found = looked_at(page, f"{studio.address}/{address}", tabs)
    assert len(found) > 20
    assert english(found, NAMES) == {}


def test_no_english_is_left_in_forms_and_panels(studio, page):
    page.goto(f"{studio.address}/review?policy={PATH}&action=quantize%40conv_1")
    settled(page)
    page.locator(".queue .row").first.wait_for()
    for key, words in (("o", "改为什么"), ("r", "请谁复查"), ("c", "写入评论")):
        page.locator(".queue .list").focus()
        page.keyboard.press(key)
        expect(page.get_by_text(words).first).to_be_visible()
        page.wait_for_function("document.activeElement.matches('input, textarea')")  # the form has taken the cursor
        settled(page)
        assert english(page.evaluate(SHOWN), NAMES) == {}
    page.get_by_role("button", name=re.compile("记录")).first.click()
    settled(page)
    assert english(page.evaluate(SHOWN), NAMES) == {}
    page.keyboard.press("Escape")


def test_english_that_is_left_would_be_found(studio, page):
    looked_at(page, f"{studio.address}/report?lang=en")
    expect(page.get_by_text("Does it fit?").first).to_be_visible()
    settled(page)
    found = english(page.evaluate(SHOWN), NAMES)
    assert sum(map(len, found.values())) > 300
    assert "Does it fit?" in found


@pytest.mark.parametrize(("language", "state"), [("zh", "已批准 6"), ("en", "approved 6")])
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
    [("sign?", "融合"), ("review?action=quantize%40conv_1&", "位宽"), ("review?action=quantize%40conv_1&", "计算单元")],
)
def test_kinds_and_parameters_have_chinese_names(studio, page, address, words):
    page.goto(f"{studio.address}/{address}policy={PATH}&lang=zh")
    expect(page.get_by_text(words, exact=True).first).to_be_visible()
