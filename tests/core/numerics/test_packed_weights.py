"""Weights of 4 and 6 bits: packed without gaps, unpacked to the bits of their dequantized form, read by others."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import onnx
import pytest
from operator_cases import reference
from packed_cases import PackedCase, packed_cases

from metainfer_core.actions.low_bit import low_bit
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.lowering.packed_weights import pack_bits
from metainfer_core.numerics.simulator import Simulator

CASES = tuple(packed_cases())


@pytest.mark.parametrize("bits", [4, 6])
def test_codes_lie_without_gaps(bits: int) -> None:
    codes = np.random.default_rng(0).integers(-(1 << bits - 1), 1 << bits - 1, 120).astype(np.int8)
    data = pack_bits(codes, bits)
    assert data.nbytes * 8 == codes.size * bits
    stream = int.from_bytes(data.tobytes(), "little")
    read = [(stream >> bits * i & (1 << bits) - 1) for i in range(codes.size)]
    assert [code - (1 << bits) if code >> bits - 1 else code for code in read] == codes.tolist()
    if bits == 4:  # as ONNX packs INT4
        packed = onnx.numpy_helper.from_array(codes.astype(ml_dtypes.int4)).raw_data
        assert packed == data.tobytes()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kernel_unpacks_to_the_bits_of_the_dequantized_weights(case: PackedCase) -> None:
    lowered, real = lower(case.packed), lower(case.real)
    assert [step.kernel for step in lowered.program.steps] == [
        f"{step.kernel}_int{case.bits}" for step in real.program.steps
    ]
    got, expected = Simulator(lowered).run(case.feed)["y"], Simulator(real).run(case.feed)["y"]
    np.testing.assert_array_equal(got.view(np.uint32), expected.view(np.uint32))
    assert np.ptp(got) > 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_onnx_runtime_reads_the_same_weights(case: PackedCase) -> None:
    proto = onnx.load_from_string(model_bytes(case.packed))
    onnx.checker.check_model(proto, full_check=True)
    kinds = {tensor.data_type for tensor in proto.graph.initializer}
    assert (onnx.TensorProto.INT4 if case.bits == 4 else onnx.TensorProto.INT8) in kinds
    expected, got = reference(proto, case.feed)["y"], Simulator(lower(case.packed)).run(case.feed)["y"]
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


def test_they_take_so_many_bits() -> None:
    for case in CASES:
        lowered = lower(case.packed)
        (name,) = [tensor.name for tensor in lowered.program.tensors if tensor.name.endswith(".packed")]
        blocks = lowered.program.tensor(name).size_bytes * 8 // case.bits
        unpacked = sum(t.size_bytes for t in lower(case.real).program.tensors if t.name.endswith(".weights")) // 4
        assert blocks == unpacked >= case.weights  # no more than the filled-up blocks of float32


def test_groups_and_zero_points_leave_less_noise() -> None:
    weight = np.random.default_rng(1).normal(size=(16, 64)).astype(np.float32) * np.geomspace(
        0.1, 3, 64, dtype=np.float32
    )
    weight[8:] += 2 * np.abs(weight[8:]).max()

    def noise(axis: int | None, group: int, symmetric: bool) -> float:
        found = low_bit(weight, 4, axis, group, symmetric)
        scale, zero = (
            np.repeat(array, group, 1) if group else array.reshape((-1, 1) if axis == 0 else ())
            for array in (found.scales, found.zero_points)
        )
        return float(np.square((found.codes.astype(np.float64) - zero) * scale - weight).sum())

    tensor, channel, group = noise(None, 0, True), noise(0, 0, True), noise(1, 8, True)
    assert tensor > channel > group
    assert noise(0, 0, False) < channel
    assert noise(1, 8, False) < group


def test_a_last_group_may_be_short() -> None:
    weight = np.arange(22, dtype=np.float32).reshape(2, 11) - 7
    found = low_bit(weight, 6, 1, 4, symmetric=False)
    assert found.scales.shape == found.zero_points.shape == (2, 3)
    real = (found.codes - np.repeat(found.zero_points, 4, 1)[:, :11]) * np.repeat(found.scales, 4, 1)[:, :11]
    assert np.abs(real - weight).max() <= found.scales.max() / 2 + 1e-6
