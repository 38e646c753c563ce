"""Errors of commands name the fields of the form that people have before them, not options."""

import sys
import time

import pytest
from fitted import PATH, fitted
from screens import screen

from studio.background import jobs
from studio.background.field_names import with_field_names
from studio.background.jobs import Order
from studio.words.texts import text

SHAPES = "“Input shapes, where the model leaves them open”"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            'Give numbers for what is open, such as --input-shape "x=[1,3,224,224]".',
            f"Give numbers for what is open, such as x=[1,3,224,224] in {SHAPES}.",
        ),
        (
            "Give the shape of the model's inputs with --input-shape.",
            f"Give the shape of the model's inputs with {SHAPES}.",
        ),
        ("Bind the shapes first: meta-infer preprocess --input-shape ...", f"Bind the shapes first: {SHAPES}"),
        (
            'Bind it first: meta-infer preprocess --input-shape "x=[...]".',
            f"Bind it first: x=[...] in {SHAPES}.",
        ),
        (
            "Give smaller input shapes, or data of your own with --calib.",
            "Give smaller input shapes, or data of your own with “Calibration data”.",
        ),
        ("Write --weight-bits 4 or --input-shapes.", "Write --weight-bits 4 or --input-shapes."),
    ],
)
def test_an_option_is_called_as_its_field(said, shown):
    assert with_field_names(said, "adapt") == shown


def test_a_form_without_that_field_keeps_the_option():
    assert with_field_names("Give data with --calib.", "model") == "Give data with --calib."
    assert with_field_names("Give --input-shape.", "model") == f"Give {SHAPES}."
    assert with_field_names("Give --input-shape.", "compile") == "Give --input-shape."


def test_a_failed_search_names_fields_and_the_policy_below_is_the_earlier_one(tmp_path, monkeypatch):
    fitted(tmp_path)
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="esp32s3@1.0.0")
    assert [each.label for each in page.get("page_link")][-1] == "Review these 9 actions"
    fix = 'Give numbers for what is open, such as --input-shape "x=[1,224]".'
    answer = f"import json; print(json.dumps({{'error': {{'what': 'W', 'why': '', 'fix': {fix!r}}}}})); exit(2)"
    monkeypatch.setattr(jobs, "COMMAND", (sys.executable, "-c", answer))
    order = Order(kind="adapt", title="T", arguments=("--output", str(tmp_path / PATH)), subject="net.onnx")
    started = jobs.start(order, tmp_path)
    while jobs.job(started.id, tmp_path).is_open:
        time.sleep(0.02)
    page.run()
    assert [each.label for each in page.get("page_link")][-1] == "Review the earlier policy, 9 actions"
    assert text("adapt_earlier") in [each.value for each in page.caption]
    assert f"Give numbers for what is open, such as x=[1,224] in {SHAPES}." in [each.value for each in page.text]
    (tmp_path / PATH).touch()  # another command has written one since
    page.run()
    assert [each.label for each in page.get("page_link")][-1] == "Review these 9 actions"
    assert text("adapt_earlier") not in [each.value for each in page.caption]
