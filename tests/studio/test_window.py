import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from studio.server.window import BROWSERS
from studio.words.texts import text

ROOT = Path(__file__).parents[2]
PATIENCE = 600


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(tmp_path, port, path):
    return subprocess.Popen(
        [sys.executable, "-m", "metainfer_core", "studio", "--window", "--port", str(port), "--workspace",
         str(tmp_path / "w")],
        cwd=ROOT,
        env={**os.environ, "PATH": str(path), "GIT_CONFIG_GLOBAL": "/dev/null"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def program(folder, name, script):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("name", [BROWSERS[0], BROWSERS[-1]])
def test_the_window_shows_the_studio_and_closing_it_ends_the_server(tmp_path, name):
    port, door = free_port(), free_port()
    # The browser as it is, without a screen: this machine has none, and its user is root.
    words = f'exec /usr/bin/chromium --headless=new --no-sandbox --remote-debugging-port={door} "$@"'
    started = start(tmp_path, port, program(tmp_path / "bin", name, words))
    end = time.monotonic() + PATIENCE
    pages = []
    while not pages:
        assert started.poll() is None, started.communicate()
        assert time.monotonic() < end
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{door}/json/list", timeout=5) as answer:
                pages = [each for each in json.load(answer) if each["url"].startswith(f"http://127.0.0.1:{port}")]
        except OSError:
            time.sleep(0.2)
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(f"http://127.0.0.1:{door}")
        (page,) = browser.contexts[0].pages
        expect(page.get_by_role("button", name=text("home_sample_button"))).to_be_visible(timeout=PATIENCE * 1000)
        browser.new_browser_cdp_session().send("Browser.close")
    _, error = started.communicate(timeout=PATIENCE)
    assert started.returncode == 0, error
    assert not is_listening(port)
    assert (tmp_path / "w").is_dir()


def test_without_a_browser_it_says_what_to_do(tmp_path):
    port = free_port()
    (tmp_path / "bin").mkdir()
    started = start(tmp_path, port, tmp_path / "bin")
    out, error = started.communicate(timeout=PATIENCE)
    assert started.returncode == 2
    assert "No browser is found that can show a window of its own." in out + error
    assert "leave --window out" in out + error
    assert not (tmp_path / "w").exists()


def test_a_browser_that_fails_is_quoted_and_nothing_keeps_running(tmp_path):
    port = free_port()
    started = start(tmp_path, port, program(tmp_path / "bin", "chromium", "echo 'Missing X server' >&2; exit 1"))
    out, error = started.communicate(timeout=PATIENCE)
    assert started.returncode == 2
    assert "cannot show the window" in out + error
    assert "Missing X server" in out + error
    assert not is_listening(port)
