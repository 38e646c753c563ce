"""Overrides on a real model and chip: what cannot be built is refused when it is said, and never signed."""

import json
import sys

import pytest
import typer
from chip_maker import chip, policy_for, write_chip, write_model
from review_maker import AT, TRUST, UNTIL, approve_all, private_key, say

import review_store.cli
from metainfer_core import pipeline
from metainfer_core.cli import console
from metainfer_core.errors import DoesNotFitError, InputError, UnsupportedError
from metainfer_core.policy.policy import Policy
from review_store.record.events import Released
from review_store.review.decide import current_state, undo_last
from review_store.review.legality import buildable_on, faults, legality_on, prepared_for, why_not_buildable
from review_store.review.state import reviewed_policy
from review_store.signing.signing import release

FUSE, FIRST, SECOND = "fuse@Conv_0", "quantize@Conv_0", "quantize@Conv_2"
WHY = "fuse@Conv_0: Conv_0 would be conv2d_float32 on cpu; the policy says: on npu."


@pytest.fixture(scope="module")
def net(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("net"))


@pytest.fixture(scope="module")
def proposed(net):
    policy = policy_for(net, chip())
    assert [each.id for each in policy.actions] == [FUSE, FIRST, SECOND]
    return policy


def override(log, policy, net, ids, given, **more):
    legality = legality_on(net, chip(), reviewed_policy(current_state(log, policy, TRUST)))
    return say(log, policy, "ada", ids, "override", override=given, reason="try", legality=legality, **more)


def signed(log, policy, net, spec):
    return release(log, policy, TRUST, private_key("ada"), AT, UNTIL, buildable=buildable_on(net, spec))


def test_what_was_proposed_has_no_fault_and_what_is_foreseen_is_what_gets_built(net, proposed):
    prepared = prepared_for(net, proposed)
    assert faults(prepared, chip(), proposed) == {}
    off = [{**each.plain(), **({"override": False} if each.id == FIRST else {})} for each in proposed.actions]
    broken = Policy.from_plain(proposed.plain() | {"actions": off})
    assert faults(prepared, chip(), broken) == {FUSE: WHY}
    whole = pipeline.prepare(net)
    feeds = pipeline.samples_for(whole, None).feeds[:1]
    built = pipeline.compile_policy(whole, chip(), broken, "native-cpu", feeds)
    assert [(each.action, each.node_id, each.realised) for each in built.differences] == [
        (FUSE, "Conv_0", "conv2d_float32 on cpu"),
        (FUSE, "Relu_1", "conv2d_float32 on cpu"),
    ]


def test_switching_off_what_a_fusion_rests_on_is_refused_at_once(log, net, proposed):
    with pytest.raises(InputError, match="not legal") as refusal:
        override(log, proposed, net, FIRST, False)
    assert refusal.value.why == WHY
    assert log.head().seq == 0
    override(log, proposed, net, SECOND, False)  # nothing rests on that one
    assert len(log.records()) == 2


def test_both_are_switched_off_together_or_the_fusion_first(log, net, proposed):
    override(log, proposed, net, [FIRST, FUSE], False)
    assert [each.action.override for each in current_state(log, proposed, TRUST).actions] == [False, False, None]


def test_overrides_are_checked_beside_those_in_force(log, net, proposed):
    override(log, proposed, net, FUSE, False)
    override(log, proposed, net, FIRST, False)
    with pytest.raises(InputError, match="not legal"):
        override(log, proposed, net, FUSE, None)  # back to what was proposed, which no longer goes


def test_undoing_an_override_is_checked_too(log, net, proposed):
    override(log, proposed, net, [FUSE, FIRST], False)
    state = current_state(log, proposed, TRUST)
    legality = legality_on(net, chip(), reviewed_policy(state))
    with pytest.raises(InputError, match="not legal"):
        undo_last(log, state, FUSE, "ada", AT, legality)
    undo_last(log, state, FIRST, "ada", AT, legality)
    assert current_state(log, proposed, TRUST).action(FIRST).action.override is None


def test_what_could_not_be_done_before_does_not_stand_in_the_way_of_mending_it(log, net, proposed):
    lines = [each.plain() for each in proposed.actions]
    lines[1]["params"] = {"scheme": "no such"}
    lines[2]["params"] = {"scheme": "no such"}
    broken = Policy.from_plain(proposed.plain() | {"actions": lines})
    override(log, broken, net, SECOND, False)
    with pytest.raises(InputError, match="not legal"):
        override(log, broken, net, FIRST, {"scheme": "neither"})


def test_what_cannot_be_built_is_not_signed(log, net, proposed):
    """Written where the check was not at hand, approved by everybody, and refused when it is to be signed."""
    say(log, proposed, "ada", FIRST, "override", override=False, reason="unchecked", legality=None)
    approve_all(log, proposed, "ada")
    with pytest.raises(UnsupportedError, match="is not signed") as refusal:
        signed(log, proposed, net, chip())
    assert refusal.value.why == WHY
    assert FUSE in refusal.value.fix
    reviewed = reviewed_policy(current_state(log, proposed, TRUST))
    assert why_not_buildable(net, chip(), reviewed) == {FUSE: WHY}
    assert why_not_buildable(net, chip(), proposed) == {}
    assert not [each for each in log.records() if isinstance(each.event, Released)]
    say(log, proposed, "ada", FUSE, "override", override=False, reason="so be it", legality=None)
    approve_all(log, proposed, "ada")
    assert signed(log, proposed, net, chip()).verified.releasers == ("ada",)


def test_what_does_not_fit_once_it_is_overridden_is_not_signed(log, net):
    """All in INT8 it needs about 6,100 bytes of memory; in float32 the weights and one step take 7,808."""
    small = chip(6400)
    policy = policy_for(net, small)
    approve_all(log, policy, "ada")
    assert signed(log, policy, net, small)
    say(log, policy, "ada", [FUSE, FIRST, SECOND], "override", override=False, reason="float", legality=None)
    approve_all(log, policy, "ada")
    with pytest.raises(DoesNotFitError) as refusal:
        signed(log, policy, net, small)
    assert refusal.value.needed > refusal.value.available
    assert "dram" in refusal.value.resource
    reviewed = reviewed_policy(current_state(log, policy, TRUST))
    assert why_not_buildable(net, small, reviewed) == {"": f"{refusal.value.what} {refusal.value.why}".strip()}
    assert why_not_buildable(net, small, policy) == {}


def test_the_command_says_what_sign_would_refuse_and_writes_nothing(log, net, proposed, tmp_path, capsys, monkeypatch):
    path, spec = tmp_path / "net.policy", write_chip(tmp_path)
    path.write_bytes(proposed.to_json())
    app = typer.Typer()
    review_store.cli.commands(app)

    def asked(*more):
        given = [str(path), "--model", str(net), "--hw-spec", str(spec), "--workspace", str(log.path.parent), *more]
        monkeypatch.setattr(sys, "argv", ["meta-infer", "review", "buildable", *given])
        with pytest.raises(SystemExit) as end:
            console.run(app)
        return end.value.code, capsys.readouterr().out

    assert asked() == (0, "All 3 actions can be built as they were reviewed.\n")
    say(log, proposed, "ada", FIRST, "override", override=False, reason="unchecked", legality=None)
    head = log.head()
    assert asked() == (1, f"{WHY}\n")
    status, out = asked("--json")
    digest = reviewed_policy(current_state(log, proposed, TRUST)).digest
    faults_of_it = [{"action": FUSE, "why": WHY}]
    assert (status, json.loads(out)) == (1, {"policy": digest, "buildable": False, "faults": faults_of_it})
    assert log.head() == head
