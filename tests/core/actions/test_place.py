from __future__ import annotations

import pytest
from action_bench import calibrated, cpu, model_of, npu, proposed, refusal, rewritten, spec_of
from hypothesis import given
from hypothesis import strategies as st

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.place import Place, assign, fitting, ranked
from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.rewiring import MEMORY, node
from metainfer_core.actions.stored_tensors import Stored, stored_tensors
from metainfer_core.spec.hardware_spec import HardwareSpec, Memory, Quantity

KIND = Place()
CHAIN = """
    m (float[1,4,8,8] x, float[4,4,1,1] w_a, float[4,4,1,1] w_b) => (float[1,4,8,8] y) <int64[2] flat = {1, 256}> {
        [a] a = Conv (x, w_a)
        [b] b = Conv (a, w_b)
        [add] y = Add (a, b)
    }"""
BYTES = 4 * 8 * 8 * 4


def spec(sram_bytes: int, **fields: object) -> HardwareSpec:
    sram = Memory(kind="sram", size_bytes=sram_bytes, **fields)  # type: ignore[arg-type]
    return spec_of(memories={"dram": Memory(kind="dram", size_bytes=1 << 20), "sram": sram})


def homes(actions: list[Action]) -> dict[str, str]:
    return {name: memory for action in actions for name, memory in action.params["memory"].items()}


def test_everything_goes_where_it_fits() -> None:
    model = model_of(CHAIN)
    actions, refusals = proposed(KIND, model, spec(100_000))
    assert refusals == []
    assert homes(actions) == {"x": "sram", "a": "sram", "b": "sram", "y": "sram"}
    assert [action.nodes for action in actions] == [("x",), ("a",), ("b",), ("add",)]
    placed = rewritten(KIND, model, spec(100_000), actions)
    assert placed.graph.inputs[0].metadata_props[MEMORY] == "sram"
    assert node(placed, "add").outputs[0].metadata_props[MEMORY] == "sram"
    assert KIND.sentence(actions[0]) == "Place x in sram."


def test_the_memory_that_delivers_more_is_the_faster_one_whatever_its_kind() -> None:
    def with_rates(dram: Quantity | None, sram: float) -> HardwareSpec:
        inner = Memory(kind="sram", size_bytes=100_000, bandwidth_gbps=Quantity(typ=sram))
        return spec_of(memories={"dram": Memory(kind="dram", bandwidth_gbps=dram), "sram": inner})

    dram = Quantity(typ=33.8)
    assert proposed(KIND, model_of(CHAIN), with_rates(dram, 8)) == ([], []), "all lies in the DRAM unplaced"
    assert set(homes(proposed(KIND, model_of(CHAIN), with_rates(dram, 192))[0]).values()) == {"sram"}
    assert ranked(with_rates(dram, 33.8)) == ["sram", "dram"]
    assert ranked(with_rates(None, 8)) == ["sram", "dram"]  # what one lacks is no reason
    third = with_rates(dram, 8).plain()
    third["memories"] |= {"codec": {"kind": "sram", "size_bytes": 1024}, "tcm": {"kind": "tcm", "size_bytes": 1024}}
    assert ranked(HardwareSpec.from_plain(third)) == ["tcm", "dram", "codec", "sram"]


def test_the_most_used_tensor_gets_the_room() -> None:
    tight = spec(int(BYTES / 0.9) + 1)  # one tensor and the headroom
    actions, _ = proposed(KIND, model_of(CHAIN), tight)
    assert homes(actions) == {"x": "dram", "a": "sram", "b": "dram", "y": "dram"}
    by_owner = {action.nodes[0]: action for action in actions}
    assert by_owner["b"].alternatives[0].option == "sram"
    assert by_owner["b"].alternatives[0].reason == "What is used more often fills sram at that time."
    assert by_owner["a"].why[0].claim == "a is touched 3 times, 1,024 bytes each time."
    assert by_owner["a"].why[0].spec_field == "memories.sram.size_bytes"


def test_tensors_alive_at_other_times_share_the_room() -> None:
    model = model_of("""
        m (float[1,4,8,8] x) => (float[1,4,8,8] y) {
            [a] a = Relu (x) [b] b = Sigmoid (a) [c] c = Tanh (b) [d] d = Exp (c) [e] y = Neg (d) }""")
    actions, _ = proposed(KIND, model, spec(int(2 * BYTES / 0.9) + 1))
    assert set(homes(actions).values()) == {"sram"}  # six tensors, never more than two at once


def test_a_unit_that_cannot_reach_a_memory_keeps_tensors_out_of_it() -> None:
    reach = spec(100_000, accessible_by=("npu",))
    actions, _ = proposed(KIND, rewritten(KIND, model_of(CHAIN), reach, []), reach)
    assert set(homes(actions).values()) == {"dram"}
    assert actions[0].alternatives[0].reason == "cpu cannot access sram (memories.sram.accessible_by)."


def test_a_memory_for_instructions_takes_no_tensors() -> None:
    for_code, model = spec(100_000, holds="instructions"), model_of(CHAIN)
    assert proposed(KIND, model, for_code)[0] == []  # one memory is left, so there is nothing to choose
    actions, _ = proposed(KIND, model, spec(100_000))
    told = KIND.refusal(model, for_code, actions[0])
    assert told is not None
    assert "sram holds instructions, no data (memories.sram.holds)." in told.reason


def test_int8_tensors_count_a_byte_an_element_and_their_integers_are_marked() -> None:
    model = model_of(CHAIN)
    both = spec(100_000)
    quantize = Quantize()
    adapted = rewritten(quantize, model, both, proposed(quantize, model, both, calibrated(model))[0])
    sizes = {tensor.name: tensor.size_bytes for tensor in stored_tensors(adapted)}
    assert sizes == {"x": 5 * BYTES // 4, "a": BYTES // 4, "b": BYTES // 4, "y": 5 * BYTES // 4}
    placed = rewritten(KIND, adapted, both, proposed(KIND, adapted, both)[0])
    assert node(placed, "a.quantize").outputs[0].metadata_props[MEMORY] == "sram"
    assert placed.graph.outputs[0].name == "y"
    assert placed.graph.outputs[0].metadata_props[MEMORY] == "sram"


def test_views_stay_with_their_bytes() -> None:
    model = model_of("""
        m (float[1,4,8,8] x) => (float[1,256] y) {
            [a] a = Relu (x) [flat] f = Flatten (a) [b] y = Sigmoid (f) }""")
    flat = next(tensor for tensor in stored_tensors(model) if tensor.name == "a")
    assert (flat.views, flat.end) == (("f",), 3)
    both = spec(100_000)
    placed = rewritten(KIND, model, both, proposed(KIND, model, both)[0])
    assert node(placed, "flat").outputs[0].metadata_props[MEMORY] == "sram"


def test_what_is_not_known_is_refused_and_one_memory_is_no_choice() -> None:
    vague = spec_of(memories={"sram": Memory(kind="sram"), "psram": Memory(kind="psram")})
    _, refusals = proposed(KIND, model_of(CHAIN), vague)
    assert refusals[0] == (
        "The size of sram is not known (memories.sram.size_bytes). "
        "The size of psram is not known (memories.psram.size_bytes)."
    )
    assert proposed(KIND, model_of(CHAIN), spec_of()) == ([], [])


@pytest.mark.parametrize(
    ("memory", "reason"),
    [
        ({"a": "moon"}, "The spec has no memory moon (memories); it has dram, sram."),
        ({"b": "sram"}, "a stores no tensor b."),
        (
            {"a": "sram"},
            "a has 1,024 bytes; sram offers 450 for tensors (memories.sram.size_bytes): 574 too many.",
        ),
    ],
)
def test_overrides_meet_the_same_laws(memory: dict[str, str], reason: str) -> None:
    action = Action(kind="place", nodes=("a",), params={"memory": memory})
    assert refusal(KIND, model_of(CHAIN), spec(500), action) == reason


def test_reserved_bytes_are_not_for_tensors() -> None:
    model = model_of(CHAIN)
    actions, _ = proposed(KIND, model, spec(100_000, reserved_bytes=99_500))
    assert set(homes(actions).values()) == {"dram"}


SPANS = st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(1, 400), st.integers(1, 9))


@given(st.lists(SPANS, max_size=25), st.integers(64, 2000))
def test_what_is_chosen_for_a_memory_fits_at_every_step(spans: list[tuple[int, int, int, int]], size: int) -> None:
    tensors = [
        Stored(f"t{index}", (), f"n{index}", bytes_, start, start + length, accesses, ())
        for index, (start, length, bytes_, accesses) in enumerate(spans)
    ]
    memory = Memory(kind="sram", size_bytes=size, alignment_bytes=16)
    chosen = fitting(tensors, "sram", memory)
    for step in range(27):
        alive = [tensor.size_bytes for tensor in chosen if tensor.start <= step < tensor.end]
        assert sum(-(-bytes_ // 16) * 16 for bytes_ in alive) <= size * 0.9
    whole = spec_of(memories={"sram": memory, "dram": Memory(kind="dram")}, units={"cpu": cpu(), "npu": npu()})
    found, refused = assign(tensors, whole)
    assert refused == []
    assert set(found) == {tensor.name for tensor in tensors}


def test_a_fused_result_is_alive_when_its_leader_runs() -> None:
    model = model_of("""
        m (float[1,4,8,8] x, float[4,4,1,1] w_a, float[4,4,1,1] w_b) => (float[1,4,8,8] y) {
            [conv_a] a = Conv (x, w_a) [relu_a] b = Relu (a) [conv_b] c = Conv (b, w_b) [relu_b] y = Relu (c) }""")
    node(model, "relu_a").metadata_props["metainfer.fused_with"] = "conv_a"
    node(model, "relu_b").metadata_props["metainfer.fused_with"] = "conv_b"
    found = {tensor.name: (tensor.start, tensor.end) for tensor in stored_tensors(model)}
    assert found == {"x": (0, 1), "b": (0, 3), "y": (2, 4)}  # conv_b reads b while it writes y
