"""Candidates: whole sets of actions, each with its measured effect and predicted cost, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, worst_sqnr_db


@dataclass(frozen=True)
class Candidate:
    """One way to adapt the whole model."""

    name: str
    draft: Draft
    effect: Effect | None
    """None where it cannot run; `broken` then says why."""
    broken: tuple[str, ...]
    """Limits of the budget that it breaks, a sentence each."""
    estimate: Estimate

    @property
    def integer_nodes(self) -> int:
        """How many nodes it computes in INT8."""
        return sum(len(action.nodes) for action in self.draft.actions if action.kind == "quantize")

    @property
    def moved_bytes(self) -> int:
        """Bytes that it reads and writes in all memories."""
        return sum(self.estimate.bytes_by_memory.values())


def rank(candidates: Sequence[Candidate], objective: Objective) -> list[Candidate]:
    """Best first: within the budget, then by what the search mode asks for, then by accuracy.

    Where a prediction is unknown for one candidate, bytes moved decide between all: they are always known.
    """
    timed = objective.search_mode != "energy" and all(candidate.estimate.total for candidate in candidates)

    def key(candidate: Candidate) -> tuple[bool, float, int, float, str]:
        total = candidate.estimate.total
        accuracy = worst_sqnr_db(candidate.effect) if candidate.effect is not None else float("-inf")
        time = total.typical if timed and total is not None else 0.0
        return bool(candidate.broken), time, candidate.moved_bytes, -accuracy, candidate.name

    return sorted(candidates, key=key)


def summary(candidate: Candidate, objective: Objective) -> dict[str, Any]:
    """What people compare: predicted time (labelled), bytes, accuracy, and which limits it breaks."""
    total = candidate.estimate.total
    worst = worst_sqnr_db(candidate.effect) if candidate.effect is not None else None
    target = objective.target_latency_ms
    return {
        "name": candidate.name,
        "predicted_us": [total.low, total.typical, total.high] if total is not None else "unknown",
        "predicted_bytes_moved": candidate.moved_bytes,
        "integer_nodes": candidate.integer_nodes,
        "worst_sqnr_db": "exact" if worst == float("inf") else ("not measured" if worst is None else round(worst, 2)),
        "within_budget": not candidate.broken,
        "broken": list(candidate.broken),
        **({"meets_target": total.typical <= 1000 * target} if target is not None and total is not None else {}),
    }
