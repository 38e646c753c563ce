"""Which way the check of a window's taps mostly goes: held against the count, and the same bits."""

from __future__ import annotations

import pytest
from action_bench import cpu, proposed, refusal, rewritten, samples_of, spec_of
from npu_bench import adapted

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.branch_hint import BranchHint, taps_inside
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator

KIND = BranchHint()
SPEC = spec_of(units={"cpu": cpu()})
TEXT = """
    net (float[1,16,12,12] x, float[8,16,1,1] w_c, float[8,8,3,3] w_k) => (float[1,8,3,3] y) {
        [c] s = Conv (x, w_c)
        [m] t = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (s)
        [k] u = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (t, w_k)
        [r] y = Relu (u)
    }"""
LOST = """
    lost (float[1,1,1,1] x) => (float[1,1,9,9] y) {
        [m] y = MaxPool <kernel_shape = [9, 9], pads = [8, 8, 8, 8]> (x)
    }"""


def hint(name: str = "k", likely: str = "inside") -> Action:
    return Action(kind="branch_hint", nodes=(name,), params={"likely": likely})


def test_the_call_has_the_hint_and_gives_the_same_bits() -> None:
    model = adapted(TEXT, SPEC)
    after = rewritten(KIND, model, SPEC, [hint(), hint("m")])
    steps = {step.node_ids[0]: step for step in lower(after).program.steps}
    assert [steps[name].params.get("likely_inside") for name in ("c", "m", "k")] == [None, 1, 1]
    usual, hinted = Simulator(lower(model)), Simulator(lower(after))
    for feed in samples_of(model).feeds[:3]:
        assert hinted.run(feed)["y"].tobytes() == usual.run(feed)["y"].tobytes()
    assert proposed(KIND, model, SPEC) == ([], [])
    assert KIND.sentence(hint()) == "Expect the taps of k to lie mostly in the input."
    assert KIND.sentence(hint(likely="padding")) == "Expect the taps of k to lie mostly in the padding."


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (hint(likely="padding"), "64 of 81 taps of k lie in the input: they are not mostly in the padding."),
        (hint("c"), "c is computed by conv2d_int8, which has no such loop."),
        (hint("r"), "r is computed by no kernel of its own, which has no such loop."),
        (hint("m"), None),
    ],
)
def test_it_is_held_against_the_count_of_taps(action: Action, reason: str | None) -> None:
    assert refusal(KIND, adapted(TEXT, SPEC), SPEC, action) == reason


def test_taps_are_counted_from_the_shapes() -> None:
    model = adapted(LOST, SPEC, ())
    (step,) = lower(model).program.steps
    assert taps_inside(step.params) == (81, 6561)  # each window sees the one element once
    assert refusal(KIND, model, SPEC, hint("m", "padding")) is None
    reason = refusal(KIND, model, SPEC, hint("m"))
    assert reason == "81 of 6,561 taps of m lie in the input: they are not mostly in the input."
