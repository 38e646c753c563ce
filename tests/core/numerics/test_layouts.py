"""Programs in other layouts than NCHW: the same bits, with the fewest turns."""

from __future__ import annotations

import numpy as np
import pytest
from action_bench import spec_of
from layout_cases import FIXED, NET, LayoutCase, layout_cases, marked
from npu_bench import adapted

from metainfer_core.errors import UnsupportedError
from metainfer_core.numerics.layouts import NHWC, Layout, layout_of
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.simulator import Simulator

CASES = list(layout_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_each_layout_gives_the_same_bits(case: LayoutCase) -> None:
    usual, laid_out = Simulator(lower(case.usual)), Simulator(lower(case.laid_out))
    for feed in case.feeds:
        for name, expected in usual.run(feed).items():
            assert laid_out.run(feed)[name].tobytes() == expected.tobytes(), name


@pytest.mark.parametrize("case", CASES[:2], ids=lambda case: case.name)
def test_only_the_border_is_turned(case: LayoutCase) -> None:
    kernels = [step.kernel for step in lower(case.laid_out).program.steps]
    assert [kernel for kernel in kernels if kernel.startswith("relayout")] == ["relayout_8"]  # the input
    assert sum("_blocked_" in kernel for kernel in kernels) == 8
    assert "view" in kernels  # one pixel lies alike in both


def test_a_tensor_that_two_read_in_nchw_is_turned_once() -> None:
    text = """
        two (float[1,8,6,6] x, float[8,8,1,1] w_a) => (float[1,8,6,6] y, float[1,8,6,6] z) {
            [a] s = Conv (x, w_a)
            [e] y = Exp (s)
            [n] z = Neg (s)
        }"""
    steps = lower(marked(adapted(text, spec_of(), ()), ("a",), "nhwc")).program.steps
    assert [step.kernel for step in steps] == [
        "relayout_32", "conv2d_blocked_float32", "relayout_32", "exp_float32", "neg_float32"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "layout", "sentence"),
    [
        (("a",), "nchw32c", "Its input has 16 channels, which is no multiple of 32 (layout nchw32c)."),
        (("v",), "nhwc", "Its kernel average_pool_float32 walks the axes in the order of NCHW."),
    ],
)
def test_what_has_no_kernel_there_is_refused(nodes: tuple[str, ...], layout: str, sentence: str) -> None:
    model = adapted(NET, spec_of(), ("fuse",), FIXED)
    with pytest.raises(UnsupportedError) as refused:
        lower(marked(model, nodes, layout))
    assert refused.value.why == sentence


def test_words_for_layouts() -> None:
    assert layout_of("NHWC") == NHWC
    assert layout_of("NC4HW4") == layout_of("NCHW4c") == Layout("nchw4c", 4)
    assert [layout_of(word) for word in ("NCHW", "NC4HW8", "nchw0c", "", "moon")] == [None] * 5
    assert NHWC.shape((1, 8, 3, 5)) == (1, 3, 5, 8)
    assert Layout("nchw4c", 4).shape((1, 8, 3, 5)) == (1, 2, 3, 5, 4)
    assert NHWC.shape((1, 8, 3)) == (1, 3, 8)


def test_a_planted_mistake_in_the_weights_shows() -> None:
    case = CASES[0]
    lowered = lower(case.laid_out)
    weights = next(tensor for tensor in lowered.program.tensors if tensor.name == "d.weights")
    data = np.frombuffer(lowered.constants[str(weights.constant)], np.int8).reshape(weights.shape).copy()
    turned = np.ascontiguousarray(data[:, ::-1])  # channels in the wrong order
    broken = Lowered(lowered.program, {**lowered.constants, str(weights.constant): turned.tobytes()})
    feed = case.feeds[0]
    expected, got = Simulator(lower(case.usual)).run(feed), Simulator(broken).run(feed)
    assert any(got[name].tobytes() != expected[name].tobytes() for name in expected)
