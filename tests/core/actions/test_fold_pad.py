from __future__ import annotations

import onnx_ir as ir
import pytest
from action_bench import cpu, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fold_pad import FoldPad
from metainfer_core.actions.rewiring import FROM
from metainfer_core.spec.hardware_spec import Operators, Quantity

KIND, SPEC = FoldPad(), spec_of()
HEAD = "m (float[1,3,8,9] x, float[4,3,3,3] w_a, float[4,3,5,5] w_b) => (float[1,4,N,M] y)"
AMOUNTS = "<int64[8] amounts = {0,0,1,2,0,0,0,3}, float zero = {0.0}, float one = {1.0}, int64[2] spatial = {2,-1}, "
AMOUNTS += "int64[4] four = {1,2,0,3}, int64[1] channel = {1}, "
AMOUNTS += "int64[8] cut = {0,0,-1,0,0,0,0,0}, int64[8] deep = {0,1,0,0,0,0,0,0}>"


def model(body: str) -> ir.Model:
    return model_of(f'<ir_version: 8, opset_import: ["" : 18]> {HEAD} {AMOUNTS} {{ {body} }}')


@pytest.mark.parametrize("pad", ["Pad (x, amounts)", "Pad (x, amounts, zero)", "Pad (x, four, zero, spatial)"])
def test_zeros_become_pads_of_the_conv(pad: str) -> None:
    before = model(f"[pad] p = {pad} [conv] y = Conv <pads = [1,0,1,1]> (p, w_a)")
    (action,), refusals = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert (action.nodes, refusals) == (("pad", "conv"), [])
    assert ops(after) == ["Conv"]
    assert after.graph[0].attributes["pads"].as_ints() == (2, 2, 1, 4)
    assert after.graph[0].metadata_props[FROM] == "conv,pad"
    assert keeps_promise(KIND, before, after)
    assert KIND.sentence(action) == "Fold pad into the pads of conv."


def test_two_convs_that_read_one_pad_each_get_its_zeros() -> None:
    before = model(
        "[pad] p = Pad (x, amounts) [a] a = Conv (p, w_a) [b] b = Conv <pads = [1,1,1,1]> (p, w_b) [y] y = Add (a, b)"
    )
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    assert action.nodes == ("pad", "a", "b")
    assert ops(after) == ["Conv", "Conv", "Add"]
    assert keeps_promise(KIND, before, after)


def test_the_plain_form_names_the_pad_alone() -> None:
    before = model("[pad] p = Pad (x, amounts) [conv] y = Conv (p, w_a)")
    assert KIND.completed(before, Action(kind="fold_pad", nodes=("pad",)), None).nodes == ("pad", "conv")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("p = Pad (x, amounts) [c] c = Conv (p, w_a) [r] r = Relu (p) [m] q = MaxPool <kernel_shape = [3,3]> (r) "
         "[k] k = ReduceMean (q, channel) [y] y = Mul (c, k)",
         "r (Relu) also reads p, which it needs with the zeros around it."),
        ("p = Pad <mode = \"reflect\"> (x, amounts) [c] y = Conv (p, w_a)",
         "pad repeats values of its input; the pads of a Conv are zeros."),
        ("p = Pad (x, amounts, one) [c] y = Conv (p, w_a)",
         "pad adds other numbers than 0; the pads of a Conv are zeros."),
        ("p = Pad (x, cut) [c] y = Conv (p, w_a)", "pad pads other axes than height and width, or cuts."),
        ("p = Pad (x, amounts) [c] y = Conv <auto_pad = \"SAME_UPPER\"> (p, w_a)",
         "c derives its pads from its input (auto_pad), which would be another one."),
    ],
)  # fmt: skip
def test_refusals(body: str, reason: str) -> None:
    assert proposed(KIND, model(f"[pad] {body}"), SPEC) == ([], [reason])


def test_a_pad_that_is_an_output_stays() -> None:
    before = model_of(
        "m (float[1,3,8,8] x, float[4,3,3,3] w_a) => (float[1,3,9,8] p, float[1,4,7,6] y) "
        "<int64[8] a = {0,0,1,0,0,0,0,0}> { [pad] p = Pad (x, a) [c] y = Conv (p, w_a) }"
    )
    assert proposed(KIND, before, SPEC) == ([], ["p is an output of the model, so it must be stored."])


def test_a_unit_with_narrow_pads_keeps_the_pad() -> None:
    limits = {"Conv": {"pad_right": Quantity(min=0, max=3)}}
    spec = spec_of(units={"npu": npu(operators=Operators(limits=limits)), "cpu": cpu()})
    before = model("[pad] p = Pad (x, amounts) [c] y = Conv <pads = [0,0,0,1]> (p, w_a)")
    field = "compute_units.npu.operators.limits.Conv.pad_right"
    told = f"c has pad_right 4; npu runs 0 to 3 ({field}). Now pad keeps it within that."
    assert proposed(KIND, before, spec) == ([], [told])


def test_a_planted_mistake_breaks_the_promise() -> None:
    before = model("[pad] p = Pad (x, amounts) [conv] y = Conv (p, w_a)")
    (action,), _ = proposed(KIND, before, SPEC)
    after = rewritten(KIND, before, SPEC, [action])
    after.graph[0].attributes["pads"] = ir.AttrInt64s("pads", [2, 1, 3, 0])  # height and width swapped
    assert not keeps_promise(KIND, before, after)


def test_another_node_is_no_pad() -> None:
    before = model("[relu] p = Relu (x) [conv] y = Conv (p, w_a)")
    assert (
        refusal(KIND, before, SPEC, Action(kind="fold_pad", nodes=("relu", "conv")))
        == "relu is Relu: only a Pad is folded."
    )
