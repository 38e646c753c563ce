"""Approved against realised: a right build has no difference, and each planted one is named by node."""

from typing import Any

import pytest

from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import KINDS
from metainfer_core.codegen.differences import CHECKS, differences
from metainfer_core.verify.realised_graph import Arena, RealisedGraph, RealisedStep, RealisedTensor

OP_TYPES = {
    "Conv_0": "Conv",
    "Norm_1": "BatchNormalization",
    "Relu_2": "Relu",
    "Soft_3": "Softmax",
    "Gemm_4": "Gemm",
    "Flat_5": "Flatten",
}
SCALE = 6.0 / 255.0
APPROVED = (
    Action(kind="bind_shape", nodes=("x",), params={"shape": [1, 3, 4, 4]}),
    Action(kind="fold_batch_norm", nodes=("Conv_0", "Norm_1")),
    Action(kind="fuse", nodes=("Conv_0", "Relu_2"), params={"with": ["Relu_2"], "target_hw": "npu"}),
    Action(
        kind="quantize",
        nodes=("Conv_0", "Relu_2"),
        params={"bit_width": 8, "scheme": "channel_wise", "symmetric": False, "ranges": {"c": [0.0, 6.0]}},
    ),
    Action(kind="pad_channels", nodes=("Conv_0", "Gemm_4"), params={"channels": 6, "padded": 8, "target_hw": "npu"}),
    Action(kind="decompose", nodes=("Soft_3",), params={"into": ["Exp", "Div"], "target_hw": "cpu"}),
    Action(kind="place", nodes=("Conv_0",), params={"memory": {"c": "sram"}}),
    Action(kind="keep_float", nodes=("Gemm_4",), params={"cause": "sensitive"}),
)


def tensor(
    name: str, element_type: str = "float32", shape: tuple[int, ...] = (1, 8, 4, 4), **more: Any
) -> RealisedTensor:
    scales = more.pop("scales", ())
    zero_points = more.pop("zero_points", tuple(0 for _ in scales))
    plain: dict[str, Any] = {
        "name": name,
        "element_type": element_type,
        "shape": shape,
        "size_bytes": 128,
        "memory": "ddr",
        "offset_bytes": 0,
        "is_constant": False,
        "granularity": None if not scales else ("channel" if len(scales) > 1 else "tensor"),
        "symmetric": not any(zero_points) if scales else None,
        "scales": scales,
        "zero_points": zero_points,
        **more,
    }
    return RealisedTensor.from_plain(plain)


TENSORS = {
    "x": tensor("x", shape=(1, 3, 4, 4)),
    "x8": tensor("x8", "int8", (1, 3, 4, 4), scales=(0.1,), zero_points=(3,)),
    "w": tensor("w", "int8", scales=(0.1, 0.2), is_constant=True, memory=None, offset_bytes=None),
    "b": tensor("b", "int32", is_constant=True, memory=None, offset_bytes=None),
    "c": tensor("c", "int8", memory="sram", scales=(SCALE,), zero_points=(-128,)),
    "cf": tensor("cf"),
    "e": tensor("e"),
    "s": tensor("s"),
    "g": tensor("g"),
    "gw": tensor("gw", is_constant=True, memory=None, offset_bytes=None),
}
STEPS = {
    "q": RealisedStep(kernel="quantize_int8", node_ids=("x.quantize",), inputs=("x",), outputs=("x8",)),
    "conv": RealisedStep(
        kernel="conv2d_int8",
        node_ids=("Conv_0", "Norm_1", "Relu_2"),
        inputs=("x8", "w", "b"),
        outputs=("c",),
        unit="npu",
    ),
    "dq": RealisedStep(kernel="dequantize_int8", node_ids=("c.dequantize",), inputs=("c",), outputs=("cf",)),
    "exp": RealisedStep(
        kernel="exp_float32", node_ids=("Soft_3.exp", "Soft_3"), inputs=("cf",), outputs=("e",), unit="cpu"
    ),
    "div": RealisedStep(
        kernel="div_float32", node_ids=("Soft_3.div", "Soft_3"), inputs=("e", "e"), outputs=("s",), unit="cpu"
    ),
    "flat": RealisedStep(kernel="view", node_ids=("Flat_5",), inputs=("s",), outputs=("sv",)),
    "gemm": RealisedStep(kernel="gemm_float32", node_ids=("Gemm_4",), inputs=("s", "gw"), outputs=("g",)),
}
TENSORS["sv"] = tensor("sv", shape=(1, 128))


def graph(tensors: dict[str, RealisedTensor] | None = None, **steps: RealisedStep | None) -> RealisedGraph:
    found = {**STEPS, **steps}
    return RealisedGraph(
        target="native-cpu",
        inputs=("x",),
        outputs=("g",),
        steps=tuple(step for step in found.values() if step is not None),
        tensors=tuple({**TENSORS, **(tensors or {})}.values()),
        arenas={"ddr": Arena(size_bytes=4096, alignment_bytes=64)},
    )


def found(built: RealisedGraph, actions: tuple[Action, ...] = APPROVED) -> set[tuple[str, str, str]]:
    """(node, approved, realised) of each difference."""
    return {(one.node_id, one.approved, one.realised) for one in differences(actions, built, OP_TYPES)}


def changed(name: str, **fields: Any) -> dict[str, RealisedTensor]:
    return {name: RealisedTensor.from_plain({**TENSORS[name].model_dump(mode="json"), **fields})}


def step(name: str, **fields: Any) -> RealisedStep:
    return RealisedStep.from_plain({**STEPS[name].plain(), **fields})


def without(kind: str) -> tuple[Action, ...]:
    return tuple(action for action in APPROVED if action.kind != kind)


def test_a_right_build_has_no_difference() -> None:
    assert found(graph()) == set()


def test_a_batch_norm_that_was_not_folded_is_named() -> None:
    norm = step("div", kernel="affine_float32", node_ids=("Norm_1",), inputs=("cf",), outputs=("e",))
    built = graph(conv=step("conv", node_ids=("Conv_0", "Relu_2")), norm=norm)
    assert ("Norm_1", "computed in one step with Conv_0", "computed by affine_float32") in found(built)


def test_an_activation_that_was_not_fused_is_named() -> None:
    relu = step("conv", kernel="lookup_int8", node_ids=("Relu_2",), inputs=("c",))
    built = graph(conv=step("conv", node_ids=("Conv_0", "Norm_1")), relu=relu)
    assert found(built) == {("Relu_2", "computed in one step with Conv_0", "computed by lookup_int8")}


def test_a_layer_that_stayed_float_is_named() -> None:
    conv = step("conv", kernel="conv2d_float32", inputs=("x", "w", "b"), outputs=("cf",))
    assert ("Conv_0", "an INT8 step", "conv2d_float32 on float32 (x)") in found(graph(conv=conv, q=None, dq=None))


def test_another_granularity_of_weights_is_named() -> None:
    built = graph(changed("w", granularity="tensor", scales=[0.1], zero_points=[0]))
    assert found(built) == {("Conv_0", "weights scaled by channel", "w by tensor")}


def test_one_channel_has_one_scale_either_way() -> None:
    tensors = changed("w", granularity="tensor", scales=[0.1], zero_points=[0]) | changed("c", shape=[1, 1, 4, 4])
    assert found(graph(tensors), without("pad_channels")) == set()


def test_weights_with_a_zero_point_are_named() -> None:
    built = graph(changed("w", symmetric=False, zero_points=[0, 5]))
    assert found(built) == {("Conv_0", "weights with zero point 0", "w has another zero point")}


def test_activations_that_were_approved_symmetric_are_held_to_it() -> None:
    symmetric = tuple(
        Action(kind=one.kind, nodes=one.nodes, params={**one.params, "symmetric": True, "ranges": {}})
        if one.kind == "quantize"
        else one
        for one in APPROVED
    )
    built = found(graph(), symmetric)
    assert ("Conv_0", "activations with zero point 0", "c has -128") in built


def test_another_range_is_named() -> None:
    built = graph(changed("c", scales=[2 * SCALE]))
    assert ("Conv_0", "c over [0, 6]: a scale of 0.02353", "a scale of 0.04706") in found(built)


def test_a_layer_that_was_to_stay_float_is_named() -> None:
    gemm = step("gemm", kernel="gemm_int8", inputs=("c", "w"))
    assert ("Gemm_4", "a float32 step", "gemm_int8 on int8 (c)") in found(graph(gemm=gemm))


def test_a_precision_that_nobody_approved_is_named() -> None:
    assert ("Conv_0", "float32", "conv2d_int8 on quantized values") in found(graph(), without("quantize"))


def test_integers_that_are_only_moved_keep_their_values_and_other_scales_do_not():
    moved = RealisedStep(kernel="gather_8_int32", node_ids=("Flat_5",), inputs=("c",), outputs=("sv",))
    same = changed("sv", element_type="int8", granularity="tensor", scales=(SCALE,), zero_points=(-128,))
    assert found(graph(same, flat=moved)) == set()
    other = changed("sv", element_type="int8", granularity="tensor", scales=(2 * SCALE,), zero_points=(-128,))
    assert found(graph(other, flat=moved)) == {("Flat_5", "float32", "gather_8_int32 on quantized values")}
    computed = RealisedStep(kernel="max_int8", node_ids=("Flat_5",), inputs=("c",), outputs=("sv",))
    assert found(graph(same, flat=computed)) == {("Flat_5", "float32", "max_int8 on quantized values")}


def test_a_fusion_that_nobody_approved_is_named() -> None:
    unapproved = found(graph(), without("fuse"))
    assert unapproved == {("Relu_2", "a step of its own", "one step conv2d_int8 with Conv_0")}


def test_a_fold_that_nobody_approved_is_named() -> None:
    unapproved = found(graph(), without("fold_batch_norm"))
    assert unapproved == {
        ("Norm_1", "a step of its own", "one step conv2d_int8 with Conv_0"),
        ("Norm_1", "float32", "conv2d_int8 on quantized values"),
    }


def test_a_lost_node_is_named() -> None:
    assert ("Soft_3", "decompose", "no step computes it") in found(graph(exp=None, div=None))
    assert ("Flat_5", "Flatten is computed", "no step computes it") in found(graph(flat=None))


def test_a_step_that_the_model_does_not_have_is_named() -> None:
    extra = step("gemm", kernel="gemm_float32", node_ids=("Gemm_9",))
    assert found(graph(extra=extra)) == {("Gemm_9", "nothing", "a step gemm_float32")}


@pytest.mark.parametrize("shape", [[1, 3, 8, 8], [2, 3, 4, 4]])
def test_another_input_shape_is_named(shape: list[int]) -> None:
    built = graph(changed("x", shape=shape))
    assert found(built) == {("x", "an input of shape [1, 3, 4, 4]", f"shape {shape}")}


def test_an_unknown_kind_is_never_taken_for_realised() -> None:
    strange = Action(kind="engrave", nodes=("Conv_0",))
    assert found(graph(), (*APPROVED, strange)) == {("Conv_0", "engrave", "no check knows this kind of action")}


def test_each_kind_of_action_has_a_check() -> None:
    assert sorted(CHECKS) == sorted(known.name for known in KINDS)


MOVED_TYPES = {"Pad_0": "Pad", "Conv_1": "Conv", "T_2": "Transpose", "R_3": "Relu", "T_4": "Transpose"}
MOVED = (
    Action(kind="fold_pad", nodes=("Pad_0", "Conv_1")),
    Action(kind="cancel_transposes", nodes=("T_2", "R_3", "T_4")),
)


def moved(*steps: tuple[str, tuple[str, ...]], actions: tuple[Action, ...] = MOVED) -> set[tuple[str, str, str]]:
    built = graph()
    plain = built.plain() | {
        "steps": [
            RealisedStep(kernel=kernel, node_ids=nodes, inputs=("x",), outputs=("cf",)).plain()
            for kernel, nodes in steps
        ]
    }
    found_here = differences(actions, RealisedGraph.from_plain(plain), MOVED_TYPES)
    return {(one.node_id, one.approved, one.realised) for one in found_here}


CONV, RELU = ("conv2d_float32", ("Conv_1", "Pad_0")), ("relu_float32", ("R_3", "T_2", "T_4"))


def test_a_pad_and_transposes_that_are_gone_are_realised() -> None:
    assert moved(CONV, RELU) == set()


def test_a_pad_that_was_not_folded_is_named() -> None:
    apart = (("copy_32", ("Pad_0",)), ("conv2d_float32", ("Conv_1",)))
    assert moved(*apart, RELU) == {("Conv_1", "computed in one step with Pad_0", "computed by conv2d_float32")}


def test_transposes_that_still_move_are_named() -> None:
    apart = (("copy_32", ("T_2",)), ("relu_float32", ("R_3",)), ("copy_32", ("T_4",)))
    assert moved(CONV, *apart) == {("T_4", "cancelled, or one with T_2", "computed by copy_32")}


def test_transposes_with_nothing_between_may_be_gone_but_no_others() -> None:
    pair = Action(kind="cancel_transposes", nodes=("T_2", "T_4"))
    relu = ("relu_float32", ("R_3",))
    assert moved(CONV, relu, actions=(MOVED[0], pair)) == set()
    assert moved(CONV, relu, actions=(MOVED[0],)) == {
        (node, "Transpose is computed", "no step computes it") for node in ("T_2", "T_4")
    }


def test_nobody_approved_that_a_pad_is_folded() -> None:
    assert moved(CONV, RELU, actions=MOVED[1:]) == {
        ("Pad_0", "a step of its own", "one step conv2d_float32 with Conv_1")
    }


def test_a_plain_policy_that_names_the_leader_alone_is_understood() -> None:
    plain = (
        Action(kind="fold_batch_norm", nodes=("Conv_0",)),
        Action(kind="fuse", nodes=("Conv_0",), params={"with": ["Relu_2"]}),
        Action(kind="quantize", nodes=("Conv_0",), params={"bit_width": 8, "scheme": "channel_wise"}),
        *(action for action in APPROVED if action.kind in ("decompose", "keep_float")),
    )
    assert found(graph(), plain) == set()


def test_a_model_that_came_quantized_needs_no_approval_for_it() -> None:
    types = {**OP_TYPES, "Q": "QuantizeLinear"}
    steps = graph(q=step("q", node_ids=("Q",)))
    assert differences(without("quantize"), steps, types) == ()


def test_another_memory_is_named() -> None:
    assert found(graph(changed("c", memory="ddr"))) == {("Conv_0", "c in sram", "c in ddr")}


def test_a_tensor_is_held_to_its_memory_in_its_quantized_form_too() -> None:
    built = graph({"c.quantized": tensor("c.quantized", "int8", memory="ddr", scales=(SCALE,), zero_points=(-128,))})
    assert found(built) == {("Conv_0", "c in sram", "c.quantized in ddr")}


def test_another_count_of_channels_is_named() -> None:
    assert found(graph(changed("c", shape=[1, 6, 4, 4]))) == {("Conv_0", "8 channels", "6 channels")}


def test_factors_that_were_not_built_and_another_rank_are_named() -> None:
    actions = (*without("keep_float"), Action(kind="factor_weights", nodes=("Gemm_4",), params={"rank": 3}))
    between = {"m": tensor("m", shape=(1, 3))}
    first = step("gemm", node_ids=("Gemm_4.0_matmul", "Gemm_4"), outputs=("m",))
    second = step("gemm", node_ids=("Gemm_4.1_gemm", "Gemm_4"), inputs=("m", "gw"))
    assert found(graph(between, gemm=first, second=second), actions) == set()
    assert found(graph(), actions) == {("Gemm_4", "two layers", "computed by gemm_float32")}
    four = {"m": tensor("m", shape=(1, 4))}
    assert found(graph(four, gemm=first, second=second), actions) == {("Gemm_4", "3 channels between", "m (1, 4)")}


def test_factors_whose_channels_were_padded_have_the_padded_count_between() -> None:
    factors = Action(kind="factor_weights", nodes=("Gemm_4",), params={"rank": 3})
    padding = Action(kind="pad_channels", nodes=("Gemm_4.0_matmul", "Gemm_4.1_gemm"), params={"padded": 4})
    actions = (*without("keep_float"), factors, padding)
    first = step("gemm", node_ids=("Gemm_4.0_matmul", "Gemm_4"), outputs=("m",))
    second = step("gemm", node_ids=("Gemm_4.1_gemm", "Gemm_4"), inputs=("m", "gw"))
    four, three = ({"m": tensor("m", shape=(1, count))} for count in (4, 3))
    assert found(graph(four, gemm=first, second=second), actions) == set()
    assert found(graph(three, gemm=first, second=second), actions) == {
        ("Gemm_4", "4 channels between", "m (1, 3)"),
        ("Gemm_4.0_matmul", "4 channels", "3 channels"),
    }


def test_what_was_folded_into_a_layer_is_rounded_with_the_factors_of_the_layer() -> None:
    pieces = ("Conv_0.0_conv", "Conv_0.1_conv")
    rounded = tuple(Action(kind="quantize", nodes=(piece,), params={"bit_width": 8}) for piece in pieces)
    actions = (
        *(action for action in APPROVED if action.kind not in ("quantize", "fuse", "pad_channels")),
        Action(kind="factor_weights", nodes=("Conv_0",), params={"rank": 8}),
        *rounded,
    )
    apart = {
        "conv": step("conv", node_ids=(pieces[0], "Conv_0", "Norm_1"), outputs=("h",)),
        "second": step("conv", node_ids=(pieces[1], "Conv_0", "Norm_1"), inputs=("h", "w", "b")),
        "relu": step("conv", kernel="relu_float32", node_ids=("Relu_2",), inputs=("cf",), outputs=("r",)),
    }
    more = {"h": tensor("h", "int8", scales=(SCALE,), zero_points=(-128,)), "r": tensor("r")}
    assert found(graph(more, **apart), actions) == set()
    assert found(graph(more, **apart), (*actions[:-2],)) == {
        (node, "float32", "conv2d_int8 on quantized values") for node in ("Conv_0", "Norm_1")
    }


def test_another_unit_is_named() -> None:
    assert found(graph(exp=step("exp", unit="npu"))) == {("Soft_3", "on cpu", "exp_float32 on npu")}
    assert found(graph(conv=step("conv", unit=None))) == {
        ("Conv_0", "on npu", "conv2d_int8 on None"),
        ("Relu_2", "on npu", "conv2d_int8 on None"),
    }
