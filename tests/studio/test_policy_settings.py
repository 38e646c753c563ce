"""Adapt opens with what the standing policy was made with, and says where its form asks for something else."""

import dataclasses
import json

import pytest
from fitted import PATH, fitted
from screens import screen

from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from studio.model.model_data import NO_DATA
from studio.review.policy_settings import budget_words, differing, read_shapes, settings_of
from studio.words.texts import text

MODEL = {"model": "net.onnx", "spec": "esp32s3@1.0.0"}


def made_with(workspace, **objective):
    """The small model's policy, as if it had been searched for with another objective."""
    plain = fitted(workspace).plain()
    plain["objective"] = {**plain.get("objective", {}), **objective}
    (workspace / PATH).write_bytes(Policy.from_plain(plain).to_json())


def review_links(page):
    return [each.label for each in page.get("page_link") if each.proto.page.endswith("review")]


def warned(page):
    return [each.value for each in page.warning]


def test_the_form_opens_with_what_the_standing_policy_was_made_with(tmp_path, monkeypatch):
    made_with(tmp_path, min_sqnr_db=27.5, target_latency_ms=0.25, search_mode="latency", precision="float32")
    page = screen("adapt", tmp_path, monkeypatch, **MODEL)
    assert page.select_slider(key="budget").value == 27.5
    assert page.number_input(key="goal").value == 0.25
    assert page.selectbox(key="mode").value == "latency"
    assert page.selectbox(key="calibration_data").value == "calibration.npz"
    assert page.selectbox(key="evaluation_data").value == NO_DATA  # then it is the calibration data
    assert (page.toggle(key="integers").value, page.toggle(key="alone").value) == (False, False)
    assert warned(page) == []
    assert review_links(page) == [text("adapt_review", count=9)]


def test_a_change_of_the_form_is_said_at_the_way_to_the_review_and_taken_back_with_it(tmp_path, monkeypatch):
    made_with(tmp_path)
    page = screen("adapt", tmp_path, monkeypatch, **MODEL)
    page.select_slider(key="budget").set_value(40)
    page.toggle(key="integers").set_value(False).run()
    said = text("list_mark").join([text("settings_budget", db=20), text("settings_int8")])
    assert warned(page) == [text("adapt_made_with", settings=said, start=text("adapt_start"))]
    assert review_links(page) == [text("adapt_review_earlier", count=9)]
    page.select_slider(key="budget").set_value(20)
    page.toggle(key="integers").set_value(True).run()
    assert warned(page) == []
    assert review_links(page) == [text("adapt_review", count=9)]


def test_a_link_keeps_the_settings_that_it_names(tmp_path, monkeypatch):
    made_with(tmp_path, min_sqnr_db=30.0)
    page = screen("adapt", tmp_path, monkeypatch, **MODEL, mode="energy")
    assert page.select_slider(key="budget").value == 20
    assert page.selectbox(key="mode").value == "energy"
    assert text("settings_budget", db=30) in warned(page)[0]


def test_the_form_opens_with_them_again_after_a_way_to_another_screen(tmp_path, monkeypatch):
    made_with(tmp_path, min_sqnr_db=27.5, search_mode="latency")
    page = screen("adapt", tmp_path, monkeypatch, **MODEL)
    page.switch_page("pages/review.py").run()
    for key in list(page.query_params):
        del page.query_params[key]  # as the links at the side do
    page.switch_page("pages/adapt.py").run()
    assert (page.select_slider(key="budget").value, page.selectbox(key="mode").value) == (27.5, "latency")
    assert warned(page) == []


def test_another_state_of_the_model_is_said(tmp_path, monkeypatch):
    made_with(tmp_path)
    plain = json.loads((tmp_path / PATH).read_bytes())
    (tmp_path / PATH).write_text(json.dumps(plain | {"model_digest": "sha256:" + "0" * 64}))
    page = screen("adapt", tmp_path, monkeypatch, **MODEL)
    assert text("settings_model") in warned(page)[0]


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("budget_db", 25.0, text("settings_budget", db=20)),
        ("goal_ms", 4.0, text("settings_no_goal")),
        ("mode", "energy", text("settings_mode", mode=text("mode_balanced"))),
        ("precision", Precision.FP16, text("settings_int8")),
        ("alone", True, text("settings_not_alone")),
        ("calibration", "", text("settings_calibration", data="calibration.npz")),
        ("evaluation", "other.npz", text("settings_evaluation", data="calibration.npz")),
    ],
)
def test_each_setting_that_differs_is_named_alone(tmp_path, field, value, words):
    made = settings_of(fitted(tmp_path))
    assert differing(made, made) == ()
    assert [each.replace("\\", "") for each in differing(made, dataclasses.replace(made, **{field: value}))] == [words]


def test_shapes_differ_where_an_open_input_has_another_one(tmp_path):
    made = dataclasses.replace(settings_of(fitted(tmp_path)), shapes=read_shapes("x=[1,3,48,192]"))
    for same in ("x=[1,3,48,192] fixed=[4]", "", "[1,3,48,192]"):
        assert differing(made, dataclasses.replace(made, shapes=read_shapes(same))) == ()
    other = dataclasses.replace(made, shapes=read_shapes("x=[2,3,48,192]"))
    assert "192" in differing(made, other)[0]


def test_the_whole_budget_is_told_with_the_limits_that_no_form_shows():
    assert budget_words(Objective(min_sqnr_db=30, min_channel_sqnr_db=12)) == (
        "What holds: at least 30 dB for each output and 12 dB for each channel that counts; channels that turn "
        "constant: none; the greatest element moves in at most 5% of the samples."
    )
    assert budget_words(Objective(metric="f1")) == "What holds: f1 falls by at most 0.20%."
