"""What experts expect of a review, as the screen shows it; the store's side stands in test_features_of_review."""

import contextlib
import itertools
import json
import random
import sqlite3
from types import SimpleNamespace

import pytest
from fitted import PATH
from test_review import LINES, html, queue, review, send, someone_else, words  # noqa: F401 - a fixture

from metainfer_core.bundle.statement import Justification
from metainfer_core.errors import InputError
from metainfer_core.policy.policy import PolicyAction, Risk
from studio.files.policies import review_of, subject
from studio.review.decisions import field_key
from studio.review.review_rows import Chosen, next_open
from studio.review.review_rows import queue as ordered
from studio.words.texts import text

LOW = "quantize@conv_2"


def pills(page, key):
    return next(each for each in page.get("pills") if each.key == key)


def test_feature_03_what_changed_since_my_word_is_one_chip_away(review, tmp_path):  # noqa: F811
    page = review()
    assert not [each for each in page.get("pills") if each.key == "me" and each.options]
    send(page, (1, "approve", LOW, 0), (2, "approve", "quantize@add", 0))
    someone_else(tmp_path, LOW, "comment", reason="which data?")
    page.run()
    assert "changed since my word 1" in pills(page, "me").options
    pills(page, "me").set_value(["changed"]).run()
    assert not page.exception
    assert words(page) == {LOW: "approved"}
    pills(page, "me").set_value(["mine"]).run()
    assert sorted(words(page)) == ["quantize@add", LOW]
    assert ("n", "next_open") in [(each["key"], each["verb"]) for each in queue(page)["keys"]]


def test_feature_03_risk_state_kind_and_words_choose_and_risk_comes_first():
    def one(number, risk, kind, word):
        action = PolicyAction(
            node_id=f"node_{number}", action=kind, params={}, risk=Risk(level=risk, facts=()), sentence=f"{kind} it"
        )
        return SimpleNamespace(id=f"{kind}@{number}", action=action, word=word)

    every = list(itertools.product(("low", "high", "medium"), ("fuse", "place"), ("pending", "approved", "rejected")))
    actions = [one(number, *each) for number, each in enumerate(every)]
    asked = ((), ("high",), ("low", "medium")), ((), ("pending",), ("approved", "rejected")), ((), ("fuse",))
    for risks, states, kinds, search in itertools.product(*asked, ("", "PLACE@")):
        found = ordered(actions, Chosen(risks, states, kinds, search))
        wanted = [
            each
            for level in ("high", "medium", "low")
            for each in actions
            if each.action.risk.level == level
            and (not risks or level in risks)
            and (not states or each.word in states)
            and (not kinds or each.action.action in kinds)
            and search.lower() in each.id
        ]
        assert list(found) == wanted
    ids = [each.id for each in actions]
    assert next_open(actions, ids[0]) == ids[2]  # over the one that is approved
    assert next_open(actions, ids[-1]) == ids[0]
    assert next_open(actions[:2], ids[0]) is None


def test_feature_06_the_panel_tells_what_changed_since_my_verdict(review, tmp_path):  # noqa: F811
    page = review(action=LOW)
    send(page, (1, "approve", LOW, 0), selected=LOW)
    assert "Since your verdict" not in html(page)
    someone_else(tmp_path, LOW, "override", override={"bit_width": 16}, reason="loses too much")
    page.run()
    assert "Since your verdict (approved, " in html(page)
    assert "<li>The overridden bit width is given now: 16.</li>" in html(page)
    assert "eve changed bit width to 16" in html(page)


def test_feature_09_a_thread_is_answered_and_resolved_and_its_words_stay_words(review, tmp_path):  # noqa: F811
    hostile = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) **b**"
    someone_else(tmp_path, LOW, "comment", reason=hostile)
    page = review(action=LOW)
    send(page, selected=LOW)
    (number,) = [each.number for each in review_of(subject(tmp_path / PATH)).state.action(LOW).threads]
    shown = html(page)
    assert "<img" not in shown
    assert "&lt;img src=x onerror=alert(1)&gt; [a](javascript:alert(1)) **b**" in shown
    assert not [each for each in page.markdown if "javascript:" in each.value]
    version = {row["id"]: row["version"] for row in queue(page)["rows"]}[LOW]
    send(page, (1, "comment", LOW, version), selected=LOW)
    page.selectbox(key=field_key("thread", LOW)).set_value(number)
    page.text_area(key=field_key("reason", LOW)).set_value("text from the net")
    page.button(key="form_submit").click().run()
    assert not page.exception
    (thread,) = review_of(subject(tmp_path / PATH)).state.action(LOW).threads
    assert [each.event.text for each in thread.comments] == [hostile, "text from the net"]
    page.button(key=f"resolve_{number}").click().run()
    assert not page.exception
    (thread,) = review_of(subject(tmp_path / PATH)).state.action(LOW).threads
    assert thread.resolved_by is not None
    assert f"resolve_{number}" not in [each.key for each in page.button]


def test_feature_10_a_record_that_somebody_changed_is_said_on_top(review, tmp_path):  # noqa: F811
    page = review()
    send(page, (1, "approve", LOW, 0), (2, "approve", "quantize@add", 0))
    page.run()
    assert not page.error
    connection = sqlite3.connect(tmp_path / "review.db", isolation_level=None)
    connection.execute("DROP TRIGGER event_is_never_updated")
    connection.execute("UPDATE event SET body = replace(body, 'approved', 'approveD') WHERE seq = 2")
    connection.close()
    page.run()
    assert page.error[0].value.startswith(f"**{text('record_broken')}**")
    assert "Event 2 was changed: its hash does not fit." in page.error[0].value.replace("\\", "")


LATEST = """
    SELECT subject, json_extract(body, '$.actor'), json_extract(body, '$.kind') FROM event AS last
    WHERE json_extract(body, '$.kind') IN ('approved', 'withdrawn') AND seq = (
        SELECT max(seq) FROM event WHERE subject = last.subject
        AND json_extract(body, '$.actor') = json_extract(last.body, '$.actor')
        AND json_extract(body, '$.kind') IN ('approved', 'withdrawn'))"""


@pytest.mark.parametrize("seed", [3, 4])
def test_feature_11_progress_by_risk_and_what_is_mine_are_what_the_tables_say(review, tmp_path, seed):  # noqa: F811
    page = review()
    me, chance = page.session_state["person"], random.Random(seed)
    risks = {row["id"]: row["risk"] for row in queue(page)["rows"]}
    lines = Justification.from_plain(LINES, "test")
    for _ in range(24):
        with contextlib.suppress(InputError):  # who has said nothing has nothing to take back
            someone_else(tmp_path, chance.choice(list(risks)), chance.choice(["approve", "approve", "withdraw"]),
                         chance.choice([me, "eve"]), justification=lines)  # fmt: skip
    page.run()
    connection = sqlite3.connect(review_of(subject(tmp_path / PATH)).log.path)
    latest = connection.execute(LATEST).fetchall()
    connection.close()
    approved = {action for action, _, kind in latest if kind == "approved"}
    mine = {action for action, actor, kind in latest if kind == "approved" and actor == me}
    assert all((mine, approved - mine, set(risks) - approved)), "some case does not occur"
    for level in ("high", "medium", "low"):
        of_level = {action for action, risk in risks.items() if risk == level}
        done, total = len(of_level & approved), len(of_level)
        assert text("progress_of_risk", level=level, done=done, total=total) in html(page)
        assert f"width:{round(100 * done / total)}%" in html(page)
    assert text("progress_blocking", count=len(set(risks) - approved)) in html(page)
    assert f"approved by me {len(mine)}" in pills(page, "me").options
    pills(page, "me").set_value(["mine"]).run()
    assert set(words(page)) == mine


def test_feature_14_who_is_asked_to_look_finds_it_among_theirs(review, tmp_path):  # noqa: F811
    page = review()
    send(page, (1, "tag", LOW, 0), selected=LOW)
    page.button(key="form_submit").click().run()  # without a reason
    assert words(page)[LOW] == "pending"
    me = page.session_state["person"]
    someone_else(tmp_path, LOW, "tag", reason="the first layer loses most", assignee=me)
    page.run()
    pills(page, "me").set_value(["asked"]).run()
    assert words(page) == {LOW: "required"}


def test_feature_12_a_link_to_an_earlier_revision_opens_it_to_be_read(review, tmp_path):  # noqa: F811
    page = review(action=LOW)
    first = page.query_params["rev"]
    someone_else(tmp_path, LOW, "approve")
    path = tmp_path / PATH
    plain = json.loads(path.read_text())
    (changed,) = [each for each in plain["actions"] if f"{each['action']}@{each['node_id']}" == LOW]
    changed["params"]["bit_width"] = 16
    path.write_text(json.dumps(plain))
    page = review(action=LOW)
    assert page.query_params["rev"] != first
    assert words(page)[LOW] == "outdated"

    page = review(action=LOW, rev=first)
    assert page.query_params["rev"] == first
    assert words(page)[LOW] == "approved"
    assert first in page.warning[0].value
    assert "bit width</td><td>8</td>" in html(page)
    assert [each.key for each in page.button if each.key.startswith("do_")] == []
    key = f"earlier_{first}"
    version = {row["id"]: row["version"] for row in queue(page)["rows"]}["quantize@add"]
    event = {"number": 1, "verb": "approve", "id": "quantize@add", "version": version}
    page.session_state[key] = {"said": {"selected": LOW, "outbox": [event]}}
    page.run()
    assert not page.exception
    assert queue(page)["acknowledged"] == 1  # heard, and nothing done
    assert words(page)["quantize@add"] == "pending"
    page.button(key="revision_present").click().run()
    assert page.query_params["rev"] != first
    assert not page.warning
    assert "do_approve" in [each.key for each in page.button]


def test_feature_12_a_revision_nobody_decided_about_opens_to_be_read(review, tmp_path):  # noqa: F811
    undecided = review(action=LOW).query_params["rev"]
    plain = json.loads((tmp_path / PATH).read_text())
    (changed,) = [each for each in plain["actions"] if f"{each['action']}@{each['node_id']}" == LOW]
    changed["params"]["bit_width"] = 16
    (tmp_path / PATH).write_text(json.dumps(plain))
    page = review(action=LOW, rev=undecided)
    assert page.warning[0].value == text("revision_undecided", revision=undecided)
    assert (page.query_params["rev"], page.query_params["action"]) == (undecided, LOW)
    assert "bit width</td><td>8</td>" in html(page)
    assert [each.key for each in page.button if each.key.startswith("do_")] == []
    page.button(key="revision_present").click().run()
    assert "bit width</td><td>16</td>" in html(page)
    assert "do_approve" in [each.key for each in page.button]
    (kept,) = (tmp_path / ".studio" / "revisions").glob(f"{undecided}*.policy")
    kept.write_bytes((tmp_path / PATH).read_bytes())  # another one under its name
    page = review(action=LOW, rev=undecided)
    assert page.warning[0].value == text("revision_unknown", revision=undecided)


def test_feature_12_a_link_to_an_unknown_revision_says_that_the_present_one_is_shown(review):  # noqa: F811
    page = review(action=LOW, rev="ffffffffffff")
    assert [each.value for each in page.warning] == [text("revision_unknown", revision="ffffffffffff")]
    assert "do_approve" in [each.key for each in page.button]
    page.button(key="revision_close").click().run()
    assert not page.warning
    assert not review(rev=page.query_params["rev"]).warning  # the present one
    assert "**x**" not in review(rev="**x** <b>").warning[0].value
    assert not review(rev="../../net").exception


def test_feature_12_the_address_of_one_window_opens_the_same_in_another(review):  # noqa: F811
    page = review(action=LOW)
    pills(page, "risk").set_value(["low"]).run()
    page.text_input(key="q").set_value("conv").run()
    send(page, selected="quantize@conv_1")
    address = {name: page.query_params[name] for name in ("policy", "rev", "action", "risk", "q")}
    assert address["action"] == "quantize@conv_1"
    other = review(**address)
    assert list(words(other)) == list(words(page)) == ["quantize@conv_1", "quantize@conv_2", "place@conv_2"]
    assert "<code>quantize@conv_1</code>" in html(other) or 'title="quantize@conv_1"' in html(other)
    assert {name: other.query_params[name] for name in address} == address
