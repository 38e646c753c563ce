"""Review and Sign say that a policy can be signed only after the check that `sign` itself makes has said so."""

import json
import sys
import time

import pytest
from finished import approve_all
from fitted import PATH, fitted
from screens import screen

from metainfer_core.bundle.statement import Justification
from review_store.review.decide import Decision, decide
from review_store.review.workspace import now
from studio.background import jobs
from studio.files.policies import review_of, subject
from studio.review.buildable import KIND, known
from studio.words.texts import text

BROKEN = "quantize@conv_1"
LINES = Justification(why_allowed="the numbers stay", accuracy_effect="none", fallback="switch it off")
NEVER = (sys.executable, "-c", "import time; time.sleep(600)")


def html(page):
    return "\n".join(each.value for each in page.get("html"))


def decided(folder, action_id, verdict, **more):
    found = subject(folder / PATH)
    review = review_of(found)
    decision = Decision("ada", (action_id,), (verdict,), **more)
    assert isinstance(decide(review.log, review.state, decision, now(), None), tuple)


def broken(folder):
    """An override that was written where no check was at hand, and that ada approved."""
    decided(
        folder, BROKEN, "override", override={"scheme": "no such"}, reason="unchecked", unmeasured="no check at hand"
    )
    decided(folder, BROKEN, "approve", justification=LINES)


def ended(folder):
    """The checks of a workspace, after all of them have ended."""
    end = time.monotonic() + 300
    while any(job.is_open for job in jobs.jobs(folder)) and time.monotonic() < end:
        time.sleep(0.1)
    return [job for job in jobs.jobs(folder) if job.order.kind == KIND]


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    fitted(tmp_path)
    approve_all(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["sign", "review"])
def test_nothing_can_be_signed_before_the_answer_is_there(name, work, monkeypatch):
    monkeypatch.setattr(jobs, "COMMAND", NEVER)
    page = screen(name, work, monkeypatch, policy=PATH)
    assert [each.value for each in page.info] == [text("buildable_checking")]
    assert "can be signed" not in html(page)
    assert text("progress_done") not in "".join(each.value for each in page.markdown)
    page.run()
    (job,) = jobs.jobs(work)  # one check, however often the screen is drawn
    assert job.order.arguments[:3] == ("review", KIND, str(work / PATH))
    jobs.cancel(job.id)
    page.run()
    assert text("buildable_failed") in [each.value for each in page.warning]
    page.button(key="buildable_again").click().run()
    assert sorted(each.is_open for each in jobs.jobs(work)) == [False, True]
    for each in jobs.jobs(work):
        jobs.cancel(each.id)


def test_what_can_be_built_can_be_signed_and_what_cannot_is_said_with_its_action(work, monkeypatch):
    screen("review", work, monkeypatch, policy=PATH)
    (job,) = ended(work)
    assert job.answer()["faults"] == []
    page = screen("sign", work, monkeypatch, policy=PATH)
    assert text("sign_ready", total=9) in html(page)
    page = screen("review", work, monkeypatch, policy=PATH)
    assert any(text("progress_done") in each.value for each in page.markdown)

    broken(work)
    page = screen("sign", work, monkeypatch, policy=PATH)  # another content: asked anew
    assert text("sign_ready", total=9) not in html(page)
    assert text("sign_approved", total=9) in html(page)
    assert [len(job.answer()["faults"]) for job in ended(work)] == [1, 0]
    page.run()
    assert text("buildable_cannot") in [each.value for each in page.error]
    assert text("sign_refuses") in [each.value for each in page.warning]
    (link,) = [each.proto for each in page.get("page_link") if each.proto.label.startswith("Review quantize")]
    assert link.query_string == "policy=policies%2Fnet_on_esp32s3.policy&action=quantize%40conv_1"
    found = subject(work / PATH)
    told = known(found, review_of(found))
    assert (told.word, [action_id for action_id, _ in told.faults]) == ("cannot", [BROKEN])
    with monkeypatch.context() as patch:
        patch.setattr("studio.review.buildable.ruleset_digest", lambda: "sha256:" + 64 * "0")
        assert known(found, review_of(found)).word == "unknown"  # what was told under other rules is no answer

    page = screen("review", work, monkeypatch, policy=PATH, risk="high")
    page.button(key="refusal_0").click().run()
    assert not page.exception
    queue = json.loads(page.get("bidi_component")[0].proto.json)
    assert queue["go"]["id"] == BROKEN
    assert BROKEN in [row["id"] for row in queue["rows"]]  # the filter that hid it is off
    assert len(jobs.jobs(work)) == 2
