"""Where the layers of a model run on a spec, and what changing them would cost there, as the roofline predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.actions.action import Reason
from metainfer_core.actions.units import NoUnit, describe, home
from metainfer_core.cost.estimate import Interval, estimate
from metainfer_core.cost.workload import Workload
from metainfer_core.graph.summary import NodeSummary, summarise
from metainfer_core.spec.default_memory import default_memory
from metainfer_core.spec.hardware_spec import HardwareSpec

WORTH = 0.01
"""Of the model's predicted time, which a change must save to be proposed for speed alone."""
MOST_COST = 0.05
"""Of the model's predicted time, which a change that is proposed for something else may take at worst."""


@dataclass(frozen=True)
class Work:
    """What a node does and moves, with bytes as float32 has them."""

    operations: float
    moved: float


@dataclass(frozen=True)
class Place:
    """The unit that changes are made for, and the type in which it computes."""

    spec: HardwareSpec
    unit: str
    data_type: str
    nodes: dict[str, NodeSummary]
    total_us: float | None
    """Predicted time of the model, all of it on this unit."""

    def work(self, node: str) -> Work:
        """What a node does now."""
        return Work(self.nodes[node].flops or 0, self.nodes[node].moved_bytes)

    def price(self, *works: Work) -> Interval | None:
        """Predicted time of calls that follow one another; None where the spec does not say enough."""
        return _priced(self.spec, self.unit, self.data_type, works)

    def float_price(self, unit: str, *works: Work) -> Interval | None:
        """Predicted time of calls in float32 on another unit."""
        return _priced(self.spec, unit, "float32", works)

    def bytes_as_run(self, moved: float) -> int:
        """Bytes of float32 numbers as the unit has them."""
        return round(moved / (4 if self.data_type == "int8" else 1))

    def is_worth_it(self, change: tuple[float, float] | None) -> bool:
        """Whether the time falls by a hundredth of the model's at least, at worst."""
        return change is not None and self.total_us is not None and -change[1] >= WORTH * self.total_us

    def costs_little(self, change: tuple[float, float] | None) -> bool:
        """Whether the time rises by a twentieth of the model's at most, at worst."""
        return change is not None and self.total_us is not None and change[1] <= MOST_COST * self.total_us

    def rate(self, claim: str) -> Reason:
        """A claim about how fast the unit computes, with the place in the spec."""
        return self.because(claim, f"compute_units.{self.unit}.macs_per_cycle")

    def bandwidth(self, claim: str) -> Reason:
        """A claim about how fast numbers are moved, with the place in the spec."""
        memory = default_memory(self.spec)
        return self.because(claim, f"memories.{memory}.bandwidth_gbps" if memory in self.spec.memories else "memories")

    def because(self, claim: str, field: str) -> Reason:
        """A claim with the spec's value that it rests on."""
        return Reason(claim=claim, spec_field=field, spec_value=describe(self.spec, field))


def place_of(model: ir.Model, spec: HardwareSpec) -> Place | None:
    """The spec's fastest unit for INT8, or for float32 where it has none for INT8; None where it has neither."""
    for data_type in ("int8", "float32"):
        unit = home(spec, data_type)
        if not isinstance(unit, NoUnit):
            nodes = {node.id: node for node in summarise(model).nodes}
            bare = Place(spec, unit, data_type, nodes, None)
            whole = bare.price(*(bare.work(name) for name in nodes))
            return Place(spec, unit, data_type, nodes, whole.typical if whole is not None else None)
    return None


def change_of(before: Interval | None, after: Interval | None) -> tuple[float, float] | None:
    """How much less or more time it takes, at best and at worst; None where a part is unknown."""
    if before is None or after is None:
        return None
    low, high = after.low - before.low, after.high - before.high
    return min(low, high), max(low, high)


def _priced(spec: HardwareSpec, unit: str, data_type: str, works: Sequence[Work]) -> Interval | None:
    scale = 4 if data_type == "int8" else 1
    loads = [
        Workload(
            node_ids=(f"call {index}",),
            unit=unit,
            data_type=data_type,
            operations=round(work.operations),
            bytes_by_memory={"": round(work.moved / scale)},
            working_set_bytes=round(work.moved / scale),
        )
        for index, work in enumerate(works)
    ]
    return estimate(loads, spec).total
