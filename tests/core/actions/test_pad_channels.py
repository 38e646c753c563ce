from __future__ import annotations

import numpy as np
import pytest
from action_bench import cpu, keeps_promise, model_of, npu, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.pad_channels import PadChannels
from metainfer_core.actions.rewiring import add_constant, node, numbers_of, set_input

KIND = PadChannels()
SPEC = spec_of(units={"cpu": cpu(channel_multiple=4)})
BLOCK = """
    m (float[1,3,8,8] x, float[6,3,3,3] w_a, float[6] w_bias, float[6,1,3,3] w_d, float[6] w_gamma, float[6] w_beta,
       float[6] w_mean, float[6] w_variance, float[1,6,1,1] w_add, float[4,6,1,1] w_p, float[5,6] w_g)
        => (float[1,4,8,8] y, float[1,5] z) <int64[2] flat = {1, 6}> {
        [a] a = Conv <pads = [1,1,1,1]> (x, w_a, w_bias)
        [act] r = HardSigmoid (a)
        [dw] d = Conv <group = 6, pads = [1,1,1,1]> (r, w_d)
        [bn] n = BatchNormalization (d, w_gamma, w_beta, w_mean, w_variance)
        [join] j = Add (n, r)
        [shift] k = Add (j, w_add)
        [last] y = Conv (k, w_p)
        [pool] p = GlobalAveragePool (k)
        [flatten] f = Reshape (p, flat)
        [head] z = Gemm <transB = 1> (f, w_g)
    }"""


def test_a_block_is_padded_as_a_whole() -> None:
    model = model_of(BLOCK)
    (action,), refusals = proposed(KIND, model, SPEC)
    padded = rewritten(KIND, model, SPEC, [action])
    assert refusals == []
    assert action.params == {"channels": 6, "padded": 8, "target_hw": "cpu"}
    assert set(action.nodes) == {"a", "act", "dw", "bn", "join", "shift", "last", "pool", "flatten", "head"}
    shapes = {other.name: tuple(other.outputs[0].shape) for other in padded.graph}
    assert shapes["a"] == shapes["dw"] == shapes["bn"] == shapes["join"] == (1, 8, 8, 8)
    assert (shapes["flatten"], shapes["last"], shapes["head"]) == ((1, 8), (1, 4, 8, 8), (1, 5))
    assert numbers_of(node(padded, "a").inputs[1]).shape == (8, 3, 3, 3)
    assert numbers_of(node(padded, "dw").inputs[1]).shape == (8, 1, 3, 3)
    assert node(padded, "dw").attributes.get_int("group", 0) == 8
    assert numbers_of(node(padded, "last").inputs[1]).shape == (4, 8, 1, 1)
    assert numbers_of(node(padded, "head").inputs[1]).shape == (5, 8)
    assert not numbers_of(node(padded, "a").inputs[1])[6:].any()
    assert keeps_promise(KIND, model, padded)
    assert KIND.sentence(action) == "Pad the 6 channels that a makes to 8 with zeros."


def test_two_convs_that_meet_in_a_sum_are_padded_together() -> None:
    model = model_of("""
        m (float[1,3,4,4] x, float[5,3,1,1] w_a, float[5,3,1,1] w_b, float[4,5,1,1] w_c) => (float[1,4,4,4] y) {
            [a] a = Conv (x, w_a) [b] b = Conv (x, w_b) [sum] s = Add (a, b) [c] y = Conv (s, w_c) }""")
    (action,), _ = proposed(KIND, model, SPEC)
    assert action.nodes == ("a", "b", "sum", "c")
    assert keeps_promise(KIND, model, rewritten(KIND, model, SPEC, [action]))


@pytest.mark.parametrize(
    ("rest", "outputs", "reason"),
    [
        ("[b] y = Relu (a)", "float[1,6,4,4] y", "y is an output of the model, whose shape must stay."),
        (
            "[b] y = Concat <axis = 1> (a, x)",
            "float[1,9,4,4] y",
            "b (Concat) does not keep channels apart, so zero channels could change its result.",
        ),
        (
            "[s] s = Softmax <axis = 1> (a) [b] y = Conv (s, w_b)",
            "float[1,4,4,4] y",
            "s (Softmax) does not keep channels apart, so zero channels could change its result.",
        ),
        (
            "[b] y = Conv <group = 2> (a, w_two)",
            "float[1,4,4,4] y",
            "b has 2 groups, between which channels cannot move.",
        ),
        (
            "[b] b = Add (a, z) [c] y = Conv (b, w_b)",
            "float[1,4,4,4] y",
            "z is an input of the model, whose shape must stay.",
        ),
        ("[f] y = Flatten (a)", "float[1,96] y", "f (Flatten) mixes channels with other extents."),
    ],
)  # fmt: skip
def test_refusals(rest: str, outputs: str, reason: str) -> None:
    model = model_of(f"""
        m (float[1,3,4,4] x, float[1,6,4,4] z, float[6,3,1,1] w_a, float[4,6,1,1] w_b, float[4,3,1,1] w_two)
            => ({outputs}) {{ [a] a = Conv (x, w_a) {rest} }}""")
    assert proposed(KIND, model, SPEC) == ([], [reason])


def test_no_multiple_no_action() -> None:
    assert proposed(KIND, model_of(BLOCK), spec_of()) == ([], [])
    assert proposed(KIND, model_of(BLOCK), spec_of(units={"npu": npu(channel_multiple=2)})) == ([], [])


@pytest.mark.parametrize(
    ("nodes", "params", "reason"),
    [
        (("a",), {"padded": 8}, "The channels of a run through a, dw, join, shift, bn, flatten, act, pool, last, head; "
                                "all of them must be padded together."),
        (None, {"padded": 10**9}, "999999994 more channels are too many: at most 1024 are added."),
        (None, {"padded": 4}, "a has 6 channels: they can be padded, not cut."),
        (None, {"padded": 7, "target_hw": "cpu"}, "7 is no multiple of 4 (compute_units.cpu.channel_multiple)."),
        (None, {"padded": 8, "target_hw": "moon"}, "The spec has no compute unit named moon (compute_units); it has "
                                                   "cpu."),
        (("act",), {"padded": 8}, "act is not a Conv of one group with a known shape."),
    ],
)  # fmt: skip
def test_overrides_meet_the_same_laws(nodes: tuple[str, ...] | None, params: dict[str, object], reason: str) -> None:
    model = model_of(BLOCK)
    whole = proposed(KIND, model, SPEC)[0][0].nodes
    assert refusal(KIND, model, SPEC, Action(kind="pad_channels", nodes=nodes or whole, params=params)) == reason


def test_the_plain_form_names_the_conv_alone() -> None:
    model = model_of(BLOCK)
    action = KIND.completed(model, Action(kind="pad_channels", nodes=("a",), params={"padded": 8}), None)
    assert refusal(KIND, model, SPEC, action) is None
    assert len(action.nodes) == 10


@pytest.mark.parametrize(("where", "index"), [("last", 1), ("head", 1)])
def test_planted_mistakes_break_the_promise(where: str, index: int) -> None:
    """Padded channels of HardSigmoid are 0.5, not 0: whoever reads them must have zero weights for them."""
    model = model_of(BLOCK)
    wrong = rewritten(KIND, model, SPEC, proposed(KIND, model, SPEC)[0])
    reader = node(wrong, where)
    weight = numbers_of(reader.inputs[index]).copy()
    weight[:, 6:] = 0.25
    set_input(reader, index, add_constant(wrong, "planted", weight))
    assert not keeps_promise(KIND, model, wrong)


def test_padding_at_the_front_is_caught() -> None:
    model = model_of(BLOCK)
    wrong = rewritten(KIND, model, SPEC, proposed(KIND, model, SPEC)[0])
    conv = node(wrong, "a")
    set_input(conv, 1, add_constant(wrong, "planted", np.roll(numbers_of(conv.inputs[1]), 2, axis=0)))
    assert not keeps_promise(KIND, model, wrong)
