"""Plans are valid by the independent checker, reach the lower bound on real graphs, and never pass a cap."""

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from metainfer_core.errors import DoesNotFitError
from metainfer_core.memory.check_plan import check_plan
from metainfer_core.memory.lower_bound import live_bytes, lower_bound
from metainfer_core.memory.plan import plan
from metainfer_core.memory.problem import Buffer, MemoryProblem

BENCHMARKS = Path(__file__).parents[3] / ".." / "shared" / "benchmarks" / "minimalloc"
REAL = sorted((BENCHMARKS / "real_models").glob("*.csv"))
HARD = sorted(BENCHMARKS.glob("*.csv"))


def problem_in(path: Path, capacity: int | None = None) -> MemoryProblem:
    with path.open() as lines:
        buffers = tuple(
            Buffer(name=row["id"], size_bytes=int(row["size"]), start=int(row["lower"]), end=int(row["upper"]))
            for row in csv.DictReader(lines)
        )
    return MemoryProblem(memory="sram", capacity_bytes=capacity, buffers=buffers)


def test_the_benchmarks_are_there() -> None:
    assert len(REAL) >= 20
    assert len(HARD) >= 6


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_graphs_reach_the_lower_bound(path: Path) -> None:
    problem = problem_in(path)
    found = plan(problem)
    assert check_plan(problem, found) == ()
    assert found.peak_bytes <= found.lower_bound_bytes * 1.01


@pytest.mark.parametrize("path", HARD, ids=lambda path: path.stem)
def test_hard_problems_get_valid_plans(path: Path) -> None:
    problem = problem_in(path)
    found = plan(problem, steps=100)
    assert check_plan(problem, found) == ()
    assert found.peak_bytes <= found.lower_bound_bytes * 1.42  # what greedy first fit needs at worst


def test_a_plan_is_the_same_every_time() -> None:
    problem = problem_in(HARD[0])
    assert plan(problem, steps=50).to_json() == plan(problem, steps=50).to_json()


def test_the_search_beats_every_greedy_order() -> None:
    problem = problem_in(BENCHMARKS / "real_models" / "ppocr_cls.fused.csv")
    assert plan(problem, steps=0).peak_bytes > lower_bound(problem)
    assert plan(problem).planner == "hill climb"
    assert plan(problem).peak_bytes == lower_bound(problem)


def test_a_cap_below_the_lower_bound_says_how_much_is_missing() -> None:
    buffers = tuple(Buffer(name=name, size_bytes=49152, start=0, end=1, alignment_bytes=64) for name in "ab")
    with pytest.raises(DoesNotFitError) as caught:
        plan(MemoryProblem(memory="sram", capacity_bytes=40000, buffers=buffers))
    assert (caught.value.needed, caught.value.available) == (98304, 40000)
    assert "58,304 bytes too many" in str(caught.value)
    assert "memories.sram.size_bytes" in str(caught.value)
    assert "alive together, wherever they lie: a (49,152 bytes), b (49,152 bytes). Place" in str(caught.value)


def test_a_refusal_names_the_largest_of_the_fullest_step() -> None:
    small = tuple(Buffer(name=f"s{number}", size_bytes=64, start=4, end=6) for number in range(5))
    buffers = (
        Buffer(name="early", size_bytes=900, start=0, end=4),
        Buffer(name="late", size_bytes=800, start=3, end=5),
        *small,
    )
    with pytest.raises(DoesNotFitError, match=r": early \(900 bytes\), late \(800 bytes\)\. Place"):
        plan(MemoryProblem(memory="sram", capacity_bytes=1000, buffers=buffers))
    with pytest.raises(DoesNotFitError, match=r": late .*, s0 .*, s1 .*, s2 \(64 bytes\) and 2 more\. Place"):
        plan(MemoryProblem(memory="sram", capacity_bytes=1000, buffers=buffers[1:]))


def test_a_cap_that_only_the_best_plan_fits_is_no_plan() -> None:
    problem = problem_in(HARD[0], capacity=1048576)
    with pytest.raises(DoesNotFitError, match="lower bound is 1,048,576 bytes: a better plan may exist"):
        plan(problem, steps=10)


def test_an_empty_problem_needs_nothing() -> None:
    empty = MemoryProblem(memory="sram", capacity_bytes=0, buffers=())
    assert plan(empty).peak_bytes == 0
    assert check_plan(empty, plan(empty)) == ()


def test_live_bytes_follow_starts_and_ends() -> None:
    one = Buffer(name="one", size_bytes=10, start=0, end=2, alignment_bytes=16)
    two = Buffer(name="two", size_bytes=5, start=1, end=3)
    assert live_bytes(MemoryProblem(memory="m", capacity_bytes=None, buffers=(one, two))) == (
        (0, 16),
        (1, 21),
        (2, 5),
        (3, 0),
    )


def test_impossible_problems_are_refused() -> None:
    with pytest.raises(ValidationError, match="ends at 1"):
        Buffer(name="a", size_bytes=1, start=1, end=1)
    twice = Buffer(name="a", size_bytes=1, start=0, end=1)
    with pytest.raises(ValidationError, match="two buffers are named 'a'"):
        MemoryProblem(memory="m", capacity_bytes=None, buffers=(twice, twice))


@st.composite
def problems(draw: st.DrawFn) -> MemoryProblem:
    buffers = []
    for index in range(draw(st.integers(0, 14))):
        start = draw(st.integers(0, 10))
        buffers.append(
            Buffer(
                name=f"b{index}",
                size_bytes=draw(st.integers(0, 300)),
                start=start,
                end=start + draw(st.integers(1, 6)),
                alignment_bytes=draw(st.sampled_from([1, 4, 16, 64])),
            )
        )
    return MemoryProblem(memory="sram", capacity_bytes=None, buffers=tuple(buffers))


@given(problems())
@settings(max_examples=150, deadline=None, derandomize=True)
def test_plans_never_overlap_and_never_go_below_the_bound(problem: MemoryProblem) -> None:
    found = plan(problem, steps=30)
    assert check_plan(problem, found) == ()
    assert found.peak_bytes >= lower_bound(problem) == found.lower_bound_bytes
