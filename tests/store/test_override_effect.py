"""An override is written with its measured effect, or with why it was not measured; old records stay as they were."""

import csv
import io
import json

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from review_maker import AT, CONV_0, POLICY, TRUST, action, policy, say

from metainfer_core.bundle.review_rules import standing
from metainfer_core.bundle.statement import ApprovedAction
from metainfer_core.errors import InputError
from metainfer_core.numerics.metrics import Effect, OutputEffect
from metainfer_core.pipeline import adapt, prepare, samples_for
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.policy.what_if import Outcome, Side, WhatIf, content_of
from metainfer_core.spec.library import load
from review_store.export.review_text import override_effect, record_text, records_csv
from review_store.record.events import Overridden, read_event
from review_store.review.decide import current_state
from review_store.review.override_effect import CHANGES_NOTHING
from review_store.review.state import overridden, reviewed_policy, with_actions

GRAPH = """<ir_version: 8, opset_import: ["" : 17]>
net (float[1,3,8,8] x) => (float[1,8,8,8] y) {
    [first] a = Conv <pads = [1,1,1,1]> (x, w_1)
    [relu] b = Relu (a)
    [second] y = Conv <pads = [1,1,1,1]> (b, w_2)
}"""
FIRST, SECOND = "quantize@first", "quantize@second"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a model, data, and a policy that was really searched for."""
    folder = tmp_path_factory.mktemp("effect")
    proto, random = onnx.parser.parse_model(GRAPH), np.random.default_rng(7)
    for name, shape in (("w_1", (8, 3, 3, 3)), ("w_2", (8, 8, 3, 3))):
        proto.graph.initializer.append(numpy_helper.from_array(random.normal(0, 0.3, shape).astype(np.float32), name))
    onnx.save(proto, folder / "net.onnx")
    np.savez(folder / "data.npz", x=random.standard_normal((6, 1, 3, 8, 8)).astype(np.float32))
    prepared = prepare(folder / "net.onnx")
    samples = samples_for(prepared, str(folder / "data.npz"))
    policy = adapt(prepared, load("esp32s3"), samples, samples, Objective(fast=True)).policy
    (folder / "net.policy").write_bytes(policy.to_json())
    return folder


@pytest.fixture
def run(made, tmp_path, monkeypatch, meta_infer):
    """Gives a command about the policy in a workspace of its own; returns exit status, output and errors."""
    monkeypatch.chdir(made)
    about = ("net.policy", "--model", "net.onnx", "--hw-spec", "esp32s3", "--workspace", str(tmp_path / "workspace"))

    def give(command, *arguments):
        return meta_infer("review", command, *about, *arguments)

    return give


def together(side):
    return side["together"]["effect"]["outputs"][0]["sqnr_db"]


def effect_of(policy, changed):
    """A measurement of this override, as if it had been made: only what it is about counts here."""
    moved = Effect(outputs=(OutputEffect(output="y", sqnr_db=14.25),), samples=2, data="2 samples of a.npz")
    sides = [
        Side(content=content_of(each), alone={line.id: Outcome(effect=moved) for line in changed},
             together=Outcome(effect=moved))
        for each in (policy, with_actions(policy, changed))
    ]  # fmt: skip
    digest = "sha256:" + 64 * "0"
    return WhatIf(data="2 samples of a.npz", data_digest=digest, before=sides[0], after=sides[1])


def test_what_if_tells_the_planted_drop_and_writes_nothing(run, made):
    status, out, err = run(
        "what-if", "--action", SECOND, "--set", "weight_bits=3", "--set", "scheme=tensor_wise", "--calib", "data.npz",
        "--json",
    )  # fmt: skip
    assert (status, "Measuring: measuring all actions together" in err) == (0, True)
    answer = json.loads(out)
    before, after = answer["what_if"]["before"], answer["what_if"]["after"]
    policy = Policy.from_json((made / "net.policy").read_bytes())
    recorded = next(each.evidence.together for each in policy.actions if each.evidence.together)
    assert before["together"]["effect"] == recorded.plain()
    assert together(before) - together(after) > 10.0
    assert answer["beside_the_record"] == "Without it, the policy measures exactly as when it was made."
    assert "overridden" not in run("show", "--action", SECOND)[1]


def test_what_if_in_words(run):
    status, out, _ = run("what-if", "--action", FIRST, "--off", "--calib", "data.npz")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].startswith("Measured on 6 samples of data.npz, the signal-to-noise ratio of the worst output")
    assert lines[1].endswith("→ none (it is switched off)")
    assert any(line.startswith("Predicted, not measured: time ") for line in lines)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--set", "bit_width=5"), "this override is not legal"),
        (("--set", "no_such=1"), "no_such"),
        (("--set", "bit_width"), "this is no parameter"),
        (("--set", "bit_width=16", "--set", "bit_width=8"), "names one parameter twice"),
        (("--set", "bit_width=16", "--off"), "not certain which override"),
        ((), "not certain which override"),
        (("--as-proposed",), "changes nothing"),
        (("--off", "--calib", "none.npz"), "none.npz"),
    ],
)
def test_bad_input_is_one_message_and_status_2(run, options, said):
    status, out, err = run("what-if", "--action", SECOND, *options)
    assert (status, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_an_action_that_is_not_there_is_refused(run):
    status, _, err = run("what-if", "--action", "quantize@nowhere", "--off")
    assert (status, "quantize@nowhere: the policy has no such action" in err) == (2, True)


def test_an_override_is_written_with_what_was_measured(run):
    give = ("--action", SECOND, "--override", '{"symmetric": true}', "--reason", "the unit wants it", "--as", "ada")
    status, out, _ = run("decide", *give, "--calib", "data.npz", "--json")
    assert status == 0
    event = json.loads(out)["written"][-1]
    assert event["measured"]["data"] == "6 samples of data.npz"
    assert list(event["measured"]["after"]["alone"]) == [SECOND]
    measured = json.loads(run("what-if", "--action", FIRST, "--off", "--calib", "data.npz", "--json")[1])["what_if"]
    assert measured["before"]["together"] == event["measured"]["after"]["together"]  # it is in force now
    shown = run("show", "--action", SECOND)[1]
    assert "(the unit wants it); measured on 6 samples of data.npz: by itself " in shown
    assert (
        json.loads(run("show", "--action", SECOND, "--json")[1])["actions"][0]["override"]["measured"]
        == (event["measured"])
    )


def test_an_override_without_its_effect_holds_the_reason(run):
    give = ("--action", SECOND, "--override", "false", "--reason", "too coarse", "--as", "ada")
    event = json.loads(run("decide", *give, "--unmeasured", "no data here", "--json")[1])["written"][-1]
    assert ("measured" in event, event["unmeasured"]) == (False, "no data here")
    assert "(too coarse); not measured: no data here" in run("show", "--action", SECOND)[1]
    again = json.loads(run("decide", *give, "--expires", "2091-01-01", "--json")[1])["written"][-1]
    assert again["unmeasured"] == CHANGES_NOTHING


def test_no_override_is_written_without_the_one_or_the_other(log):
    with pytest.raises(InputError, match="comes without its measured effect"):
        say(log, POLICY, "ada", CONV_0, "override", override=False, reason="off", unmeasured=" ")
    assert log.records() == ()


def test_what_was_measured_on_other_content_is_refused(log):
    state = current_state(log, POLICY, TRUST)
    changed = [overridden(state.action(CONV_0), {"bit_width": 16})]
    measured = effect_of(reviewed_policy(state), changed)
    give = (log, POLICY, "ada", CONV_0, "override")
    with pytest.raises(InputError, match="what was measured is not this override"):
        say(*give, override={"bit_width": 4}, reason="finer", measured=measured)
    (_, written) = say(*give, override={"bit_width": 16}, reason="finer", measured=measured)
    assert written.event.measured == measured
    with pytest.raises(InputError, match="what was measured is not this override"):  # it is in force now
        say(*give, override={"bit_width": 16}, reason="finer", measured=measured)


def test_the_effect_stands_in_lines_and_tables_of_the_record(log):
    state = current_state(log, POLICY, TRUST)
    measured = effect_of(reviewed_policy(state), [overridden(state.action(CONV_0), False)])
    say(log, POLICY, "ada", CONV_0, "override", override=False, reason="off", measured=measured)
    words = (
        "measured on 2 samples of a.npz: by itself 14.2 dB → 14.2 dB, all actions together 14.2 dB → 14.2 dB; "
        "predicted time unknown → unknown, bytes moved unknown → unknown"
    )
    record = log.records()[-1]
    assert override_effect(record.event) == words
    assert record_text(record).endswith(f"(reason: off; override: switched off; effect: {words})")
    row = next(csv.DictReader(io.StringIO(records_csv([record]).decode())))
    assert row["details"].endswith(f"effect: {words}")
    assert "data_digest" not in row["details"]


def test_a_record_of_an_older_program_reads_as_it_was_written():
    body = Overridden(
        actor="ada", at=AT, action=CONV_0, base_digest="sha256:" + 64 * "0", override=False, reason="off"
    ).to_json()
    assert b"measured" not in body
    event = read_event(body.decode())
    assert (event.to_json(), override_effect(event)) == (body, "")


def planted(override, broken_before=(), broken_after=()):
    """An override of the first action with what was measured of it."""
    found = effect_of(POLICY, [with_override(override)])
    plain = found.plain()
    plain["before"]["broken"], plain["after"]["broken"] = list(broken_before), list(broken_after)
    return {"override": override, "reason": "less", "measured": WhatIf.from_plain(plain)}


def with_override(override):
    return PolicyAction.from_plain(POLICY.actions[0].plain() | {"override": override})


OVER = "y has 19.98 dB; the budget is 20 dB."


def test_an_override_that_breaks_the_budget_is_of_high_risk_and_says_why(log):
    say(log, POLICY, "ada", CONV_0, "override", **planted({"bit_width": 4}, (), (OVER,)))
    state = current_state(log, POLICY, TRUST)
    review = state.action(CONV_0)
    assert POLICY.actions[0].risk.level == "low"
    assert review.action.risk.level == "high"
    assert review.action.risk.facts[0] == f"As overridden, the whole policy breaks its budget: {OVER}"
    assert review.word == "required"
    with pytest.raises(InputError, match="this approval needs a justification"):
        say(log, POLICY, "bob", CONV_0, "approve")
    (signed,) = (each for each in reviewed_policy(state).actions if each.id == CONV_0)
    unjustified = ApprovedAction(id=CONV_0, content_digest=signed.content_digest, risk="low", at=AT)
    assert not standing(signed, {"bob": unjustified}, (), TRUST).enough  # the core judges what is signed the same
    say(log, POLICY, "ada", CONV_0, "override", override=None, reason="back", unmeasured="as proposed")
    assert current_state(log, POLICY, TRUST).action(CONV_0).action == POLICY.actions[0]


@pytest.mark.parametrize(
    ("before", "after", "level"),
    [((), (), "low"), ((OVER,), (OVER,), "low"), ((OVER,), ("y has 3.0 dB; the budget is 20 dB.",), "high")],
)
def test_only_what_an_override_itself_breaks_raises_its_risk(log, before, after, level):
    say(log, POLICY, "ada", CONV_0, "override", **planted({"bit_width": 6}, before, after))
    assert current_state(log, POLICY, TRUST).action(CONV_0).action.risk.level == level


def test_an_unmeasured_override_is_unverified_where_it_can_move_numbers(log):
    moved = POLICY.actions[0], action("x", kind="place", params={"memory": {"x": "sram"}})
    of = policy(*moved)
    say(log, of, "ada", moved[0].id, "override", override={"bit_width": 4}, reason="less")
    say(log, of, "ada", moved[1].id, "override", override={"memory": {"x": "dram"}}, reason="there is room")
    state = current_state(log, of, TRUST)
    first, second = (state.action(each.id).action.risk for each in moved)
    assert first.facts == ("What it does as overridden was not measured: it is unverified.",)
    assert (first.level, second.level) == ("high", "low")
    say(log, of, "ada", moved[0].id, "override", override=False, reason="leave it out")
    assert current_state(log, of, TRUST).action(moved[0].id).action.risk.level == "low"
