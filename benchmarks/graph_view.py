"""How fast the graph of a large branching model is seen and opened, in a real browser on a studio of its own.

Run it as `python benchmarks/graph_view.py [NODES] [RUNS]`, alone on the machine. Prints medians and the longest of the
runs: from the click on the tab to the first grouped picture, from the click on a group of about 300 operators to its
inside, from the click on a node to its panel, and the longest pause of the page meanwhile (it beats every 50 ms).
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "studio"))

from branching import branching  # noqa: E402
from browsing import Studio, browser_page, settled  # noqa: E402

GROUP = 300
HEART = """() => { window.beats = [performance.now()]; setInterval(() => window.beats.push(performance.now()), 50); }"""
PAUSE = """() => { const beats = window.beats; window.beats = [performance.now()];
    return Math.max(0, ...beats.slice(1).map((beat, at) => beat - beats[at])); }"""


def timed(page: Page, deed: str) -> tuple[float, float]:
    """Milliseconds from a click until what it leads to is drawn, and the longest pause of the page meanwhile."""
    page.evaluate(PAUSE)
    script = deed.replace("DEEP", DEEP).replace("GROUP", str(GROUP))
    return page.evaluate(script), page.evaluate(PAUSE)


DEEP = """const deep = (selector) => [document, ...[...document.querySelectorAll('div')].map((each) => each.shadowRoot)
    .filter(Boolean)].flatMap((root) => [...root.querySelectorAll(selector)]);"""
"""A component's parts stand in a shadow of the page."""
OPEN = """() => new Promise((done) => {
    DEEP
    const begin = performance.now();
    const groups = deep('.graph .box.group');
    const size = (box) => parseInt(box.querySelector('.operators').textContent);
    const box = groups.sort((a, b) => Math.abs(size(a) - GROUP) - Math.abs(size(b) - GROUP))[0];
    const key = box.dataset.key;
    box.click();
    const look = () => deep(`.graph .frame[data-key="${key}"]`).length
        ? requestAnimationFrame(() => done(performance.now() - begin)) : requestAnimationFrame(look);
    look();
})"""
PICK = """() => new Promise((done) => {
    DEEP
    const begin = performance.now();
    const box = deep('.graph .box.node').at(-1);
    box.click();
    const name = box.title.split('\\n')[0];
    const isThere = () => [...document.querySelectorAll('.mi .lead code')].some((code) => code.title === name);
    const look = () => isThere()
        ? requestAnimationFrame(() => done(performance.now() - begin)) : requestAnimationFrame(look);
    look();
})"""
TAB = """() => new Promise((done) => {
    DEEP
    const begin = performance.now();
    [...document.querySelectorAll('[role=tab]')].find((tab) => tab.textContent.trim() === 'Graph').click();
    const look = () => deep('.graph .box').length
        ? requestAnimationFrame(() => done(performance.now() - begin)) : requestAnimationFrame(look);
    look();
})"""


def main(count: int, runs: int) -> None:
    folder = Path(tempfile.mkdtemp())
    studio = Studio(folder)
    studio.workspace.mkdir()
    (studio.workspace / "branching.onnx").write_bytes(branching(count))
    studio.start()
    rows: dict[str, list[tuple[float, float]]] = {"first picture": [], "open a group": [], "pick a node": []}
    try:
        with browser_page() as page:
            begin = time.perf_counter()
            page.goto(f"{studio.address}/model?model=branching.onnx&spec=rk3588@1.0.0")
            tab = page.get_by_role("tab", name="Graph", exact=True)
            expect(tab).to_be_visible()
            print(f"read by a job, once: {time.perf_counter() - begin:.1f} s, with progress and a button to cancel")
        for run in range(runs):
            with browser_page() as page:
                page.goto(f"{studio.address}/model?model=branching.onnx&spec=rk3588@1.0.0")
                expect(page.get_by_role("tab", name="Graph", exact=True)).to_be_visible()
                settled(page)
                page.evaluate(HEART)
                for name, deed in (("first picture", TAB), ("open a group", OPEN), ("pick a node", PICK)):
                    rows[name].append(timed(page, deed))
                    settled(page)
                if run == 0:
                    boxes = page.locator(".graph .box").count()
    finally:
        studio.stop()
    print(f"{count} nodes, {boxes} boxes drawn at most; {runs} runs")
    print(f"{'':16} {'first ms':>9} {'median ms':>10} {'longest ms':>11} {'longest pause ms':>17}")
    for name, found in rows.items():
        times, pauses = zip(*found, strict=True)
        print(f"{name:16} {times[0]:9.0f} {statistics.median(times):10.0f} {max(times):11.0f} {max(pauses):17.0f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 7)
