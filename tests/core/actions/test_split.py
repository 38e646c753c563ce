"""Splitting a convolution that breaks a limit of its unit."""

from __future__ import annotations

import numpy as np
import pytest
from action_bench import calibrated, keeps_promise, model_of, npu, ops, proposed, refusal, rewritten, spec_of

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.split import Split
from metainfer_core.spec.hardware_spec import Operators, Quantity
from metainfer_core.spec.operators import OperatorRule

WIDE = """
    wide (float[1,96,6,6] x, float[20,96,3,3] w_conv, float[20] w_bias) => (float[1,20,4,4] y) {
        [conv] y = Conv (x, w_conv, w_bias)
    }"""
GROUPED = """
    grouped (float[1,96,6,6] x, float[96,1,3,3] w_conv) => (float[1,96,4,4] y) {
        [conv] y = Conv <group = 96> (x, w_conv)
    }"""


RUNS = ("Conv", "Slice", "Add", "Concat")


def chip(operators: Operators | None = None, **npu_fields):
    return spec_of(units={"npu": npu(operators=operators or Operators(supported=RUNS), **npu_fields)})


def buffer_of(entries: int) -> Operators:
    """A weight buffer: kernel height times kernel width times input channels may not pass it."""
    rule = OperatorRule(of=("kernel_h", "kernel_w", "in_channels"), max=entries)
    return Operators(supported=RUNS, rules={"Conv": {"weight_buffer": rule}})


def limit_of(name: str, most: int) -> Operators:
    return Operators(supported=RUNS, limits={"Conv": {name: Quantity(max=most)}})


def test_a_product_over_the_limit_is_cut_along_the_input_channels():
    model, spec = model_of(WIDE), chip(buffer_of(512))
    (action,), refusals = proposed(Split(), model, spec)
    assert refusals == []
    assert action.params == {"axis": "input_channels", "channels": (56, 40), "target_hw": "npu"}
    assert action.why[0].claim == (
        "conv has kernel_h x kernel_w x in_channels 864; npu runs up to 512 "
        "(compute_units.npu.operators.rules.Conv.weight_buffer)."
    )
    assert action.constraint == "Each part has at most 504 of 512."
    after = rewritten(Split(), model, spec, [action])
    assert ops(after) == ["Slice", "Conv", "Slice", "Conv", "Add"]
    assert keeps_promise(Split(), model, after)


def test_parts_are_multiples_of_the_units_channels_where_they_can_be():
    (action,), _ = proposed(Split(), model_of(WIDE), chip(buffer_of(512), channel_multiple=32))
    assert action.params["channels"] == (32, 32, 32)


def test_a_limit_on_output_channels_is_kept_by_parts_side_by_side():
    model, spec = model_of(WIDE), chip(limit_of("out_channels", 8))
    (action,), _ = proposed(Split(), model, spec)
    assert (action.params["axis"], action.params["channels"]) == ("output_channels", (8, 8, 4))
    after = rewritten(Split(), model, spec, [action])
    assert ops(after) == ["Conv", "Conv", "Conv", "Concat"]
    assert keeps_promise(Split(), model, after)


def test_what_is_within_the_limit_is_left_alone():
    assert proposed(Split(), model_of(WIDE), chip(buffer_of(864))) == ([], [])
    assert proposed(Split(), model_of(WIDE), chip()) == ([], [])


@pytest.mark.parametrize(
    ("text", "operators", "words"),
    [
        (WIDE, limit_of("kernel_h", 2), "kernel_h 3; npu runs up to 2"),
        (WIDE, buffer_of(8), "No cut along its channels keeps that limit."),
        (GROUPED, buffer_of(512), "No cut along its channels keeps that limit."),
    ],
)
def test_what_no_cut_mends_is_refused_with_the_numbers(text, operators, words):
    actions, (reason,) = proposed(Split(), model_of(text), chip(operators))
    assert actions == []
    assert words in reason
    assert reason.endswith("No cut along its channels keeps that limit.")


@pytest.mark.parametrize(
    ("channels", "words"),
    [
        ((56, 39), "Parts of 56, 39 input channels do not make the 96 of conv."),
        ((57, 39), "kernel_h x kernel_w x in_channels 513; npu runs up to 512"),
        ((96, 0), "do not make the 96 of conv"),
    ],
)
def test_an_override_that_breaks_the_limit_or_the_sum_is_refused(channels, words):
    params = {"axis": "input_channels", "channels": channels, "target_hw": "npu"}
    action = Action(kind="split", nodes=("conv",), params=params)
    assert words in (refusal(Split(), model_of(WIDE), chip(buffer_of(512)), action) or "")


def test_a_part_that_is_lost_is_caught_by_the_promise():
    model, spec = model_of(WIDE), chip(buffer_of(512))
    (action,), _ = proposed(Split(), model, spec, calibrated(model))
    after = rewritten(Split(), model, spec, [action])
    weight = next(node for node in after.graph if node.op_type == "Conv").inputs[1]
    weight.const_value = type(weight.const_value)(np.zeros_like(weight.const_value.numpy()))
    assert not keeps_promise(Split(), model, after)
