"""Nodes in another layout: where it pays, what is refused, and the same bits."""

from __future__ import annotations

import numpy as np
import pytest
from action_bench import cpu, model_of, npu, proposed, refusal, rewritten, samples_of, spec_of
from npu_bench import adapted

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.layout import LayoutKind
from metainfer_core.actions.layout_regions import best_regions, choices
from metainfer_core.numerics.layouts import NHWC
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.lowering.model_reader import LAYOUT
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.spec.hardware_spec import HardwareSpec

KIND = LayoutKind()
SMALL = """
    small (float[1,64,7,7] x, float[192,64,1,1] w_a, float[192,1,3,3] w_d, float[64,192,1,1] w_p)
        => (float[1,64,7,7] y) {
        [a] s = Conv (x, w_a)
        [d] t = Conv <group = 192, pads = [1, 1, 1, 1]> (s, w_d)
        [p] y = Conv (t, w_p)
    }"""
WIDE = """
    wide (float[1,8,64,64] x, float[8,1,3,3] w_d) => (float[1,8,64,64] y) {
        [d] y = Conv <group = 8, pads = [1, 1, 1, 1]> (x, w_d)
    }"""


def chip(**fields: object) -> HardwareSpec:
    return spec_of(units={"cpu": cpu(**{"vector_width_bits": 256, **fields})})


def layout(*nodes: str, **params: object) -> Action:
    return Action(kind="layout", nodes=nodes, params={"layout": "nhwc", **params})


def test_short_rows_with_many_channels_are_proposed_as_one_region_with_its_figures() -> None:
    spec = chip()
    model = adapted(SMALL, spec)
    (action,), refusals = proposed(KIND, model, spec)
    assert refusals == []
    assert (action.nodes, action.params) == (("a", "d", "p"), {"layout": "nhwc", "target_hw": "cpu"})
    assert action.why[0].claim == (
        "With 8 sums a vector, cpu takes 154,304 vector steps for the convolutions of a to p in NCHW and 128,821 in "
        "NHWC, turning 2 tensors at the border among them (predicted)."
    )
    assert action.why[0].spec_field == "compute_units.cpu.vector_width_bits"
    assert action.why[0].spec_value == "256 bits"
    assert KIND.sentence(action) == "Compute 3 nodes, a to p, in layout NHWC."
    assert KIND.sentence(layout("a")) == "Compute a in layout NHWC."


@pytest.mark.parametrize(
    "spec",
    [chip(vector_width_bits=None), chip(data_layouts=("NCHW", "NHWC")), spec_of(units={"npu": npu()})],
    ids=["no vectors", "both are its own", "no CPU"],
)
def test_silence_where_nothing_says_that_it_pays(spec: HardwareSpec) -> None:
    assert proposed(KIND, adapted(SMALL, spec), spec) == ([], [])


def test_long_rows_of_few_channels_stay() -> None:
    assert proposed(KIND, adapted(WIDE, chip()), chip()) == ([], [])


def test_a_unit_that_works_in_another_layout_binds_what_it_runs() -> None:
    spec = chip(data_layouts=("NC8HW8",), vector_width_bits=None)
    (action,), _ = proposed(KIND, adapted(WIDE, spec), spec)
    assert action.params == {"layout": "nchw8c", "target_hw": "cpu"}
    assert action.why[0].claim == "cpu works in NC8HW8 and not in NCHW (compute_units.cpu.data_layouts)."
    assert action.why[0].spec_value == "NC8HW8"


@pytest.mark.parametrize("word", ["nhwc", "nchw16c"])
def test_the_same_bits_and_the_model_of_the_caller_stays(word: str) -> None:
    spec = chip()
    model = adapted(SMALL, spec)
    after = rewritten(KIND, model, spec, [layout("a", "d", "p", layout=word)])
    assert [node.metadata_props.get(LAYOUT) for node in model.graph] == [None] * len(model.graph)
    usual, laid_out = Simulator(lower(model)), Simulator(lower(after))
    for feed in samples_of(model).feeds[:5]:
        (expected,), (got,) = usual.run(feed).values(), laid_out.run(feed).values()
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("action", "spec", "reason"),
    [
        (
            layout("a", layout="nchw"),
            chip(),
            "There is no layout nchw to change to; there are nchw, nhwc, or nchw16c (with any block of channels in "
            "place of 16).",
        ),
        (
            layout("a", layout="nchw48c"),
            chip(),
            "a (Conv) cannot be computed. Its input has 64 channels, which is no multiple of 48 (layout nchw48c).",
        ),
        (
            layout("a", target_hw="cpu"),
            chip(data_layouts=("NC8HW8",)),
            "cpu works in NC8HW8 (compute_units.cpu.data_layouts), not in NHWC.",
        ),
        (layout("a", target_hw="moon"), chip(), "The spec has no compute unit named moon (compute_units); it has cpu."),
        (layout("nobody"), chip(), "The model has no node nobody."),
        (Action(kind="layout", nodes=("a",)), chip(), "params: layout is not right. Field required."),
    ],
)
def test_what_is_not_legal_is_refused_with_the_reason(action: Action, spec: HardwareSpec, reason: str) -> None:
    assert refusal(KIND, adapted(SMALL, spec), spec, action) == reason


def test_groups_of_several_channels_have_no_kernel_there() -> None:
    text = """
        groups (float[1,8,6,6] x, float[8,4,1,1] w_a) => (float[1,8,6,6] y) {
            [a] y = Conv <group = 2> (x, w_a)
        }"""
    reason = refusal(KIND, adapted(text, chip()), chip(), layout("a"))
    assert reason is not None
    assert "it has 2 groups of 4 to 4 channels and 1 taps." in reason


def test_the_choice_is_the_cheapest_of_all() -> None:
    """The least cut against every choice there is, on a graph with a branch."""
    text = """
        branch (float[1,32,14,14] x, float[32,1,3,3] w_a, float[32,32,1,1] w_b, float[32,1,5,5] w_c)
            => (float[1,32,14,14] y) {
            [a] a = Conv <group = 32, pads = [1, 1, 1, 1]> (x, w_a)
            [b] b = Conv (a, w_b)
            [c] c = Conv <group = 32, pads = [2, 2, 2, 2]> (a, w_c)
            [s] y = Add (b, c)
        }"""
    model = model_of(text)
    program = lower(rewritten(KIND, model, chip(), [])).program
    known = choices(model, program, NHWC, "cpu", 8)
    assert [choice.node for choice in known] == ["a", "b", "c", "s"]
    sizes = {tensor.name: np.prod(tensor.shape) for tensor in program.tensors}
    edges = [("x", None, [0]), ("a", 0, [1, 2]), ("b", 1, [3]), ("c", 2, [3]), ("y", 3, [None])]

    def cost(turned: set[int]) -> float:
        total = sum(choice.in_blocks if i in turned else choice.in_nchw for i, choice in enumerate(known))
        for name, maker, reading in edges:
            if any((maker in turned) != (reader in turned) for reader in reading):
                total += float(sizes[name])
        return total

    every = [{i for i in range(4) if mask >> i & 1} for mask in range(16)]
    chosen = {[c.node for c in known].index(node) for region in best_regions(program, known) for node in region.nodes}
    assert cost(chosen) == min(map(cost, every))
    assert chosen == {0, 1, 2, 3}
