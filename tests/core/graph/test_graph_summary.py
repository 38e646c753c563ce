"""Arithmetic, bytes and live ranges, each against numbers worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_models import from_text, imported

from metainfer_core.errors import UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.live_ranges import LiveRange, live_bytes, live_ranges, memory_lower_bound
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.graph.summary import GraphSummary, NodeSummary, summarise


def summary_of(name: str) -> GraphSummary:
    return summarise(preprocess(imported(name).model).model)


def node_of(text: str) -> NodeSummary:
    model = import_model(from_text(text).SerializeToString(), "model").model
    return summarise(preprocess(model).model).nodes[-1]


def test_convolutions_with_groups_and_bias() -> None:
    dw, relu, pw = summary_of("depthwise").nodes
    assert dw.macs == 6 * 4 * 4 * 9  # one 3x3 filter for each output
    assert dw.flops == 2 * dw.macs + 6 * 4 * 4
    assert dw.input_bytes == 4 * 6 * 8 * 8
    assert dw.output_bytes == relu.input_bytes == 4 * 6 * 4 * 4
    assert dw.parameter_bytes == 4 * (6 * 9 + 6)
    assert dw.output_shapes == ((1, 6, 4, 4),)
    assert dw.element_type == "float32"
    assert pw.macs == 10 * 4 * 4 * 6
    assert (relu.macs, relu.flops) == (0, 96)


@pytest.mark.parametrize(
    ("text", "macs", "flops"),
    [
        (
            "g (float[1,4,5,5] x, float[4,2,3,3] w_a) => (float[A] y) { y = ConvTranspose (x, w_a) }",
            4 * 25 * 2 * 9,
            None,
        ),
        ("g (float[3,7] x, float[7,2] w_a) => (float[A] y) { y = MatMul (x, w_a) }", 3 * 7 * 2, 2 * 3 * 7 * 2),
        ("g (float[2,3,7] x, float[2,7,5] z) => (float[A] y) { y = MatMul (x, z) }", 2 * 3 * 7 * 5, None),
        ("g (float[7,3] x, float[7,2] w_a) => (float[A] y) { y = Gemm <transA = 1> (x, w_a) }", 3 * 7 * 2, None),
        ('g (float[2,3] x, float[3,4] z) => (float[A] y) { y = Einsum <equation = "ij,jk->ik"> (x, z) }', 24, 48),
        (
            """g (float[5,2,3] x, float[2,12,3] w_a, float[2,12,4] w_r) => (float[A] y) {
                y = GRU <hidden_size = 4, direction = "bidirectional"> (x, w_a, w_r) }""",
            5 * 2 * 2 * 12 * (3 + 4),
            None,
        ),
        ("g (float[1,2,6,6] x) => (float[A] y) { y = MaxPool <kernel_shape = [3,3]> (x) }", 0, 2 * 16 * 9),
        ("g (float[1,2,6,6] x) => (float[A] y) { y = GlobalAveragePool (x) }", 0, 72),
        ("g (float[2,5] x) => (float[A] y) { y = Softmax (x) }", 0, 50),
        ("g (float[2,5] x) => (float[A] y) { y = HardSwish (x) }", 0, 50),
        ("g (float[2,5] x) => (float[A] y) { y = ReduceMax <axes = [1]> (x) }", 0, 10),
        ("g (float[2,5] x) => (float[A] y) { y = Transpose (x) }", 0, 0),
    ],
)
def test_arithmetic_by_hand(text: str, macs: int, flops: int | None) -> None:
    node = node_of(text)
    assert node.macs == macs
    assert node.flops == flops if flops is not None else node.flops >= 2 * macs


def test_an_operator_without_a_count_is_unknown_not_zero() -> None:
    model = from_text("g (float[2,3,3] x) => (float[A] y) { [d] y = Det (x) }")
    summary = summarise(preprocess(import_model(model.SerializeToString(), "m").model).model)
    assert summary.nodes[0].flops is None
    assert summary.nodes[0].arithmetic_intensity is None
    assert summary.unknown_operators == ("Det",)


def test_views_move_nothing_and_selections_only_what_they_take() -> None:
    assert node_of("g (float[2,6] x) => (float[A] y) { y = Flatten (x) }").moved_bytes == 0
    picked = node_of("g (float[100,8] x, int64[2] i) => (float[A] y) { y = Gather (x, i) }")
    assert picked.moved_bytes == 2 * (2 * 8 * 4) + 16


def test_live_ranges_of_a_residual() -> None:
    model = preprocess(imported("residual").model).model
    size = 4 * 4 * 8 * 8
    assert live_ranges(model) == (
        LiveRange(name="x", size_bytes=size, start=0, end=4),
        LiveRange(name="a", size_bytes=size, start=0, end=2),
        LiveRange(name="ra", size_bytes=size, start=1, end=3),
        LiveRange(name="b", size_bytes=size, start=2, end=4),
        LiveRange(name="s", size_bytes=size, start=3, end=5),
        LiveRange(name="y", size_bytes=size, start=4, end=5),
    )
    assert live_bytes(live_ranges(model)) == (2 * size, 3 * size, 3 * size, 3 * size, 2 * size)
    assert memory_lower_bound(model) == 3 * size


@pytest.mark.parametrize(
    ("name", "tensor", "end"), [("two_consumers", "c", 3), ("inner_output", "c", 2), ("pad_two_consumers", "p", 3)]
)
def test_a_tensor_with_two_readers_lives_until_the_last(name: str, tensor: str, end: int) -> None:
    ranges = {each.name: each for each in live_ranges(preprocess(imported(name).model).model)}
    assert ranges[tensor].end == end


def test_an_output_lives_to_the_end_though_nothing_reads_it() -> None:
    ranges = {each.name: each for each in live_ranges(preprocess(imported("pools").model).model)}
    assert ranges["y"].end == ranges["z"].end == 5
    assert ranges["x"].end == 5


def test_open_shapes_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="'x' has the type float32"):
        summarise(imported("dynamic_reshape").model)


@given(
    st.lists(st.tuples(st.integers(1, 1000), st.integers(0, 20), st.integers(1, 10)), max_size=20).map(
        lambda rows: tuple(
            LiveRange(name=f"t{index}", size_bytes=size, start=start, end=start + length)
            for index, (size, start, length) in enumerate(rows)
        )
    )
)
def test_live_bytes_are_the_sum_of_what_is_alive(ranges: tuple[LiveRange, ...]) -> None:
    for step, alive in enumerate(live_bytes(ranges)):
        assert alive == sum(each.size_bytes for each in ranges if each.start <= step < each.end)
