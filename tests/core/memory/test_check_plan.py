"""The checker must catch each kind of fault; it is what every planner is held against."""

import pytest

from metainfer_core.memory.check_plan import check_plan
from metainfer_core.memory.problem import Buffer, MemoryPlan, MemoryProblem, Placement

A = Buffer(name="a", size_bytes=60, start=0, end=2, alignment_bytes=64)
B = Buffer(name="b", size_bytes=64, start=1, end=3, alignment_bytes=64)
C = Buffer(name="c", size_bytes=64, start=2, end=4, alignment_bytes=64)
PROBLEM = MemoryProblem(memory="sram", capacity_bytes=128, buffers=(A, B, C))


def plan_of(peak: int = 128, bound: int = 128, **offsets: int) -> MemoryPlan:
    placements = tuple(Placement(name=name.rstrip("_"), offset_bytes=offset) for name, offset in offsets.items())
    return MemoryPlan(memory="sram", placements=placements, peak_bytes=peak, lower_bound_bytes=bound, planner="by hand")


def test_a_right_plan_has_no_fault() -> None:
    assert check_plan(PROBLEM, plan_of(a=0, b=64, c=0)) == ()


@pytest.mark.parametrize(
    ("plan", "kind", "words"),
    [
        (plan_of(a=0, b=0, c=64), "overlap", "'a' and 'b' share 64 bytes during 1 steps"),
        (plan_of(a=0, b=64), "missing", "'c' is not placed"),
        (plan_of(a=0, b=64, c=0, d=0), "unknown", "'d' is placed but not"),
        (plan_of(a=0, a_=0, b=64, c=0), "twice", "'a' is placed twice"),
        (plan_of(a=-64, b=64, c=0), "negative", "'a' begins at -64"),
        (plan_of(a=0, b=64, c=0, peak=64), "peak", "its peak is 64 bytes; it is 128"),
        (plan_of(a=0, b=64, c=0, bound=64), "bound", "is 64 bytes; it is 128"),
        (plan_of(a=0, b=128, c=0, peak=192), "capacity", "192 bytes is over the capacity of 128"),
        (plan_of(a=0, b=65, c=0, peak=129), "unaligned", "'b' begins at 65, which is no multiple of its alignment 64"),
    ],
)
def test_each_planted_fault_is_named(plan: MemoryPlan, kind: str, words: str) -> None:
    faults = check_plan(PROBLEM, plan)
    assert kind in [fault.kind for fault in faults]
    assert any(words in fault.reason for fault in faults)


def test_the_padding_after_a_buffer_is_its_own() -> None:
    small = Buffer(name="small", size_bytes=4, start=0, end=2, alignment_bytes=1)
    problem = MemoryProblem(memory="sram", capacity_bytes=None, buffers=(A, small))
    faults = check_plan(problem, plan_of(a=0, small=60, peak=64, bound=68))
    assert [fault.kind for fault in faults] == ["overlap"]
