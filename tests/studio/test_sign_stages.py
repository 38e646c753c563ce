"""Sign shows one thing to do at a time: review what is open, sign, compile, read the report. What is done is folded."""

import pytest
from commands import command
from finished import BUNDLE, PACKAGE, decided, finished
from fitted import PATH
from screens import screen

from metainfer_core.bundle.trust import TrustFile
from studio.background import jobs
from studio.background.jobs import Order
from studio.words.texts import text

LIES_LATER = [text("compile_again"), text("sign_again"), text("sign_canonical")]


@pytest.fixture
def work(tmp_path):
    finished(tmp_path)
    return tmp_path


def opened(work, monkeypatch):
    """The screen, and what its folded parts are called."""
    page = screen("sign", work, monkeypatch, policy=PATH)
    return page, [each.label for each in page.expander]


def lead(page):
    """The sentence that says what comes next, and the stage that it is about."""
    (found,) = [each.value for each in page.get("html") if 'class="stages"' in each.value]
    now = found.partition('aria-current="step">● ')[2].partition("<")[0]
    return found.partition('<p class="lead">')[2].partition("</p>")[0], now


def test_what_was_compiled_leads_to_its_report_and_all_else_is_folded(work, monkeypatch):
    page, folded = opened(work, monkeypatch)
    assert lead(page) == (text("sign_next_report"), "")
    assert folded == LIES_LATER
    assert page.expander[0].button(key=f"compile_{BUNDLE}").label == text("compile_start")
    assert len(page.expander[1].code) == len(page.code) == 1  # the command for the next bundle, and no other one
    assert next(each.label for each in page.get("page_link")) == text("bundle_report")


def test_what_was_signed_is_compiled_next(work, monkeypatch):
    (work / PACKAGE).unlink()
    page, folded = opened(work, monkeypatch)
    assert lead(page) == (text("sign_next_compile"), text("stage_compile"))
    assert folded == LIES_LATER[1:]
    assert not page.button(key=f"compile_{BUNDLE}").disabled
    monkeypatch.setattr(jobs, "COMMAND", ("sh", "-c", "sleep 60"))
    jobs.start(Order(kind="compile", title="t", arguments=("x",), subject=BUNDLE, actor="ada"), work)
    page, folded = opened(work, monkeypatch)
    assert lead(page) == (text("compile_busy"), text("stage_compile"))
    assert page.button(key=f"compile_{BUNDLE}").disabled
    jobs.cancel(jobs.jobs(work)[0].id, work)


def test_what_is_open_again_is_reviewed_first(work, monkeypatch):
    decided(work, ["place@x"], "withdraw")
    page, folded = opened(work, monkeypatch)
    assert lead(page) == (text("sign_blocked", count=1, total=9), text("stage_approve"))
    assert next(each.label for each in page.get("page_link")) == text("sign_to_review")
    assert folded == [text("sign_later"), text("sign_other_bundles", count=1), text("sign_canonical")]


def test_a_bundle_that_is_not_trusted_counts_for_nothing_and_says_why(work, monkeypatch):
    (work / "trust.json").write_bytes(TrustFile().to_json())
    page, folded = opened(work, monkeypatch)
    assert lead(page)[1] == text("stage_sign")
    assert text("bundle_refused") in "".join(each.value for each in page.get("html"))
    assert folded == [text("sign_canonical")]  # neither the commands nor the refusal


def test_whoever_else_approved_is_told_how_their_key_is_made_and_trusted(work, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(work / "mine"))
    (work / BUNDLE).unlink()
    decided(work, ["place@x"], "approve", person="eve")
    page, _ = opened(work, monkeypatch)
    assert [each.value for each in page.warning] == [text("sign_other_key", person="eve")]
    make, trust, sign_theirs, sign_all = (each.value for each in page.code)
    assert make.endswith("meta-infer keys new eve")
    assert trust.splitlines()[1:] == [
        "  --role reviewer \\",
        f"  --workspace {work}",
    ]  # eve stands behind her own, no more
    assert sign_theirs.endswith("--approve-only")
    assert "--key eve" in sign_theirs
    assert "--key ada" in sign_all
    public = command(["keys", "new", "eve"], work, True, XDG_CONFIG_HOME=str(work / "mine"))["public_key"]
    command(["keys", "trust", public, "--role", "reviewer", "--workspace", work], work)
    page, _ = opened(work, monkeypatch)
    assert not page.warning
    assert [each.value for each in page.code] == [sign_theirs, sign_all]
