"""What is brought in on the Model screen is told of beside it, and the box for files gets out of the way by itself."""

from fitted import model_bytes
from screens import screen

from studio.words.texts import text


def brought(page, data):
    page.session_state["model_popover"] = True
    page.run()
    page.file_uploader(key="models").upload("net.onnx", data).run()
    assert not page.exception, page.exception


def test_the_box_closes_once_a_file_is_kept(tmp_path, monkeypatch):
    page = screen("model", tmp_path, monkeypatch)
    brought(page, model_bytes())
    assert [each.value for each in page.toast] == [text("model_taken", file=r"models/net\.onnx")]
    assert page.session_state["model_popover"] is False
    assert page.query_params["model"] == "models/net.onnx"
    page.session_state["model_popover"] = True  # who opens it again finds it open
    page.run()
    assert page.session_state["model_popover"] is True
    assert not page.toast


def test_the_box_stays_where_it_says_what_was_wrong(tmp_path, monkeypatch):
    page = screen("model", tmp_path, monkeypatch)
    brought(page, b"")
    assert len(page.error) == 1
    assert page.session_state["model_popover"] is True
    assert not page.toast
