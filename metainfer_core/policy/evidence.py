"""The lines of a policy: each action with what was measured and predicted for it, and its risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metainfer_core.actions.action import Action
from metainfer_core.actions.stored_tensors import stored_tensors
from metainfer_core.cost.estimate import Estimate
from metainfer_core.numerics.metrics import Effect
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.policy.draft import Draft, known_kind
from metainfer_core.policy.objective import Objective
from metainfer_core.policy.policy import Evidence, PolicyAction
from metainfer_core.policy.risk import assess

SMALL_MEMORIES = ("sram", "tcm")


def lines_of(
    draft: Draft,
    objective: Objective,
    calibration: Calibration,
    alone: Mapping[str, Effect],
    together: Effect | None,
    stages: Mapping[str, tuple[Estimate, Estimate]],
) -> tuple[PolicyAction, ...]:
    """One line for each action of a finished draft, in order.

    Args:
        draft: With all actions taken.
        objective: The budget that risk is held against.
        calibration: Says whether the data is random.
        alone: Action id to its effect alone.
        together: Effect of all actions.
        stages: Kind to the predictions before and after all actions of that kind.
    """
    crowded = _crowded_memory(draft)
    lines = []
    for action in draft.actions:
        kind = known_kind(action.kind)
        moves = kind.obligation.relative != 0.0
        before, after = stages.get(action.kind, (None, None))
        evidence = Evidence(
            alone=alone.get(action.id),
            together=together if moves else None,
            predicted_time_us=_time_change(action, before, after),
            predicted_bytes=_bytes_change(action, before, after),
        )
        known = draft.harms.get(action.id, ())
        risk = assess(kind, action, evidence, objective, calibration.is_random, crowded.get(action.id), known)
        lines.append(
            PolicyAction(
                node_id=action.nodes[0],
                action=action.kind,
                params=action.params,
                nodes=action.nodes,
                sentence=kind.sentence(action),
                why=action.why,
                constraint=action.constraint,
                alternatives=action.alternatives,
                evidence=evidence,
                risk=risk,
                review_required=True if risk.level == "high" else None,
            )
        )
    return tuple(lines)


def _time_change(action: Action, before: Estimate | None, after: Estimate | None) -> tuple[float, float] | None:
    if before is None or after is None:
        return None
    ends = []
    for estimate in (before, after):
        times = [call.time for call in estimate.calls if set(call.node_ids) & set(action.nodes)]
        known = [time for time in times if time is not None]
        if len(known) < len(times):
            return None
        ends.append((sum(time.low for time in known), sum(time.high for time in known)))
    changes = sorted(end - start for start, end in zip(*ends, strict=True))
    return changes[0], changes[1]


def _bytes_change(action: Action, before: Estimate | None, after: Estimate | None) -> int | None:
    if before is None or after is None:
        return None
    moved = [
        sum(sum(call.bytes_by_memory.values()) for call in estimate.calls if set(call.node_ids) & set(action.nodes))
        for estimate in (before, after)
    ]
    return moved[1] - moved[0]


def _crowded_memory(draft: Draft) -> dict[str, str]:
    """The place action with the largest tensor, if everything went into one small memory."""
    placed: dict[str, tuple[str, str]] = {}
    for action in draft.actions:
        for tensor, memory in action.params.get("memory", {}).items() if action.kind == "place" else ():
            placed[tensor] = (memory, action.id)
    memories = {memory for memory, _ in placed.values()}
    if len(memories) != 1:
        return {}
    memory = memories.pop()
    if draft.spec.memories[memory].kind not in SMALL_MEMORIES:
        return {}
    sizes: Sequence[tuple[int, str]] = [
        (tensor.size_bytes, tensor.name) for tensor in stored_tensors(draft.model) if tensor.name in placed
    ]
    return {placed[max(sizes)[1]][1]: memory} if sizes else {}
