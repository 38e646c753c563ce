"""Tiles and early transfers: what was approved is there, and nothing else is."""

from __future__ import annotations

from functools import cache

from npu_bench import adapted, as_read_back, chip, planned

from metainfer_core.actions.action import Action
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.staging_differences import not_early, not_tiled, unapproved_staging
from metainfer_core.npu.stage import Asked
from metainfer_core.npu.tiles import Tile
from metainfer_core.verify.check_legal import check_legal
from metainfer_core.verify.realised_graph import RealisedGraph
from metainfer_core.verify.unstaged import unstaged

TWO = """
    two (float[1,8,12,12] x, float[16,8,3,3] w_a, float[8,16,1,1] w_c) => (float[1,8,12,12] y) {
        [a] s = Conv <pads = [1, 1, 1, 1]> (x, w_a)
        [c] y = Conv (s, w_c)
    }"""
SPEC = chip(dma={"alignment_bytes": 1, "data_width_bits": 8, "burst_length_min": None})
TILE = Action(kind="tile", nodes=("a",), params={"axis": "channels", "size": 8})
ROWS = Action(kind="tile", nodes=("a",), params={"axis": "rows", "size": 4})
EARLY = Action(kind="prefetch", nodes=("c",), params={})
OP_TYPES = {"a": "Conv", "c": "Conv"}


@cache
def built(tile: Tile | None = None, ahead: tuple[str, ...] = ()) -> RealisedGraph:
    asked = Asked(tiles={"a": tile} if tile else {}, ahead=ahead)
    _, plan = planned(adapted(TWO, SPEC), SPEC, asked)
    return as_read_back(plan)


def channels(size: int) -> Tile:
    return Tile(axis="channels", size=size)


def test_an_approved_tile_is_found_in_the_program() -> None:
    assert list(not_tiled(TILE, built(channels(8)))) == []
    assert list(not_tiled(ROWS, built(Tile(axis="rows", size=4)))) == []
    assert list(unapproved_staging([TILE], built(channels(8)))) == []
    assert check_legal(built(channels(8)), SPEC, OP_TYPES) == ()


def test_an_approved_tile_that_is_not_there_or_of_another_size_is_named() -> None:
    (missing,) = not_tiled(TILE, built())
    assert (missing.approved, missing.realised) == ("tiles of 8 channels", "one step computes all of it")
    (other,) = not_tiled(TILE, built(channels(4)))
    assert other.realised == "tiles of 4 channels"
    (turned,) = not_tiled(ROWS, built(channels(8)))
    assert turned.realised == "tiles of 12 rows"


def test_a_tile_that_is_left_out_is_named() -> None:
    whole = built(channels(8))
    last = max(index for index, step in enumerate(whole.steps) if step.kernel == "conv2d_int8" and "a" in step.node_ids)
    steps = tuple(step for index, step in enumerate(whole.steps) if index != last)
    (found,) = not_tiled(TILE, RealisedGraph(**{**whole.__dict__, "steps": steps}))
    assert found.realised == "one step computes all of it"


def test_a_tile_that_nobody_approved_is_named() -> None:
    (found,) = unapproved_staging([], built(channels(8)))
    assert (found.node_id, found.approved, found.realised) == ("a", "one step", "2 tiles")
    assert list(unapproved_staging([], built())) == []


def test_an_approved_prefetch_is_found_and_a_missing_or_unapproved_one_is_named() -> None:
    early, in_turn = built(ahead=("c",)), built()
    assert list(not_early(EARLY, early)) == []
    assert list(unapproved_staging([EARLY], early)) == []
    (missing,) = not_early(EARLY, in_turn)
    assert missing.realised == "kept waiting for them"
    (found,) = unapproved_staging([], early)
    assert (found.node_id, found.realised) == ("c", "they are brought early")


def test_without_transfers_and_tiles_it_is_the_program_that_was_lowered() -> None:
    plain = unstaged(built(channels(8), ("c",)))
    assert [step.kernel for step in plain.steps] == [step.kernel for step in built().steps if step.moved is None]
    conv = next(step for step in plain.steps if step.kernel == "conv2d_int8")
    assert conv.inputs[:2] == ("x.quantized", "a.weights.tile0")
    assert conv.outputs == ("s.quantized",)


def test_all_differences_look_at_both() -> None:
    quantized = [
        Action(kind="quantize", nodes=(node,), params={"target_hw": "npu", "scheme": "channel_wise"})
        for node in ("a", "c")
    ]
    found = differences([*quantized, TILE], built(channels(8), ("c",)), OP_TYPES)
    assert {(one.node_id, one.realised) for one in found if "early" in one.realised or "tile" in one.realised} == {
        ("c", "they are brought early")
    }
