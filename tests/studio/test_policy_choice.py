"""Review and Sign open the policy last worked on, and say where one is being searched for or was made anew."""

import json
import os
import shutil

import pytest
from finished import approve_all, decided
from fitted import PATH, fitted
from screens import screen

from metainfer_core.policy.policy import Policy
from review_store.record.log import EventLog
from studio.background import jobs
from studio.background.jobs import Order
from studio.files import policies
from studio.words.moments import moment
from studio.words.texts import text

SCREENS = ("review", "sign")
EARLIER, LATER = "policies/a.policy", "policies/z.policy"


@pytest.fixture
def search(tmp_path, monkeypatch):
    """Starts a search that stands at 3 of 12; ends it at last."""
    told = '{"step": "measuring", "done": 3, "total": 12}'
    monkeypatch.setattr(jobs, "COMMAND", ("sh", "-c", f"echo '{told}' >&2; sleep 60"))

    def start(*arguments):
        return jobs.start(
            Order(kind="adapt", title="t", arguments=arguments, subject="net.onnx", actor="ada"), tmp_path
        )

    yield start
    for each in jobs.jobs(tmp_path):
        jobs.cancel(each.id, tmp_path)


def copied(workspace, to, seconds_later, **changes):
    """The policy under another name, with another lineage, written so many seconds after the first one."""
    plain = Policy.from_json((workspace / PATH).read_bytes()).plain() | changes
    (workspace / to).write_bytes(Policy.from_plain(plain).to_json())
    written(workspace, to, seconds_later)


def written(workspace, name, seconds_later):
    os.utime(workspace / name, (1_700_000_000 + seconds_later,) * 2)


def opened(workspace, monkeypatch):
    """What each of the screens opens in a window of its own."""
    return {screen(name, workspace, monkeypatch).selectbox(key="chosen_policy").value for name in SCREENS}


def infos(page):
    return [each.value for each in page.info]


def test_the_policy_last_worked_on_is_opened(tmp_path, monkeypatch):
    fitted(tmp_path)
    written(tmp_path, PATH, 0)
    copied(tmp_path, EARLIER, -60)
    copied(tmp_path, LATER, -30)
    assert opened(tmp_path, monkeypatch) == {PATH}
    written(tmp_path, LATER, 30)
    assert opened(tmp_path, monkeypatch) == {LATER}
    copied(tmp_path, EARLIER, -60, name="another")
    decided(tmp_path, [], "comment", reason="a word", path=EARLIER)  # now, which is after all of them were written
    assert opened(tmp_path, monkeypatch) == {EARLIER}


def test_a_broken_policy_or_one_without_its_model_is_not_begun_with(tmp_path, monkeypatch):
    fitted(tmp_path)
    written(tmp_path, PATH, 0)
    (tmp_path / EARLIER).write_text("{")
    written(tmp_path, EARLIER, 60)
    copied(tmp_path, LATER, 90, model_digest="sha256:" + "0" * 64)
    assert opened(tmp_path, monkeypatch) == {PATH}
    page = screen("sign", tmp_path, monkeypatch, policy=EARLIER)
    assert page.selectbox(key="chosen_policy").value == EARLIER  # who asks for it gets it, and what is wrong with it
    assert page.error
    del page.query_params["policy"]  # as the links at the side do
    page.switch_page("pages/review.py").run()
    assert page.selectbox(key="chosen_policy").value == PATH
    (tmp_path / PATH).unlink()
    assert opened(tmp_path, monkeypatch) == {LATER}  # there is no good one, and this one can be read


def test_a_list_of_policies_is_read_once_however_many_they_are(tmp_path, monkeypatch):
    fitted(tmp_path)
    read = []
    reader = policies.read_policy
    monkeypatch.setattr(policies, "read_policy", lambda path, *bound: read.append(path.name) or reader(path, *bound))
    paths = [tmp_path / f"policies/{number}.policy" for number in range(40)]
    for path in paths:
        shutil.copy(tmp_path / PATH, path)
    for _ in range(2):
        assert len({policies.about_policy(path) for path in paths}) == 1
    assert len(read) == 40
    copied(tmp_path, "policies/7.policy", 60, name="another")
    assert policies.about_policy(paths[7]).lineage != policies.about_policy(paths[8]).lineage
    assert read[40:] == ["7.policy"]


def test_what_was_chosen_in_this_window_goes_before_what_others_worked_on(tmp_path, monkeypatch):
    fitted(tmp_path)
    copied(tmp_path, LATER, 0)
    page = screen("review", tmp_path, monkeypatch, policy=LATER)
    del page.query_params["policy"]
    page.switch_page("pages/sign.py").run()
    assert page.selectbox(key="chosen_policy").value == LATER


@pytest.mark.parametrize("name", SCREENS)
def test_while_the_first_policy_is_searched_for_that_is_said(name, tmp_path, monkeypatch, search):
    fitted(tmp_path)
    shutil.rmtree(tmp_path / "policies")
    running = search("adapt", "--hw-spec", "esp32s3@1.0.0")
    page = screen(name, tmp_path, monkeypatch)
    assert infos(page) == [text("policy_searched")]
    assert [each.key for each in page.button if each.key.startswith("cancel")] == [f"cancel-{running.id}"]
    (way,) = [each for each in page.get("page_link") if each.label == text("policy_to_search")]
    assert (way.proto.page, way.proto.query_string) == ("adapt", "model=net.onnx&spec=esp32s3%401.0.0")
    jobs.cancel(running.id, tmp_path)
    page.run()
    assert infos(page) == [text("policy_none")]
    assert any(text("job_cancelled") in each.value for each in page.caption)  # the search has ended without one


def test_sign_says_that_its_policy_is_searched_for_anew(tmp_path, monkeypatch, search):
    fitted(tmp_path)
    search("adapt", "--output", str(tmp_path / "policies/other.policy"))
    assert text("policy_searched_anew") not in infos(screen("sign", tmp_path, monkeypatch, policy=PATH))
    running = search("adapt", "--output", str(tmp_path / PATH))
    page = screen("sign", tmp_path, monkeypatch, policy=PATH)
    assert text("policy_searched_anew") in infos(page)
    assert f"cancel-{running.id}" in [each.key for each in page.button]


def test_sign_says_that_the_policy_was_made_anew_since_it_was_approved(tmp_path, monkeypatch):
    fitted(tmp_path)
    approve_all(tmp_path)
    assert told_anew(tmp_path, monkeypatch) == []
    plain = json.loads((tmp_path / PATH).read_bytes())
    made_anew(tmp_path, plain | {"warnings": ["It was measured once more."]})
    said = text("sign_renewed", person="ada", at=moment(approved_at(tmp_path)))
    assert told_anew(tmp_path, monkeypatch) == [said]  # every action stayed the same, so that nothing is open
    (action,) = [each for each in plain["actions"] if (each["action"], each["node_id"]) == ("quantize", "conv_2")]
    action["params"]["scheme"] = "tensor_wise"
    made_anew(tmp_path, plain)
    assert told_anew(tmp_path, monkeypatch) == [f"{said} {text('sign_renewed_open', count=1)}"]
    approve_all(tmp_path)  # under the new revision; that earlier ones were approved stays told until it is signed
    assert told_anew(tmp_path, monkeypatch) == [said]


def made_anew(workspace, plain):
    (workspace / PATH).write_bytes(Policy.from_plain(plain).to_json())


def approved_at(workspace):
    log = EventLog(workspace)
    last = log.records()[-1]
    log.close()
    return last.event.at


def told_anew(workspace, monkeypatch):
    begin = text("sign_renewed", person="ada", at="")[:30]
    return [each for each in infos(screen("sign", workspace, monkeypatch, policy=PATH)) if each.startswith(begin)]
