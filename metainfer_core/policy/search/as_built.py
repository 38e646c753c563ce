"""Candidates as they would be built: settled, priced, and without what the compiler would refuse.

A node whose step alone needs more than the local memory of its unit, and which no tile makes small enough, leaves that
unit and stays float, for that reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from metainfer_core.actions.action import Reason, Refusal
from metainfer_core.actions.kinds.keep_float import KeepFloat
from metainfer_core.actions.kinds.tile import LAW
from metainfer_core.actions.rewiring import nodes_by_id
from metainfer_core.errors import DoesNotFitError
from metainfer_core.numerics.metrics import Effect
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.objective import Objective, shortfalls
from metainfer_core.policy.search.candidates import Candidate
from metainfer_core.policy.search.integer_search import measured
from metainfer_core.policy.search.settle import Settled, settle
from metainfer_core.policy.search.tools import Refused, Tools

MOST_MOVED = 8
"""Nodes of one candidate that leave their unit; where more are too large, the candidate is refused as a whole."""
LOWERING = ("quantize", "half_precision", "round_weights", "correct_bias")
"""Kinds that bring a node to the unit for narrow numbers."""


def as_built(start: Draft, candidates: Sequence[Candidate], objective: Objective, tools: Tools) -> list[Candidate]:
    """Each candidate with all that it would be built with, the price of that, and whether it is refused.

    A candidate in narrow numbers of which nothing narrow is left is none any more.
    """
    found = []
    for index, candidate in enumerate(candidates):
        tools.progress("pricing", index, len(candidates))
        built = _as_built(start, candidate, objective, tools)
        if _is_narrow(built.draft) or not _is_narrow(candidate.draft):
            found.append(built)
    return found


def _is_narrow(draft: Draft) -> bool:
    return any(action.kind in LOWERING for action in draft.actions)


def _as_built(start: Draft, candidate: Candidate, objective: Objective, tools: Tools) -> Candidate:
    draft = candidate.draft
    built, refused = _tried(start, draft, tools)
    for _ in range(MOST_MOVED):
        smaller = _without_too_large(start, draft, built.draft.refusals, refused)
        if smaller is None:
            break
        draft = smaller
        built, refused = _tried(start, draft, tools)
    settled = replace(candidate, draft=built.draft, estimate=built.estimate, stages=built.stages, refused=refused)
    if draft is candidate.draft:
        return settled
    effect = measured(tools.measure, built.draft.branch().finished())
    if isinstance(effect, Effect):
        return replace(settled, effect=effect, broken=shortfalls(objective, effect))
    return replace(settled, effect=None, broken=(effect,))


def _tried(start: Draft, draft: Draft, tools: Tools) -> tuple[Settled, Refused | None]:
    built = settle(start, draft, tools)
    return built, tools.refused(built.draft.branch().finished())


def _without_too_large(start: Draft, draft: Draft, against: Sequence[Refusal], refused: Refused | None) -> Draft | None:
    """The draft without the node that is too large by itself; None where none is, or nothing brought it to its unit."""
    error = refused.error if refused is not None else None
    if not isinstance(error, DoesNotFitError) or not error.node:
        return None
    kept = [action for action in draft.actions if action.kind not in LOWERING or error.node not in action.nodes]
    again = start.branch()
    again.calibration = draft.calibration
    again.refusals += draft.refusals
    again.take(kept)
    target = nodes_by_id(again.model).get(error.node)
    if len(kept) == len(draft.actions) or target is None:
        return None
    tiles = (each.reason for each in against if each.kind == "tile" and error.node in each.nodes)
    claim = next(tiles, f"{error.what} {error.why}")
    narrow = "16-bit floats" if any(action.kind == "half_precision" for action in draft.actions) else "INT8"
    again.take(
        [KeepFloat().because(again.model, again.spec, target, "not_legal", Reason(claim=claim, law=LAW), narrow)]
    )
    return again
