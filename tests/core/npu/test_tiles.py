"""Every kernel that can be cut: whatever the tile, the bits are those of the whole."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, model_of, rewritten
from npu_bench import STRUCTURE, adapted, chip, planned, same_bits

from metainfer_core.actions.action import Action
from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.kinds.store_low_bit import StoreLowBit
from metainfer_core.actions.quantize_numbers import QuantizeParams
from metainfer_core.actions.rewiring import INTEGER, UNIT
from metainfer_core.actions.wide_integers import wide_rewrite
from metainfer_core.npu.cycles import products
from metainfer_core.npu.stage import NOTHING_ASKED, Asked
from metainfer_core.npu.tiles import AXES, Extent, Tile, extent, parts
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.program import Step, Tensor
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import HardwareSpec

MODELS = {
    "conv": "(float[1,6,13,11] x, float[12,6,3,3] w_a, float[12] w_b) => (float[1,12,7,6] y) {"
    "[n] y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w_a, w_b) }",
    "dilated": "(float[1,5,14,9] x, float[9,5,3,3] w_a) => (float[1,9,12,9] y) {"
    "[n] y = Conv <pads = [1, 2, 1, 2], dilations = [2, 2]> (x, w_a) }",
    "pointwise": "(float[1,10,8,9] x, float[24,10,1,1] w_a) => (float[1,24,8,9] y) { [n] y = Conv (x, w_a) }",
    "grouped": "(float[1,8,9,9] x, float[12,2,3,3] w_a) => (float[1,12,7,7] y) { [n] y = Conv <group = 4> (x, w_a) }",
    "depthwise": "(float[1,6,9,12] x, float[12,1,3,3] w_a) => (float[1,12,9,12] y) {"
    "[n] y = Conv <group = 6, pads = [1, 1, 1, 1]> (x, w_a) }",
    "few pixels": "(float[1,8,3,3] x, float[40,8,3,3] w_a, float[40] w_b) => (float[1,40,3,3] y) {"
    "[n] y = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_b) }",
    "gemm": "(float[3,20] x, float[150,20] w_a, float[150] w_b) => (float[3,150] y) {"
    "[n] y = Gemm <transB = 1> (x, w_a, w_b) }",
    "max pool": "(float[1,6,11,10] x) => (float[1,6,6,5] y) {"
    "[n] y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x) }",
    "average pool": "(float[1,6,11,10] x) => (float[1,6,11,10] y) {"
    "[n] y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
    "padded average": "(float[1,6,11,10] x) => (float[1,6,6,5] y) {"
    "[n] y = AveragePool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1], count_include_pad = 1> (x) }",
    "mean": "(float[1,14,5,5] x, float[14,14,1,1] w_a) => (float[1,14,1,1] y) {"
    "[c] s = Conv (x, w_a) [n] y = GlobalAveragePool (s) }",
    "add": "(float[1,6,5,7] x, float[1,6,5,7] z) => (float[1,6,5,7] y) { [n] y = Add (x, z) }",
    "scaled channels": "(float[1,6,5,7] x, float[1,6,1,1] z) => (float[1,6,5,7] y) { [n] y = Mul (x, z) }",
    "times one number": "(float[1,6,5,7] x, float[1] z) => (float[1,6,5,7] y) { [n] y = Mul (x, z) }",
    "sigmoid": "(float[1,6,5,7] x) => (float[1,6,5,7] y) { [n] y = Sigmoid (x) }",
}
FLOATS = {
    "data_types": ("int4", "int8", "int16", "float16", "float32"),
    "macs_per_cycle": {"int8": 64, "float16": 32, "float32": 16},
}
HALF = ("half_precision",)
PRECISIONS = pytest.mark.parametrize("kinds", [STRUCTURE, (), HALF], ids=["int8", "float32", "float16"])
NOT_WIDE = ("sigmoid",)
"""What has no kernel on 16-bit activations."""
FREE = {"alignment_bytes": 1, "data_width_bits": 8, "burst_length_min": None, "max_transfer_bytes": 500}


def spec() -> HardwareSpec:
    """An NPU with both types and a DMA without laws, so that any tile can be moved."""
    return chip(1 << 20, FREE, accumulator_bits=48, weight_granularity=("tensor", "channel", "group"), **FLOATS)


def case(name: str, kinds: tuple[str, ...]) -> tuple[ir.Model, Step, dict[str, Tensor]]:
    """A model of one operator, and the step that computes it."""
    model = adapted(f"one {MODELS[name]}", spec(), kinds)
    program = lower(model).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    return model, step, {tensor.name: tensor for tensor in program.tensors}


def wide(name: str) -> tuple[ir.Model, Step, dict[str, Tensor]]:
    """As `case`, with 16-bit activations."""
    model = model_of(f"one {MODELS[name]}")
    (target,) = [node for node in model.graph if node.name == "n"]
    form = integer_form(target)
    assert isinstance(form, IntegerForm)
    spans = {span: (found.low, found.high) for span, found in calibrated(model).ranges.items()}
    wide_rewrite(model, QuantizeParams(ranges=spans), target, form)
    target.metadata_props.update({UNIT: "npu", INTEGER: "16"})
    finish(model, spec())
    program = lower(model).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    return model, step, {tensor.name: tensor for tensor in program.tensors}


def sizes(found: Extent) -> list[int]:
    """The smallest tile, one that leaves a rest, and the largest."""
    wanted = {
        found.multiple,
        found.size // 3 // found.multiple * found.multiple,
        (found.size - 1) // found.multiple * found.multiple,
    }
    return sorted(size for size in wanted if 0 < size < found.size)


def cuts(step: Step, tensors: dict[str, Tensor]) -> list[tuple[Tile, int]]:
    """Tiles along every axis that the step can be cut along, each with how many there are of it."""
    found = [(axis, extent(step, tensors, axis)) for axis in AXES]
    return [
        (Tile(axis=axis, size=size), -(-whole.size // size))
        for axis, whole in found
        if isinstance(whole, Extent)
        for size in sizes(whole)
    ]


@PRECISIONS
@pytest.mark.parametrize("name", MODELS)
def test_tiles_have_the_bits_of_the_whole(name: str, kinds: tuple[str, ...]) -> None:
    model, step, tensors = case(name, kinds)
    tiles = cuts(step, tensors)
    assert tiles or (name == "mean" and kinds != STRUCTURE)
    for tile, count in tiles:
        staged, plan = planned(model, spec(), Asked(tiles={"n": tile}))
        of_n = [one for one in staged.program.steps if one.node_ids[0] == "n" and one.kernel == step.kernel]
        assert len(of_n) == count
        assert same_bits(model, staged, plan, runs=2)


@pytest.mark.parametrize("name", [name for name in MODELS if name not in NOT_WIDE])
def test_tiles_of_16_bit_activations_have_the_bits_of_the_whole(name: str) -> None:
    model, step, tensors = wide(name)
    assert step.kernel.endswith("_int16")
    assert step.unit == "npu"
    tiles = cuts(step, tensors)
    assert tiles
    for tile, count in tiles:
        staged, plan = planned(model, spec(), Asked(tiles={"n": tile}))
        of_n = [one for one in staged.program.steps if one.node_ids[0] == "n" and one.kernel == step.kernel]
        assert len(of_n) == count
        assert same_bits(model, staged, plan, runs=2)


PACKED = ("conv", "dilated", "pointwise", "grouped", "few pixels", "gemm")


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize(("scheme", "symmetric"), [("channel_wise", True), ("group_wise", False)])
def test_tiles_of_packed_weights_have_the_bits_of_the_whole(name: str, scheme: str, symmetric: bool) -> None:
    model = model_of(f"one {MODELS[name]}")
    group = {"group_size": 2} if scheme == "group_wise" else {}
    params = {"bits": 4, "scheme": scheme, "symmetric": symmetric, "target_hw": "npu", **group}
    action = Action(kind="store_low_bit", nodes=("n",), params=params)
    model = rewritten(StoreLowBit(), model, spec(), [action])
    program = lower(model).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    assert (step.unit, step.kernel.endswith("_float32_int4")) == ("npu", True)
    shape = products(step)
    assert shape is not None  # the array of multipliers counts it, not the vector unit
    tiles = cuts(step, {tensor.name: tensor for tensor in program.tensors})
    axes = {"rows", "channels"} if name in ("conv", "gemm") else {"rows"}  # the others have one block of channels
    assert {tile.axis for tile, _ in tiles} >= axes
    for tile, count in tiles:
        staged, plan = planned(model, spec(), Asked(tiles={"n": tile}))
        assert len([one for one in staged.program.steps if one.kernel == step.kernel]) == count
        assert same_bits(model, staged, plan, runs=2)


WINDOWS = {
    "conv": "(float[1,6,12,12] x, float[8,6,3,3] w_a) => (float[1,8,12,12] y) {"
    "[n] y = Conv <pads = [1, 1, 1, 1]> (x, w_a) }",
    "conv by two": "(float[1,6,16,8] x, float[8,6,3,3] w_a) => (float[1,8,8,4] y) {"
    "[n] y = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w_a) }",
    "depthwise": "(float[1,6,12,12] x, float[6,1,5,5] w_a) => (float[1,6,12,12] y) {"
    "[n] y = Conv <group = 6, pads = [2, 2, 2, 2]> (x, w_a) }",
    "max pool": "(float[1,6,16,6] x) => (float[1,6,16,6] y) {"
    "[n] y = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x) }",
    "padded average": "(float[1,6,16,6] x) => (float[1,6,16,6] y) {"
    "[n] y = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1], count_include_pad = 1> (x) }",
}


@PRECISIONS
@pytest.mark.parametrize("name", WINDOWS)
def test_rows_that_are_taken_for_alignment_alone_change_nothing(name: str, kinds: tuple[str, ...]) -> None:
    strict = chip(1 << 20, {"alignment_bytes": 16, "max_transfer_bytes": None}, **FLOATS)
    model = adapted(f"one {WINDOWS[name]}", strict, kinds)
    program = lower(model).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    tensors = {tensor.name: tensor for tensor in program.tensors}
    tile = Tile(axis="rows", size=8 if name != "conv by two" else 4)
    aligned, plain = parts(step, tensors, tile, unit_bytes=16), parts(step, tensors, tile)
    assert isinstance(aligned, tuple)
    assert isinstance(plain, tuple)
    assert [one.inputs[0] for one in aligned] != [one.inputs[0] for one in plain] or kinds != STRUCTURE
    assert all(one.inputs[0] and one.inputs[0].offset % 16 == 0 for one in aligned)
    assert same_bits(model, *planned(model, strict, Asked(tiles={"n": tile})), runs=3)


@pytest.mark.slow
@PRECISIONS
@pytest.mark.parametrize("name", MODELS)
def test_a_thousand_random_inputs_each(name: str, kinds: tuple[str, ...]) -> None:
    model, step, tensors = case(name, kinds)
    tiles = cuts(step, tensors)
    asked = Asked(tiles={"n": tiles[0][0]}) if tiles else NOTHING_ASKED  # whole, where it cannot be cut
    assert same_bits(model, *planned(model, spec(), asked), runs=1000)


def test_a_wrong_slice_of_the_input_is_noticed() -> None:
    model, step, tensors = case("conv", STRUCTURE)
    staged, plan = planned(model, spec(), Asked(tiles={"n": Tile(axis="rows", size=2)}))
    wrong = [
        type(one)(**{**one.__dict__, "params": {**one.params, "source_offset": one.params["source_offset"] - 11}})
        if one.kernel == "transfer" and one.outputs[0].endswith(".1")
        else one
        for one in staged.program.steps
    ]
    program = type(plan.program)(**{**plan.program.__dict__, "steps": tuple(wrong)})
    assert not same_bits(model, staged, type(plan)(**{**plan.__dict__, "program": program}), runs=1)
    assert isinstance(parts(step, tensors, Tile(axis="rows", size=2)), tuple)


@pytest.mark.parametrize(
    ("name", "tile", "reason"),
    [
        ("conv", Tile(axis="channels", size=6), "Its channels are kept 4 together: 6 is no multiple of that."),
        ("few pixels", Tile(axis="channels", size=16), "Its channels are kept 48 together: 16 is no multiple of that."),
        ("grouped", Tile(axis="channels", size=4), "Its channels are kept 3 together: 4 is no multiple of that."),
        ("gemm", Tile(axis="elements", size=4), "A matrix product is cut along channels or rows."),
        ("mean", Tile(axis="rows", size=4), "A mean is cut along channels."),
        ("sigmoid", Tile(axis="rows", size=4), "An elementwise step is cut along elements or channels."),
        ("max pool", Tile(axis="rows", size=6), "It has 6 rows: a tile has from 1 to 5 of them, not 6."),
    ],
)
def test_why_a_step_cannot_be_cut_so(name: str, tile: Tile, reason: str) -> None:
    _, step, tensors = case(name, STRUCTURE)
    assert parts(step, tensors, tile) == reason


@pytest.mark.parametrize("kernel", ["narrow_float16", "widen_float16"])
def test_conversions_to_and_from_16_bit_floats_are_cut_along_elements(kernel: str) -> None:
    model, _, _ = case("sigmoid", HALF)
    (step,) = (step for step in lower(model).program.steps if step.kernel == kernel)
    asked = Asked(tiles={step.node_ids[0]: Tile(axis="elements", size=64)})
    staged, plan = planned(model, spec(), asked)
    counts = [one.params["count"] for one in staged.program.steps if one.kernel == kernel]
    assert counts == [64, 64, 64, 18]
    assert same_bits(model, staged, plan, runs=3)


def test_a_repeated_operand_and_a_batch_are_not_cut() -> None:
    model = adapted("one (float[1,6,5,7] x, float[1,6,1,1] z) => (float[1,6,5,7] y) { [n] y = Add (x, z) }", spec())
    program = lower(model).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    found = extent(step, {tensor.name: tensor for tensor in program.tensors}, "elements")
    assert found == "One of its inputs is repeated along an axis: its elements do not lie side by side."
    batch = "one (float[2,6,5,7] x, float[8,6,1,1] w_a) => (float[2,8,5,7] y) { [n] y = Conv (x, w_a) }"
    program = lower(adapted(batch, spec())).program
    step = next(step for step in program.steps if step.node_ids[0] == "n")
    found = extent(step, {tensor.name: tensor for tensor in program.tensors}, "channels")
    assert found == "It computes 2 images at once, whose channels do not follow one another."


def chain(layers: int) -> tuple[str, int]:
    """Conv, BatchNormalization, Clip, so many times."""
    weights = ", ".join(
        f"float[8,8,3,3] w_k{i}, float[8] w_s{i}, float[8] w_t{i}, float[8] w_m{i}, float[8] w_v{i}"
        for i in range(layers)
    )
    lines = []
    for i in range(layers):
        source, result = ("x" if i == 0 else f"o{i - 1}"), ("y" if i == layers - 1 else f"o{i}")
        lines.append(f"[c{i}] a{i} = Conv <pads = [1, 1, 1, 1]> ({source}, w_k{i})")
        lines.append(f"[b{i}] n{i} = BatchNormalization (a{i}, w_s{i}, w_t{i}, w_m{i}, w_v{i})")
        lines.append(f"[p{i}] {result} = Clip (n{i}, low, high)")
    constants = "<float low = {0}, float high = {6}>"
    return f"chain (float[1,8,10,10] x, {weights}) => (float[1,8,10,10] y) {constants} {{ {' '.join(lines)} }}", layers


@pytest.mark.parametrize("bits", [8, 16])
def test_a_chain_of_29_layers_bit_for_bit(bits: int) -> None:
    text, layers = chain(29)
    chance = np.random.default_rng(5)
    weights = {f"w_k{i}": chance.standard_normal((8, 8, 3, 3)).astype(np.float32) / 8 for i in range(layers)}
    weights |= {f"w_v{i}": np.full(8, 1.5, np.float32) for i in range(layers)}
    if bits == 8:
        model = adapted(text, spec(), weights=weights)
    else:
        model = adapted(text, spec(), ("fold_batch_norm", "fuse"), weights)
        kind = Quantize({"bit_width": 16, "symmetric": True})
        actions = list(kind.propose(model, spec(), calibrated(model)))
        assert all(isinstance(action, Action) for action in actions)
        model = rewritten(
            Quantize({"bit_width": 16, "symmetric": True}),
            model,
            spec(),
            [one for one in actions if isinstance(one, Action)],
        )
    staged, plan = planned(model, spec(), Asked(tiles={"c3": Tile(axis="rows", size=4)}, ahead=("c7", "c20")))
    computing = [one for one in staged.program.steps if one.unit == "npu" and one.kernel == f"conv2d_int{bits}"]
    assert len(computing) == layers + 2  # one of them in three tiles
    assert same_bits(model, staged, plan, runs=5)
    assert np.isfinite(plan.peak_bytes)
