"""Two people at two windows on one policy: a hundred decisions, and none is lost or overwritten in silence."""

import random

import pytest
from fitted import PATH, fitted
from screens import screen
from test_review import measured, queue, send

from review_store.record.log import EventLog
from studio.files.policies import review_of, subject
from studio.files.typed import read_typed
from studio.review.decisions import field_key
from studio.words.texts import text

ROUNDS = 100
SEED = 20


def sits_here(person, monkeypatch):
    """Who a new window takes its reader for."""
    for name, value in (("COUNT", "1"), ("KEY_0", "metainfer.person"), ("VALUE_0", person)):
        monkeypatch.setenv(f"GIT_CONFIG_{name}", value)


class Window:
    """One person's window of the review."""

    def __init__(self, person, workspace, monkeypatch):
        sits_here(person, monkeypatch)
        self.person, self.number = person, 0
        self.page = screen("review", workspace, monkeypatch)
        self.refresh()

    def refresh(self):
        self.page.run()
        assert not self.page.exception
        self.seen = {row["id"]: row["version"] for row in queue(self.page)["rows"]}

    def press(self, verb, action):
        """A key, about the action as this window last saw it."""
        self.number += 1
        send(self.page, (self.number, verb, action, self.seen[action]), selected=action)

    def comment(self, action, words):
        self.press("comment", action)
        self.page.text_area(key=field_key("reason", action)).set_value(words)
        self.page.button(key="form_submit").click().run()
        assert not self.page.exception

    def told(self):
        """What the window says about the last deed: `done`, or what the others did."""
        if self.page.success:
            return "done"
        (warning,) = self.page.warning
        said = warning.value.replace("\\", "")
        assert said.startswith(text("conflict_title"))
        return said


@pytest.fixture
def windows(tmp_path, monkeypatch):
    fitted(tmp_path)
    return tmp_path, Window("ada", tmp_path, monkeypatch), Window("ben", tmp_path, monkeypatch)


def forms(page):
    """The fields of the open form."""
    return [area for area in page.text_area if not area.key.startswith("several")]


def written(workspace):
    log = EventLog(workspace)
    found = [record.event.plain() for record in log.records()]
    log.close()
    return [
        (event["actor"], event["kind"], event["action"], event.get("text", ""))
        for event in found
        if event["kind"] in ("approved", "commented")
    ]


def test_feature_08_a_hundred_decisions_from_two_windows(windows):
    workspace, ada, ben = windows
    chance = random.Random(SEED)
    actions = sorted(ada.seen)
    expected, refused, last = [], 0, {}  # action to the number of its last event, as the record must have it
    for round_number in range(ROUNDS):
        window = chance.choice((ada, ben))
        action = chance.choice(actions[:3] if chance.random() < 0.6 else actions)  # most meet on the same few
        if chance.random() < 0.3:
            window.refresh()
        words = f"{window.person} {round_number}"
        is_stale = window.seen[action] != last.get(action, 0)
        before = written(workspace)
        window.comment(action, words)
        told = window.told()
        if is_stale:
            refused += 1
            other = before[-1] if before[-1][2] == action else next(each for each in before[::-1] if each[2] == action)
            assert other[0] in told
            assert other[3] in told
            assert written(workspace) == before
            assert window.page.text_area(key=field_key("reason", action)).value == words  # what was typed is kept
            window.page.button(key="form_submit").click().run()  # having read it, they mean it still
            assert window.told() == "done"
        else:
            assert told == "done"
        expected.append((window.person, "commented", action, words))
        state = review_of(subject(workspace / PATH)).state
        last[action] = window.seen[action] = state.action(action).version
        assert written(workspace) == expected
    assert refused >= 15
    assert {person for person, *_ in expected} == {"ada", "ben"}


def test_fast_keys_of_both_on_the_same_actions(windows):
    workspace, ada, ben = windows
    actions = sorted(ada.seen)
    for window, some in ((ada, actions[:6]), (ben, actions[3:])):
        keys = [(number, "approve", action, 0) for number, action in enumerate(some, 1)]
        send(window.page, *keys, selected=some[0])
        send(window.page, *keys, selected=some[0])  # sent again: it was not acknowledged in time
    assert written(workspace) == [("ada", "approved", each, "") for each in actions[:6]] + [
        ("ben", "approved", each, "") for each in actions[6:]
    ]
    send(ben.page, selected=actions[3])
    assert "ada approved" in ben.told()


def test_ones_own_quick_second_key_is_no_conflict(windows):
    workspace, ada, _ = windows
    action = sorted(ada.seen)[0]
    send(ada.page, (1, "approve", action, 0), (2, "approve", action, 0), (3, "undo", action, 0), selected=action)
    assert ada.told() == "done"
    assert [kind for _, kind, *_ in written(workspace)] == ["approved"]  # pressed twice, written once
    assert review_of(subject(workspace / PATH)).state.action(action).word == "pending"  # and undone


def test_nobody_decides_about_a_revision_that_they_have_not_seen(windows):
    """A policy made anew in the same place: the number of an action's last event is the same in both revisions."""
    workspace, ada, _ = windows
    action, other = sorted(ada.seen)[:2]

    def refused():
        (alert,) = ada.page.error
        assert alert.value.replace("\\", "") == text("policy_renewed")
        assert not written(workspace)

    fitted(workspace, a8="medium")
    ada.press("approve", action)
    refused()
    ada.press("comment", other)
    ada.page.text_area(key=field_key("reason", other)).set_value("of the old one").run()
    fitted(workspace, a7="medium")
    ada.page.button(key="form_submit").click().run()
    refused()
    assert ada.page.text_area(key=field_key("reason", other)).value == "of the old one"
    ada.page.button(key="form_submit").click().run()  # having seen it, they mean it still
    ada.press("approve", action)
    assert written(workspace) == [("ada", "commented", other, "of the old one"), ("ada", "approved", action, "")]


def test_undo_of_what_changed_meanwhile_is_refused(windows):
    _, ada, ben = windows
    action = sorted(ada.seen)[0]
    ada.press("approve", action)
    ada.refresh()
    ben.refresh()
    ben.comment(action, "wait")
    ada.press("undo", action)
    assert "ben" in ada.told()
    assert "wait" in ada.told()


def test_a_half_typed_form_is_there_again_in_a_new_window(windows, monkeypatch):
    workspace, ada, _ = windows
    action = "quantize@conv_2"
    ada.press("override", action)
    next(field for field in ada.page.selectbox if field.label == "scale of weights").set_value("tensor_wise").run()
    ada.page.text_area(key=field_key("reason", action)).set_value("half a sent").run()

    again = screen("review", workspace, monkeypatch, action=action)  # as after a refresh, or a restart of the server
    assert not forms(again)  # ben sits there
    sits_here("ada", monkeypatch)
    again = screen("review", workspace, monkeypatch, action=action)
    assert again.text_area(key=field_key("reason", action)).value == "half a sent"
    assert next(field for field in again.selectbox if field.label == "scale of weights").value == "tensor_wise"
    again.text_area(key=field_key("reason", action)).set_value("half a sentence").run()
    measured(again, workspace)
    again.button(key="form_submit").click().run()
    assert not again.exception
    state = review_of(subject(workspace / PATH)).state.action(action)
    assert (state.action.override, state.override.reason) == ({"scheme": "tensor_wise"}, "half a sentence")
    assert read_typed(next(iter(again.session_state["desks"])), "ada") == {}  # it is in the record now


def test_a_form_that_was_closed_keeps_its_words_but_stays_closed(windows, monkeypatch):
    workspace, ada, _ = windows
    action = "place@x"
    ada.press("comment", action)
    ada.page.text_area(key=field_key("reason", action)).set_value("later").run()
    ada.page.button(key="form_close").click().run()
    sits_here("ada", monkeypatch)
    again = screen("review", workspace, monkeypatch, action=action)
    assert not forms(again)
    send(again, (1, "comment", action, 0), selected=action)
    assert again.text_area(key=field_key("reason", action)).value == "later"
    next((workspace / ".studio" / "typed").rglob("*.json")).write_text("{")  # a file that was torn is no error
    torn = screen("review", workspace, monkeypatch, action=action)
    send(torn, (1, "comment", action, 0), selected=action)
    assert torn.text_area(key=field_key("reason", action)).value == ""


def test_a_run_that_is_broken_off_loses_no_key(windows, monkeypatch):
    """Streamlit ends a run where the script touches the session, as soon as the next key arrives."""
    workspace, ada, _ = windows
    from streamlit.runtime.scriptrunner_utils.exceptions import StopException

    from studio.review import decisions

    first, second = sorted(ada.seen)[:2]
    press, broken = decisions.press, []

    def once(found, desk, event, person):
        if event.id == second and not broken:
            broken.append(event)
            raise StopException
        press(found, desk, event, person)

    monkeypatch.setattr(decisions, "press", once)
    send(ada.page, (1, "approve", first, 0), (2, "approve", second, 0), selected=first)
    assert [event[2] for event in written(workspace)] == [first]
    ada.page.run()
    assert [event[2] for event in written(workspace)] == [first, second]
