"""Merging layers that read the same tensor."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.merge_siblings import MergeSiblings
from metainfer_core.actions.rewiring import FROM
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory, Operators, Quantity

KIND = MergeSiblings()
HEADS = """
    heads (float[1,64,8,8] x, float[4,64,1,1] w_a, float[6,64,1,1] w_b, float[6] w_bias)
        => (float[1,4,8,8] y, float[1,6,8,8] z) {
        [a] y = Conv (x, w_a)
        [b] z = Conv (x, w_b, w_bias)
    }"""
PROJECTIONS = """
    projections (float[5,64] x, float[64,3] w_q, float[64,4] w_k, float[64,5] w_v)
        => (float[5,3] q, float[5,4] k, float[5,5] v) {
        [q] q = MatMul (x, w_q)
        [k] k = MatMul (x, w_k)
        [v] v = MatMul (x, w_v)
    }"""
GEMMS = """
    gemms (float[2,64] x, float[3,64] w_a, float[3] w_abias, float[4,64] w_b) => (float[2,3] y, float[2,4] z) {
        [a] y = Gemm <transB = 1> (x, w_a, w_abias)
        [b] z = Gemm <transB = 1> (x, w_b)
    }"""


def chip(gbps: float = 1.0, operators: Operators | None = None) -> HardwareSpec:
    """An NPU that bandwidth binds, with copies as the only cost of a Split."""
    memories = {"dram": Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=Quantity(typ=gbps))}
    unit = npu(operators=operators or Operators(supported=("Conv", "Gemm", "MatMul", "Split", "Relu")))
    return spec_of(memories, {"npu": unit, "cpu": cpu()})


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [(HEADS, ("a", "b"), "Conv"), (PROJECTIONS, ("q", "k", "v"), "MatMul"), (GEMMS, ("a", "b"), "Gemm")],
)
def test_layers_of_one_tensor_become_one(text: str, names: tuple[str, ...], left: str) -> None:
    before = model_of(text)
    (action,), refusals = proposed(KIND, before, chip())
    after = rewritten(KIND, before, chip(), [action])
    assert (action.nodes, refusals) == (names, [])
    assert ops(after) == [left, "Split"]
    assert {one.metadata_props[FROM] for one in after.graph} == {",".join(names)}
    assert keeps_promise(KIND, before, after)
    assert KIND.sentence(action) == f"Compute {', '.join(names)} as one layer and split its result."


def test_the_saving_is_the_tensor_that_is_read_once_less_the_copies() -> None:
    (action,), _ = proposed(KIND, model_of(HEADS), chip())
    # bytes at 1 GB/s: x 4096, weights 640, results 640; 2 x + both, against x + both + 2 results
    assert action.why[1].claim == "Predicted 6.66 µs with the copies of the Split, 9.47 µs on their own."
    assert action.constraint == "x is read once in place of 2 times."
    assert action.params == {"target_hw": "npu"}


def test_what_does_not_pay_is_refused_with_both_times() -> None:
    wide = HEADS.replace("x, float[4,64", "x, float[40,64").replace("[1,4,8,8]", "[1,40,8,8]")
    assert proposed(KIND, model_of(wide), chip()) == (
        [],
        ["Merged, 2 layers and the copies of the Split take 15.9 µs on npu; on their own they take 14.1 µs: "
         "it does not pay."],
    )  # fmt: skip
    bound_by_compute = chip(gbps=1e6)
    actions, (reason,) = proposed(KIND, model_of(HEADS), bound_by_compute)
    assert (actions, reason.endswith("it does not pay.")) == ([], True)


def test_a_spec_without_rates_gets_no_proposal() -> None:
    assert proposed(KIND, model_of(HEADS), spec_of()) == (
        [],
        ["It cannot be told whether merging 2 layers pays: the spec lacks compute_units.cpu.macs_per_cycle.int8."],
    )


def test_one_scale_must_serve_all_parts() -> None:
    small = model_of(HEADS, {"w_a": np.full((4, 64, 1, 1), 1e-4, np.float32)})
    actions, (reason,) = proposed(KIND, small, chip(), calibrated(small))
    assert actions == []
    assert reason.startswith("Under one scale for all, a would reach ")
    assert reason.endswith(" of 256 codes; at least 64 are kept.")
    assert len(proposed(KIND, model_of(HEADS), chip(), calibrated(model_of(HEADS)))[0]) == 1


ACTIVATED = HEADS.replace("y = Conv (x, w_a)", "c = Conv (x, w_a) [r] y = Relu (c)").replace(
    "z = Conv (x, w_b, w_bias)", "d = Conv (x, w_b, w_bias) [s] z = Relu (d)"
)
CLIPPED = ACTIVATED.replace("Relu (c)", "Clip (c, low, top)").replace("Relu (d)", "Clip (d, low, top)")
CLIPPED = CLIPPED.replace("float[1,6,8,8] z)", "float[1,6,8,8] z) <float low = {0}, float top = {6}, float two = {2}>")


@pytest.mark.parametrize(("text", "activation"), [(ACTIVATED, "Relu"), (CLIPPED, "Clip")])
def test_an_activation_that_all_have_comes_before_the_split(text: str, activation: str) -> None:
    before = model_of(text)
    (action,), refusals = proposed(KIND, before, chip())
    after = rewritten(KIND, before, chip(), [action])
    assert (action.nodes, refusals) == (("a", "b", "r", "s"), [])
    assert ops(after) == ["Conv", activation, "Split"]
    assert [one.metadata_props[FROM] for one in after.graph] == ["a,b", "r,s", "r,s"]
    assert keeps_promise(KIND, before, after)
    assert KIND.sentence(action) == "Compute a, b, r, s as one layer and split its result."


@pytest.mark.parametrize(
    "text",
    [
        ACTIVATED.replace("z = Relu (d)", "z = Sigmoid (d)"),
        CLIPPED.replace("Clip (d, low, top)", "Clip (d, low, two)"),
        ACTIVATED.replace("Relu (c)", "LeakyRelu (c)").replace("Relu (d)", "LeakyRelu <alpha = 0.3> (d)"),
        ACTIVATED.replace("[s]", "[n] e = Neg (d) [s]").replace("Relu (d)", "Max (d, e)"),
    ],
)
def test_activations_that_differ_stay_where_they_are(text: str) -> None:
    model = model_of(text)
    actions, (told,) = proposed(KIND, model, chip())
    assert actions == []
    assert told.endswith("is fused into a now, and could not be past a Split.")
    forced = refusal(KIND, model, chip(), Action(kind="merge_siblings", nodes=("a", "b", "r")))
    assert forced is not None
    assert forced.endswith(" moves into the merged layer only where each of a, b has the same.")


def test_activations_named_in_another_order_keep_their_layers() -> None:
    before = model_of(ACTIVATED)
    after = rewritten(KIND, before, chip(), [Action(kind="merge_siblings", nodes=("a", "b", "s", "r"))])
    assert keeps_promise(KIND, before, after)


def test_a_fused_activation_keeps_its_layer() -> None:
    text = HEADS.replace("[a] y = Conv (x, w_a)", "[a] c = Conv (x, w_a) [r] y = Relu (c)")
    told = "r (Relu) is fused into a now, and could not be past a Split."
    assert proposed(KIND, model_of(text), chip()) == ([], [told])


def test_a_limit_that_only_the_merged_layer_breaks() -> None:
    runs = Operators(supported=("Conv", "Split"), limits={"Conv": {"out_channels": Quantity(min=1, max=8)}})
    field = "compute_units.npu.operators.limits.Conv.out_channels"
    told = f"a merged has out_channels 10; npu runs 1 to 8 ({field})."
    assert proposed(KIND, model_of(HEADS), chip(operators=runs)) == ([], [told])


def test_a_unit_without_split() -> None:
    _, (reason,) = proposed(KIND, model_of(HEADS), chip(operators=Operators(supported=("Conv",))))
    assert reason.startswith("The parts would leave npu: npu does not run Split")


@pytest.mark.parametrize(
    ("text", "nodes", "words"),
    [
        (HEADS, ("a",), "a is one layer: there is nothing to merge it with."),
        (HEADS.replace("z = Conv (x", "z = Conv <strides = [1,1]> (x"), ("a", "b"),
         "b has another kernel or other attributes than a."),
        (HEADS.replace("[b] z = Conv (x", "[n] n = Neg (x) [b] z = Conv (n"), ("a", "b"), "b reads n, and a reads x."),
        (HEADS.replace("[b] z = Conv (x", "[n] n = Neg (x) [b] z = Conv (n"), ("a", "n"),
         "n cannot be merged: Neg is no layer with weights."),
    ],
)  # fmt: skip
def test_overrides_are_refused(text: str, nodes: tuple[str, ...], words: str) -> None:
    assert refusal(KIND, model_of(text), chip(), Action(kind="merge_siblings", nodes=nodes)) == words


def test_parts_in_the_wrong_order_are_caught() -> None:
    text = HEADS.replace("float[6", "float[4").replace("[1,6,8,8]", "[1,4,8,8]")
    before = model_of(text)
    (action,), _ = proposed(KIND, before, chip())
    after = rewritten(KIND, before, chip(), [action])
    first, second = after.graph.outputs
    after.graph.outputs[0], after.graph.outputs[1] = second, first
    first.name, second.name = "z", "y"
    assert isinstance(after, ir.Model)
    assert not keeps_promise(KIND, before, after)
