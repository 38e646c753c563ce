from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import cpu, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.rewiring import FROM, FUSED_WITH, UNIT, add_constant, node, set_input
from metainfer_core.spec.hardware_spec import Operators

KIND, SPEC = Fuse(), spec_of()
HEAD = "m (float[1,3,8,8] x, float[4,3,3,3] w_c) => (float[1,4,6,6] y)"
SIX = "<float three = {3.0}, float zero = {0.0}, float six = {6.0}, float sixth = {0.16666667}>"
HARD_SWISH = {
    form: f"[a] a = Add (c, three) [k] k = Clip (a, zero, six) {rest}"
    for form, rest in {
        "product, then division": "[m] m = Mul (c, k) [d] y = Div (m, six)",
        "division, then product": "[d] d = Div (k, six) [m] y = Mul (d, c)",
        "a sixth": "[m] m = Mul (k, c) [d] y = Mul (m, sixth)",
    }.items()
}


def act(*nodes: str, unit: str | None = None) -> Action:
    params = {"with": nodes[1:], **({"target_hw": unit} if unit else {})}
    return Action(kind="fuse", nodes=nodes, params=params)


def test_activation_goes_into_its_producer() -> None:
    model = model_of(f"{HEAD} {{ [conv] c = Conv (x, w_c) [relu] y = Relu (c) }}")
    (action,), refusals = proposed(KIND, model, SPEC)
    fused = rewritten(KIND, model, SPEC, [action])
    assert refusals == []
    assert action.params == {"with": ("relu",), "target_hw": "cpu"}
    assert ops(fused) == ["Conv", "Relu"]  # both stand in the graph; one kernel computes them
    assert node(fused, "relu").metadata_props[FUSED_WITH] == "conv"
    assert node(fused, "conv").metadata_props[UNIT] == "cpu"
    assert keeps_promise(KIND, model, fused)
    assert KIND.sentence(action) == "Compute relu in the kernel of conv."


@pytest.mark.parametrize("form", sorted(HARD_SWISH))
def test_spelled_out_hard_swish_becomes_one_operator(form: str) -> None:
    model = model_of(f"{HEAD} {SIX} {{ [conv] c = Conv (x, w_c) {HARD_SWISH[form]} }}")
    (action,), refusals = proposed(KIND, model, SPEC)
    fused = rewritten(KIND, model, SPEC, [action])
    last = model.graph[-1].name
    assert refusals == []
    assert ops(fused) == ["Conv", "HardSwish"]
    assert node(fused, last).metadata_props[FUSED_WITH] == "conv"
    assert set(node(fused, last).metadata_props[FROM].split(",")) == {"a", "k", "m", "d"}
    assert fused.graph.outputs[0].name == "y"
    assert keeps_promise(KIND, model, fused)


def test_product_with_hard_sigmoid_is_hard_swish() -> None:
    body = "[conv] c = Conv (x, w_c) [s] s = HardSigmoid <alpha = 0.16666667, beta = 0.5> (c) [m] y = Mul (c, s)"
    model = model_of(f"{HEAD} {{ {body} }}")
    (action,), _ = proposed(KIND, model, SPEC)
    assert action.nodes == ("conv", "s", "m")
    assert ops(rewritten(KIND, model, SPEC, [action])) == ["Conv", "HardSwish"]


def test_hard_sigmoid_is_recognised_alone_where_its_source_is_no_kernel() -> None:
    model = model_of(
        f"m (float[1,4] x) => (float[1,4] y) {SIX} "
        "{ [a] a = Add (x, three) [k] k = Clip (a, zero, six) [d] y = Div (k, six) }"
    )
    (action,), _ = proposed(KIND, model, SPEC)
    fused = rewritten(KIND, model, SPEC, [action])
    assert action.nodes == ("a", "k", "d")
    assert ops(fused) == ["HardSigmoid"]
    assert FUSED_WITH not in fused.graph[0].metadata_props
    assert keeps_promise(KIND, model, fused)


@pytest.mark.parametrize(
    "body",
    [
        "[a] a = Add (c, six) [k] k = Clip (a, zero, six) [m] m = Mul (c, k) [d] y = Div (m, six)",  # + 6, not + 3
        "[a] a = Add (c, three) [k] k = Clip (a, zero, three) [m] m = Mul (c, k) [d] y = Div (m, six)",  # to 3
        "[a] a = Add (c, three) [k] k = Clip (a, zero, six) [m] m = Mul (a, k) [d] y = Div (m, six)",  # another factor
        "[a] a = Add (c, three) [k] k = Clip (a, zero, six) [m] m = Mul (c, k) [d] y = Div (six, m)",  # upside down
    ],
)
def test_what_only_looks_like_hard_swish_is_left(body: str) -> None:
    model = model_of(f"{HEAD} {SIX} {{ [conv] c = Conv (x, w_c) {body} }}")
    actions, _ = proposed(KIND, model, SPEC)
    assert all("d" not in action.nodes for action in actions)
    assert refusal(KIND, model, SPEC, act("conv", "a", "k", "m", "d")) is not None


REFUSED = {
    "second reader": (
        "[conv] c = Conv (x, w_c) [relu] r = Relu (c) [add] y = Add (c, r)",
        "c is also read by add (Add), which needs the values before Relu.",
    ),
    "second reader before hard-swish": (
        f"[conv] c = Conv (x, w_c) {HARD_SWISH['a sixth'].replace(' y = ', ' h = ')} [add] y = Add (h, c)",
        "c is also read by add (Add), which needs the values before HardSwish.",
    ),
}


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_a_value_that_others_read_is_stored(case: str) -> None:
    body, reason = REFUSED[case]
    _, refusals = proposed(KIND, model_of(f"{HEAD} {SIX} {{ {body} }}"), SPEC)
    assert reason in refusals


def test_pool_with_two_readers_is_no_leader_and_its_relu_stays_alone() -> None:
    model = model_of(
        "m (float[1,3,8,8] x) => (float[1,3,4,4] y) "
        "{ [pool] p = MaxPool <kernel_shape = [2,2], strides = [2,2]> (x) [relu] r = Relu (p) [add] y = Add (p, r) }"
    )
    assert proposed(KIND, model, SPEC) == ([], [])
    reason = refusal(KIND, model, SPEC, act("pool", "relu"))
    assert reason == "No kernel of MaxPool applies an activation to its results (pool)."


def test_an_output_of_the_model_is_stored() -> None:
    head = HEAD.replace("=> (", "=> (float[1,4,6,6] c, ")
    model = model_of(f"{head} {{ [conv] c = Conv (x, w_c) [relu] y = Relu (c) }}")
    reason = "c is an output of the model, so the values before Relu must be stored."
    assert proposed(KIND, model, SPEC) == ([], [reason])


def test_fusing_across_the_join_of_a_residual_path_is_refused() -> None:
    model = model_of(
        "m (float[1,4,8,8] x, float[4,4,1,1] w_c) => (float[1,4,8,8] y) "
        "{ [conv] c = Conv (x, w_c) [add] s = Add (c, x) [relu] y = Relu (s) }"
    )
    actions, _ = proposed(KIND, model, SPEC)
    assert [action.nodes for action in actions] == [("add", "relu")]
    assert refusal(KIND, model, SPEC, act("conv", "add", "relu")) == (
        "add (Add) also reads x: fusing up to here would cross the point where a residual path joins."
    )
    assert refusal(KIND, model, SPEC, act("conv", "add")) == (
        "add (Add) also reads x: fusing up to here would cross the point where a residual path joins."
    )


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (act("conv", "nowhere"), "The model has no node nowhere."),
        (act("conv", "conv"), "conv cannot be fused with itself."),
        (
            act("conv", "relu", unit="npu_int6"),
            "The spec has no compute unit named npu_int6 (compute_units); it has cpu.",
        ),
        (
            Action(kind="fuse", nodes=("conv", "relu"), params={"with": ("relu",), "depth": 3}),
            "params: depth is not right. Extra inputs are not permitted. Got 3.",
        ),
        (Action(kind="fuse", nodes=("conv",)), "params: with is not right. Field required."),
    ],
)
def test_overrides_meet_the_same_laws(action: Action, reason: str) -> None:
    model = model_of(f"{HEAD} {{ [conv] c = Conv (x, w_c) [relu] y = Relu (c) }}")
    assert refusal(KIND, model, SPEC, action) == reason


def test_the_units_operator_and_fusion_lists_are_laws() -> None:
    model = model_of(f"{HEAD} {{ [conv] c = Conv (x, w_c) [relu] y = Relu (c) }}")
    lists = spec_of(units={"cpu": cpu(), "npu": npu(operators=Operators(supported=("Conv", "Relu"), fusions=()))})
    assert proposed(KIND, model, lists) == (
        [],
        ["npu does not run Conv and Relu as one (compute_units.npu.operators.fusions does not list them)."],
    )
    narrow = spec_of(units={"cpu": cpu(), "npu": npu(operators=Operators(supported=("Conv",), fallback="cpu"))})
    assert proposed(KIND, model, narrow) == (
        [],
        ["npu does not run Relu (compute_units.npu.operators.supported does not list it)."],
    )
    wide = spec_of(units={"cpu": cpu(), "npu": npu(operators=Operators(fusions=(("Conv", "Relu"),)))})
    (action,), _ = proposed(KIND, model, wide)
    assert action.params["target_hw"] == "npu"
    assert (action.why[-1].claim, action.why[-1].spec_field) == (
        "npu runs Conv and Relu as one.",
        "compute_units.npu.operators.fusions",
    )
    moved = KIND.on_unit(model, wide, action, "cpu")
    assert moved.params == {"with": ("relu",), "target_hw": "cpu"}
    assert moved.constraint == "cpu runs Conv and Relu as one."
    assert refusal(KIND, model, wide, moved) is None


def test_planted_mistakes_break_the_promise() -> None:
    model = model_of(f"{HEAD} {SIX} {{ [conv] c = Conv (x, w_c) {HARD_SWISH['a sixth']} }}")
    fused = rewritten(KIND, model, SPEC, proposed(KIND, model, SPEC)[0])
    swish = fused.graph[-1]
    wrong = ir.node("Relu", list(swish.inputs), name="planted")  # another activation
    fused.graph.insert_after(swish, wrong)
    swish.outputs[0].replace_all_uses_with(wrong.outputs[0], replace_graph_outputs=True)
    wrong.outputs[0].name, swish.outputs[0].name = "y", "old"
    assert not keeps_promise(KIND, model, fused)


def test_a_fusion_that_gives_the_second_reader_the_wrong_tensor_is_caught() -> None:
    model = model_of(f"{HEAD} {{ [conv] c = Conv (x, w_c) [relu] r = Relu (c) [add] y = Add (c, r) }}")
    wrong = model.clone()
    set_input(node(wrong, "add"), 0, node(wrong, "relu").outputs[0])
    assert not keeps_promise(KIND, model, wrong)


def test_a_wrong_divisor_is_caught() -> None:
    model = model_of(f"{HEAD} {SIX} {{ [conv] c = Conv (x, w_c) {HARD_SWISH['product, then division']} }}")
    wrong = model.clone()
    set_input(node(wrong, "d"), 1, add_constant(wrong, "planted", np.array(6.01, dtype=np.float32)))
    assert not keeps_promise(KIND, model, wrong)
