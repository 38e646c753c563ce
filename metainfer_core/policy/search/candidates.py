"""Candidates: whole sets of actions, each with its measured effect and predicted cost, and their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, SearchMode, nearness_db, worst_sqnr_db
from metainfer_core.policy.search.narrow_search import in_few_bits
from metainfer_core.policy.search.tools import Refused


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
    """Of the draft as it stands."""
    stages: Mapping[str, tuple[Estimate, Estimate]] = field(default_factory=dict)
    """Kind to the predictions before and after all actions of that kind; empty until the draft is settled."""

    refused: Refused | None = None
    """Whether the compiler would refuse it; None also until the draft is settled."""

    @property
    def integer_nodes(self) -> int:
        """How many nodes it computes in INT8 or fewer bits."""
        return sum(len(action.nodes) for action in self.draft.actions if action.kind == "quantize") - self._wide_nodes

    @property
    def narrow_nodes(self) -> int:
        """How many nodes it computes in fewer bits than 8."""
        return sum(len(action.nodes) for action in in_few_bits(self.draft))

    @property
    def sixteen_bit_nodes(self) -> int:
        """How many nodes it computes in INT16, FP16 or BF16."""
        half = sum(len(action.nodes) for action in self.draft.actions if action.kind == "half_precision")
        return self._wide_nodes + half

    @property
    def _wide_nodes(self) -> int:
        return sum(len(action.nodes) for action in self.draft.actions if action.params.get("bit_width") == 16)

    @property
    def moved_bytes(self) -> int:
        """Bytes that it reads and writes in all memories."""
        return sum(self.estimate.bytes_by_memory.values())


def rank(candidates: Sequence[Candidate], objective: Objective) -> list[Candidate]:
    """Best first: what can be built, within the budget, then by what the search mode asks for, then by accuracy.

    Where a prediction is unknown for one candidate, bytes moved decide between all: they are always known.
    """
    timed = objective.search_mode is not SearchMode.ENERGY and all(candidate.estimate.total for candidate in candidates)

    def key(candidate: Candidate) -> tuple[int, bool, float, int, float, str]:
        total = candidate.estimate.total
        accuracy = nearness_db(candidate.effect) if candidate.effect is not None else float("-inf")
        time = total.typical if timed and total is not None else 0.0
        refused = 0 if candidate.refused is None else 1 + candidate.refused.everywhere
        return refused, bool(candidate.broken), time, candidate.moved_bytes, -accuracy, candidate.name

    return sorted(candidates, key=key)


def against_all_integers(ranked: Sequence[Candidate]) -> str | None:
    """Why nothing runs in INT8, where the best candidate has no such node although another has; else None."""
    best, other = ranked[0], next((each for each in ranked if each.integer_nodes), None)
    if best.integer_nodes or other is None:
        return None
    if other.refused is not None:
        return f"INT8 cannot be built: {other.name} is {refused_words(other.refused)}"
    if other.broken:
        return f"INT8 costs too much accuracy: {other.name} is over the budget: {other.broken[0]}"
    left, right = best.estimate.total, other.estimate.total
    if left is not None and right is not None:
        figures = f"{right.typical / 1000:.4g} ms, {best.name} {left.typical / 1000:.4g} ms"
        return f"INT8 saves no time on this chip: {other.name} is predicted to take {figures}."
    figures = f"{other.moved_bytes:,} bytes, {best.name} {best.moved_bytes:,}"
    return f"INT8 is no gain that can be predicted on this chip: {other.name} moves {figures}."


def refused_words(refused: Refused) -> str:
    """Where the compiler refuses it, and why."""
    where = "on every target" if refused.everywhere else "where units are fed by DMA"
    return f"refused {where}: {refused.error.what} {refused.error.why}"


def summary(candidate: Candidate, chosen: bool) -> dict[str, Any]:
    """What people compare: the time predicted on the spec; accuracy, size and broken limits in words and in figures."""
    total = candidate.estimate.total
    figures: dict[str, Any] = {
        "integer_nodes": candidate.integer_nodes,
        "moved_bytes": candidate.moved_bytes,
        "within_budget": not candidate.broken,
    }
    if total is not None:
        figures["predicted_ms"] = [round(total.low / 1000, 6), round(total.high / 1000, 6)]
        figures["typical_ms"] = round(total.typical / 1000, 6)
    if candidate.effect is None:
        accuracy = "cannot run"
    else:
        worst = worst_sqnr_db(candidate.effect)
        accuracy = "no error" if worst == float("inf") else f"at least {worst:.1f} dB"
        figures |= {"exact": True} if worst == float("inf") else {"exact": False, "sqnr_db": round(worst, 2)}
        near = nearness_db(candidate.effect)
        if near != float("inf") and any(output.logit_sqnr_db is not None for output in candidate.effect.outputs):
            accuracy += f", {near:.1f} dB by the logits"
            figures["logit_sqnr_db"] = round(near, 2)
    if candidate.effect is not None and candidate.effect.metric is not None:
        accuracy = f"{candidate.effect.metric.words}; {accuracy}"
    nodes = f"{candidate.integer_nodes - candidate.narrow_nodes} nodes in INT8"
    if candidate.narrow_nodes:
        figures["narrow_nodes"] = candidate.narrow_nodes
        nodes += f", {candidate.narrow_nodes} in 4 or 6 bits"
    if candidate.sixteen_bit_nodes:
        figures["sixteen_bit_nodes"] = candidate.sixteen_bit_nodes
        nodes += f", {candidate.sixteen_bit_nodes} in 16 bits"
    words = [accuracy, nodes, f"{candidate.moved_bytes:,} bytes moved"]
    words.append(f"over the budget: {candidate.broken[0]}" if candidate.broken else "within the budget")
    if candidate.refused is not None:
        words = [refused_words(candidate.refused)]
        figures["refused"] = True
    return {
        "name": candidate.name,
        "accuracy": "; ".join(words),
        **figures,
        "chosen": chosen,
    }
