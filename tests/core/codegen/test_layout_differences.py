"""Layouts: what was approved is there, and nothing else is."""

from __future__ import annotations

from functools import cache

import pytest
from action_bench import rewritten, spec_of
from npu_bench import adapted, as_read_back

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.layout import LayoutKind
from metainfer_core.codegen.compile_plan import compile_plan
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.kernel_differences import has_kernel, weight_of
from metainfer_core.codegen.layout_differences import not_laid_out, unapproved_layouts
from metainfer_core.numerics.lower import lower
from metainfer_core.verify.realised_graph import RealisedGraph, RealisedStep, RealisedTensor
from metainfer_core.verify.unlaid import unlaid

TWO = """
    two (float[1,16,6,6] x, float[16,1,3,3] w_d, float[32,16,1,1] w_c) => (float[1,32,6,6] y) {
        [d] s = Conv <group = 16, pads = [1, 1, 1, 1], kernel_shape = [3, 3]> (x, w_d)
        [c] y = Conv (s, w_c)
    }"""
OP_TYPES = {"d": "Conv", "c": "Conv"}


def layout(name: str, *nodes: str) -> Action:
    return Action(kind="layout", nodes=nodes, params={"layout": name})


@cache
def built(name: str | None = None, nodes: tuple[str, ...] = ("d", "c")) -> RealisedGraph:
    spec = spec_of()
    model = adapted(TWO, spec, ())
    actions = [layout(name, *nodes)] if name else []
    lowered = lower(rewritten(LayoutKind(), model, spec, actions))
    return as_read_back(compile_plan(lowered, spec))


@pytest.mark.parametrize("name", ["nhwc", "nchw8c"])
def test_an_approved_layout_is_found_in_the_program(name: str) -> None:
    assert differences([layout(name, "d", "c")], built(name), OP_TYPES) == ()


def test_one_that_is_not_there_or_is_another_is_named() -> None:
    (missing, *_) = not_laid_out(layout("nhwc", "c"), built())
    assert (missing.node_id, missing.approved, missing.realised) == ("c", "in layout nhwc", "s in nchw")
    (other, *_) = not_laid_out(layout("nhwc", "c"), built("nchw8c"))
    assert other.realised == "s.nchw8c in nchw8c"
    (lost,) = not_laid_out(layout("nhwc", "nobody"), built("nhwc"))
    assert lost.realised == "no step computes it"


def test_one_that_nobody_approved_is_named() -> None:
    found = differences([], built("nhwc", ("c",)), OP_TYPES)
    assert [(one.node_id, one.approved, one.realised) for one in found] == [
        ("c", "in NCHW", "conv2d_blocked_float32 makes y.nhwc")
    ]
    assert list(unapproved_layouts([], built())) == []


def test_blocks_of_another_size_than_their_name_says_are_named() -> None:
    whole = built("nchw8c")
    tensors = tuple(
        RealisedTensor(**{**tensor.__dict__, "shape": (1, 8, 6, 6, 4)}) if tensor.name == "y.nchw8c" else tensor
        for tensor in whole.tensors
    )
    (found,) = not_laid_out(layout("nchw8c", "c"), RealisedGraph(**{**whole.__dict__, "tensors": tensors}))
    assert found.realised == "y.nchw8c [1, 8, 6, 6, 4]"


def test_forms_of_one_tensor_in_two_memories_are_named() -> None:
    whole = built("nhwc")
    tensors = tuple(
        RealisedTensor(**{**tensor.__dict__, "memory": "moon"}) if tensor.name == "y" else tensor
        for tensor in whole.tensors
    )
    (found,) = not_laid_out(layout("nhwc", "c"), RealisedGraph(**{**whole.__dict__, "tensors": tensors}))
    assert (found.approved, found.realised) == ("y in moon", "y.nhwc in dram")


def test_whatever_the_layout_it_computes_the_same() -> None:
    def seen(graph: RealisedGraph) -> list[tuple[str, tuple[str, ...]]]:
        return [(step.kernel.replace("_blocked", "").replace("_rows", ""), step.outputs) for step in graph.steps]

    def shapes(graph: RealisedGraph) -> dict[str, tuple[int, ...]]:
        return {
            tensor.name: tensor.shape for tensor in graph.tensors if not tensor.is_constant and ":" not in tensor.name
        }

    assert seen(unlaid(built("nchw8c"))) == seen(built())
    assert shapes(unlaid(built("nhwc"))) == shapes(built())
    assert unlaid(built()) is built()


@pytest.mark.parametrize(("node", "kernel"), [("d", (3, 3)), ("c", (1, 1))])
def test_the_extents_of_kernels_are_read_from_weights_on_blocks(node: str, kernel: tuple[int, int]) -> None:
    graph = unlaid(built("nhwc"))
    tensors = {tensor.name: tensor for tensor in graph.tensors}
    step: RealisedStep = next(step for step in graph.steps if node in step.node_ids and "conv" in step.kernel)
    weight, channels = weight_of(step, tensors), tensors[step.inputs[0]].shape[1]
    assert has_kernel(step, weight, channels, kernel)
    assert not has_kernel(step, weight, channels, (5, 5))
