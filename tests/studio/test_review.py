import json
import re
import time
from datetime import UTC, date, datetime, timedelta

import pytest
from fitted import PATH, fitted
from screens import screen

from review_store.review.decide import Decision, decide
from review_store.review.workspace import now
from studio.background import jobs
from studio.files.policies import review_of, subject
from studio.review.decisions import field_key
from studio.review.review_keys import VERBS, key_of
from studio.words.texts import text

LINES = {"why_allowed": "same numbers", "accuracy_effect": "none", "fallback": "switch it off"}


@pytest.fixture
def review(tmp_path, monkeypatch):
    """The review screen on a policy whose first action is of high and second of medium risk."""
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    fitted(tmp_path, a0="high", a1="medium")

    def opened(**query):
        return screen("review", tmp_path, monkeypatch, **query)

    return opened


def queue(page):
    return json.loads(page.get("bidi_component")[0].proto.json)


def words(page):
    return {row["id"]: row["word"] for row in queue(page)["rows"]}


def marks(page):
    return {row["id"]: row["marks"] for row in queue(page)["rows"] if row["marks"]}


def html(page):
    return "\n".join(each.value for each in page.get("html"))


def send(page, *events, selected=None):
    """What the queue's component says, as if keys had been pressed."""
    key = next(iter(page.session_state["desks"]))
    outbox = [dict(zip(("number", "verb", "id", "version"), event, strict=True)) for event in events]
    page.session_state[key] = {"said": {"selected": selected, "outbox": outbox}}
    page.run()
    assert not page.exception, page.exception
    return page


def open_popover(page, name):
    page.session_state[f"{name}_popover"] = True
    page.run()
    assert not page.exception


def listed(page, name):
    """Ids of the actions that are ticked in a list."""
    ticked = (each for each in page.checkbox if each.key.startswith(f"{name}_tick_") and each.value)
    return [re.search(r":gray\[(.*)\]", each.label)[1].replace("\\", "") for each in ticked]


def reason(page):
    """The field of the open form."""
    return next(area for area in page.text_area if area.label == text("form_reason"))


def someone_else(tmp_path, action_id, verb="approve", person="eve", **more):
    found = subject(tmp_path / PATH)
    review = review_of(found)
    more |= {"unmeasured": "not now"} if verb == "override" else {}
    written = decide(review.log, review.state, Decision(person, (action_id,), (verb,), **more), now(), None)
    assert isinstance(written, tuple)


def measured(page, folder):
    """The screen after what the open form asks for was measured."""
    end = time.monotonic() + 300
    while any(job.is_open for job in jobs.jobs(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    page.run()
    assert not page.exception, page.exception
    return page


def how(page):
    """The choice of what is done instead, in the form of an override."""
    return next(each for each in page.get("button_group") if each.label == text("form_what_instead"))


def until(page):
    """The choice of an override's end."""
    return next(each for each in page.selectbox if each.label == text("form_expires"))


def kept_fields(page, action_id):
    """What the open form of an action keeps of its fields."""
    (desk,) = page.session_state["desks"].values()
    return desk.typed[action_id].fields


def test_the_gravest_risk_stands_first_and_every_row_says_its_state(review):
    page = review()
    assert [(row["id"], row["risk"], row["word"], row["title"], row["stands"]) for row in queue(page)["rows"]] == [
        ("fuse@conv_1", "high", "required", "Fuse with relu_1", "0/1"),
        ("fuse@add", "medium", "pending", "Fuse with relu_2", "0/1"),
        ("quantize@conv_1", "low", "pending", "Quantize to INT8", "0/1"),
        ("quantize@conv_2", "low", "pending", "Quantize to INT8", "0/1"),
        ("quantize@add", "low", "pending", "Quantize to INT8", "0/1"),
        ("place@x", "low", "pending", "Place in sram", "0/1"),
        ("place@relu_1", "low", "pending", "Place in sram", "0/1"),
        ("place@conv_2", "low", "pending", "Place in sram", "0/1"),
        ("place@relu_2", "low", "pending", "Place in sram", "0/1"),
    ]
    assert page.query_params["action"] == "fuse@conv_1"
    # 8 of 9 together, the ninth alone: the numbers add up, and each says what it counts
    popovers = [each.proto.popover.label for each in page.get("popover")]
    assert [each for each in popovers if each in (text("bulk_open", count=7), text("several_open", count=8))] == [
        "7 of low risk are open: look at them and approve together",
        "8 up to medium risk: approve together with three lines",
    ]
    assert text("alone_count", count=1) in [each.value for each in page.caption]
    assert text("alone_count", "en", count=1) == (
        "1 of high risk or asked about: one by one, with three lines of its own."
    )
    assert "9 actions still block signing." in html(page)


def test_feature_13_the_card_tells_why_with_source_and_measured_apart_from_predicted(review):
    page = review(action="quantize@conv_2")
    card = html(page)
    assert "Compute conv_2 in INT8: weights scaled by output channel" in card
    assert "compute_units.lx7.data_types" in card
    assert '<span class="how">measured</span> with all other actions' in card
    assert "4 samples of calibration.npz" in card
    assert '<span class="how">predicted</span>' in card
    assert card.index('class="measured"') < card.index('class="predicted"')
    assert page.query_params["action"] == "quantize@conv_2"


def test_chips_and_search_choose(review):
    page = review()
    page.get("pills")[0].set_value(["high", "medium"]).run()
    assert list(words(page)) == ["fuse@conv_1", "fuse@add"]
    assert text("progress_hidden", count=7) in html(page)
    page.text_input(key="q").set_value("RELU_2").run()
    assert list(words(page)) == ["fuse@add"]
    page.text_input(key="q").set_value("no such thing").run()
    assert words(page) == {}
    assert not page.exception


def test_an_approval_is_one_key_and_fast_keys_are_all_counted_once(review):
    page = review()
    send(page, (1, "approve", "fuse@add", 0), (2, "approve", "quantize@conv_1", 0), selected="quantize@conv_2")
    assert (words(page)["fuse@add"], words(page)["quantize@conv_1"]) == ("approved", "approved")
    assert queue(page)["acknowledged"] == 2
    before = queue(page)["rows"]
    send(page, (1, "approve", "fuse@add", 0), (2, "approve", "quantize@conv_1", 0))  # the same, sent again
    assert queue(page)["rows"] == before
    assert page.query_params["action"] == "quantize@conv_2"


def test_the_mouse_goes_on_to_what_is_open_too(review, tmp_path):
    page = review()
    page.button(key="do_next_open").click().run()
    assert queue(page)["go"] == {"number": 2, "id": "fuse@add", "answer": True}
    assert page.query_params["action"] == "fuse@add"
    page.button(key="do_approve").click().run()
    assert words(page)["fuse@add"] == "approved"
    someone_else(tmp_path, "quantize@conv_1")
    page.run()
    page.button(key="do_next_open").click().run()  # over the one that the other approved
    assert page.query_params["action"] == "quantize@conv_2"
    assert {key: text(key_of(key).hint) for key in VERBS if key != "approve_again"} == {
        each.key.removeprefix("do_"): each.help for each in page.button if each.key in {f"do_{verb}" for verb in VERBS}
    }


def test_what_no_browser_of_ours_would_send_is_passed_over(review):
    page = review()
    key = next(iter(page.session_state["desks"]))
    for said in (
        "x",
        {"outbox": 5},
        {"outbox": [1, None, {"number": "1", "verb": "approve", "id": "fuse@add", "version": 0}]},
        {"outbox": [{"number": 1, "verb": "sign", "id": "fuse@add", "version": 0}]},
        {"outbox": [{"number": 2, "verb": "approve", "id": "no such action", "version": 0}], "selected": 7},
    ):
        page.session_state[key] = {"said": said}
        page.run()
        assert not page.exception
    assert set(words(page).values()) == {"pending", "required"}


def test_high_risk_needs_three_lines(review):
    page = review()
    send(page, (1, "approve", "fuse@conv_1", 0), selected="fuse@conv_1")
    assert words(page)["fuse@conv_1"] == "required"
    assert queue(page)["focus"] == {"number": 1, "keys": [field_key("why_allowed", "fuse@conv_1")]}
    areas = {area.label: area for area in page.text_area if not area.key.startswith("several")}
    areas[text("form_why_allowed")].set_value(LINES["why_allowed"])
    page.button(key="form_submit").click().run()
    assert page.error[0].value.replace("\\", "") == (
        "Still empty: “What it costs in accuracy”, “What is done if it proves wrong”. Nothing was written."
    )
    areas = {area.label: area for area in page.text_area if not area.key.startswith("several")}
    assert areas[text("form_why_allowed")].value == LINES["why_allowed"]
    areas[text("form_accuracy_effect")].set_value(LINES["accuracy_effect"])
    areas[text("form_fallback")].set_value(LINES["fallback"])
    page.button(key="form_submit").click().run()
    assert not page.exception
    assert words(page)["fuse@conv_1"] == "approved"
    assert page.success[0].value == "Approved\\."
    assert "<br>Why it may stand: same numbers<br>What it costs in accuracy: none<br>" in html(page)


def test_a_tag_needs_a_reason_and_clears_only_with_lines(review):
    page = review()
    send(page, (1, "tag", "place@x", 0), selected="place@x")
    page.button(key="form_submit").click().run()
    assert "a tag needs a reason" in page.error[0].value
    reason(page).set_value("is x read twice?")
    page.button(key="form_submit").click().run()
    assert words(page)["place@x"] == "required"
    assert marks(page) == {"place@x": "closer look"}
    assert f'asks for a closer look: “is x read twice?”</p>\n<p class="faint">{text("question_mine")}' in html(page)
    someone = page.session_state["person"]
    send(page, (2, "approve", "place@x", queue(page)["rows"][5]["version"]), selected="place@x")
    assert page.button(key="form_submit").label == text("form_answer", who=someone)
    for name, line in LINES.items():
        page.text_area(key=field_key(name, "place@x")).set_value(line)
    page.button(key="form_submit").click().run()
    assert page.success[0].value.replace("\\", "") == text("said_answer", who=someone)
    assert (words(page)["place@x"], marks(page)) == ("approved", {})
    assert text("question_mine") not in html(page)


def test_an_illegal_override_is_refused_at_once_and_a_legal_one_is_written(review, tmp_path):
    page = review()
    send(page, (1, "override", "quantize@conv_2", 0), selected="quantize@conv_2")
    assert page.button(key="form_submit").disabled
    width = next(field for field in page.number_input if field.label == "bit width")
    assert width.value == 8
    width.set_value(5).run()
    assert page.error[0].value.replace("\\", "").startswith("lx7 has no INT5: ")  # not its name once more
    assert page.button(key="form_submit").disabled
    next(field for field in page.number_input if field.label == "bit width").set_value(8).run()
    next(field for field in page.selectbox if field.label == "scale of weights").set_value("tensor_wise").run()
    assert page.success[0].value == text("form_legal")
    assert any("20 dB for each output and 6 dB for each channel" in each.value for each in page.caption)
    reason(page).set_value("one scale is enough here")
    assert page.button(key="form_submit").disabled
    measured(page, tmp_path).button(key="form_submit").click().run()
    assert not page.exception
    assert not page.error
    state = review_of(subject(tmp_path / PATH)).state
    assert state.action("quantize@conv_2").action.override == {"scheme": "tensor_wise"}
    assert marks(page) == {"quantize@conv_2": "overridden"}
    assert '<td title="On the command line: scheme">scale of weights</td>' in html(page)
    assert "one for the tensor" in html(page)


def test_an_override_can_have_an_end(review, tmp_path):
    page = review()
    send(page, (1, "override", "quantize@conv_2", 0), selected="quantize@conv_2")
    how(page).set_value("off").run()
    today = datetime.now(UTC).date()
    days = [(today + timedelta(days=each)).isoformat() for each in (30, 90, 183)]
    assert (until(page).value, until(page).options) == (
        "never",
        ["without an end", f"30 days, to {days[0]}", f"90 days, to {days[1]}", f"half a year, to {days[2]}",
         "to another date"],
    )  # fmt: skip
    assert not page.date_input  # nothing empty to walk past
    until(page).set_value("90").run()
    assert not page.date_input
    assert kept_fields(page, "quantize@conv_2")["expires"] == days[1]
    until(page).set_value("other").run()
    (end,) = page.date_input
    assert (end.label, end.value.isoformat(), end.min) == (text("form_expires_day"), days[1], today)
    end.set_value(date(2091, 6, 30))
    reason(page).set_value("until the new kernel is there")
    measured(page, tmp_path).button(key="form_submit").click().run()
    assert not page.error
    state = review_of(subject(tmp_path / PATH)).state
    assert state.action("quantize@conv_2").override.expires == "2091-06-30T23:59:59Z"
    assert " switched it off <time" in html(page)
    assert "It holds until 2091-06-30 23:59 UTC." in html(page)


def test_switching_off_and_its_undo_are_checked_as_other_overrides_are(review, tmp_path, monkeypatch):
    too_small = "Without it, the tensors need more than sram has; override place@conv_2 first."
    page = review()
    send(page, (1, "override", "quantize@conv_2", 0), selected="quantize@conv_2")
    how(page).set_value("off").run()
    assert page.success[0].value == text("form_off_legal")
    reason(page).set_value("a try")
    measured(page, tmp_path).button(key="form_submit").click().run()
    version = next(row["version"] for row in queue(page)["rows"] if row["id"] == "quantize@conv_2")
    monkeypatch.setattr("studio.files.policies.legality_of", lambda *_: lambda *changed: too_small)
    send(page, (2, "undo", "quantize@conv_2", version), selected="quantize@conv_2")
    assert too_small in page.error[0].value.replace("\\", "")
    assert review_of(subject(tmp_path / PATH)).state.action("quantize@conv_2").action.override is False
    send(page, (3, "override", "quantize@conv_1", 0), selected="quantize@conv_1")
    how(page).set_value("off").run()
    assert too_small in [each.value.replace("\\", "") for each in page.error]
    assert page.button(key="form_submit").disabled
    assert text("form_wait_illegal") in [each.value for each in page.caption]
    (way,) = [each for each in page.button if each.key.startswith("buildable_open_")]
    assert way.label.replace("\\", "") == text("buildable_open", action="place@conv_2")
    way.click().run()  # to what is to be overridden first
    assert page.query_params["action"] == "place@conv_2"


def test_a_conflict_shows_the_others_change_and_keeps_my_text(review, tmp_path):
    page = review()
    send(page, (1, "comment", "fuse@add", 0), selected="fuse@add")
    reason(page).set_value("my words")
    someone_else(tmp_path, "fuse@add")
    page.button(key="form_submit").click().run()
    assert "eve approved" in page.warning[0].value.replace("\\", "")
    assert reason(page).value == "my words"
    page.button(key="form_submit").click().run()
    assert not page.warning
    assert "<br>my words</li>" in html(page)


def test_a_stale_key_is_a_conflict_too(review, tmp_path):
    page = review()
    someone_else(tmp_path, "fuse@add", "tag", reason="look closer")
    send(page, (1, "approve", "fuse@add", 0), selected="fuse@add")
    assert words(page)["fuse@add"] == "required"


def test_undo_takes_back_ones_own_last_word(review):
    page = review()
    send(page, (1, "approve", "place@x", 0), selected="place@x")
    version = next(row["version"] for row in queue(page)["rows"] if row["id"] == "place@x")
    assert words(page)["place@x"] == "approved"
    send(page, (2, "undo", "place@x", version), selected="place@x")
    assert words(page)["place@x"] == "pending"
    send(page, (3, "undo", "place@x", version + 1), selected="place@x")
    assert "decided nothing about it that could be undone" in page.error[0].value


def test_all_of_low_risk_at_once_leaves_the_others_alone(review):
    page = review()
    open_popover(page, "bulk")
    page.button(key="bulk").click().run()
    assert not page.exception
    found = words(page)
    assert found.pop("fuse@conv_1") == "required"
    assert found.pop("fuse@add") == "pending"
    assert set(found.values()) == {"approved"}


def test_several_of_medium_risk_are_approved_with_one_justification_as_listed(review, tmp_path):
    fitted(tmp_path, a0="high", a1="medium", a2="medium", a3="medium")
    page = review()
    page.get("pills")[0].set_value(["medium"]).run()
    open_popover(page, "several")
    assert listed(page, "several") == ["fuse@add", "quantize@conv_1", "quantize@conv_2"]
    page.button(key="several").click().run()
    assert page.error[0].value.replace("\\", "").startswith("Still empty: “Why it may stand”, ")  # no approval
    for name, words_given in LINES.items():
        page.text_area(key=f"several_{name}").set_value(words_given)
    page.button(key="several").click().run()
    assert not page.exception
    assert page.success[0].value.replace("\\", "") == text("bulk_done", count=3)
    state = review_of(subject(tmp_path / PATH)).state
    assert [each.id for each in state.actions if each.word == "approved"] == [
        "fuse@add",
        "quantize@conv_1",
        "quantize@conv_2",
    ]
    (approval,) = state.action("fuse@add").approvals.values()
    assert approval.justification.why_allowed == "same numbers"


def test_feature_13_no_value_of_the_spec_stands_on_a_card_without_its_source(review):
    fields = 0
    for action in ("fuse@add", "quantize@conv_2", "place@x"):
        card = html(review(action=action))
        assert f"<code>{action}</code>" in card
        for field, said in re.findall(r'<span class="source"><code>([^<]*)</code>(.*?)</span>', card, re.DOTALL):
            words = re.sub("<[^>]*>", "", said)
            assert " · " in words or "not in the spec" in words, (action, field, words)
            fields += 1
    assert fields >= 3


def test_feature_05_what_is_unticked_is_left_out_and_stays_unticked(review, tmp_path):
    page = review()
    open_popover(page, "bulk")
    page.checkbox(key=field_key("bulk_tick", "place@x")).uncheck().run()
    assert page.button(key="bulk").label == text("bulk_confirm", count=6)
    page.session_state["bulk_popover"] = False
    page.run()
    open_popover(page, "bulk")
    assert [each for each in listed(page, "bulk") if each == "place@x"] == []
    page.button(key="bulk").click().run()
    assert words(page)["place@x"] == "pending"
    assert list(words(page).values()).count("approved") == 6
    open_popover(page, "bulk")
    assert page.button(key="bulk").disabled  # nothing that is ticked is left


def test_feature_05_what_changed_since_it_was_listed_is_not_approved_with_the_rest(review, tmp_path):
    page = review()
    open_popover(page, "bulk")
    someone_else(tmp_path, "place@x", "tag", reason="is it read twice?")
    page.button(key="bulk").click().run()
    assert "is it read twice" in page.warning[0].value
    assert set(words(page).values()) == {"pending", "required"}
    open_popover(page, "bulk")  # the list is of now
    page.button(key="bulk").click().run()
    assert words(page)["place@x"] == "required"
    assert list(words(page).values()).count("approved") == 6


def test_feature_12_a_link_opens_the_same_filters_and_search(review):
    page = review(risk=["low", "medium"], state=["pending"], kind=["quantize"], q="conv", action="quantize@conv_2")
    assert list(words(page)) == ["quantize@conv_1", "quantize@conv_2"]
    assert page.query_params["action"] == "quantize@conv_2"
    page.get("pills")[0].set_value(["low"]).run()
    page.text_input(key="q").set_value("").run()
    assert page.query_params["risk"] == "low"
    assert "q" not in page.query_params
    assert list(words(review(risk="no such risk", q="relu_2"))) == ["fuse@add", "quantize@add", "place@relu_2"]


def test_names_from_a_model_are_never_markup(review, tmp_path):
    plain = json.loads((tmp_path / PATH).read_bytes())
    plain["actions"][0]["sentence"] = "<img src=x onerror=alert(1)> **[a](http://b)**"
    (tmp_path / PATH).write_text(json.dumps(plain))
    page = review()
    assert "&lt;img src=x onerror=alert(1)&gt; **[a](http://b)**" in html(page)
    assert "<img src=x" not in html(page)


def test_no_policy_teaches(tmp_path, monkeypatch):
    page = screen("review", tmp_path, monkeypatch)
    assert page.info[0].value == text("policy_none")
    assert not page.get("bidi_component")


def test_a_broken_policy_is_said(tmp_path, monkeypatch):
    (tmp_path / "a.policy").write_text("{")
    page = screen("review", tmp_path, monkeypatch)
    assert "this is not JSON" in page.error[0].value


def test_a_trust_file_that_cannot_be_read_is_said(review, tmp_path, monkeypatch):
    (tmp_path / "trust.json").write_text("{")
    for page in (review(), screen("sign", tmp_path, monkeypatch)):
        assert "trust.json" in page.error[0].value.replace("\\", "")
        assert not page.get("bidi_component")


def test_what_was_done_is_said_until_the_next_deed_and_in_the_language_of_the_moment(review):
    page = review()
    open_popover(page, "bulk")
    page.button(key="bulk").click().run()
    assert [each.value.replace("\\", "") for each in page.success] == [text("bulk_done", count=7)]
    page.session_state["lang"] = "zh"
    page.run()
    assert [each.value for each in page.success] == ["已批准 7 个动作。"]
    page.session_state["lang"] = "en"
    page.run()
    version = next(row["version"] for row in queue(page)["rows"] if row["id"] == "place@x")
    send(page, (1, "undo", "place@x", version), selected="place@x")
    assert [each.value.replace("\\", "") for each in page.success] == [text("said_undo")]
    page.button(key="close_verdict").click().run()
    assert list(page.success) == []


def test_what_failed_is_said_until_its_own_action_is_dealt_with(review, tmp_path):
    page = review()
    someone_else(tmp_path, "place@x", "comment", reason="is it read twice?")
    send(page, (1, "approve", "place@x", 0), (2, "approve", "place@relu_1", 0), selected="place@x")
    assert words(page)["place@relu_1"] == "approved"
    assert "is it read twice" in page.warning[0].value  # the next deed has not wiped it out
    send(page, (2, "approve", "place@relu_1", 0), selected="place@relu_1")
    assert [each.value for each in page.success] == [text("said_approve").replace(".", "\\.")]
    version = next(row["version"] for row in queue(page)["rows"] if row["id"] == "place@x")
    send(page, (3, "undo", "place@x", version), selected="place@x")
    assert list(page.warning) == []
    assert len(page.error) == 1
