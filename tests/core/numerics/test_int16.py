"""INT16 activations with INT8 weights: to the bit what exact integers give, and near what ONNX Runtime computes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from onnx.helper import make_node
from operator_cases import Case, build, draw, one, reference
from wide_cases import ARITHMETIC, BASES, both_widths, integers, wide_model

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.quantize_dequantize import bits_of, pairs_of, raw
from metainfer_core.actions.quantize_numbers import QuantizeParams
from metainfer_core.actions.rewiring import FUSED_WITH
from metainfer_core.actions.wide_integers import wide_rewrite
from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator


def by_tensor(ranges: dict[str, tuple[float, float]]) -> QuantizeParams:
    """One scale for the weight."""
    return QuantizeParams(scheme="tensor_wise", ranges=ranges)


def rounded(sums: np.ndarray, multiplier: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The exact product, rounded once and half up, saturated."""
    factors = [(int(m) * 2, int(s)) for m, s in zip(multiplier, shift, strict=True)]
    exact = [
        [(int(total) * twice + (1 << bits)) >> (bits + 1) for total, (twice, bits) in zip(row, factors, strict=True)]
        for row in sums
    ]
    return np.clip(np.array(exact, dtype=object), -32767, 32767).astype(np.int16)


def test_a_thousand_rows_have_the_bits_of_exact_integers() -> None:
    rows, depth, columns = 1000, 24, 13
    x = integers(-32767, 32768, rows * depth, 0).reshape(rows, depth).astype(np.int16)
    w = integers(-127, 128, depth * columns, 1).reshape(depth, columns).astype(np.int8)
    bias = integers(-(1 << 24), 1 << 24, columns, 2)
    multiplier = integers(1 << 30, (1 << 31) - 1, columns, 3).astype(np.int32)
    shift = integers(38, 46, columns, 4).astype(np.int32)
    y = np.empty((rows, columns), np.int16)
    params = {"rows": rows, "columns": columns, "depth": depth, "low": -32767, "high": 32767}
    load_library().call("gemm_int16", params, [x, w, bias, multiplier, shift, y])
    sums = x.astype(np.int64) @ w.astype(np.int64) + bias
    expected = rounded(sums, multiplier, shift)
    np.testing.assert_array_equal(y, expected)
    assert np.unique(y).size > 1000
    assert (np.abs(y) == 32767).any()


def test_a_thousand_sums_and_products_have_the_bits_of_exact_integers() -> None:
    count = 1000
    a, b = (integers(-32768, 32768, count, seed).astype(np.int16) for seed in (5, 6))
    shape = {"rank": 1, "shape": (count, 1, 1, 1, 1, 1)}
    steps = {"left_step": (1, 0, 0, 0, 0, 0), "right_step": (1, 0, 0, 0, 0, 0)}
    for kernel, left, right, shift in (
        ("add_int16", 812_345_679, -1_073_741_823, 30),
        ("add_int16", 1_073_741_823, 1_073_741_823, 1),
        ("add_int16", 700_000_001, 3, 45),
        ("mul_int16", 2_147_483_647, 0, 45),
        ("mul_int16", 1_073_741_824, 0, 62),
        ("mul_int16", 1_500_000_001, 0, 31),
    ):
        factors = {"left_multiplier": left, "right_multiplier": right, "shift": shift}
        y = np.empty(count, np.int16)
        load_library().call(kernel, {**shape, **steps, **factors, "low": -32768, "high": 32000}, [a, b, y])
        pairs = [(int(m), int(n)) for m, n in zip(a, b, strict=True)]
        exact = [m * left + n * right if kernel == "add_int16" else m * n * left for m, n in pairs]
        expected = [min(max((one + (1 << (shift - 1))) >> shift, -32768), 32000) for one in exact]
        np.testing.assert_array_equal(y, np.array(expected, np.int16), err_msg=f"{kernel} {shift}")


def windows(x: np.ndarray, kernel: int, pad: int) -> list[list[list[int]]]:
    """The values of each window of each plane, without those that lie outside."""
    height, width = x.shape[1:]
    return [
        [
            [
                int(plane[row, column])
                for row in range(max(y - pad, 0), min(y - pad + kernel, height))
                for column in range(max(x - pad, 0), min(x - pad + kernel, width))
            ]
            for y in range(height + 2 * pad - kernel + 1)
            for x in range(width + 2 * pad - kernel + 1)
        ]
        for plane in x
    ]


def test_a_thousand_pooled_windows_have_the_bits_of_exact_integers() -> None:
    planes, size, kernel, pad = 12, 9, 3, 1
    x = integers(-32768, 32768, planes * size * size, 8).reshape(planes, size, size).astype(np.int16)
    found = [window for plane in windows(x, kernel, pad) for window in plane]
    assert len(found) == planes * 81
    sides = {"height": size, "width": size, "out_height": size, "out_width": size}
    shape = {
        "planes": planes,
        **sides,
        "kernel_height": kernel,
        "kernel_width": kernel,
        "pad_top": pad,
        "pad_left": pad,
    }
    ones = {f"{what}_{axis}": 1 for what in ("stride", "dilation") for axis in ("height", "width")}
    params = {**shape, **ones, "pad_bottom": pad, "pad_right": pad}
    greatest, mean = np.empty((planes, size, size), np.int16), np.empty((planes, size, size), np.int16)
    load_library().call("max_pool_int16", params, [x, greatest])
    np.testing.assert_array_equal(greatest.ravel(), [max(window) for window in found])
    multiplier = np.array([round(1.37 / n * (1 << 30)) for n in range(1, 10)], np.int32)
    shift = np.full(9, 30, np.int32)
    limits = {"low": -32768, "high": 20000}
    load_library().call("average_pool_int16", {**params, **limits}, [x, multiplier, shift, mean])
    exact = [(sum(window) * int(multiplier[len(window) - 1]) + (1 << 29)) >> 30 for window in found]
    np.testing.assert_array_equal(mean.ravel(), np.clip(exact, -32768, 20000))
    assert (mean == 20000).any()


def test_a_thousand_means_have_the_bits_of_exact_integers() -> None:
    rows, columns, multiplier, shift = 1000, 4096, 1_234_567_891, 43
    x = integers(-32768, 32768, rows * columns, 9).reshape(rows, columns).astype(np.int16)
    x[0], x[1] = 32767, -32768  # their sums do not fit 24 bits, nor their products 55
    y = np.empty(rows, np.int16)
    params = {"rows": rows, "columns": columns, "multiplier": multiplier, "shift": shift, "low": -32768, "high": 32767}
    load_library().call("mean_int16", params, [x, y])
    exact = [(int(total) * multiplier + (1 << (shift - 1))) >> shift for total in x.astype(np.int64).sum(axis=1)]
    np.testing.assert_array_equal(y, np.clip(np.array(exact, object), -32768, 32767).astype(np.int16))


def layer(
    transposed: bool | None, weight_bits: int, scheme: str
) -> tuple[ir.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A Gemm (None: MatMul) of 7 outputs with 16-bit activations: model, input, weights [outputs, products], bias.

    Each output's weights are three times as large as those of the one before.
    """
    rows, depth, columns = 5, 11, 7
    weights = (draw("w16", columns, depth) * 3.0 ** np.arange(columns)[:, None] / 800).astype(np.float32)
    bias = draw("b16", columns)
    if transposed is None:
        case, bias = one("plain", "MatMul", [draw("x16", rows, depth)], [weights.T.copy()]), np.zeros_like(bias)
    else:
        constants = [weights if transposed else weights.T.copy(), bias]
        case = one("turned", "Gemm", [draw("x16", rows, depth)], constants, transB=int(transposed))
    model = case.model()
    (node,) = model.graph
    form = integer_form(node)
    assert isinstance(form, IntegerForm)
    ranges = {"x0": (-3.0, 3.0), "y": (-9.0, 9.0)}
    params = {"bit_width": 16, "weight_bits": weight_bits, "scheme": scheme, "ranges": ranges}
    wide_rewrite(model, QuantizeParams.from_plain(params), node, form)
    return model, case.feed["x0"], weights, bias


@pytest.mark.parametrize("scheme", ["channel_wise", "tensor_wise"])
@pytest.mark.parametrize("weight_bits", [4, 6, 8])
@pytest.mark.parametrize("transposed", [False, True, None], ids=["depth first", "outputs first", "matmul"])
def test_each_output_has_the_factor_of_its_own_weights(transposed: bool | None, weight_bits: int, scheme: str) -> None:
    model, x, weights, bias = layer(transposed, weight_bits, scheme)
    lowered = lower(model)
    (step,) = [step for step in lowered.program.steps if step.kernel == "gemm_int16"]
    stored = lowered.program.tensor(step.inputs[1])
    assert stored.element_type == f"int{weight_bits}"
    assert stored.shape == (11, 7)
    assert stored.quantization is not None
    assert stored.quantization.axis == (1 if scheme == "channel_wise" else None)
    found = Simulator(lowered).run({"x0": x}, keep=True)[step.outputs[0]]
    highest = (1 << (weight_bits - 1)) - 1
    peaks = np.abs(weights).max(axis=1) if scheme == "channel_wise" else np.full(7, np.abs(weights).max())
    steps = [Fraction(float(np.float32(peak / highest))) for peak in peaks.astype(np.float64)]
    in_step, out_step = (Fraction(float(np.float32(span / 32767))) for span in (3.0, 9.0))
    codes = np.clip(np.rint(x / np.float32(in_step)), -32768, 32767).astype(int)
    for column, scale in enumerate(steps):
        of_weights = np.clip(np.rint(weights[column] / np.float64(scale)), -highest, highest).astype(int)
        added = round(Fraction(float(bias[column])) / (in_step * scale))
        for row in range(len(x)):
            exact = (int(codes[row] @ of_weights) + added) * in_step * scale / out_step
            held = min(max(exact, Fraction(-32768)), Fraction(32767))
            assert abs(int(found[row, column]) - held) <= Fraction(1, 2) + Fraction(1, 1 << 12)
    assert np.unique(found).size > 15


@pytest.mark.parametrize(
    ("kernel", "source", "target", "zero_in", "zero_out"),
    [
        ("rescale_int16_int16", np.int16, np.int16, 0, 0),
        ("rescale_int16_int8", np.int16, np.int8, 0, -37),
        ("rescale_int8_int16", np.int8, np.int16, 19, 0),
        ("rescale_int8_int8", np.int8, np.int8, -5, 7),
    ],
)
def test_a_thousand_codes_are_rescaled_to_the_exact_ones(
    kernel: str, source: type, target: type, zero_in: int, zero_out: int
) -> None:
    least, greatest = (np.iinfo(target).min, np.iinfo(target).max)
    x = integers(np.iinfo(source).min, np.iinfo(source).max + 1, 1000, 7).astype(source)
    for multiplier, shift in ((1_234_567_891, 31), (2_147_483_647, 39), (1_073_741_825, 23)):
        points = {"input_zero_point": zero_in, "output_zero_point": zero_out}
        params = {"count": 1000, "multiplier": multiplier, "shift": shift, **points, "low": least, "high": greatest}
        y = np.empty(1000, target)
        load_library().call(kernel, params, [x, y])
        exact = [((int(one) - zero_in) * multiplier + (1 << (shift - 1))) >> shift for one in x]
        expected = np.clip(np.array(exact, object) + zero_out, least, greatest)
        np.testing.assert_array_equal(y, expected.astype(target), err_msg=str(shift))


@pytest.mark.parametrize("case", ARITHMETIC, ids=lambda case: case.name)
def test_arithmetic_stays_on_16_bits_and_is_near_onnx_runtime(case: Case) -> None:
    model = wide_model(case)
    proto = onnx.load_from_string(model_bytes(model))
    onnx.checker.check_model(proto, full_check=True)
    lowered = lower(model)
    kernels = [step.kernel for step in lowered.program.steps]
    inner = [kernel for kernel in kernels if not kernel.startswith(("quantize_int16", "dequantize_int16"))]
    assert len(kernels) - len(inner) == len(case.feed) + 1
    assert inner
    moved = {"rescale_int16_int16", "concat_16", "copy_16", "max_pool_int16"}
    assert set(inner) <= {"add_int16", "mul_int16", "average_pool_int16", "mean_int16", *moved}
    got, expected = Simulator(lowered).run(case.feed)["y"], reference(proto, case.feed)["y"]
    step = 9.0 / 32767
    assert np.abs(got - expected).max() <= 1.01 * step
    assert (np.abs(got - expected) < step / 2).mean() > 0.95
    assert np.abs(got - reference(case.proto, case.feed)["y"]).max() <= 2.5 * step


def test_codes_of_both_widths_are_rescaled_into_each_other() -> None:
    case, model = both_widths()
    (tensor,) = model.graph.inputs
    first, second, third = (node for node in model.graph if node.op_type in ("Relu", "Neg", "Abs"))
    assert [bits_of(pair) for pair in pairs_of(first.outputs[0])] == [8, 16]
    assert raw(second.inputs[0]) is raw(third.inputs[0]) is first.outputs[0]
    assert [bits_of(pair) for pair in pairs_of(tensor)] == [16, 8]  # nobody made it on integers
    kernels = [step.kernel for step in lower(model).program.steps]
    assert "rescale_int16_int8" in kernels
    assert "rescale_int8_int16" in kernels
    got, expected = Simulator(lower(model)).run(case.feed), reference(case.proto, case.feed)
    for name in ("y", "z"):
        assert np.abs(got[name] - np.clip(expected[name], -3.0, 3.0)).max() <= 2 * 6.0 / 255


@pytest.mark.parametrize("case", BASES, ids=lambda case: case.name)
def test_a_layer_is_near_onnx_runtime(case: Case) -> None:
    model = wide_model(case)
    proto = onnx.load_from_string(model_bytes(model))
    onnx.checker.check_model(proto, full_check=True)
    lowered = lower(model)
    kernels = [step.kernel for step in lowered.program.steps]
    assert kernels == ["quantize_int16", kernels[1], "dequantize_int16"]
    assert kernels[1] in ("conv2d_int16", "gemm_int16")
    got, expected = Simulator(lowered).run(case.feed)["y"], reference(proto, case.feed)["y"]
    step = 9.0 / 32767
    assert np.abs(got - expected).max() <= 1.01 * step  # its float sums round to the other side now and then
    assert (np.abs(got - expected) < step / 2).mean() > 0.97
    eight = np.abs(np.rint(expected / (step * 256)) * step * 256 - expected).max()
    assert np.abs(got - expected).max() < eight / 20


def test_a_clamp_is_part_of_the_kernel() -> None:
    nodes = [make_node("Gemm", ["x", "w"], ["g"], "gemm"), make_node("Relu", ["g"], ["y"], "relu")]
    case = build("clamped", nodes, {"x": draw("cx", 4, 20)}, {"w": draw("cw", 20, 8)})
    model = case.model()
    gemm, relu = model.graph
    relu.metadata_props[FUSED_WITH] = "gemm"
    form = integer_form(gemm)
    assert isinstance(form, IntegerForm)
    wide_rewrite(model, by_tensor({"x": (-4.0, 4.0), "y": (0.0, 20.0)}), gemm, form)
    lowered = lower(model)
    (step,) = [step for step in lowered.program.steps if step.kernel == "gemm_int16"]
    assert (step.params["low"], step.params["high"], step.node_ids[:2]) == (0, 32767, ("gemm", "relu"))
    assert Simulator(lowered).run(case.feed)["y"].min() == 0.0


def test_a_sum_that_leaves_64_bits_is_refused() -> None:
    case = build("huge", [make_node("Gemm", ["x", "w", "b"], ["y"], "n")], {"x": draw("hx", 1, 4)},
                 {"w": np.full((4, 3), 1e-30, np.float32), "b": np.full(3, 1e30, np.float32)})  # fmt: skip
    model = case.model()
    (node,) = model.graph
    form = integer_form(node)
    assert isinstance(form, IntegerForm)
    wide_rewrite(model, by_tensor({"x": (-1.0, 1.0), "y": (-1e30, 1e30)}), node, form)
    with pytest.raises(UnsupportedError, match="the accumulator can overflow"):
        lower(model)


def test_codes_mean_what_the_graph_says() -> None:
    model = wide_model(BASES[3])
    (scale,) = [v for name, v in model.graph.initializers.items() if name == "x0.scale"]
    assert isinstance(scale.const_value, ir.TensorProtocol)
    assert Fraction(float(scale.const_value.numpy())) == Fraction(float(np.float32(5.0 / 32767)))
