"""A model as a key: clones are the same, and whatever lowering reads makes another of it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import model_of

from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.same_model import SameModel


def model() -> ir.Model:
    return model_of(
        """m (float[1,4,6,6] x, float[4,4,1,1] w_a, float[4] w_b) => (float[1,4,6,6] y) {
            [conv] p = Conv (x, w_a, w_b)
            [leaky] y = LeakyRelu <alpha = 0.5> (p)
        }"""
    )


def node(found: ir.Model, name: str) -> ir.Node:
    return next(node for node in found.graph if node.name == name)


def other_weights(found: ir.Model) -> None:
    weights = node(found, "conv").inputs[1]
    weights.const_value = ir.tensor(np.asarray(weights.const_value.numpy()) + 1.0, name=weights.name)


def other_attribute(found: ir.Model) -> None:
    node(found, "leaky").attributes["alpha"] = ir.AttrFloat32("alpha", 0.25)


def other_kind(found: ir.Model) -> None:
    node(found, "leaky").op_type = "Elu"


def marked_node(found: ir.Model) -> None:
    node(found, "conv").metadata_props["metainfer.unit"] = "npu"


def marked_value(found: ir.Model) -> None:
    node(found, "conv").outputs[0].metadata_props["metainfer.memory"] = "sram"


def no_bias(found: ir.Model) -> None:
    node(found, "conv").replace_input_with(2, None)


def other_wire(found: ir.Model) -> None:
    node(found, "leaky").replace_input_with(0, found.graph.inputs[0])


def other_output(found: ir.Model) -> None:
    found.graph.outputs[0] = node(found, "conv").outputs[0]


def other_shape(found: ir.Model) -> None:
    node(found, "conv").outputs[0].shape = ir.Shape([1, 4, 36])


def test_a_clone_is_the_same_and_is_lowered_once() -> None:
    first = model()
    assert SameModel(first) == SameModel(first.clone())
    assert hash(SameModel(first)) == hash(SameModel(first.clone()))
    assert lower(first) is lower(first.clone())


@pytest.mark.parametrize(
    "change",
    [
        other_weights,
        other_attribute,
        other_kind,
        marked_node,
        marked_value,
        no_bias,
        other_wire,
        other_output,
        other_shape,
    ],
)
def test_whatever_lowering_reads_makes_another_model(change: Callable[[ir.Model], None]) -> None:
    first = model()
    before, seen = lower(first), SameModel(first)
    changed = first.clone()
    change(changed)
    assert SameModel(changed) != seen
    change(first)
    assert SameModel(first) != seen, "the same object, changed in place"
    assert lower(first) is not before


def test_marks_that_do_not_count_make_no_other_model() -> None:
    first = model()
    before, seen = lower(first), SameModel(first, without=("metainfer.tile",))
    node(first, "conv").metadata_props["metainfer.tile"] = "rows:2"
    assert SameModel(first, without=("metainfer.tile",)) == seen
    assert SameModel(first) != SameModel(model())
    assert lower(first) is before
