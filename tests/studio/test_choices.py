"""What a screen is about is what was chosen last, on whichever screen that was; the address goes first."""

from finished import SPEC, finished
from screens import screen


def chosen(page, key):
    return page.selectbox(key=f"chosen_{key}").value


def test_the_chip_goes_along_from_screen_to_screen(tmp_path, monkeypatch):
    finished(tmp_path)
    page = screen("specs", tmp_path, monkeypatch, spec="rk3588@1.0.0")
    del page.query_params["spec"]  # as the links at the side do
    page.switch_page("pages/adapt.py").run()
    assert chosen(page, "spec") == "rk3588@1.0.0"

    page.selectbox(key="chosen_spec").set_value(SPEC).run()
    assert page.query_params["spec"] == SPEC
    page.query_params["spec"] = "k210@1.0.0"
    page.run()
    assert chosen(page, "spec") == "k210@1.0.0"  # a link goes first, and the field is the same one
    assert not page.exception


def test_what_is_gone_is_not_begun_with(tmp_path, monkeypatch):
    finished(tmp_path)
    (tmp_path / "other.onnx").write_bytes((tmp_path / "net.onnx").read_bytes())
    page = screen("adapt", tmp_path, monkeypatch, model="other.onnx", spec=SPEC)
    (tmp_path / "other.onnx").unlink()
    page.run()
    assert chosen(page, "model") == "net.onnx"
    assert any("other" in each.value for each in page.warning)
