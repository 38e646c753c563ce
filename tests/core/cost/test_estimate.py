from __future__ import annotations

from typing import Any

import pytest
from action_bench import cpu, model_of, npu, rewritten, spec_of
from hypothesis import given
from hypothesis import strategies as st

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.cost.estimate import Interval, estimate, roofline
from metainfer_core.cost.workload import Workload, workloads_of_program, workloads_of_summary
from metainfer_core.graph.summary import summarise
from metainfer_core.numerics.lower import lower
from metainfer_core.spec.hardware_spec import Cache, HardwareSpec, Memory, Quantity

CORE: dict[str, Any] = {
    "cores": 4,
    "clock_hz": 1e9,
    "macs_per_cycle": {"float32": {"min": 2, "typ": 4, "max": 8}, "int8": 16},
    "launch_overhead_us": {"min": 1, "typ": 2, "max": 3},
}


def chip(memory: dict[str, Any] | None = None, **fields: Any) -> HardwareSpec:
    dram = Memory(**{"kind": "dram", "size_bytes": 1 << 30, "bandwidth_gbps": {"min": 5, "typ": 10}, **(memory or {})})
    return spec_of(memories={"dram": dram}, units={"cpu": cpu(**{**CORE, **fields})})


def load(operations: int | None = 0, moved: int = 0, **fields: Any) -> Workload:
    usual: dict[str, Any] = {
        "node_ids": ("n",),
        "unit": "cpu",
        "data_type": "float32",
        "operations": operations,
        "bytes_by_memory": {"": moved},
        "working_set_bytes": moved,
    }
    return Workload(**{**usual, **fields})


def test_the_compute_wall_at_both_ends_of_the_range() -> None:
    found = estimate([load(operations=8_000_000, moved=10)], chip())
    (call,) = found.calls
    assert call.compute == Interval(low=500.0, typical=1000.0, high=2000.0)  # one core; two operations a MAC
    assert call.time == Interval(low=501.0, typical=1002.0, high=2003.0)
    assert (call.binds, call.intensity) == ("compute", 800_000.0)
    assert call.mend == "INT8, or fewer operations, or a faster unit than cpu."
    assert found.assumptions == ("A program uses one core of cpu.",)
    assert found.label == "predicted"


def test_the_bandwidth_wall() -> None:
    (call,) = estimate([load(operations=8, moved=10_000_000)], chip()).calls
    assert call.bandwidth == Interval(low=1000.0, typical=1000.0, high=2000.0)
    assert call.binds == "bandwidth"
    assert call.bytes_by_memory == {"dram": 10_000_000}


def test_what_binds_at_the_bandwidth_wall_is_the_memory_that_takes_longest() -> None:
    slow = Memory(kind="sram", size_bytes=1 << 20, bandwidth_gbps=1)
    dram = Memory(kind="dram", size_bytes=1 << 30, bandwidth_gbps=10)
    spec = spec_of(memories={"dram": dram, "slow": slow}, units={"cpu": cpu(**CORE)})
    (call,) = estimate([load(operations=8, bytes_by_memory={"dram": 5_000_000, "slow": 1_000_000})], spec).calls
    assert call.bandwidth == Interval(low=1500.0, typical=1500.0, high=1500.0)
    assert call.mend.startswith("Fewer bytes through slow: ")


def test_the_memory_wall_is_hidden_at_best_and_whole_at_worst() -> None:
    l2 = Cache(size_bytes=1000, line_bytes=100)
    spec = chip({"latency_cycles": {"min": 10, "typ": 20, "max": 50}}, l2_cache=l2)
    (call,) = estimate([load(moved=11_000)], spec).calls
    assert call.memory == Interval(low=0.0, typical=0.0, high=100 * 50 / 1e9 * 1e6)
    (fits,) = estimate([load(moved=900)], spec).calls
    assert fits.memory == Interval(low=0.0, typical=0.0, high=0.0)


def test_a_small_call_is_bound_by_its_launch() -> None:
    (call,) = estimate([load(operations=8, moved=8)], chip()).calls
    assert call.binds == "launch"


def test_an_accelerator_uses_all_cores_and_its_stated_tops() -> None:
    spec = spec_of(memories={"dram": Memory(kind="dram", bandwidth_gbps=10)}, units={"npu": npu(tops=6, cores=3)})
    (call,) = estimate([load(operations=6_000_000, unit="npu", data_type="int8")], spec).calls
    assert call.compute == Interval(low=1.0, typical=1.0, high=1.0)


@pytest.mark.parametrize(
    ("spec", "work", "unknown"),
    [
        (chip(macs_per_cycle={}), load(operations=8, moved=8), "compute_units.cpu.macs_per_cycle.float32"),
        (chip(clock_hz=None), load(operations=8, moved=8), "compute_units.cpu.clock_hz"),
        (chip({"bandwidth_gbps": None}), load(operations=8, moved=8), "memories.dram.bandwidth_gbps"),
        (chip(), load(operations=None, moved=8), "the operations of n"),
        (chip(), load(operations=8, moved=8, unit=None), "the unit of n"),
        (chip(), load(operations=8, moved=8, unit="moon"), "compute_units.moon"),
    ],
)
def test_what_the_spec_lacks_is_unknown_and_named(spec: HardwareSpec, work: Workload, unknown: str) -> None:
    found = estimate([work, load(operations=8, moved=8)], spec)
    assert found.total is None
    assert found.calls[0].time is None
    assert found.calls[0].binds == "unknown"
    assert unknown in found.unknown


def test_a_missing_launch_overhead_is_named_as_not_counted() -> None:
    found = estimate([load(operations=8, moved=8)], chip(launch_overhead_us=None))
    assert found.total is not None
    assert found.unknown == ("compute_units.cpu.launch_overhead_us (launches not counted)",)


def test_bandwidth_follows_from_width_and_rate() -> None:
    lanes = chip({"bandwidth_gbps": None, "width_bits": 64, "data_rate_mtps": 1000})
    (call,) = estimate([load(moved=8_000)], lanes).calls
    assert call.bandwidth == Interval(low=1.0, typical=1.0, high=1.0)


def test_the_ridge_of_the_roofline() -> None:
    roofs = roofline(chip(), "cpu", "float32")
    assert roofs is not None
    assert (roofs.operations_per_second, roofs.bytes_per_second, roofs.ridge) == (8e9, 1e10, 0.8)
    assert roofline(chip(macs_per_cycle={}), "cpu", "float32") is None
    assert roofline(spec_of(memories={"rom": Memory(kind="rom")}), "cpu", "float32") is None


def test_what_no_action_placed_is_counted_where_the_compiler_puts_it() -> None:
    memories = {
        "code": Memory(kind="sram", size_bytes=1 << 30, holds="instructions"),
        "npu_only": Memory(kind="dram", size_bytes=1 << 20, accessible_by=("npu",)),
        "all": Memory(kind="psram", size_bytes=1 << 10),
    }
    spec = spec_of(memories=memories, units={"cpu": cpu(), "npu": npu()})
    found = estimate([load(moved=8)], spec)
    assert found.bytes_by_memory == {"all": 8}  # which the CPU reaches


RATES = st.floats(1.0, 1e3)


@given(st.integers(0, 10**9), st.integers(0, 10**9), RATES, RATES)
def test_intervals_are_ordered_and_more_work_takes_longer(operations: int, moved: int, one: float, two: float) -> None:
    rate = Quantity(min=min(one, two), max=max(one, two))
    spec = chip({"bandwidth_gbps": rate}, macs_per_cycle={"float32": rate})
    less, more = (estimate([load(operations * k, moved * k)], spec).total for k in (1, 2))
    assert less is not None
    assert more is not None
    assert less.low <= less.typical <= less.high
    assert (more.low, more.typical, more.high) >= (less.low, less.typical, less.high)


TEXT = "m (float[1,3,8,8] x, float[4,3,3,3] w_c) => (float[1,4,6,6] y) { [conv] c = Conv (x, w_c) [relu] y = Relu (c) }"


def test_workloads_of_a_summary_count_each_node() -> None:
    conv, relu = workloads_of_summary(summarise(model_of(TEXT)), {"conv": "cpu", "relu": "cpu"})
    assert (conv.unit, conv.data_type) == ("cpu", "float32")
    assert conv.operations == 2 * 4 * 36 * 27
    assert conv.bytes_by_memory == {"": 4 * (192 + 108 + 144)}
    assert relu.bytes_by_memory == {"": 4 * 288}


def test_workloads_of_a_program_know_what_is_fused() -> None:
    model, spec = model_of(TEXT), chip()
    action = Action(kind="fuse", nodes=("conv", "relu"), params={"with": ("relu",)})
    fused = rewritten(Fuse(), model, spec, [action])
    (call,) = workloads_of_program(lower(fused).program, summarise(fused))
    assert call.node_ids == ("conv", "relu")
    assert sum(call.bytes_by_memory.values()) >= 4 * (192 + 108 + 144)
    apart = rewritten(Fuse(), model, spec, [])
    calls = workloads_of_program(lower(apart).program, summarise(apart))
    assert [one.node_ids for one in calls] == [("conv",), ("relu",)]
    before, after = estimate(calls, spec).total, estimate([call], spec).total
    assert before is not None
    assert after is not None
    assert after.typical < before.typical
