"""The studio as people start it, and a browser that remembers where it was sent."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

ROOT = Path(__file__).parents[2]


class Studio:
    """A server on a workspace; can be stopped and started again on the same port."""

    def __init__(self, folder, **environment):
        self.workspace, self.log = folder / "w", folder / "log"
        self.environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", **environment}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self):
        command = [sys.executable, "-m", "metainfer_core", "studio", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--workspace", str(self.workspace)], cwd=ROOT, stdout=log, stderr=log, env=self.environment
            )
        end = time.monotonic() + 600
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return self
            except OSError:
                time.sleep(0.2)
        raise AssertionError(self.log.read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait(300)

    def kill(self):
        """Ends it as a power cut does."""
        self.process.kill()
        self.process.wait(300)

    def restart(self):
        self.stop()
        return self.start()

    def outside(self, page):
        """Addresses that a page asked for and that are not this server's."""
        ours = re.compile(rf"(http|ws)://127\.0\.0\.1:{self.port}/|blob:|data:|about:")
        return [url for url in page.asked if not ours.match(url)]


@contextmanager
def browser_page(patience_ms=300_000, **context):
    """A page that keeps every address that it asked for and every fault of its scripts."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        opened = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
        opened.set_default_timeout(patience_ms)
        expect.set_options(timeout=patience_ms)
        opened.asked, opened.faults = [], []
        opened.on("request", lambda request: opened.asked.append(request.url))
        opened.on("websocket", lambda stream: opened.asked.append(stream.url))
        opened.on("pageerror", lambda error: opened.faults.append(str(error)))
        yield opened
        browser.close()


def settled(page):
    """Waits until the script that draws the page has come to its end, and the frame's own scripts hear the keys."""
    page.wait_for_function(
        """() => {
            const app = document.querySelector('[data-testid="stApp"]');
            const isOurs = document.querySelector('[data-testid="stSidebarNav"]') !== null;
            const hears = window.metaInferKeyboard && window.metaInferEntersPopovers && window.metaInferJobFocus;
            return app && app.dataset.testScriptState === 'notRunning' && (hears || !isOurs);
        }"""
    )


def bottom(locator):
    """Where something that is to be seen ends, in pixels from the top of the window."""
    expect(locator).to_be_visible()
    box = locator.bounding_box()
    return box["y"] + box["height"]
