"""Fault 14: what passes an upload box by a hand-made request or a strange name. Each file is refused in its own words.

A real browser on a real server; where a browser would not send such a thing, its request is rewritten on the way.
"""

import http.client
import io
import re

import pytest
from browsing import Studio, browser_page, settled
from playwright.sync_api import expect
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from metainfer_core.files import MEBIBYTE
from studio.background.jobs import jobs_folder
from studio.files.workspace import hidden_folder
from studio.words.texts import text

PROGRAM = b"MZ\x90\x00\x03" + bytes(200)
UPLOADS = "**/_stcore/upload_file/**"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    started = Studio(tmp_path_factory.mktemp("uploads"), LOGNAME="ada", USER="ada")
    started.workspace.mkdir()
    started.start()
    yield started
    started.stop()


@pytest.fixture
def page(studio):
    with browser_page(patience_ms=100_000) as opened:
        opened.goto(f"{studio.address}/manuals")
        expect(opened.get_by_test_id("stFileUploader")).to_be_visible()
        settled(opened)
        yield opened
        assert opened.faults == []


def upload(page, name, data):
    box = page.get_by_test_id("stFileUploader").locator("input[type=file]")
    box.set_input_files({"name": name, "mimeType": "application/pdf", "buffer": data})


def press_read(page):
    button = page.get_by_role("button", name=text("manuals_read"), exact=True)
    expect(button).to_be_enabled()
    settled(page)
    button.click()


def started(studio):
    """How many jobs there are, each of which runs a parser, and how many files were kept."""
    jobs = jobs_folder(studio.workspace).glob("*/order.json")
    kept = hidden_folder("quarantine", studio.workspace).glob("*/*")
    return [len(list(jobs)), len(list(kept))]


def locked_pdf():
    out = io.BytesIO()
    canvas = Canvas(out, encrypt=StandardEncryption("secret", ownerPassword="owner"))
    canvas.drawString(72, 720, "The CPU has a 32 KB L1 instruction cache.")
    canvas.save()
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("manual.pdf", PROGRAM, "manual.pdf: this is a Windows program."),
        ("manual.pdf", b"", "manual.pdf: the file is empty."),
    ],
    ids=["a program", "nothing"],
)
def test_fault_14_what_is_no_document_is_refused_before_it_is_kept(studio, page, name, data, words):
    before = started(studio)
    upload(page, name, data)
    press_read(page)
    expect(page.get_by_test_id("stAlert").get_by_text(words)).to_be_visible()
    assert started(studio) == before


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("report.exe:manual.pdf", "report.exe:manual.pdf: a document's name has no colon."),
        ("manual.pdf:hidden", "manual.pdf:hidden: a document's name has no colon."),
        ("manual.exe", "manual.exe: this is no kind of document that is read."),
    ],
)
def test_fault_14_a_name_that_a_hand_made_request_gives(studio, page, name, words):
    before = started(studio)

    def rewrite(route):
        body = f'--cut\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'.encode()
        kind = "multipart/form-data; boundary=cut"
        post = body + b"%PDF-1.7\n\r\n--cut--\r\n"
        route.continue_(headers={**route.request.headers, "content-type": kind}, post_data=post)

    page.route(UPLOADS, rewrite)
    upload(page, "manual.pdf", b"%PDF-1.7\n")
    press_read(page)
    expect(page.get_by_test_id("stAlert").get_by_text(words)).to_be_visible()
    expect(page.get_by_text(text("defect"))).to_have_count(0)
    assert started(studio) == before


def test_fault_14_a_file_of_300_mb_is_refused_before_it_is_sent(studio, page):
    upload(page, "manual.pdf", b"%PDF-1.7\n")
    press_name = page.get_by_role("button", name=text("manuals_read"), exact=True)
    expect(press_name).to_be_enabled()
    (address,) = {url for url in page.asked if "/_stcore/upload_file/" in url}
    (cookie,) = [each for each in page.context.cookies() if each["name"] == "_streamlit_xsrf"]
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=60)
    connection.putrequest("PUT", re.sub(r"^http://[^/]+", "", address))
    connection.putheader("Cookie", f"_streamlit_xsrf={cookie['value']}")
    connection.putheader("X-Xsrftoken", cookie["value"])
    connection.putheader("Content-Type", "multipart/form-data; boundary=cut")
    connection.putheader("Content-Length", str(300 * MEBIBYTE))
    connection.endheaders()
    answer = connection.getresponse()
    assert (answer.status, answer.read()) == (413, b"File too large")
    connection.close()


def test_fault_14_a_locked_pdf_ends_in_its_own_words(studio, page):
    """Only a reader of PDF can tell that it is locked: the limited one does, before it reads anything."""
    jobs, kept = started(studio)
    upload(page, "locked.pdf", locked_pdf())
    press_read(page)
    expect(page.get_by_text("It is locked by a password.")).to_be_visible()
    assert started(studio) == [jobs + 1, kept + 1]
    assert not (studio.workspace / "manuals").exists()
    assert not list((studio.workspace / "drafts").glob("*"))
