"""Fault 13: uploads that fail half of the time, because one browser's requests go to two servers."""

import asyncio
import http.client
import re
from pathlib import Path

import pytest
import websockets
from browsing import Studio
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from studio.manuals.uploads import UPLOAD_LIMIT_MEGABYTES
from studio.server.replicas import GUIDE, WORKERS, announce, warnings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def two(tmp_path):
    """Two studios in one workspace."""
    studios = [Studio(tmp_path / name, **{WORKERS: "1"}) for name in ("a", "b")]
    for each in studios:
        each.log.parent.mkdir()
        each.workspace = tmp_path / "w"
        each.start()
    yield studios
    for each in studios:
        each.stop()


def upload(port, session):
    """Status and words of the server that got an upload; the browser's cookie fits, whoever gave it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("GET", "/_stcore/host-config")
    answer = connection.getresponse()
    answer.read()
    connection.request("GET", "/_stcore/health")
    answer = connection.getresponse()
    answer.read()
    token = re.search(r"_streamlit_xsrf=([^;]+)", answer.getheader("set-cookie"))[1].strip('"')
    body = b'--cut\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\nName,Offset\r\n--cut--\r\n'
    headers = {
        "content-type": "multipart/form-data; boundary=cut",
        "cookie": f"_streamlit_xsrf={token}",
        "x-xsrftoken": token,
    }
    connection.request("PUT", f"/_stcore/upload_file/{session}/1", body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


async def with_session(port, then):
    """Opens a window's connection and does something while it stands; with the id of its session."""
    async with websockets.connect(
        f"ws://127.0.0.1:{port}/_stcore/stream", subprotocols=["streamlit"], max_size=None
    ) as stream:
        message = BackMsg()
        message.rerun_script.page_name = "manuals"
        await stream.send(message.SerializeToString())
        while True:
            told = ForwardMsg.FromString(await stream.recv())
            if told.WhichOneof("type") == "new_session":
                break
        return await asyncio.to_thread(then, told.new_session.initialize.session_id)


def test_fault_13_a_second_studio_warns_and_an_upload_to_the_wrong_one_says_why(two):
    first, second = two
    assert f"Another studio works in this workspace (port {first.port})" in second.log.read_text()
    assert GUIDE in second.log.read_text()
    assert "Another studio" not in first.log.read_text()

    def try_both(session):
        return upload(second.port, session), upload(first.port, session)

    (status, words), again = asyncio.run(with_session(first.port, try_both))
    assert status == 400
    assert "multi-replica deployment without sticky sessions" in words
    assert again[0] == 204  # nothing is lost: sent to the server that drew the page, it arrives


def test_fault_13_a_studio_that_has_ended_is_no_other(tmp_path):
    assert announce(18501, tmp_path) == ()
    assert announce(18502, tmp_path) == (18501,)
    (tmp_path / ".studio" / "servers" / "18503").touch()  # left behind by one that was killed
    assert announce(18504, tmp_path) == (18501, 18502)


def test_fault_13_workers_that_are_asked_for_are_warned_of():
    assert warnings((), {}) == warnings((), {WORKERS: "1"}) == []
    (said,) = warnings((), {WORKERS: "4"})
    assert said.startswith("WEB_CONCURRENCY is 4, but the studio is one process")


def test_fault_13_the_guide_gives_the_setting():
    guide = (ROOT / GUIDE).read_text()
    setting = guide[guide.index("```nginx") :]
    assert "hash $http_user_agent$cookie__streamlit_xsrf consistent" in setting
    assert 'proxy_set_header Connection "upgrade"' in setting
    assert f"client_max_body_size {UPLOAD_LIMIT_MEGABYTES + 1}m" in setting
