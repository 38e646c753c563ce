import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from branching import branching
from browsing import ROOT, Studio, browser_page, settled
from fitted import PATH, fitted
from playwright.sync_api import expect

from studio.model.netron_tab import MOST_AT_ONCE
from studio.words.texts import text

HOSTILE = "<img src=x onerror=alert(1)>"
VIEW = text("graph_view")
HOLD = """() => {
    const send = WebSocket.prototype.send, held = [];
    WebSocket.prototype.send = function (data) { held.push([this, data]); };
    window.letGo = () => {
        WebSocket.prototype.send = send;
        for (const [to, data] of held) send.call(to, data);
    };
}"""
HEART = "() => { window.beats = 0; window.heart = setInterval(() => (window.beats += 1), 50); }"


@contextmanager
def clicks_app(folder):
    """The screen of `graph_clicks_app.py` on a server of its own; gives its address and the file that it writes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / "clicks"
    path = os.pathsep.join((str(ROOT), str(Path(__file__).parent)))
    command = [sys.executable, "-m", "streamlit", "run", str(Path(__file__).with_name("graph_clicks_app.py"))]
    command += ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": path, "CLICKS_LOG": str(log)},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2):
                    break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", log
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("graph"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    fitted(started.workspace, a0="high", a1="medium")
    (started.workspace / "branching.onnx").write_bytes(branching(MOST_AT_ONCE + 500, [HOSTILE]))
    started.start()
    yield started
    started.stop()


@pytest.fixture
def page(studio):
    with browser_page() as opened:
        yield opened
        assert studio.outside(opened) == []
        assert opened.faults == []


def see(studio, page, model, **query):
    """The graph of a model, once a job has read it."""
    words = "".join(f"&{key}={value}" for key, value in query.items())
    page.goto(f"{studio.address}/model?model={model}&view={VIEW}&spec=esp32s3@1.0.0{words}")
    expect(page.locator(".graph .box").first).to_be_visible()
    settled(page)


def place(page):
    return page.locator(".graph .world").evaluate("(world) => world.style.transform")


def instance(page):
    return page.locator(".graph").get_attribute("data-instance")


def picked(page, name):
    """Waits until the server has said that a node is picked: its panel stands beside the picture."""
    expect(page.locator(f'.mi .lead code[title="{name}"]')).to_be_visible()
    settled(page)


def test_fault_12_fifty_quick_clicks_arrive_as_fifty_numbers(tmp_path):
    with clicks_app(tmp_path) as (address, log), browser_page() as page:
        page.goto(address)
        expect(page.locator(".graph .node")).to_have_count(20)
        settled(page)
        runs_before = len(log.with_suffix(".runs").read_text())
        name = instance(page)
        boxes = [box for box in page.locator(".graph .node").all() if box.bounding_box()["y"] < 500]
        places = [box.bounding_box() for box in boxes]
        keys = [box.get_attribute("data-key") for box in boxes]
        for click in range(50):
            at = places[click % len(places)]
            page.mouse.click(at["x"] + 30, at["y"] + 10)
        for _ in range(600):
            if log.exists() and log.read_text().count("\n") >= 50:
                break
            page.wait_for_timeout(100)
        lines = [line.split() for line in log.read_text().splitlines()]
        assert [int(number) for number, _, _ in lines] == list(range(1, 51))
        assert [on for _, verb, on in lines if verb == "pick"] == [keys[click % len(keys)] for click in range(50)]
        settled(page)
        assert len(log.with_suffix(".runs").read_text()) - runs_before <= 100  # two runs a click at most
        assert instance(page) == name
        assert page.faults == []


def test_fault_17_a_highlight_changes_in_place_and_clicks_arrive_in_their_order(studio, page):
    see(studio, page, "net.onnx", policy=PATH)
    stage = page.locator(".graph .stage").bounding_box()
    page.mouse.move(stage["x"] + 40, stage["y"] + 60)
    page.keyboard.down("Control")
    page.mouse.wheel(0, 60)
    page.keyboard.up("Control")
    zoomed = place(page)
    page.mouse.wheel(-37, -21)  # scrolls the page, not the picture
    page.wait_for_timeout(200)
    assert place(page) == zoomed
    stage = page.locator(".graph .stage").bounding_box()
    page.mouse.move(stage["x"] + 40, stage["y"] + 60)
    page.mouse.down()
    page.mouse.move(stage["x"] + 72, stage["y"] + 95, steps=4)
    page.mouse.up()
    dragged = place(page)
    page.mouse.wheel(-37, -21)  # after a press into it, the picture
    page.wait_for_timeout(200)
    assert len({place(page), dragged, zoomed}) == 3
    before, name = place(page), instance(page)
    assert re.fullmatch(r"translate\([\d.-]+px, [\d.-]+px\) scale\(0\.\d+\)", before)
    page.locator(".graph .node", has_text="conv_1").click()
    picked(page, "conv_1")
    page.locator(".graph .node", has_text="relu_1").click()
    picked(page, "relu_1")
    expect(page.locator('.graph .box[aria-selected="true"]')).to_have_attribute("aria-label", re.compile("^relu_1,"))
    page.get_by_role("radiogroup").get_by_text(text("colour_risk"), exact=True).click()
    expect(page.locator(".graph .legend")).to_contain_text(text("risk_none"))
    settled(page)
    assert (place(page), instance(page)) == (before, name)
    expect(page).to_have_url(re.compile("node=relu_1.*colour=risk|colour=risk.*node=relu_1"))
    page.reload()
    expect(page.locator('.graph .box[aria-selected="true"]')).to_have_attribute("aria-label", re.compile("^relu_1,"))


def test_fault_16_a_large_graph_opens_in_groups_and_the_page_lives(studio, page):
    page.goto(f"{studio.address}/model?model=branching.onnx&view={VIEW}&spec=esp32s3@1.0.0")
    page.evaluate(HEART)
    expect(page.locator(".graph .box").first).to_be_visible()
    settled(page)
    assert 2 <= page.locator(".graph .box").count() <= 24
    while group := page.locator(".graph .group").first:
        key = group.get_attribute("data-key")
        before = page.locator(".graph .box").count()
        at = group.bounding_box()
        group.click()
        frame = page.locator(f'.graph .frame[data-key="{key}"]')
        expect(frame).to_be_visible()
        settled(page)
        assert abs(frame.bounding_box()["x"] - at["x"]) < 1  # it opens where it was
        assert abs(frame.bounding_box()["y"] - at["y"]) < 1
        assert before < page.locator(".graph .box").count() <= 200
        if frame.locator("xpath=following-sibling::*[1]").get_attribute("class").startswith("box node"):
            break
    assert page.evaluate("window.beats") > 3
    page.locator(".graph input").fill("img src")
    expect(page.locator(".graph .found [role=option]")).to_have_count(1)
    page.keyboard.press("Enter")
    picked(page, HOSTILE.replace('"', '\\"'))
    assert page.locator("img[src=x]").count() == 0
    expect(page.locator('.graph .box[aria-selected="true"]')).to_be_in_viewport()


def test_fault_16_waiting_for_a_group_can_be_cancelled(studio, page):
    see(studio, page, "branching.onnx")
    page.evaluate(HOLD)
    key = page.locator(".graph .group").first.get_attribute("data-key")
    page.locator(".graph .group").first.click()
    expect(page.locator(".graph .wait")).to_be_visible()  # the server does not answer
    page.locator(".graph .wait button").click()
    expect(page.locator(".graph .wait")).to_be_hidden()
    page.evaluate("window.letGo()")
    page.locator(".graph .group").nth(1).click()  # what comes after it is taken too
    expect(page.locator(".graph .frame")).to_have_count(1)
    settled(page)
    expect(page.locator(f'.graph .group[data-key="{key}"]')).to_be_visible()


def test_fault_16_netron_is_not_started_on_a_large_graph_unasked(studio, page):
    see(studio, page, "branching.onnx")
    page.get_by_role("tab", name=text("model_graph")).click()
    expect(page.get_by_role("button", name=text("graph_large_open"))).to_be_visible()
    assert page.locator("iframe").count() == 0
    see(studio, page, "net.onnx")
    page.get_by_role("tab", name=text("model_graph")).click()
    expect(page.locator("iframe")).to_be_visible()


def test_from_a_node_to_its_action_and_back(studio, page):
    see(studio, page, "net.onnx", policy=PATH, node="add")
    page.get_by_role("link", name=re.compile("Fuse with")).click()
    expect(page.locator(".queue .row[aria-selected=true]")).to_have_attribute("data-id", "fuse@add")
    settled(page)
    page.get_by_role("link", name=text("graph_show")).click()
    expect(page.locator('.graph .box[aria-selected="true"]')).to_have_attribute("aria-label", re.compile("^add,"))
    expect(page.locator(".graph .marked").first).to_be_visible()
    expect(page).to_have_url(re.compile("model=net.onnx.*node=add|node=add.*model=net.onnx"))


def test_all_of_it_by_keyboard_and_readable_without_eyes(studio, page):
    see(studio, page, "branching.onnx")
    focused = page.locator(".graph .box:focus")
    page.locator(".graph .fit").focus()
    page.keyboard.press("Tab")
    expect(focused).to_have_count(1)
    page.keyboard.press("End")
    while focused.get_attribute("aria-expanded") != "false":
        page.keyboard.press("ArrowUp")
    key = focused.get_attribute("data-key")
    page.keyboard.press("Enter")
    expect(page.locator(f'.graph .frame[data-key="{key}"][aria-expanded="true"]')).to_be_focused()
    settled(page)
    page.keyboard.press("ArrowDown")
    assert focused.get_attribute("aria-level") == "2"
    page.keyboard.press("Escape")
    expect(page.locator(f'.graph .group[data-key="{key}"]')).to_be_focused()
    settled(page)
    page.keyboard.press("/")
    page.keyboard.type("Relu@12")
    expect(page.locator(".graph .found [role=option]").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".graph .found [aria-selected=true]").inner_text().split()[0]
    page.keyboard.press("Enter")
    picked(page, chosen)
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa"]}).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


@pytest.mark.slow
def test_fault_16_ten_thousand_nodes(studio, page):
    (studio.workspace / "huge.onnx").write_bytes(branching(10_000))
    see(studio, page, "huge.onnx")
    assert 2 <= page.locator(".graph .box").count() <= 24
    page.locator(".graph .group").nth(3).click()
    expect(page.locator(".graph .frame")).to_have_count(1)
    assert page.locator(".graph .box").count() <= 200
