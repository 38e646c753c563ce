"""Bringing operands while the step before computes."""

from __future__ import annotations

import pytest
from action_bench import keeps_promise, proposed, refusal, rewritten
from npu_bench import adapted, chip, planned, same_bits, take

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.prefetch import Prefetch
from metainfer_core.actions.staged_steps import asked_of
from metainfer_core.codegen.backends.sim_npu.timeline import timeline
from metainfer_core.npu.stage import TRANSFER
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory

KIND = Prefetch()
CHAIN = """
    chain (float[1,8,12,12] x, float[16,8,3,3] w_a, float[16,16,3,3] w_b) => (float[1,16,12,12] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a)
        [r] t = Relu (s)
        [b] u = Conv <pads = [1, 1, 1, 1]> (t, w_b)
        [q] y = Relu (u)
    }"""


def prefetch(node: str = "b", **params: object) -> Action:
    return Action(kind="prefetch", nodes=(node,), params=params)


def test_weights_that_the_step_before_hides_are_proposed():
    spec = chip()
    (action,), refusals = proposed(KIND, adapted(CHAIN, spec), spec)
    assert refusals == []
    assert (action.nodes, action.params) == (("b",), {"target_hw": "npu"})
    assert action.why[0].claim == (
        "Bringing the operands of b takes 392 cycles of npu (predicted); a computes 2,592 meanwhile."
    )
    assert KIND.sentence(action) == "Bring the operands of b to the local memory of npu while the step before computes."


def test_approved_it_hides_the_transfer_and_changes_no_bit():
    spec = chip()
    model = adapted(CHAIN, spec)
    in_turn = planned(model, spec)
    after = rewritten(KIND, model, spec, [prefetch()])
    early = planned(after, spec, asked_of(after))
    assert same_bits(model, *early, runs=5)
    assert keeps_promise(KIND, model, after)
    kernels = [[step.kernel for step in staged.program.steps if step.unit == "npu"] for staged, _ in (in_turn, early)]
    weights = [
        next(index for index, step in enumerate(staged.program.steps) if step.inputs[0].endswith("b.weights"))
        for staged, _ in (in_turn, early)
    ]
    first = [next(i for i, step in enumerate(staged.program.steps) if step.kernel != TRANSFER and "a" in step.node_ids)
             for staged, _ in (in_turn, early)]  # fmt: skip
    assert sorted(kernels[0]) == sorted(kernels[1])
    assert weights[0] > first[0]
    assert weights[1] < first[1]
    (before,), (hidden,) = (timeline(plan, spec) for _, plan in (in_turn, early))
    assert before.total is not None
    assert hidden.total is not None
    assert before.total.typical - hidden.total.typical == 392
    assert (before.transfers, before.bytes_in) == (hidden.transfers, hidden.bytes_in)


def test_the_next_tile_arrives_while_one_is_computed():
    spec = chip(6656)
    model = adapted(CHAIN, spec)
    take(model, spec, ("tile",))
    after = rewritten(KIND, model, spec, [prefetch()])
    staged, plan = planned(after, spec, asked_of(after))
    of_b = [step.kernel for step in staged.program.steps if step.node_ids[0] == "b"]
    tiles = [index for index, kernel in enumerate(of_b) if kernel != TRANSFER]
    assert len(tiles) == 2
    assert set(of_b[tiles[0] + 1 : tiles[1]]) == {TRANSFER}
    weights = [step.outputs[0] for step in staged.program.steps if step.inputs[0].startswith("b.weights.")]
    names = [name for step in staged.program.steps for name in (*step.outputs, *step.inputs)]
    assert weights == ["b.weights.tile0@local", "b.weights.tile1@local"]
    first_tile = next(index for index, name in enumerate(names) if name == "y.quantized@local.0")
    assert names.index("b.weights.tile1@local") < first_tile
    assert same_bits(model, staged, plan, runs=5)


def test_silence_where_nothing_computes_meanwhile_or_figures_are_unknown():
    spec = chip(macs_per_cycle={})
    assert proposed(KIND, adapted(CHAIN, spec), spec) == ([], [])
    quick = chip(macs_per_cycle={"int8": 1e6})
    assert proposed(KIND, adapted(CHAIN, quick), quick) == ([], [])


def test_silence_where_nothing_is_gained():
    plain = {"setup_cycles": 0, "data_width_bits": None, "burst_length_min": None}
    slow = chip(clock_hz=1e7, dma=plain)  # 8 GB/s bring 800 bytes a cycle: the weights of b take 2.9
    (action,), _ = proposed(KIND, adapted(CHAIN, slow), slow)
    assert "takes 3 cycles" in action.why[0].claim
    slower = chip(clock_hz=1e6, dma=plain)
    assert proposed(KIND, adapted(CHAIN, slower), slower) == ([], [])


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (prefetch("a"), "npu computes nothing before a: there is nothing to bring its operands beside."),
        (prefetch("r"), "r is not the first node of a step on a unit with a local memory."),
        (prefetch(target_hw="dsp"), "The spec has no compute unit named dsp (compute_units); it has cpu, npu."),
    ],
)
def test_what_cannot_arrive_early_is_refused(action: Action, reason: str):
    spec = chip()
    assert refusal(KIND, adapted(CHAIN, spec), spec, action) == reason


def test_without_room_for_both_it_is_refused_with_the_numbers():
    spec = chip(5 * 1024)
    found = refusal(KIND, adapted(CHAIN, spec), spec, prefetch()) or ""
    assert "What arrives and what is computed meanwhile take " in found
    assert "local holds 5,120 (memories.local.size_bytes)." in found


@pytest.mark.parametrize(
    ("banks", "conflicts", "saved"),
    [(None, None, (392, 392, 392)), (1, 4, (392, 0, 0)), (4096, 0, (392, 392, 392))],
)
def test_what_arrives_in_a_bank_in_use_waits(
    banks: int | None, conflicts: int | None, saved: tuple[int, int, int]
) -> None:
    spec = chip()
    local = Memory(**{**spec.memories["local"].__dict__, "banks": banks})
    spec = HardwareSpec(**{**spec.__dict__, "memories": {**spec.memories, "local": local}})
    model = adapted(CHAIN, spec)
    after = rewritten(KIND, model, spec, [prefetch()])
    (before,), (hidden,) = (
        timeline(plan, spec) for _, plan in (planned(model, spec), planned(after, spec, asked_of(after)))
    )
    assert before.bank_conflicts == (None if banks is None else 0)
    assert hidden.bank_conflicts == conflicts
    assert ("memories.local.banks (bank conflicts not counted)" in hidden.unknown) is (banks is None)
    assert (" bank conflicts" in hidden.text.partition(";")[0]) is bool(conflicts)
    assert before.total is not None
    assert hidden.total is not None
    ends = ("low", "typical", "high")
    assert tuple(getattr(before.total, end) - getattr(hidden.total, end) for end in ends) == saved
