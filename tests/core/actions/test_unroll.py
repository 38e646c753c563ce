"""Loops over products with several of them a turn: what is refused, and the same bits."""

from __future__ import annotations

import pytest
from action_bench import cpu, proposed, refusal, rewritten, samples_of, spec_of
from npu_bench import adapted

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.unroll import Unroll
from metainfer_core.actions.rewiring import node
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.lowering.model_reader import LAYOUT
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec

KIND = Unroll()
TEXT = """
    net (float[1,16,12,12] x, float[8,16,1,1] w_c, float[8,8,3,3] w_k) => (float[1,8,3,3] y) {
        [c] s = Conv (x, w_c)
        [m] t = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (s)
        [k] u = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (t, w_k)
        [r] y = Relu (u)
    }"""


def chip(**fields: object) -> HardwareSpec:
    return spec_of(units={"cpu": cpu(**fields)})


def unroll(name: str = "c", factor: int = 4, **params: object) -> Action:
    return Action(kind="unroll", nodes=(name,), params={"factor": factor, **params})


@pytest.mark.parametrize("action", [unroll("c"), unroll("k", 8)])
def test_the_call_has_the_factor_and_gives_the_same_bits(action: Action) -> None:
    model = adapted(TEXT, chip())
    after = rewritten(KIND, model, chip(), [action])
    (step,) = [step for step in lower(after).program.steps if action.nodes[0] in step.node_ids[:1]]
    assert step.params["unroll"] == action.params["factor"]
    usual, unrolled = Simulator(lower(model)), Simulator(lower(after))
    for feed in samples_of(model).feeds[:3]:
        assert unrolled.run(feed)["y"].tobytes() == usual.run(feed)["y"].tobytes()
    assert proposed(KIND, model, chip()) == ([], [])
    assert KIND.sentence(unroll()) == "Compute 4 products of c in each turn of its loop."


@pytest.mark.parametrize(
    ("action", "spec", "reason"),
    [
        (unroll("m"), chip(), "m is computed by max_pool_int8, which has no such loop."),
        (unroll("r"), chip(), "r is computed by no kernel of its own, which has no such loop."),
        (unroll(target_hw="moon"), chip(), "The spec has no compute unit named moon (compute_units); it has cpu."),
        (
            unroll(target_hw="cpu"),
            chip(registers=100),
            "A turn of 4 products of c holds 112 numbers at once; cpu has 100 registers (compute_units.cpu.registers).",
        ),
        (unroll(target_hw="cpu"), chip(registers=112), None),
        (unroll(target_hw="cpu"), chip(registers=32, vector_width_bits=128), None),
        (
            unroll(target_hw="cpu"),
            chip(l1i_cache=Cache.from_plain({"size_bytes": 1000})),
            "The loop of c would have 1,024 bytes of code (predicted); the instruction cache of cpu holds 1,000 "
            "(compute_units.cpu.l1i_cache.size_bytes).",
        ),
        (unroll(target_hw="cpu"), chip(l1i_cache=Cache.from_plain({"size_bytes": 1024})), None),
    ],
)
def test_it_is_held_against_kernel_registers_and_instruction_cache(
    action: Action, spec: HardwareSpec, reason: str | None
) -> None:
    assert refusal(KIND, adapted(TEXT, chip()), spec, action) == reason


def test_a_factor_that_no_loop_has_is_refused() -> None:
    assert "factor" in (refusal(KIND, adapted(TEXT, chip()), chip(), unroll(factor=3)) or "")


def test_asked_twice_is_refused_and_another_layout_has_the_loop_too() -> None:
    model = adapted(TEXT, chip())
    once = rewritten(KIND, model, chip(), [unroll()])
    assert refusal(KIND, once, chip(), unroll()) == "c was asked for that already."
    node(model, "k").metadata_props[LAYOUT] = "nhwc"
    assert refusal(KIND, model, chip(), unroll("k")) is None
