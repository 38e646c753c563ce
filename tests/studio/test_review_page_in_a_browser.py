"""The page of a review in a real browser: it asks nothing of anyone, its content policy holds, and it prints."""

import pytest
from fitted import PATH, fitted
from playwright.sync_api import sync_playwright
from reportlab.pdfgen.canvas import Canvas

from metainfer_core.actions.action import Reason
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from review_store.export.page_export import export_page
from studio.files.policies import review_of, subject


@pytest.fixture
def page_file(tmp_path, monkeypatch):
    """The page of a review whose first reason has a place on a manual's page."""
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    fitted(tmp_path, a0="high")
    manual = tmp_path / "chip.pdf"
    canvas = Canvas(str(manual), pagesize=(400, 300), invariant=1)
    canvas.drawString(100, 188, "SRAM: 512 KiB")
    canvas.save()
    found = subject(tmp_path / PATH)
    digest = sha256(manual.read_bytes())
    spec = HardwareSpec.from_plain(
        found.spec.spec.plain()
        | {
            "sources": {"m": {"title": "Manual", "document_digest": digest}},
            "provenance": {"memories.sram.size_bytes": {"source": "m", "page": 1, "box": [100, 100, 220, 114]}},
            "assumed": {},
        }
    )
    plain = found.policy.plain()
    reason = Reason(claim="It fits.", spec_field="memories.sram.size_bytes").plain()
    plain["actions"][0]["why"] = [reason]
    (tmp_path / PATH).write_bytes(Policy.from_plain(plain).to_json())
    review = review_of(subject(tmp_path / PATH))
    find = {digest: manual}.get
    data = export_page(tmp_path, review.log, review.state, spec, find, "2026-11-30T00:00:00Z", lambda *said: None)
    path = tmp_path / "review.html"
    path.write_bytes(data)
    return path


def test_the_page_shows_its_pictures_and_asks_nothing_of_anyone(page_file):
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        said, asked = [], []
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri())
        assert said == []  # a broken content policy is told there
        assert asked == [page_file.as_uri()]
        cutout = page.locator(".cutout").first
        cutout.scroll_into_view_if_needed()
        box = cutout.bounding_box()
        assert (round(box["width"]), round(box["height"])) == (722, 170)  # 720 x 168, and a line around it
        picture = page.locator("symbol image").first
        assert picture.get_attribute("href").startswith("data:image/png;base64,")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": 400, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.pdf(format="A4").startswith(b"%PDF")
        assert page.evaluate("getComputedStyle(document.querySelector('.risk')).borderRadius") == "16px"  # has style
        browser.close()
