"""A kernel that multiplies by something else than its declared scales come to is found out."""

import struct

import pytest

from metainfer_core.codegen.scales import check_scales
from metainfer_core.errors import DefectError
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor

NAMES = ("x", "weights", "bias", "multiplier", "shift", "table")


def tensor(name: str, scales: tuple[float, ...] = (), constant: bool = True) -> RealisedTensor:
    return RealisedTensor(
        name=name,
        element_type="int8" if scales else "int32",
        shape=(2,),
        size_bytes=8,
        memory=None if constant else "ddr",
        offset_bytes=None if constant else 0,
        is_constant=constant,
        scales=scales,
        zero_points=(0,) * len(scales),
    )


def graph(weight_scales: tuple[float, ...] = (0.5, 0.25), with_table: bool = False) -> RealisedGraph:
    step = RealisedStep(
        kernel="conv2d_int8",
        node_ids=("Conv_0",),
        inputs=NAMES if with_table else (*NAMES[:5], ""),
        outputs=("y",),
    )
    tensors = (
        tensor("x", (0.5,), constant=False),
        tensor("y", (1.0,), constant=False),
        tensor("weights", weight_scales),
        *(tensor(name) for name in NAMES[2:]),
    )
    return RealisedGraph(target="native-cpu", inputs=("x",), outputs=("y",), steps=(step,), tensors=tensors, arenas={})


def constants(*factors: tuple[int, int]) -> dict[str, bytes]:
    multipliers, shifts = zip(*factors, strict=True)
    return {
        "multiplier": struct.pack(f"<{len(factors)}i", *multipliers),
        "shift": struct.pack(f"<{len(factors)}i", *shifts),
    }


RIGHT = ((1 << 30, 32), (1 << 30, 33))  # 1/4 and 1/8


def test_multipliers_that_follow_the_scales_pass() -> None:
    check_scales(graph(), constants(*RIGHT))
    check_scales(graph((0.5,)), constants(RIGHT[0], RIGHT[0]))


@pytest.mark.parametrize("wrong", [(RIGHT[0], RIGHT[0]), (RIGHT[0], ((1 << 30) + 8, 33)), (RIGHT[1], RIGHT[0])])
def test_other_multipliers_are_found_out(wrong: tuple[tuple[int, int], ...]) -> None:
    with pytest.raises(DefectError, match="Conv_0 computes with other scales than it declares"):
        check_scales(graph(), constants(*wrong))


def test_scales_by_channel_that_are_declared_as_one_are_found_out() -> None:
    with pytest.raises(DefectError, match=r"Channel 1: times 0\.125, where the scales give 0\.25"):
        check_scales(graph((0.5,)), constants(*RIGHT))


def test_a_kernel_with_a_table_behind_is_passed_over() -> None:
    check_scales(graph(with_table=True), constants((1, 1), (1, 1)))
