import http.client

import pytest
from browsing import Studio, browser_page, settled
from playwright.sync_api import expect

from studio.words.texts import text


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("lost"), LOGNAME="ada", USER="ada").start()
    yield started
    started.stop()


@pytest.mark.parametrize(
    ("path", "accept", "answer"),
    [
        ("/home", "text/html,*/*", (307, "/")),
        ("/home/", "text/html", (307, "/")),
        ("/nowhere", "text/html", (307, "/?lost=nowhere")),
        ("/confirm/deeper", "text/html", (307, "/?lost=confirm%2Fdeeper")),
        ("/%3Cb%3E", "text/html", (307, "/?lost=%3Cb%3E")),
        ("//evil.example", "text/html", (None, None)),
        ("/", "text/html", (200, None)),
        ("/confirm", "text/html", (200, None)),
        ("/_stcore/health", "text/html", (200, None)),
        ("/netron/model/x/y", "text/html", (403, None)),
        ("/nowhere", "*/*", (200, None)),
    ],
)
def test_what_no_screen_has_leads_home_and_all_else_is_untouched(studio, path, accept, answer):
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
    connection.request("GET", path, headers={"accept": accept})
    got = connection.getresponse()
    if answer == (None, None):  # whatever it is, it does not lead to another server
        assert (got.getheader("location") or "/?").startswith("/?")
    else:
        assert (got.status, got.getheader("location")) == answer


def test_a_person_who_is_lost_stands_at_home_and_is_told(studio):
    with browser_page() as page:
        page.goto(f"{studio.address}/nowhere")
        expect(page.get_by_text(text("home_lost", screen="nowhere"))).to_be_visible()
        page.goto(f"{studio.address}/home")
        settled(page)
        expect(page.get_by_role("heading", name=text("home_title"))).to_be_visible()
        assert page.get_by_text("There is no screen").count() == 0
        assert page.get_by_text("Page not found").count() == 0
        assert page.faults == []
