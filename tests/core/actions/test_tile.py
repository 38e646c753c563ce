"""Tiling what is too large for the local memory of its unit."""

from __future__ import annotations

import pytest
from action_bench import keeps_promise, model_of, proposed, refusal, rewritten
from npu_bench import adapted, chip, planned, same_bits, take

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.tile import TileKind
from metainfer_core.actions.rewiring import TILE
from metainfer_core.actions.staged_steps import asked_of
from metainfer_core.errors import DoesNotFitError, UnsupportedError
from metainfer_core.npu.stage import Asked
from metainfer_core.npu.tiles import Tile

KIND = TileKind()
WIDE = """
    wide (float[1,8,16,16] x, float[64,8,3,3] w_a, float[64] w_b) => (float[1,64,16,16] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_b)
        [r] y = Relu (s)
    }"""
ROOM = 12 * 1024


def tile(node: str = "a", **params: object) -> Action:
    return Action(kind="tile", nodes=(node,), params={"axis": "channels", "size": 24, **params})


def test_a_layer_that_is_too_large_gets_the_tile_that_moves_least_and_the_limit_is_named():
    spec = chip(ROOM)
    model = adapted(WIDE, spec)
    (action,), refusals = proposed(KIND, model, spec)
    assert refusals == []
    assert action.params == {"axis": "channels", "size": 24, "target_hw": "npu"}
    assert action.why[0].claim == (
        "a works on 23,808 bytes at once (y.quantized (16,384 bytes), a.weights (4,608 bytes), x.quantized "
        "(2,048 bytes) and more); local holds 12,288 (memories.local.size_bytes): 11,520 too many."
    )
    assert action.why[0].spec_value == "12,288 bytes"
    assert action.constraint == "Each of the 3 tiles fits the 12,288 bytes of local."
    assert action.alternatives[0].option == "tiles of 4 rows"
    assert KIND.sentence(action) == "Compute a in tiles of 24 channels in the local memory of npu."


def test_silence_where_it_fits_and_where_no_unit_has_a_local_memory():
    assert proposed(KIND, adapted(WIDE, chip()), chip()) == ([], [])
    plain = chip(ROOM, local_memory=None)
    assert proposed(KIND, adapted(WIDE, plain), plain) == ([], [])


def test_tiles_give_the_same_bits_and_without_approval_nothing_is_cut():
    spec = chip(ROOM)
    model = adapted(WIDE, spec)
    with pytest.raises(DoesNotFitError, match="Approve the action tile@a") as refused:
        planned(model, spec)
    assert (refused.value.needed, refused.value.available) == (23_808, 12_288)
    (action,), _ = proposed(KIND, model, spec)
    after = rewritten(KIND, model, spec, [action])
    assert TILE not in next(node for node in model.graph if node.name == "a").metadata_props
    assert asked_of(after) == Asked(tiles={"a": Tile(axis="channels", size=24)})
    staged, plan = planned(after, spec, asked_of(after))
    tiles = [step for step in staged.program.steps if step.kernel == "conv2d_int8"]
    assert [step.params["filters"] for step in tiles] == [24, 24, 16]
    assert same_bits(model, staged, plan, runs=5)
    assert keeps_promise(KIND, model, after)


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (
            tile(size=30),
            "a cannot be cut into tiles of 30 channels. Its channels are kept 4 together: 30 is no multiple",
        ),
        (tile(size=64), "It has 64 channels: a tile has from 1 to 63 of them, not 64."),
        (tile(axis="elements"), "A convolution is cut along channels or rows."),
        (tile(size=60), "A tile of 60 channels of a works on "),
        (tile("nobody"), "The model has no node nobody."),
        (tile("r"), "r is not the first node of a step on a unit with a local memory."),
        (tile(target_hw="dsp"), "The spec has no compute unit named dsp (compute_units); it has cpu, npu."),
        (tile(size=0), "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_cut_so_is_refused(action: Action, reason: str):
    spec = chip(ROOM)
    assert reason in (refusal(KIND, adapted(WIDE, spec), spec, action) or "")


def test_rows_that_dma_cannot_begin_at_are_refused_with_the_field():
    spec = chip(ROOM, {"alignment_bytes": 128})
    found = refusal(KIND, adapted(WIDE, spec), spec, tile(axis="rows", size=4)) or ""
    assert "DMA cannot move a tile of y.quantized. It has runs of 64 bytes, no multiple of 128" in found
    assert "(dma.alignment_bytes)" in found


def test_a_layer_that_no_tile_makes_fit_is_refused_with_every_reason():
    spec = chip(1024)
    actions, (reason,) = proposed(KIND, adapted(WIDE, spec), spec)
    assert actions == []
    assert "a works on 23,808 bytes at once" in reason
    assert "No tile of channels fits: even the smallest needs more." in reason


def test_a_model_without_integers_has_nothing_on_the_unit():
    spec = chip(ROOM)
    assert "a is not the first node of a step" in (refusal(KIND, model_of(WIDE), spec, tile()) or "")


def test_an_approved_tile_that_the_program_cannot_have_ends_the_compile():
    spec = chip(ROOM)
    model = adapted(WIDE, spec)
    with pytest.raises(UnsupportedError, match="The action tile@a cannot be done"):
        planned(model, spec, Asked(tiles={"a": Tile(axis="elements", size=5)}))
    with pytest.raises(UnsupportedError, match="tile@other cannot be done"):
        planned(model, spec, Asked(tiles={"a": Tile(axis="channels", size=24), "other": Tile(axis="rows", size=1)}))


def test_marks_of_a_conversion_are_its_own():
    spec = chip(1 << 13)
    model = adapted(WIDE, spec)
    take(model, spec, ("tile",))
    marked = [node.name for node in model.graph if TILE in node.metadata_props]
    assert marked == ["a"]
