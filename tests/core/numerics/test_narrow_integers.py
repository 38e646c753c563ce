"""Activations of 4 and 6 bits, and layers whose weights have another width: the bits of exact arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import pytest
from integer_oracle import Oracle
from operator_cases import Case, conv, draw, one, reference

from metainfer_core.actions.action import Action
from metainfer_core.actions.as_onnx import as_onnx
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.program import code_limits
from metainfer_core.numerics.simulator import Simulator

EXACT = (
    conv("narrow", (1, 5, 6, 7), (4, 5, 3, 3), pads=[1, 0, 1, 1]),
    conv("narrow_grouped", (1, 4, 7, 5), (6, 2, 3, 2), group=2, strides=[2, 1], dilations=[1, 2], bias=False),
    conv("narrow_depthwise", (1, 5, 6, 6), (5, 1, 3, 3), group=5),
    one("narrow_gemm", "Gemm", [draw("ng", 3, 20)], [draw("ngw", 7, 20), draw("ngb", 7)], transB=1),
    one("narrow_gemm_turned", "Gemm", [draw("nt", 3, 20)], [draw("ntw", 20, 7), draw("ntb", 7)]),
    one("narrow_matmul", "MatMul", [draw("nm", 2, 20)], [draw("nmw", 20, 9)]),
    one("narrow_add", "Add", [draw("na", 2, 3, 5), draw("nb", 3, 1)]),
    one("narrow_sub", "Sub", [draw("nsa", 4, 9), draw("nsb", 4, 9)]),
    one("narrow_mul", "Mul", [draw("nma", 2, 6, 4), draw("nmb", 2, 6, 1)]),
    one("narrow_average", "AveragePool", [draw("nv", 1, 3, 6, 7)], kernel_shape=[3, 2], pads=[1, 0, 1, 1]),
    one("narrow_mean", "GlobalAveragePool", [draw("nga", 1, 5, 4, 6)]),
)
"""Operators that round a sum."""
MOVED = (
    one("narrow_max", "MaxPool", [draw("nx", 1, 3, 6, 7)], kernel_shape=[3, 2], pads=[1, 0, 1, 1]),
    one("narrow_turned", "Transpose", [draw("nu", 2, 3, 4)], perm=[2, 0, 1]),
    one("narrow_pad", "Pad", [draw("np", 2, 3)], [np.array([0, 1, 1, 2], np.int64)]),
    one("narrow_concat", "Concat", [draw("nca", 2, 3, 4), draw("ncb", 2, 5, 4)], axis=1),
    one("narrow_relu", "Relu", [draw("nr", 3, 11)]),
    one("narrow_sigmoid", "Sigmoid", [draw("nsg", 3, 11)]),
)
"""Operators that take values as they are, or through a table."""
SPANS = {"x0": (-2.5, 3.0), "x1": (-2.0, 2.3), "y": (-6.1, 5.27)}
OF_MEANS = {"AveragePool": (-1.7, 1.53), "GlobalAveragePool": (-0.71, 0.63)}
WIDTHS = ({"bit_width": 4}, {"bit_width": 6}, {"bit_width": 6, "weight_bits": 4}, {"bit_width": 4, "weight_bits": 8})
MIXED = ({"bit_width": 8, "weight_bits": 4}, {"bit_width": 8, "weight_bits": 6})
FEW, MANY = 20, 1000
WEIGHTED = ("Conv", "Gemm", "MatMul")
ADDED = Fraction(1, 1 << 12)
"""What the 21-bit factors of an addition may move a result by, in codes; all else has 31 bits and is exact."""
EACH = [(case, params) for case in EXACT for params in WIDTHS]
EACH += [(case, params) for case in EXACT for params in MIXED if case.proto.graph.node[0].op_type in WEIGHTED]
NAMES = [f"{case.name}-{'-'.join(map(str, params.values()))}" for case, params in EACH]


class NarrowOracle(Oracle):
    """As `Oracle`, with the Clip of the codes by which ONNX says 6 bits."""

    def __init__(self, proto: onnx.ModelProto, bits: int) -> None:
        super().__init__(proto)
        self.bits = bits
        self.off = Fraction(0)
        for clip in [node for node in proto.graph.node if node.op_type == "Clip"]:
            limits = tuple(int(self.constants[name]) for name in clip.input[1:])
            assert limits == code_limits(bits)
            self.producers[clip.output[0]] = self.producers[clip.input[0]]

    def _limits(self, quantize: onnx.NodeProto) -> tuple[int, int]:
        return code_limits(self.bits)

    def _round(self, total: int | Fraction, factor: Fraction) -> int:
        return int((Fraction(total) * factor + Fraction(1, 2) + self.off).__floor__())

    def either(self, feed: Mapping[str, np.ndarray], off: Fraction) -> tuple[np.ndarray, np.ndarray]:
        """The codes of results that lie a little lower, and a little higher."""
        if not off:
            exact = self.codes(feed)
            return exact, exact
        both = []
        for self.off in (-off, off):
            both.append(self.codes(feed))
        return both[0], both[1]


def narrow(case: Case, params: Mapping[str, Any]) -> ir.Model:
    """The model of one operator in these widths."""
    model = case.model()
    (node,) = model.graph
    scheme = "channel_wise" if len(case.name) % 2 else "tensor_wise"
    full = {"ranges": {**SPANS, "y": OF_MEANS.get(node.op_type, SPANS["y"])}, "scheme": scheme, **params}
    Quantize().rewrite(model, Action(kind="quantize", nodes=(str(node.name),), params=full))
    return model


def codes_of(lowered: Lowered, tensors: Mapping[str, np.ndarray]) -> np.ndarray:
    """What the last dequantization reads."""
    return tensors[lowered.program.steps[-1].inputs[0]]


def inputs(case: Case, count: int) -> list[dict[str, np.ndarray]]:
    """Seeded inputs that leave the ranges now and then."""
    chance = np.random.default_rng(len(case.name))
    return [
        {name: (1.6 * chance.standard_normal(x.shape)).astype(np.float32) for name, x in case.feed.items()}
        for _ in range(count)
    ]


def check_exact(case: Case, params: Mapping[str, Any], count: int) -> None:
    model, bits = narrow(case, params), int(params["bit_width"])
    lowered, seen = lower(model), set[int]()
    kernels = [step.kernel for step in lowered.program.steps if "quantize_" not in step.kernel]
    assert len(kernels) == 1
    assert kernels[0].endswith("_int8")
    oracle = NarrowOracle(onnx.load_from_string(model_bytes(as_onnx(model))), bits)
    simulator = Simulator(lowered)
    for feed in inputs(case, count):
        found = codes_of(lowered, simulator.run(feed, keep=True)).astype(int)
        least, most = oracle.either(feed, ADDED if kernels[0] == "add_int8" else Fraction(0))
        assert (least.astype(int) <= found).all()
        assert (found <= most.astype(int)).all()
        seen |= set(np.unique(found).tolist())
    low, high = code_limits(bits)
    assert low <= min(seen)
    assert max(seen) <= high
    assert len(seen) > 10


@pytest.mark.parametrize(("case", "params"), EACH, ids=NAMES)
def test_sums_are_exact_and_rounded_once(case: Case, params: Mapping[str, Any]) -> None:
    check_exact(case, params, FEW)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "params"), [(case, params) for case, params in EACH if params in (WIDTHS[0], WIDTHS[1], MIXED[0])]
)
def test_a_thousand_inputs_are_exact_and_rounded_once(case: Case, params: Mapping[str, Any]) -> None:
    check_exact(case, params, MANY)


def check_equal(case: Case, bits: int, count: int) -> None:
    model = narrow(case, {"bit_width": bits})
    proto, lowered = onnx.load_from_string(model_bytes(as_onnx(model))), lower(model)
    onnx.checker.check_model(proto, full_check=True)
    simulator, run = Simulator(lowered), partial(reference, proto)
    scale = (SPANS["y"][1] - SPANS["y"][0]) / ((1 << bits) - 1)
    types = {t.element_type for t in lowered.program.tensors if t.quantization is not None}
    assert types == {f"int{bits}"}
    for feed in inputs(case, count):
        found, expected = simulator.run(feed)["y"], run(feed)["y"]
        assert np.abs(found - expected).max() <= 1e-6 * scale


@pytest.mark.parametrize("bits", [4, 6])
@pytest.mark.parametrize("case", MOVED, ids=lambda case: case.name)
def test_what_is_moved_or_looked_up_is_what_onnx_runtime_gives(case: Case, bits: int) -> None:
    check_equal(case, bits, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [4, 6])
@pytest.mark.parametrize("case", MOVED, ids=lambda case: case.name)
def test_a_thousand_moved_inputs_are_what_onnx_runtime_gives(case: Case, bits: int) -> None:
    check_equal(case, bits, MANY)


def test_an_8_bit_result_would_be_seen() -> None:
    case = EXACT[0]
    wide, oracle = narrow(case, {"bit_width": 8, "weight_bits": 4}), narrow(case, {"bit_width": 4})
    lowered, feed = lower(wide), inputs(case, 1)[0]
    found = codes_of(lowered, Simulator(lowered).run(feed, keep=True))
    proto = onnx.load_from_string(model_bytes(as_onnx(oracle)))
    assert not np.array_equal(found, NarrowOracle(proto, 4).codes(feed))
