"""The three lines of one's last approval, offered for the next: own words only, and written by nobody else."""

from fitted import PATH
from test_review import LINES, open_popover, queue, review, send, someone_else, words  # noqa: F401

from metainfer_core.bundle.statement import Justification
from review_store.review.decide import undo_last
from review_store.review.workspace import now
from studio.files.policies import review_of, subject
from studio.review.decisions import field_key
from studio.review.three_lines import own_lines
from studio.words.texts import text

ACTION = "quantize@conv_1"
FIRST = LINES | {"fallback": "keep it float"}


def given(lines):
    return Justification.from_plain(lines, "test")


def fields(page, action_id=ACTION):
    return {name: page.text_area(key=field_key(name, action_id)).value for name in LINES}


def buttons(page):
    return {each.key for each in page.button}


def test_what_somebody_wrote_last_is_offered_to_them_alone(review, tmp_path):  # noqa: F811
    page = review()
    found = subject(tmp_path / PATH)
    log = review_of(found).log
    assert own_lines(review_of(found).records, "ada") is None
    someone_else(tmp_path, "place@x", person="ada", justification=given(FIRST))
    someone_else(tmp_path, "place@relu_1", person="ada", justification=given(LINES))
    someone_else(tmp_path, "place@conv_2", person="eve", justification=given(LINES | {"why_allowed": "eve's"}))
    someone_else(tmp_path, "place@relu_2", person="ada")  # without any lines
    records = review_of(found).records
    assert own_lines(records, "ada") == given(LINES)
    assert own_lines(records, "eve").why_allowed == "eve's"
    assert own_lines(records, "bob") is None
    assert own_lines(records, "") is None
    undo_last(log, review_of(found).state, "place@relu_1", "ada", now())
    assert own_lines(review_of(found).records, "ada") == given(FIRST)
    assert not page.exception


def test_the_key_fills_the_form_and_writes_nothing(review, tmp_path):  # noqa: F811
    page = review()
    person = page.session_state["person"]
    someone_else(tmp_path, "fuse@conv_1", person="eve", justification=given(FIRST))
    send(page, (1, "approve_again", ACTION, 0), selected=ACTION)
    assert fields(page) == dict.fromkeys(LINES, "")  # eve's words are not this person's
    assert page.error[0].value.replace("\\", "") == text("lines_again_none")
    assert "lines_again" not in buttons(page)
    page.button(key="form_close").click().run()

    someone_else(tmp_path, "place@x", person=person, justification=given(LINES))
    send(page, (2, "approve_again", ACTION, 0), selected=ACTION)
    assert fields(page) == LINES
    assert words(page)[ACTION] == "pending"
    page.text_area(key=field_key("fallback", ACTION)).set_value("build again without it").run()
    page.button(key="form_submit").click().run()
    assert not page.exception
    assert words(page)[ACTION] == "approved"
    approved = review_of(subject(next(tmp_path.glob("policies/*.policy")))).state.action(ACTION).approvals[person]
    assert approved.justification == given(LINES | {"fallback": "build again without it"})


def test_the_button_leaves_what_was_typed(review, tmp_path):  # noqa: F811
    page = review()
    someone_else(tmp_path, "place@x", person=page.session_state["person"], justification=given(LINES))
    send(page, (1, "approve", "fuse@conv_1", 0), selected="fuse@conv_1")
    page.text_area(key=field_key("why_allowed", "fuse@conv_1")).set_value("my own reason").run()
    page.button(key="lines_again").click().run()
    assert not page.exception
    assert fields(page, "fuse@conv_1") == LINES | {"why_allowed": "my own reason"}
    assert words(page)["fuse@conv_1"] == "required"


def test_several_are_justified_as_last_time(review, tmp_path):  # noqa: F811
    page = review()
    open_popover(page, "several")
    assert "several_again" not in buttons(page)
    someone_else(tmp_path, "place@x", person=page.session_state["person"], justification=given(LINES))
    page = review()
    open_popover(page, "several")
    page.button(key="several_again").click().run()
    assert {name: page.text_area(key=f"several_{name}").value for name in LINES} == LINES
    assert words(page)["fuse@add"] == "pending"


def test_one_alone_of_medium_risk_is_not_offered_as_several(review):  # noqa: F811
    page = review()
    assert text("several_open", count=8) in [each.proto.popover.label for each in page.get("popover")]
    page.get("pills")[0].set_value(["medium"]).run()
    assert [row["id"] for row in queue(page)["rows"]] == ["fuse@add"]
    assert text("several_open", count=1) not in [each.proto.popover.label for each in page.get("popover")]
