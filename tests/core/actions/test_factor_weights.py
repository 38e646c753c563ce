from __future__ import annotations

from typing import Any

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, cpu, model_of, npu, ops, proposed, refusal, rewritten, samples_of, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.factor_weights import FactorWeights
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.low_rank import Layer, layer_of
from metainfer_core.actions.rewiring import node
from metainfer_core.numerics.lower import lower
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators
from metainfer_core.verify.reference import run_reference

KIND = FactorWeights()
SPEC = spec_of()
CONV = """m (float[1,6,11,13] x, float[10,6,{kernel}] w_c, float[10] w_b) => (float[1,10,{out}] y) {{
    [conv] y = Conv <pads = [{pads}], strides = [{strides}], dilations = [{dilations}]> (x, w_c, w_b) }}"""


def of_rank(rank: int, outputs: int, channels: int, height: int, width: int, seed: int = 0) -> np.ndarray:
    """A convolution's weight whose columns and rows have exactly this rank."""
    rng = np.random.default_rng(seed)
    columns = rng.normal(size=(rank, channels, height)).astype(np.float32)
    rows = rng.normal(size=(outputs, rank, width)).astype(np.float32)
    return np.einsum("rch,orw->ochw", columns, rows)


def asked(rank: int, **params: Any) -> Action:
    return Action(kind="factor_weights", nodes=("conv",), params={"rank": rank, **params})


def distance(before: ir.Model, after: ir.Model) -> float:
    """The greatest difference as a share of the greatest output."""
    feeds = samples_of(before).feeds
    pairs = zip(run_reference(before, feeds), run_reference(after, feeds), strict=True)
    return max(float(np.abs(x["y"] - y["y"]).max() / np.abs(x["y"]).max()) for x, y in pairs)


@pytest.mark.parametrize(
    ("kernel", "out", "pads", "strides", "dilations"),
    [
        ("3,3", "11,13", "1,1,1,1", "1,1", "1,1"),
        ("5,3", "4,13", "1,0,0,2", "2,1", "1,1"),
        ("3,4", "9,4", "2,1,0,0", "1,3", "1,1"),
        ("3,3", "9,9", "2,0,0,2", "1,1", "2,3"),
        ("1,1", "6,7", "0,0,0,0", "2,2", "1,1"),
    ],
)
def test_a_weight_of_low_rank_is_two_layers_that_give_the_same(
    kernel: str, out: str, pads: str, strides: str, dilations: str
) -> None:
    height, width = map(int, kernel.split(","))
    weight = of_rank(2, 10, 6, height, width)
    text = CONV.format(kernel=kernel, out=out, pads=pads, strides=strides, dilations=dilations)
    model = model_of(text, {"w_c": weight})
    assert refusal(KIND, model, SPEC, asked(2)) is None
    factored = rewritten(KIND, model, SPEC, [asked(2)])
    assert ops(factored) == ["Conv", "Conv"]
    assert [one.name for one in factored.graph] == ["conv.0_conv", "conv.1_conv"]
    assert distance(model, factored) < 2e-4  # the factors have 16 digits
    coarser = rewritten(KIND, model, SPEC, [asked(1)])
    assert distance(model, coarser) > 0.02


def test_a_matrix_is_two_with_fewer_numbers_between() -> None:
    rng = np.random.default_rng(1)
    low = (rng.normal(size=(20, 3)) @ rng.normal(size=(3, 12))).astype(np.float32)
    gemm = """m (float[4,20] x, float[12,20] w_c, float[12] w_b) => (float[4,12] y) {
        [conv] y = Gemm <transB = 1> (x, w_c, w_b) }"""
    model = model_of(gemm, {"w_c": low.T})
    factored = rewritten(KIND, model, SPEC, [asked(3)])
    assert ops(factored) == ["MatMul", "Gemm"]
    assert distance(model, factored) < 2e-4
    matmul = model_of(
        "m (float[2,4,20] x, float[20,12] w_c) => (float[2,4,12] y) { [conv] y = MatMul (x, w_c) }", {"w_c": low}
    )
    factored = rewritten(KIND, matmul, SPEC, [asked(3)])
    assert ops(factored) == ["MatMul", "MatMul"]
    assert distance(matmul, factored) < 2e-4


SAME = CONV.format(kernel="3,3", out="11,13", pads="1,1,1,1", strides="1,1", dilations="1,1")


def test_what_is_proposed_tells_what_it_saves_and_loses() -> None:
    noise = np.random.default_rng(2).normal(size=(10, 6, 3, 3)) * 0.02
    model = model_of(SAME, {"w_c": of_rank(3, 10, 6, 3, 3) + noise})
    (action,), refusals = proposed(KIND, model, SPEC)
    layer = layer_of(node(model, "conv"))
    assert isinstance(layer, Layer)
    assert layer.products == 10 * 6 * 9 * 11 * 13
    rank = action.params["rank"]
    assert layer.products_at(rank) == rank * (18 + 30) * 11 * 13
    assert layer.products_at(rank) <= 0.8 * layer.products < layer.products_at(rank + 1)
    exact = np.square(np.linalg.svd(layer.matrix, compute_uv=False))
    np.testing.assert_allclose(layer.lost[rank], exact[rank:].sum() / exact.sum(), rtol=1e-6)
    saved = 1 - layer.products_at(rank) / layer.products
    assert action.why[0].claim == (
        f"Rank {rank} saves {saved:.0%} of the products and loses {layer.lost[rank]:.2%} of the energy."
    )
    assert refusals == []
    three = KIND.at_rank(model, action, 3)
    assert three.params == {**action.params, "rank": 3}
    assert KIND.sentence(three) == "Compute conv as two layers with 3 channels between."


@pytest.mark.parametrize(
    ("text", "params", "reason"),
    [
        (SAME, {"rank": 18}, "The weight of conv has rank 18: 18 leaves nothing out."),
        (SAME, {"rank": 12}, "Rank 12 of conv takes 82,368 products in place of 77,220."),
        (SAME, {"rank": 2, "target_hw": "tpu"}, "The spec has no compute unit named tpu (compute_units); it has cpu."),
        (
            "m (float[1,6,8,8] x, float[6,1,3,3] w_c) => (float[1,6,6,6] y) { [conv] y = Conv <group = 6> (x, w_c) }",
            {"rank": 1},
            "conv has groups or 2 spatial axes: only whole 2-D convolutions are factored.",
        ),
        (
            "m (float[1,6,8,8] x, float[6,6,3,1] w_c) => (float[1,6,6,8] y) { [conv] y = Conv (x, w_c) }",
            {"rank": 1},
            "conv has a kernel of 3x1, which has one axis already.",
        ),
    ],
)
def test_laws_of_factors(text: str, params: dict[str, Any], reason: str) -> None:
    assert refusal(KIND, model_of(text), SPEC, asked(**params)) == reason


def test_a_weight_of_full_rank_is_not_proposed() -> None:
    _, (reason,) = proposed(KIND, model_of(SAME), SPEC)
    assert reason.startswith("Rank 9, the largest that saves a fifth of the products of conv, loses ")
    assert reason.endswith("of its weight's energy; at most 5% is tried.")


def test_a_unit_that_does_not_run_both_factors_is_refused() -> None:
    no_matmul = Operators(supported=("Gemm",))
    spec: HardwareSpec = spec_of(units={"npu": npu(operators=no_matmul), "cpu": cpu()})
    gemm = "m (float[4,20] x, float[20,12] w_c, float[12] w_b) => (float[4,12] y) { [conv] y = Gemm (x, w_c, w_b) }"
    reason = refusal(KIND, model_of(gemm), spec, asked(2, target_hw="npu"))
    assert reason is not None
    assert reason.startswith("The factors would leave npu: npu does not run MatMul")


def test_factors_are_fused_and_quantized_like_other_layers() -> None:
    text = SAME.replace("[conv] y = Conv", "[conv] c = Conv").replace(" }", " [relu] y = Relu (c) }")
    model = model_of(text, {"w_c": of_rank(3, 10, 6, 3, 3)})
    factored = rewritten(KIND, model, SPEC, [asked(3)])
    fused = rewritten(Fuse(), factored, SPEC, proposed(Fuse(), factored, SPEC)[0])
    actions, refusals = proposed(Quantize(), fused, SPEC, calibrated(fused))
    assert refusals == []
    assert [action.nodes for action in actions] == [("conv.0_conv",), ("conv.1_conv", "relu")]
    kernels = [step.kernel for step in lower(rewritten(Quantize(), fused, SPEC, actions)).program.steps]
    assert len([kernel for kernel in kernels if kernel.startswith("conv2d") and kernel.endswith("int8")]) == 2
    assert not any(kernel.endswith("float32") for kernel in kernels)


def test_the_same_factors_whatever_the_sign_of_a_decomposition() -> None:
    """A vector of singular vectors may come with either sign: the larger numbers of the first factor are positive."""
    layer = layer_of(node(model_of(SAME), "conv"))
    assert isinstance(layer, Layer)
    first, second = layer.factors(4)
    assert (first[np.abs(first).argmax(axis=0), range(4)] > 0).all()
    assert np.abs(first @ second - layer.matrix).max() < np.abs(layer.matrix).max()
    turned = Layer(layer.node, -layer.matrix, layer.taps, layer.first_outputs, layer.second_outputs)
    np.testing.assert_array_equal(turned.factors(4)[0], first)
    np.testing.assert_array_equal(turned.factors(4)[1], -second)
