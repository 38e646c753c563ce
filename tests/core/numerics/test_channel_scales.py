"""A scale a channel in front of depthwise convolutions, and hard-swish of unrounded sums: bit exact, and near float."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import onnx
import pytest
from channel_cases import CHANNEL_CASES, hard_swish_case, two_layers_case
from onnx import numpy_helper
from operator_cases import Case, reference

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator


class Chain:
    """Runs layers in QDQ form by exact fractions: each result is rounded half up, once; twice with hard-swish."""

    def __init__(self, proto: onnx.ModelProto) -> None:
        self.nodes = list(proto.graph.node)
        self.constants = {t.name: numpy_helper.to_array(t) for t in proto.graph.initializer}
        self.sums: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def codes(self, feed: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The codes of each quantized tensor."""
        found: dict[str, np.ndarray] = {}
        centred: dict[str, tuple[np.ndarray, np.ndarray]] = {}
        for node in self.nodes:
            if node.op_type == "QuantizeLinear":
                found[node.output[0]] = self._rounded(node, feed)
            elif node.op_type == "DequantizeLinear":
                scale, zero = (self.constants[name] for name in node.input[1:3])
                codes = found.get(node.input[0], self.constants.get(node.input[0]))
                assert codes is not None
                along = (
                    zero.astype(np.int64).reshape([1, -1, *[1] * (codes.ndim - 2)]) if zero.ndim and zero.any() else 0
                )
                offset = along if zero.ndim else int(zero)
                centred[node.output[0]] = codes.astype(np.int64) - offset, scale.reshape(-1)
            elif node.op_type in ("HardSwish", "Relu"):
                self.sums[node.output[0]] = self.sums[node.input[0]]
            else:
                (x, x_scales), (w, w_scales), (bias, _) = (centred[name] for name in node.input)
                total = (_conv(node, x, w) if node.op_type == "Conv" else x @ w.T) + _along_channels(bias, x.ndim)
                outputs = w.shape[0]
                own = np.repeat(x_scales, outputs // x_scales.size)
                factors = [Fraction(float(a)) * Fraction(float(b)) for a, b in zip(own, w_scales, strict=True)]
                self.sums[node.output[0]] = total, np.array(factors, object)
        return found

    def _rounded(self, node: onnx.NodeProto, feed: Mapping[str, np.ndarray]) -> np.ndarray:
        scale, zero = self.constants[node.input[1]], int(self.constants[node.input[2]].reshape(-1)[0])
        if node.input[0] in feed:
            values = feed[node.input[0]]
            return np.clip(np.rint(values / _along_channels(scale, values.ndim)) + zero, -128, 127).astype(np.int64)
        made = next(one for one in self.nodes if node.input[0] in one.output)
        total, factors = self.sums[node.input[0]]
        steps = np.array([Fraction(float(one)) for one in scale.reshape(-1)], object)
        low = zero if made.op_type == "Relu" else -128
        if made.op_type == "HardSwish":
            knee = 1 << 14
            while Fraction(3 * 32767, knee) < max(steps) * (127 - zero):
                knee //= 2
            x = np.clip(_half_up(total * _along_channels(factors * Fraction(knee, 3), total.ndim)), -knee, 32767)
            total, factors = x * np.minimum(x + knee, 2 * knee), np.array([Fraction(3, 2 * knee * knee)], object)
        return np.clip(_half_up(total * _along_channels(factors / steps, total.ndim)) + zero, low, 127)


def _half_up(values: np.ndarray) -> np.ndarray:
    return np.vectorize(lambda value: (value + Fraction(1, 2)).__floor__(), otypes=[np.int64])(values)


def _along_channels(numbers: np.ndarray, rank: int) -> np.ndarray:
    return numbers.reshape([1, -1, *[1] * (rank - 2)]) if numbers.ndim else numbers


def _conv(node: onnx.NodeProto, x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Integer convolution: padding is 0."""
    a = {one.name: one for one in node.attribute}
    pad, stride, group = (
        a["pads"].ints[0],
        (a["strides"].ints[0] if "strides" in a else 1),
        a["group"].i if "group" in a else 1,
    )
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    height, width = ((extent - k) // stride + 1 for extent, k in zip(x.shape[2:], w.shape[2:], strict=True))
    total = np.zeros((x.shape[0], w.shape[0], height, width), np.int64)
    for filter_ in range(w.shape[0]):
        first = filter_ // (w.shape[0] // group) * w.shape[1]
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                part = x[
                    :, first : first + w.shape[1], i : i + stride * height : stride, j : j + stride * width : stride
                ]
                total[:, filter_] += (part * w[filter_, :, i, j].reshape(1, -1, 1, 1)).sum(axis=1)
    return total


def run(case: Case) -> dict[str, np.ndarray]:
    return Simulator(lower(case.model())).run(case.feed, keep=True)


@pytest.mark.parametrize("case", CHANNEL_CASES, ids=lambda case: case.name)
def test_every_code_is_exact(case: Case) -> None:
    tensors = run(case)
    expected = Chain(case.proto).codes(case.feed)
    assert len(expected) > 1
    for name, codes in expected.items():
        assert np.ptp(codes) > 100, name  # the case uses its range
        np.testing.assert_array_equal(tensors[name], codes, err_msg=name)


@pytest.mark.parametrize("case", CHANNEL_CASES, ids=lambda case: case.name)
def test_no_float_kernel_stands_between(case: Case) -> None:
    kernels = [step.kernel for step in lower(case.model()).program.steps]
    assert kernels[0] == "quantize_int8"
    assert kernels[-1] == "dequantize_int8"
    assert all(kernel.endswith("_int8") for kernel in kernels)
    assert len(kernels) == 2 + sum(node.op_type in ("Conv", "Gemm") for node in case.proto.graph.node)


@pytest.mark.parametrize("case", CHANNEL_CASES, ids=lambda case: case.name)
def test_within_a_step_of_onnx_runtime(case: Case) -> None:
    name = case.proto.graph.output[0].name
    last = next(node for node in case.proto.graph.node if name in node.output)
    step = float(next(numpy_helper.to_array(t) for t in case.proto.graph.initializer if t.name == last.input[1]))
    expected = reference(case.proto, case.feed)[name]
    wrong = np.abs(run(case)[name] - expected)
    assert np.ptp(expected) > 20 * step
    assert wrong.max() <= 1.01 * step * (2 if "by_channel" in case.name else 1)  # a code of the first layer may differ
    assert wrong.mean() < 0.1 * step


def test_planted_one_scale_for_all_channels_is_seen() -> None:
    """A multiplier of another channel's scale gives other codes."""
    case = two_layers_case("by_channel", "", 0)
    scale = next(t for t in case.proto.graph.initializer if t.name == "a.scale")
    expected = Chain(case.proto).codes(case.feed)
    scale.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(scale)[::-1].copy(), scale.name))
    assert not np.array_equal(Chain(case.proto).codes(case.feed)["a.q"], expected["a.q"])
    assert np.array_equal(run(case)["a.q"], Chain(case.proto).codes(case.feed)["a.q"])


def test_unrounded_input_of_hard_swish_is_nearer_than_a_rounded_one() -> None:
    case = hard_swish_case("swish_conv", (1, 3, 9, 21), (8, 3, 3, 3), 12.0, pads=[1, 1, 1, 1])
    tensors = run(case)
    sums, factors = (lambda chain: (chain.codes(case.feed), chain.sums["sum"])[1])(Chain(case.proto))
    x = (sums * _along_channels(factors, 4)).astype(np.float64)
    exact = x * np.clip(x / 6 + 0.5, 0, 1)
    scale = 12.375 / 255
    rounded = np.rint(x / (24 / 255)) * (24 / 255)
    twice = np.rint(rounded * np.clip(rounded / 6 + 0.5, 0, 1) / scale) * scale
    inside = exact < 11.9
    once = np.abs(tensors["active.dq"] - exact)[inside]
    assert once.max() <= 0.502 * scale
    assert once.mean() < 0.75 * np.abs(twice - exact)[inside].mean()


def test_zero_points_that_differ_are_refused() -> None:
    case = two_layers_case("by_channel", "", 0)
    zero = next(t for t in case.proto.graph.initializer if t.name == "a.zero")
    zero.CopyFrom(numpy_helper.from_array(np.array([0, 0, 0, 0, 0, 1], np.int8), zero.name))
    with pytest.raises(UnsupportedError, match="its zero points differ"):
        lower(case.model())


def test_a_reader_that_is_no_depthwise_convolution_gets_floats() -> None:
    case = two_layers_case("by_channel", "", 0)
    last = next(node for node in case.proto.graph.node if node.name == "c.node")
    last.op_type, last.input[:] = "Abs", last.input[:1]
    del last.attribute[:]
    lowered = lower(case.model())
    assert [step.kernel for step in lowered.program.steps[-4:-2]] == ["dequantize_int8", "abs_float32"]
    produced = Simulator(lowered).run(case.feed, keep=True)
    scale = next(numpy_helper.to_array(t) for t in case.proto.graph.initializer if t.name == "a.scale")
    np.testing.assert_array_equal(produced["a.dq"], produced["a.q"].astype(np.float32) * scale.reshape(1, -1, 1, 1))
