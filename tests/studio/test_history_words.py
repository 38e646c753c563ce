import pytest

from metainfer_core.bundle.statement import Justification
from review_store.record.events import (
    Approved,
    Commented,
    Overridden,
    Registered,
    Rejected,
    Released,
    Resolved,
    SignedApproval,
    Tagged,
    Undone,
    Withdrawn,
)
from review_store.record.log import Record
from review_store.review.policy_diff import DECISIVE, FieldChange
from studio.review.history_words import changed, told

DIGEST = "sha256:" + 64 * "0"
AT, WHEN = "2026-11-30T09:15:07Z", "(2026-11-30 09:15 UTC)"
WHO = {"actor": "ada", "at": AT}
ABOUT = {**WHO, "action": "place@x"}
VERDICT = {**ABOUT, "action_digest": DIGEST, "model_digest": DIGEST, "spec_digest": DIGEST}
OVERRIDE = {**ABOUT, "base_digest": DIGEST, "reason": "the camera writes to DRAM"}
LINES = Justification(why_allowed="same numbers", accuracy_effect="none", fallback="switch it off")


def record(seq, event):
    return Record(seq, "net", event, "")


FIRST = record(299, Commented(**ABOUT, text="Is it read twice?"))


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (Registered(**WHO, policy_digest=DIGEST, proposed_by_tool=True), "ada brought this version of the policy under "
         "review {W}."),
        (Approved(**VERDICT, risk="low"), "ada approved it {W}."),
        (Approved(**VERDICT, risk="high", justification=LINES), "ada approved it {W}. Why it may "
         "stand: same numbers What it costs in accuracy: none What is done if it proves wrong: switch it off"),
        (Rejected(**VERDICT, reason="too slow"), "ada rejected it {W}. Reason: too slow"),
        (Tagged(**ABOUT, reason="odd"), "ada asked for a closer look {W}. Reason: odd"),
        (Tagged(**ABOUT, reason="odd", assignee="ben"), "ada asked ben for a closer look {W}. "
         "Reason: odd"),
        (Overridden(**OVERRIDE, override=False), "ada switched it off {W}. Reason: the camera writes "
         "to DRAM"),
        (Overridden(**OVERRIDE, override={"memory": {"x": "dram"}}, expires="2027-06-30T23:59:59Z"), "ada changed "
         "memory to x: dram {W}. Reason: the camera writes to DRAM It holds until 2027-06-30 23:59 "
         "UTC."),
        (Overridden(**OVERRIDE), "ada took the override back: it is as proposed again {W}. Reason: "
         "the camera writes to DRAM"),
        (Withdrawn(**ABOUT), "ada took their verdict back {W}."),
        (Commented(**ABOUT, text="Yes.", answers=299), "ada answered ada {W}. Yes."),
        (Resolved(**ABOUT, thread=299), "ada resolved the comment of ada {W}. Is it read twice?"),
        (Undone(**ABOUT, undoes=299), "ada undid this: ada commented, 2026-11-30 09:15 UTC {W}."),
        (Released(**WHO, serial=3, policy_digest=DIGEST, payload_digest=DIGEST), "ada signed the whole policy as "
         "number 3 {W}."),
        (Released(**WHO, serial=3, policy_digest=DIGEST, payload_digest=DIGEST, demo=True), "the demo signed the whole "
         "policy for ada as number 3 {W}."),
        (SignedApproval(**WHO, envelope={}, demo=True), "the demo signed the approvals of ada {W}."),
    ],
)  # fmt: skip
def test_events_are_sentences_without_numbers_of_the_record_or_names_of_fields(event, sentence):
    (line,) = told([record(300, event)], [FIRST])
    assert line.sentence == sentence.replace("{W}", WHEN)
    assert not {"299", "300", "="} & set(sentence.split())


CHANGES = [
    (FieldChange("params.bit_width", 8, 16), "The bit width changed from 8 to 16.", "位宽由 8 改为 16。"),
    (FieldChange("override.memory", None, {"x": "dram"}), "The overridden memory is given now: x: dram.",
     "现已给出覆盖后的内存：x：dram。"),
    (FieldChange("override.symmetric", True, None), "The overridden symmetric is no longer given; before: yes.",
     "不再给出覆盖后的对称，此前为：是。"),
    (FieldChange("params.scheme", "tensor_wise", "channel_wise"), None, "权重粒度由逐张量改为逐通道。"),
    (FieldChange("override", None, False), "It is switched off now.", "现已关闭。"),
    (FieldChange("override", False, None), "It is no longer switched off.", "不再是关闭状态。"),
    (FieldChange("risk", "medium", "high"), "The risk changed from medium to high.", None),
    (FieldChange("review_required", None, True), "The need of a justification is given now: yes.", None),
    (FieldChange("nodes", ["a", "b"], ["a"]), "The list of nodes changed from a, b to a.", None),
]  # fmt: skip


@pytest.mark.parametrize(("change", "english", "chinese"), CHANGES)
def test_a_value_that_differs_is_a_sentence_in_both_languages(monkeypatch, change, english, chinese):
    if english:
        assert changed(change) == english
    monkeypatch.setattr("studio.words.texts.language", lambda: "zh")
    assert "→" not in changed(change)
    assert "_" not in changed(change)
    if chinese:
        assert changed(change) == chinese


def test_every_field_that_can_differ_has_its_name():
    for name in {*DECISIVE, "risk"} - {"params"}:  # these differ one by one
        assert changed(FieldChange(name, "low", "high"))
