"""Loops in a built program: what was asked for is there, and nothing else is."""

from __future__ import annotations

from functools import cache

from action_bench import cpu, rewritten, samples_of, spec_of
from npu_bench import adapted

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.branch_hint import BranchHint
from metainfer_core.actions.kinds.unroll import Unroll
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.loop_differences import not_written_out, unapproved_loops
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.validate import validate_package
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.numerics.lower import lower
from metainfer_core.verify.realised_graph import Loop, RealisedGraph, RealisedStep

TEXT = """
    net (float[1,8,6,6] x, float[8,8,3,3] w_c) => (float[1,8,3,3] y) {
        [c] s = Conv <pads = [1, 1, 1, 1]> (x, w_c)
        [m] y = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (s)
    }"""
OP_TYPES = {"c": "Conv", "m": "MaxPool"}
UNROLLED = Action(kind="unroll", nodes=("c",), params={"factor": 4})
HINTED = Action(kind="branch_hint", nodes=("m",), params={"likely": "inside"})


@cache
def built() -> RealisedGraph:
    """Read back from a real binary, which computes what the model does."""
    spec = spec_of(units={"cpu": cpu()})
    model = adapted(TEXT, spec, ())
    changed = rewritten(BranchHint(), rewritten(Unroll(), model, spec, [UNROLLED]), spec, [HINTED])
    feeds = samples_of(model).feeds[:2]
    data = build_package(
        lower(changed), spec, "native-cpu", {}, b"{}", model_bytes(changed), feeds, True, model="loops"
    )
    package = read_package(data)
    assert validate_package(package).equal
    return read_realised(package)


def with_loop(loop: Loop | None, node: str) -> RealisedGraph:
    steps = tuple(
        RealisedStep(**{**step.__dict__, "loop": loop}) if node in step.node_ids else step for step in built().steps
    )
    return RealisedGraph(**{**built().__dict__, "steps": steps})


def test_what_was_asked_for_is_found_in_the_binary() -> None:
    assert {step.node_ids: step.loop for step in built().steps} == {
        ("c",): Loop(unroll=4, likely_inside=0),
        ("m",): Loop(unroll=0, likely_inside=1),
    }
    assert differences([UNROLLED, HINTED], built(), OP_TYPES) == ()


def test_another_loop_and_one_that_is_missing_are_named() -> None:
    (other,) = not_written_out(UNROLLED, with_loop(Loop(unroll=2, likely_inside=0), "c"))
    assert (other.node_id, other.approved, other.realised) == ("c", "4 products a turn", "2 products a turn")
    (missing,) = not_written_out(HINTED, with_loop(None, "m"))
    assert (missing.approved, missing.realised) == ("taps likely inside", "no branch hint")
    (wrong,) = not_written_out(HINTED, with_loop(Loop(unroll=0, likely_inside=2), "m"))
    assert wrong.realised == "taps likely in the padding"


def test_what_nobody_asked_for_is_named() -> None:
    found = [(one.node_id, one.approved, one.realised) for one in unapproved_loops([], built())]
    assert found == [
        ("c", "the loop as the compiler has it", "4 products a turn"),
        ("m", "no branch hint", "taps likely inside"),
    ]
    assert list(unapproved_loops([UNROLLED, HINTED], built())) == []
