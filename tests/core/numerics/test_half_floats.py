"""16-bit floats: conversions and arithmetic to the bit, every operator near float32, sums as the unit keeps them."""

from __future__ import annotations

import re

import ml_dtypes
import numpy as np
import pytest
from half_cases import between_codes, half_cases, in_format
from onnx.helper import make_node
from operator_cases import Case, build, draw, reference

from metainfer_core.numerics.half import FORMATS, OPERATORS, stored
from metainfer_core.numerics.library import load_library
from metainfer_core.numerics.lower import LOWERABLE, lower
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.numerics.simulator import Simulator

DTYPES = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}
HALF_CASES = tuple(half_cases())


def all_codes(name: str) -> np.ndarray:
    """Every 16-bit float that is a number."""
    codes = np.arange(1 << 16, dtype=np.uint16)
    return codes[~np.isnan(codes.view(DTYPES[name]).astype(np.float32))]


@pytest.mark.parametrize("name", DTYPES)
def test_every_code_is_widened_exactly(name: str) -> None:
    codes = all_codes(name)
    real = np.empty(codes.size, np.float32)
    load_library().call(f"widen_{name}", {"count": codes.size}, [codes, real])
    expected = codes.view(DTYPES[name]).astype(np.float32)
    np.testing.assert_array_equal(real.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("name", DTYPES)
def test_narrowing_rounds_half_to_even(name: str) -> None:
    rng = np.random.default_rng(0)
    exact = all_codes(name).view(DTYPES[name]).astype(np.float32)
    ties = (exact[:-1].astype(np.float64) / 2 + exact[1:].astype(np.float64) / 2).astype(np.float32)
    around = [np.nextafter(exact, np.float32(side * np.inf)) for side in (-1, 1)]
    anything = rng.integers(0, 1 << 32, 1 << 18, dtype=np.uint64).astype(np.uint32).view(np.float32)
    real = np.concatenate([exact, ties, *around, anything, np.array([65519.99, 65520.0, np.inf, -np.inf], np.float32)])
    codes = np.empty(real.size, np.uint16)
    load_library().call(f"narrow_{name}", {"count": real.size}, [real, codes])
    with np.errstate(all="ignore"):
        expected = real.astype(DTYPES[name])
    numbers = ~np.isnan(real)
    np.testing.assert_array_equal(codes[numbers], expected.view(np.uint16)[numbers])
    assert np.isnan(codes.view(DTYPES[name])[~numbers].astype(np.float32)).all()


@pytest.mark.parametrize("name", DTYPES)
def test_denormals_are_flushed_where_the_unit_does(name: str) -> None:
    least = FORMATS[name].least_normal
    real = np.array([least, least * 0.99, -least * 0.5, 0.0, 1.0], np.float32)
    codes = np.empty(real.size, np.uint16)
    load_library().call(f"narrow_{name}", {"count": real.size, "flush": 1}, [real, codes])
    assert codes.view(DTYPES[name]).astype(np.float32).tolist() == [least, 0.0, -0.0, 0.0, 1.0]
    assert stored(real, FORMATS[name], flush=True).astype(np.float32).tolist() == [least, 0.0, -0.0, 0.0, 1.0]
    load_library().call(f"narrow_{name}", {"count": real.size}, [real, codes])
    assert (codes[1:3] & 0x7FFF != 0).all()


@pytest.mark.parametrize("operation", ["add", "sub", "mul", "div", "sqrt"])
def test_arithmetic_is_that_of_ieee_binary16(operation: str) -> None:
    rng = np.random.default_rng(1)
    left, right = (rng.choice(all_codes("float16"), 20_000).view(np.float16) for _ in range(2))
    result = np.empty(left.size, np.uint16)
    numpys = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
    with np.errstate(all="ignore"):
        expected = np.sqrt(left) if operation == "sqrt" else numpys[operation](left, right)
    if operation == "sqrt":
        load_library().call("sqrt_float16", {"count": left.size}, [left, result])
    else:
        walk = {"rank": 1, "shape": (left.size, *[1] * 5), "left_step": (1, *[0] * 5), "right_step": (1, *[0] * 5)}
        load_library().call(f"{operation}_float16", walk, [left, right, result])
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(result[numbers], expected.view(np.uint16)[numbers])


@pytest.mark.parametrize("half_sums", [False, True])
def test_sums_of_products_are_kept_as_the_unit_keeps_them(half_sums: bool) -> None:
    x, w, b = draw("half x", 5, 40), draw("half w", 40, 18), draw("half b", 18)
    case = build("gemm", [make_node("Gemm", ["x", "w", "b"], ["y"], "gemm")], {"x": x}, {"w": w, "b": b})
    got = Simulator(lower(in_format(case.model(), "float16", half_sums))).run({"x": x})["y"]
    half = [array.astype(np.float16) for array in (x, w, b)]
    sums = np.zeros((5, 18), np.float16 if half_sums else np.float64)
    for k in range(40):
        product = half[0][:, k : k + 1] * half[1][k] if half_sums else None
        if product is not None:
            sums = sums + product
        else:
            exact = half[0][:, k : k + 1].astype(np.float64) * half[1][k].astype(np.float64)
            sums = (sums + exact).astype(np.float32).astype(np.float64)  # 11 + 11 bits: the product is exact
    total = half[2] + sums if half_sums else (half[2].astype(np.float64) + sums).astype(np.float32)
    np.testing.assert_array_equal(got, total.astype(np.float16).astype(np.float32))
    assert not np.array_equal(got, reference(case.proto, {"x": x})["y"])


@pytest.mark.parametrize(("name", "step"), [("float16", 2.0**-10), ("bfloat16", 2.0**-7)])
@pytest.mark.parametrize("case", HALF_CASES, ids=lambda case: case.name)
def test_operator_is_near_float32(case: Case, name: str, step: float) -> None:
    lowered = lower(in_format(case.model(), name))
    expected = reference(case.proto, case.feed)
    actual = Simulator(lowered).run(case.feed)
    for output, y in expected.items():
        if y.dtype != np.float32:
            np.testing.assert_array_equal(actual[output], y)
            continue
        held = np.where(np.abs(y) < FORMATS[name].infinite_from, y, np.copysign(np.inf, y))
        finite = np.isfinite(held)
        np.testing.assert_array_equal(np.isfinite(actual[output]), finite)
        limit = 8 * step * np.abs(y[finite]).max(initial=0.0)
        np.testing.assert_allclose(actual[output][finite], y[finite], rtol=0, atol=limit)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("codes", "zero_point"), [("int8", -3), ("int16", 0)])
def test_codes_and_halves_meet_with_the_bits_of_two_steps(name: str, codes: str, zero_point: int) -> None:
    """A thousand random numbers: dequantized and narrowed, and widened and quantized, in one kernel as in two."""
    call, rng = load_library().call, np.random.default_rng(8)
    half = ml_dtypes.bfloat16 if name == "bfloat16" else np.float16
    info, scale = np.iinfo(codes), np.array([0.037], np.float32)
    zero, whole = np.array([zero_point], np.int32), {"outer": 1, "channels": 1, "inner": 1000}
    limits = {"low": int(info.min), "high": int(info.max)}
    both = {"count": 1000, "scale": float(scale[0]), "zero_point": zero_point, **limits}
    x = rng.integers(info.min, info.max + 1, 1000).astype(codes)
    real, two, one = np.empty(1000, np.float32), np.empty(1000, np.uint16), np.empty(1000, np.uint16)
    call(f"dequantize_{codes}", whole, [x, scale, zero, real])
    call(f"narrow_{name}", {"count": 1000}, [real, two])
    call(f"widen_{codes}_{name}", both, [x, one])
    np.testing.assert_array_equal(one, two)
    numbers = (rng.normal(size=1000) * 0.04 * info.max).astype(half)
    numbers[:3] = [np.nan, np.inf, -np.inf]
    stored_bits = numbers.view(np.uint16)
    y_two, y_one = np.empty(1000, codes), np.empty(1000, codes)
    call(f"widen_{name}", {"count": 1000}, [stored_bits, real])
    call(f"quantize_{codes}", {**whole, **limits}, [real, scale, zero, y_two])
    call(f"narrow_{name}_{codes}", both, [stored_bits, y_one])
    np.testing.assert_array_equal(y_one, y_two)
    assert list(y_one[:3]) == [zero_point, info.max, info.min]


@pytest.mark.parametrize("bits", [8, 16])
def test_a_node_in_16_bit_floats_among_codes_takes_one_step_at_each_border(bits: int) -> None:
    case, model = between_codes("float16", bits)
    lowered = lower(model)
    kernels = [step.kernel for step in lowered.program.steps]
    assert f"widen_int{bits}_float16" in kernels
    assert f"narrow_float16_int{bits}" in kernels
    assert not any(kernel in ("widen_float16", "narrow_float16") for kernel in kernels)
    assert [kernel for kernel in kernels if kernel.startswith("dequantize")] == [f"dequantize_int{bits}"]  # the result
    got = Simulator(lowered).run(case.feed)["y"]
    expected = np.minimum(1 / (1 + np.exp(-np.maximum(case.feed["x"], 0))), 0.9)
    assert np.abs(got - expected).max() < (6.0 + 2) / (255 if bits == 8 else 2000)


def test_kernels_get_the_types_that_they_declare() -> None:
    words = {"float32": "float", "float16": "mi::Float16", "bfloat16": "mi::BFloat16", "int32": "int32_t"}
    for case in HALF_CASES:
        program = lower(in_format(case.model(), "bfloat16")).program
        types = {tensor.name: tensor.element_type for tensor in program.tensors}
        for step in program.steps:
            described = SIGNATURES[step.kernel]
            for argument, tensor in zip(
                (*described.inputs, *described.outputs), (*step.inputs, *step.outputs), strict=False
            ):
                if tensor and not argument.is_variadic and not re.match(r"u?int(8|16|64)_t", argument.c_type):
                    assert argument.c_type == words[types[tensor]], (case.name, step.kernel, tensor)
        assert any(tensor.element_type == "bfloat16" for tensor in program.tensors)


def test_listed_operators_are_lowered() -> None:
    assert OPERATORS <= LOWERABLE
    tried = {node.op_type for case in HALF_CASES for node in case.model().graph}
    assert OPERATORS - tried <= {"Identity", "Dropout", "GlobalMaxPool"}
