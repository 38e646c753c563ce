"""Data of another model is not offered for this one, and a model without data of its own is fitted and compiled too."""

import time

import numpy as np
import pytest
from finished import BUNDLE, PACKAGE, SPEC, finished
from fitted import PATH
from screens import screen

from studio.background import jobs
from studio.files.sample_shapes import suggested_shapes
from studio.model.model_data import NO_DATA
from studio.model.model_reading import newest_job, read_model, reading
from studio.words.plain_words import plain_words
from studio.words.texts import text

SAMPLE = (3, 8, 8)


@pytest.fixture
def work(tmp_path, monkeypatch):
    """A finished workspace whose model has been looked at, with data for a model that reads `z`."""
    finished(tmp_path)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    np.savez(tmp_path / "evaluation.npz", z=np.zeros((2, 1, 4), np.float32))
    read_model(tmp_path / "net.onnx", (), "ada")
    end = time.monotonic() + 120
    while newest_job(tmp_path / "net.onnx").is_open and time.monotonic() < end:
        time.sleep(0.05)
    assert set(reading(newest_job(tmp_path / "net.onnx")).inputs) == {"x"}
    (tmp_path / PACKAGE).unlink()
    return tmp_path


def offered(page, key):
    field = page.selectbox(key=key)
    return field.value, field.options[:-1], field.options[-1]


def test_only_what_feeds_the_model_is_offered_and_the_rest_is_named(work, monkeypatch):
    none, as_calibration = text("adapt_no_data"), text("adapt_as_calibration")
    page = screen("adapt", work, monkeypatch, model="net.onnx", spec=SPEC)
    assert offered(page, "calibration_data") == ("calibration.npz", ["calibration.npz"], none)
    assert offered(page, "evaluation_data") == (NO_DATA, ["calibration.npz"], as_calibration)
    said = text("data_of_others", inputs="x", files=plain_words("evaluation.npz"))
    assert [each.value for each in page.caption].count(said) == 1
    np.savez(work / "calibration.npz", x=np.zeros((4, *SAMPLE), np.float32))  # without the model's axis of one sample
    page = screen("adapt", work, monkeypatch, model="net.onnx", spec=SPEC)
    (shapes,) = [each.value for each in page.text_input if each.label == text("adapt_shapes")]
    assert (shapes, suggested_shapes(work / "calibration.npz")) == ("", (f"x=[{','.join(map(str, SAMPLE))}]",))

    page = screen("sign", work, monkeypatch, policy=PATH)
    assert offered(page, f"data_{BUNDLE}") == ("calibration.npz", ["calibration.npz"], none)
    assert said in [each.value for each in page.caption]


def test_a_model_that_nobody_has_looked_at_is_read_where_its_data_is_asked_for(tmp_path, monkeypatch):
    finished(tmp_path)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    monkeypatch.setattr("studio.model.model_data._PATIENCE_SECONDS", 120.0)
    np.savez(tmp_path / "evaluation.npz", z=np.zeros((2, 1, 4), np.float32))
    assert newest_job(tmp_path / "net.onnx") is None
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec=SPEC)
    assert not page.exception
    assert offered(page, "calibration_data") == ("calibration.npz", ["calibration.npz"], text("adapt_no_data"))


def test_bringing_a_model_in_is_the_chief_button_until_there_is_one(tmp_path, monkeypatch):
    def kind():
        (bring,) = screen("model", tmp_path, monkeypatch).get("popover")
        return bring.proto.popover.type

    assert kind() == "primary"
    finished(tmp_path)
    assert kind() == "secondary"


def test_a_model_without_data_is_compiled_on_random_inputs(work, monkeypatch):
    (work / "calibration.npz").unlink()
    page = screen("sign", work, monkeypatch, policy=PATH)
    assert offered(page, f"data_{BUNDLE}") == (NO_DATA, [], text("adapt_no_data"))
    monkeypatch.setattr(jobs, "COMMAND", ("true",))
    page.button(key=f"compile_{BUNDLE}").click().run()
    assert not page.exception
    order = jobs.jobs(work)[0].order
    assert order.kind == "compile"
    assert "--eval" not in order.arguments


def test_a_choice_made_for_another_model_falls(work, monkeypatch):
    page = screen("adapt", work, monkeypatch, model="net.onnx", spec=SPEC, calibration_data="evaluation.npz")
    assert offered(page, "calibration_data")[0] == "calibration.npz"
    (work / "calibration.npz").unlink()
    page.run()
    assert not page.exception
    assert offered(page, "calibration_data")[0] == NO_DATA
    assert offered(page, "evaluation_data") == (NO_DATA, [], text("adapt_no_data"))  # nothing to fall back to
    assert text("adapt_random") in [each.value for each in page.warning]


def test_the_address_holds_keys_of_choices_which_are_the_same_in_every_language(work, monkeypatch):
    asked = {"calibration_data": "none", "evaluation_data": "calibration.npz", "mode": "energy"}
    (work / PATH).unlink()
    page = screen("adapt", work, monkeypatch, model="net.onnx", spec=SPEC, **asked)
    assert {key: page.selectbox(key=key).value for key in asked} == asked
    assert {key: page.query_params[key] for key in asked} == asked
    page.selectbox(key="mode").set_value("latency")
    page.selectbox(key="evaluation_data").set_value(NO_DATA).run()
    assert page.query_params["mode"] == "latency"
    assert "evaluation_data" not in page.query_params  # what it begins with anyway
    page = screen("adapt", work, monkeypatch, model="net.onnx", spec=SPEC, mode="few bytes moved")
    assert page.selectbox(key="mode").value == "balanced"
