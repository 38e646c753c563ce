import http.client
import json
import socket
import threading
import time
from urllib.parse import urlencode

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from hwdoc_ingest.sample.command import DATASHEET, sample_files
from metainfer_core.values import sha256
from studio.pages.page_routes import document_link, page_routes
from studio.server.guard import CONTENT_POLICY, Guard
from studio.session.link_token import signed


@pytest.fixture(scope="module")
def port():
    """The studio's own routes behind its guard, served for real."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    app = Starlette(routes=page_routes(), middleware=[Middleware(Guard)])
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=number, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    end = time.monotonic() + 30
    while not server.started and time.monotonic() < end:
        time.sleep(0.02)
    yield number
    server.should_exit = True
    thread.join(10)


@pytest.fixture
def get(port, tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))

    def ask(path, host="", **query):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
        connection.request(
            "GET", path + ("?" + urlencode(query) if query else ""), headers={"host": host or "127.0.0.1"}
        )
        answer = connection.getresponse()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()

    return ask


def test_a_page_is_drawn_once_and_only_for_a_link_of_this_server(get, tmp_path):
    data = sample_files()[DATASHEET]
    (tmp_path / "sheet.pdf").write_bytes(data)
    link = document_link(sha256(data))
    address, token = link["address"], link["token"]
    status, headers, picture = get(f"{address}/1.png", token=token)
    assert (status, headers["content-type"], picture[:4]) == (200, "image/png", b"\x89PNG")
    (kept,) = (tmp_path / ".studio" / "pages").rglob("*.png")
    assert kept.read_bytes() == picture
    assert get(f"{address}/1.png")[0] == 403
    assert get(f"{address}/1.png", token="0" * 32)[0] == 403
    status, _, said = get(f"{address}/9.png", token=token)
    assert (status, json.loads(said)["error"]) == (
        422,
        "sheet.pdf has no page 9. It has pages 1 to 4. Choose one of these.",
    )
    (tmp_path / "sheet.pdf").unlink()
    assert get(f"{address}/2.png", token=token)[0] == 404


def test_a_broken_pdf_ends_in_a_sentence(get, tmp_path):
    data = b"%PDF-1.7\nnothing"
    (tmp_path / "b.pdf").write_bytes(data)
    link = document_link(sha256(data))
    status, _, said = get(f"{link['address']}/1.png", token=link["token"])
    assert status == 422
    assert json.loads(said)["error"].startswith("b.pdf: the PDF cannot be opened.")


def test_lines_of_a_text_document(get, tmp_path):
    data = "\n".join(f"line {number}" for number in range(1, 101)).encode()
    (tmp_path / "a.dts").write_bytes(data)
    link = document_link(sha256(data))
    answer = json.loads(get(f"{link['address']}/50.json", token=link["token"])[2])
    assert (answer["first"], answer["lines"][12], len(answer["lines"])) == (38, "line 50", 25)
    assert get(f"{link['address']}/50.json")[0] == 403


def test_every_answer_keeps_the_browser_on_this_machine(get):
    _, headers, _ = get("/nothing")
    assert headers["content-security-policy"] == CONTENT_POLICY
    assert "http" not in CONTENT_POLICY
    assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8501", "127.0.0.1.evil.example"])
def test_another_host_name_is_refused(get, host):
    assert get("/nothing", host=host)[0] == 421
    assert get("/nothing", host="localhost:8501")[0] == 404


def test_a_token_is_for_one_path():
    path, _, one = signed("/a").partition("?token=")
    assert (path, len(one)) == ("/a", 32)
    assert one != signed("/b").partition("?token=")[2]
