"""Every screen, light and dark, narrow and wide, full and empty: axe finds nothing serious, and nothing is clipped."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import Studio, browser_page, settled
from finished import PACKAGE, SPEC, decided, finished
from fitted import PATH
from playwright.sync_api import expect

SCREENS = {
    "home": "",
    "manuals": "manuals",
    "confirm": "confirm?draft=drafts/tarn.yaml",
    "specs": "specs",
    "spec": f"specs?spec={SPEC}",
    "model": f"model?model=net.onnx&spec={SPEC}",
    "roofline": f"model?model=net.onnx&spec={SPEC}&view=Roofline",
    "graph": f"model?model=net.onnx&spec={SPEC}&view=Graph&node=conv_2",
    "costs": f"model?model=net.onnx&spec={SPEC}&view=Pictures",
    "memory": f"model?model=net.onnx&spec={SPEC}&view=Pictures&picture=memory",
    "channels": f"model?model=net.onnx&spec={SPEC}&view=Pictures&picture=channels",
    "adapt": f"adapt?model=net.onnx&spec={SPEC}",
    "review": f"review?policy={PATH}&action=quantize%40conv_2",
    "sign": f"sign?policy={PATH}",
    "report": f"report?package={PACKAGE}",
}
SIZES = ((1280, 900), (1920, 1080))
SERIOUS = ("serious", "critical")
OVERFLOW = """() => [...document.querySelectorAll('[data-testid="stMainBlockContainer"] .mi, .queue, .desk')]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX === 'visible')
    .map((each) => each.className + ': ' + each.innerText.slice(0, 60))"""


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("full"), LOGNAME="ada", USER="ada")
    finished(started.workspace)
    decided(started.workspace, ["place@x"], "withdraw")  # something is open again
    started.start()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("empty"), LOGNAME="ada", USER="ada").start()
    yield started
    started.stop()


def faults(page):
    """What axe finds that is serious, with the element; and what is wider than its place."""
    found = Axe().run(page).response["violations"]
    told = [
        f"{fault['id']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
        for fault in found
        if fault["impact"] in SERIOUS
        for node in fault["nodes"]
    ]
    return told + [f"clipped: {each}" for each in page.evaluate(OVERFLOW)]


def in_each_look(page):
    """Faults of a page in light and dark, at both sizes."""
    found = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.reload()
        expect(page.get_by_test_id("stMainBlockContainer").locator("a, button, h1, .mi").first).to_be_visible()
        for width, height in SIZES:
            page.set_viewport_size({"width": width, "height": height})
            settled(page)
            expect(page.get_by_test_id("stSkeleton")).to_have_count(0)
            expect(page.locator('[data-stale="true"]')).to_have_count(0)
            told = faults(page)
            if told:
                found[scheme, width] = told
    return found


@pytest.mark.parametrize("name", SCREENS)
def test_feature_15_and_feature_16_a_screen_with_content(full, name):
    with browser_page() as page:
        page.goto(f"{full.address}/{SCREENS[name]}")
        if SCREENS[name].startswith("model"):  # a job reads the model first
            expect(page.get_by_role("tab").first).to_be_visible()
        settled(page)
        assert in_each_look(page) == {}
        assert page.asked, "nothing was asked of the studio itself"
        assert full.outside(page) == []  # feature_15: of no other machine, on any screen


@pytest.mark.parametrize("name", ["home", "manuals", "confirm", "specs", "model", "adapt", "review", "sign", "report"])
def test_an_empty_screen(empty, name):
    with browser_page() as page:
        page.goto(f"{empty.address}/{name if name != 'home' else ''}")
        settled(page)
        assert in_each_look(page) == {}


def test_a_form_of_the_review(full):
    with browser_page() as page:
        page.goto(f"{full.address}/review?policy={PATH}&action=quantize%40conv_2")
        expect(page.locator(".queue .row[aria-selected=true]")).to_have_attribute("data-id", "quantize@conv_2")
        settled(page)
        page.locator(".queue .list").focus()
        page.keyboard.press("o")
        expect(page.get_by_label("bit width", exact=True)).to_be_focused()
        assert in_each_look(page) == {}  # it is there again after each reload


def test_a_fault_is_found(empty):
    with browser_page() as page:
        page.goto(f"{empty.address}/report")
        expect(page.locator(".mi").first).to_be_visible()
        settled(page)
        page.evaluate("""() => document.querySelector('.mi').insertAdjacentHTML('beforeend',
            '<img src="data:,"><p style="color:#bbb;background:#fff">pale</p>')""")
        assert {each.split(":")[0] for each in faults(page)} >= {"image-alt", "color-contrast"}


def test_each_way_in_is_read_whole_on_a_narrow_screen(empty):
    with browser_page(120_000, viewport={"width": 1280, "height": 800}) as page:
        page.goto(empty.address)
        settled(page)
        links = page.locator('.st-key-ways_in [data-testid="stPageLink-NavLink"] p')
        expect(links).to_have_count(3)
        assert links.evaluate_all("all => all.filter(each => each.scrollWidth > each.clientWidth + 1).length") == 0
