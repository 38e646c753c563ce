"""Splitting a convolution that breaks a limit of its unit."""

from __future__ import annotations

import npu_bench
import numpy as np
import pytest
from action_bench import (
    calibrated,
    cpu,
    keeps_promise,
    model_of,
    npu,
    ops,
    proposed,
    refusal,
    rewritten,
    samples_of,
    spec_of,
)

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.split import Split
from metainfer_core.codegen.differences import differences
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import Memory, Operators, Quantity
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


SHARED = """
    shared (float[1,16,8,8] x, float[16,16,3,3] w_a, float[16] w_ab, float[12,16,3,3] w_b, float[12] w_bb)
        => (float[1,12,8,8] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_ab)
        [b] y = Conv <pads = [1, 1, 1, 1]> (s, w_b, w_bb)
    }"""


def over(*shares: tuple[str, int], **params: object) -> Action:
    plain = {"axis": "output_channels", "channels": [n for _, n in shares], "units": [unit for unit, _ in shares]}
    return Action(kind="split", nodes=("b",), params={**plain, **params})


def test_parts_on_two_units_give_the_bits_of_one():
    spec = npu_bench.chip()
    whole, halves = model_of(SHARED), model_of(SHARED)
    Split().rewrite(halves, over(("npu", 8), ("cpu", 4)))
    for model in (whole, halves):
        npu_bench.take(model, spec, ("fuse", "quantize"))
        finish(model, spec)
    steps = [step for step in lower(halves).program.steps if step.kernel.startswith("conv2d")]
    assert [(step.unit, step.params["filters"]) for step in steps] == [("npu", 16), ("npu", 8), ("cpu", 4)]
    usual, shared = Simulator(lower(whole)), Simulator(lower(halves))
    for feed in samples_of(whole).feeds[:5]:
        assert shared.run(feed)["y"].tobytes() == usual.run(feed)["y"].tobytes()
    staged, plan = npu_bench.planned(halves, spec)
    assert npu_bench.same_bits(halves, staged, plan, runs=3)
    moved = [step.unit for step in staged.program.steps if step.kernel == "transfer"]
    assert moved.count("npu") == len(moved) > 0  # what the CPU computes, nobody brings to it


def test_each_part_is_found_on_its_unit_in_the_built_program():
    spec = npu_bench.chip()
    model = model_of(SHARED)
    Split().rewrite(model, over(("npu", 8), ("cpu", 4)))
    npu_bench.take(model, spec, ("fuse", "quantize"))
    finish(model, spec)
    built = npu_bench.as_read_back(npu_bench.planned(model, spec)[1])
    op_types = {"a": "Conv", "b": "Conv"}
    asked = over(("npu", 8), ("cpu", 4))
    assert [one for one in differences([asked], built, op_types) if one.action == asked.id] == []
    swapped = over(("cpu", 8), ("npu", 4))
    found = [one for one in differences([swapped], built, op_types) if one.action == swapped.id]
    assert [(one.approved, one.realised) for one in found] == [
        ("a part on cpu", "conv2d_int8 on npu"),
        ("a part on npu", "conv2d_int8 on cpu"),
    ]


def test_what_sharing_would_gain_is_told_with_its_figures_and_why_it_is_not_done():
    units = {
        "npu": npu(clock_hz=1e9, macs_per_cycle={"int8": 64}, tops=None),
        "cpu": cpu(clock_hz=1e9, macs_per_cycle={"int8": 32, "float32": 8}),
    }
    spec = spec_of({"dram": Memory(kind="dram", size_bytes=1 << 28, bandwidth_gbps=100)}, units)
    actions, reasons = proposed(Split(), model_of(SHARED), spec)
    assert actions == []
    assert reasons[1] == (
        "With 3 of its 12 output channels on cpu, b would take 1.30 µs in place of 1.73 on npu alone (predicted, with "
        "0.01 of transfers) if both computed at once. A program computes one step after another: 2.17 µs. As an "
        "override it can be had, with 9, 3 channels on npu, cpu."
    )
    words = Split().sentence(over(("npu", 8), ("cpu", 4)))
    assert words == "Compute b in parts of its output channels, 8 on npu and 4 on cpu."
    slow = {**units, "cpu": cpu(clock_hz=1e9, macs_per_cycle={"int8": 1, "float32": 1})}
    assert proposed(Split(), model_of(SHARED), spec_of(spec.memories, slow)) == ([], [])
    assert proposed(Split(), model_of(SHARED), spec_of(units=units)) == ([], [])  # no bandwidth is known


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (over(("npu", 8), ("moon", 4)), "The spec has no compute unit named moon (compute_units); it has cpu, npu."),
        (over(("npu", 8), ("cpu", 3)), "Parts of 8, 3 output channels do not make the 12 of b."),
        (
            over(("npu", 8), ("cpu", 4), axis="input_channels"),
            "Parts of 8, 4 input channels do not make the 16 of b.",
        ),
        (
            over(("npu", 8), ("cpu", 8), axis="input_channels"),
            "Parts of input channels of b are added up, in one place: they share no units.",
        ),
        (over(("npu", 8), ("cpu", 4), units=["npu"]), "b has 2 parts and 1 units for them."),
        (
            over(("npu", 8), ("cpu", 4), target_hw="npu"),
            "Each part of b has a unit of its own: target_hw says nothing more.",
        ),
    ],
)
def test_shares_that_cannot_be_are_refused(action, reason):
    assert refusal(Split(), model_of(SHARED), npu_bench.chip(), action) == reason


def test_a_part_that_breaks_a_limit_of_its_own_unit_is_refused():
    limited = npu(operators=limit_of("out_channels", 6))
    spec = spec_of(units={"npu": limited, "cpu": cpu()})
    reason = refusal(Split(), model_of(SHARED), spec, over(("npu", 8), ("cpu", 4)))
    assert reason is not None
    assert reason.startswith("b in parts has out_channels 8; npu runs 6 to 6")
