"""The form of an override tells what it does before it can be saved, or takes the reason why nobody waits for that."""

import sys

import numpy as np
from fitted import PATH, fitted
from screens import screen
from test_review import how, html, measured, queue, reason, review, send, someone_else  # noqa: F401 - a fixture

from metainfer_core.pipeline import prepare, samples_for
from metainfer_core.pipeline.what_if import measure_overrides
from metainfer_core.policy.objective import worst_sqnr_db
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.library import load
from review_store.review.override_effect import CHANGES_NOTHING
from review_store.review.state import with_actions
from studio.background import jobs
from studio.files.policies import review_of, subject
from studio.review.decisions import field_key
from studio.review.what_if import KIND, NOT_AT_HAND
from studio.words.texts import text

ACTION = "quantize@conv_2"
NEVER = (sys.executable, "-c", "import time; time.sleep(600)")
FAILS = (sys.executable, "-c", "import sys; sys.exit('no')")


def planted(folder, override):
    """What the core measures of an override, on its own."""
    policy = Policy.from_json((folder / PATH).read_bytes())
    line = next(each for each in policy.actions if each.id == ACTION)
    after = with_actions(policy, [type(line).from_plain(line.plain() | {"override": override})])
    prepared = prepare(folder / "net.onnx")
    data = samples_for(prepared, str(folder / "calibration.npz"))
    return measure_overrides(policy, after, prepared, load("esp32s3"), None, data)


def opened(review):  # noqa: F811 - the fixture
    """The form with four bits where eight hold."""
    page = review()
    send(page, (1, "override", ACTION, 0), selected=ACTION)
    next(field for field in page.number_input if field.label == "bits of weights").set_value(4).run()
    assert not page.exception, page.exception
    return page


def asked(folder):
    return [job for job in jobs.jobs(folder) if job.order.kind == KIND]


def save(page):
    page.button(key="form_submit").click().run()
    assert not page.exception, page.exception


def offered(page):
    """What can be chosen to be done instead."""
    return list(how(page).options)


def version(page):
    """Of the action, as its row shows it."""
    return next(row["version"] for row in queue(page)["rows"] if row["id"] == ACTION)


def written(folder):
    return review_of(subject(folder / PATH)).state.action(ACTION).override


def test_a_planted_bad_override_shows_its_drop_before_it_can_be_saved(review, tmp_path):  # noqa: F811
    page = opened(review)
    reason(page).set_value("smaller")
    assert page.button(key="form_submit").disabled
    assert text("effect_wait") in [each.value for each in page.caption]
    (job,) = asked(tmp_path)
    options = job.order.arguments
    data = str(tmp_path / "calibration.npz")
    assert [options[options.index(name) + 1] for name in ("--calib", "--eval", "--samples")] == [data, data, "4"]
    measured(page, tmp_path)
    found = planted(tmp_path, {"weight_bits": 4})
    before, after = (worst_sqnr_db(side.together.effect) for side in (found.before, found.after))
    assert before - after > 10.0
    shown = html(page)
    assert f"the whole policy {before:.1f} dB → {after:.1f} dB" in shown
    assert f"Over the accuracy budget: y has {after:.1f} dB; the budget is 20 dB." in shown
    assert "Without it, the policy measures exactly as when it was made." in shown
    assert shown.index("the whole policy") < shown.index("bytes moved 4.74 KiB → 4.74 KiB")
    save(page)
    event = written(tmp_path)
    assert (event.measured.before.together, event.measured.after.together) == (
        found.before.together,
        found.after.together,
    )
    shown = html(page)  # on the card, and in the history
    assert shown.count(f"the whole policy {before:.1f} dB → {after:.1f} dB.") == 2
    assert len(asked(tmp_path)) == 1


def test_who_does_not_wait_gives_the_reason(review, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(jobs, "COMMAND", NEVER)
    page = opened(review)
    reason(page).set_value("smaller")
    page.checkbox(key=field_key("without", ACTION)).check().run()
    assert page.button(key="form_submit").disabled
    page.text_input(key=field_key("unmeasured", ACTION)).set_value("the demo is in five minutes").run()
    save(page)
    assert (written(tmp_path).measured, written(tmp_path).unmeasured) == (None, "the demo is in five minutes")
    assert "Its effect was not measured: the demo is in five minutes" in html(page)
    for job in asked(tmp_path):
        jobs.cancel(job.id)


def test_other_values_end_what_was_being_measured(review, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(jobs, "COMMAND", NEVER)
    page = opened(review)
    page.run()
    assert len(asked(tmp_path)) == 1  # however often the screen is drawn
    next(field for field in page.number_input if field.label == "bits of weights").set_value(5).run()
    assert sorted((job.is_open, "--set=weight_bits=5" in job.order.arguments) for job in asked(tmp_path)) == [
        (False, False),
        (True, True),
    ]
    next(field for field in page.number_input if field.label == "bits of weights").set_value(8).run()
    assert page.button(key="form_submit").disabled  # it is as proposed
    for job in asked(tmp_path):
        jobs.cancel(job.id)


def test_a_measurement_that_failed_is_told_and_can_be_tried_again(review, tmp_path, monkeypatch):  # noqa: F811
    with monkeypatch.context() as broken:
        broken.setattr(jobs, "COMMAND", FAILS)
        page = opened(review)
        measured(page, tmp_path)
        assert text("effect_failed") in [each.value for each in page.warning]
        assert page.button(key="form_submit").disabled
    page.button(key="effect_again").click().run()
    measured(page, tmp_path)
    assert "the whole policy" in html(page)
    assert not page.button(key="form_submit").disabled


def test_what_somebody_else_decides_meanwhile_is_measured_with_it(review, tmp_path):  # noqa: F811
    page = measured(opened(review), tmp_path)
    reason(page).set_value("smaller")
    someone_else(tmp_path, "quantize@conv_1", "override", override={"symmetric": True}, reason="the unit wants it")
    page.button(key="form_submit").click().run()
    assert not page.exception, page.exception
    assert written(tmp_path) is None
    assert page.button(key="form_submit").disabled  # what was measured holds no more
    save(measured(page, tmp_path))
    assert written(tmp_path).measured.data == "4 samples of calibration.npz"


def test_without_the_model_it_is_said_and_recorded(review, tmp_path):  # noqa: F811
    (tmp_path / "net.onnx").unlink()
    page = review()
    send(page, (1, "override", ACTION, 0), selected=ACTION)
    how(page).set_value("off").run()
    assert text("effect_absent") in [each.value for each in page.caption]
    reason(page).set_value("off")
    save(page)
    assert (written(tmp_path).measured, written(tmp_path).unmeasured) == (None, NOT_AT_HAND)


def test_the_same_again_has_nothing_to_measure(review, tmp_path):  # noqa: F811
    someone_else(tmp_path, ACTION, "override", override={"weight_bits": 4}, reason="it has to fit")
    page = review()
    send(page, (1, "override", ACTION, version(page)), selected=ACTION)
    assert text("effect_nothing") in [each.value for each in page.caption]
    assert asked(tmp_path) == []
    reason(page).set_value("so it has to stay")
    save(page)
    event = review_of(subject(tmp_path / PATH)).records[-1].event
    assert (event.reason, event.unmeasured) == ("so it has to stay", CHANGES_NOTHING)
    assert event.override == {"weight_bits": 4}


def test_the_way_back_to_the_proposal_is_offered_where_there_is_something_to_go_back_from(review, tmp_path):  # noqa: F811
    page = review()
    send(page, (1, "override", ACTION, 0), selected=ACTION)
    bits = next(field for field in page.number_input if field.label == "bits of weights")
    assert (bits.value, bits.proto.placeholder) == (None, text("form_not_given"))  # empty, and not at rest
    forth = [text("form_other"), text("form_off")]
    assert offered(page) == forth
    someone_else(tmp_path, ACTION, "override", override={"weight_bits": 4}, reason="it has to fit")
    page.run()
    assert offered(page) == [*forth, text("form_undo_override")]
    how(page).set_value("none").run()
    assert text("form_as_proposed_legal") in [each.value for each in page.success]
    someone_else(tmp_path, ACTION, "override", override=None, reason="it fits")  # faster than who chose that
    page.run()
    assert not page.exception, page.exception
    assert (offered(page), how(page).value) == (forth, "params")


def test_data_that_is_not_there_is_not_made_up(tmp_path, monkeypatch):
    fitted(tmp_path)
    (tmp_path / "calibration.npz").unlink()
    np.savez(tmp_path / "other.npz", x=np.zeros((1, 1, 3, 8, 8), np.float32))
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    page = opened(lambda **query: screen("review", tmp_path, monkeypatch, **query))
    (job,) = asked(tmp_path)
    assert not {"--calib", "--eval", "--samples"} & set(job.order.arguments)
    shown = html(measured(page, tmp_path))
    assert "8 random inputs, seed 0" in shown
    assert "own figures were measured on 4 samples of calibration.npz, these on 8 random inputs, seed 0." in shown
