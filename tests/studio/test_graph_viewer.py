import re
import time

import pytest
from serving import served

from studio.model.graph_viewer import netron_link, netron_routes


@pytest.fixture
def get(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / NAME).write_bytes(b"the model")
    (tmp_path / "other.onnx").write_bytes(b"the other model")
    (tmp_path / "trust.json").write_bytes(b"{}")
    with served(netron_routes()) as asked:
        yield asked


NAME = 'models/a "b" <c>.onnx'


def meta(page, name):
    return re.findall(rf'<meta name="{name}" content="([^"]*)">', page)


def test_fault_15_the_page_neither_calls_out_nor_asks(get):
    status, headers, body = get(netron_link(NAME))
    page = body.decode()
    assert status == 200
    assert meta(page, "version") == ["0.0.0"]
    assert meta(page, "date") == []
    assert headers["set-cookie"] == "consent=1; Path=/netron; SameSite=strict"
    assert "<c>" not in page
    (file,) = meta(page, "file")
    assert get(f"/netron/{file}")[2] == b"the model"
    assert get("/netron/browser.js")[0] == 200


def test_fault_18_a_link_opens_one_model_and_nothing_else(get):
    (file,) = meta(get(netron_link(NAME))[2].decode(), "file")
    token = file.split("/")[1]
    for path, status in (
        (f"/netron/model/{token}/other.onnx", 403),
        (f"/netron/model/{'0' * 32}/other.onnx", 403),
        (f"/netron/model/{token}/%2e%2e/%2e%2e/etc/passwd", 403),
        ("/netron/index.html?model=other.onnx&token=" + token, 403),
        ("/netron/index.html?model=other.onnx", 403),
        ("/netron/index.html", 403),
        ("/netron/../trust.json", 404),
    ):
        assert get(path)[0] == status, path


def test_fault_18_a_link_is_answered_for_two_days_and_then_refused(get, monkeypatch):
    link, now = netron_link(NAME), time.time()
    (file,) = meta(get(link)[2].decode(), "file")
    for days, status in ((0, 200), (1, 200), (2, 403), (400, 403)):
        monkeypatch.setattr("time.time", lambda days=days: now + 86_400 * days)
        assert (get(link)[0], get(f"/netron/{file}")[0]) == (status, status), days


def test_fault_18_only_models_of_the_workspace_are_given_out(get):
    for name in ("trust.json", "../outside.onnx", "gone.onnx", "/etc/passwd"):
        token = netron_link(name).rsplit("=", 1)[1]
        assert get(f"/netron/model/{token}/{name}")[0] == 404, name
