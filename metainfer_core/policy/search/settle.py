"""Settle a draft: what would be built of it, kind by kind, with the prediction before and after each kind.

The search compares drafts before it is known which memory holds a tensor and which unit a fusion runs on. Both change
the predicted time, so every candidate is settled before it is ranked or shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.catalog import KINDS
from metainfer_core.actions.kinds.fuse import Fuse
from metainfer_core.actions.rewiring import UNIT, nodes_by_id
from metainfer_core.cost.estimate import Estimate
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.placing import STAGING, place_what_fits
from metainfer_core.policy.search.tools import Tools

LOOPS = ("layout",)
"""Kinds that change how kernels compute and not what: they ask which unit runs a node, and must pay."""


@dataclass(frozen=True)
class Settled:
    """What would be built, and what is predicted of it."""

    draft: Draft
    """All actions, in the catalog's order."""
    estimate: Estimate
    """Of the draft as it stands."""
    stages: Mapping[str, tuple[Estimate, Estimate]]
    """Kind to the predictions before and after all actions of that kind."""


def settle(start: Draft, chosen: Draft, tools: Tools) -> Settled:
    """The chosen actions on a fresh clone of `start`, then what places, tiles and prefetches.

    Now that each node's unit is known, fusions name it, and padding for a unit that does not run the layer goes.
    """
    units = {
        node_id: node.metadata_props.get(UNIT) for node_id, node in nodes_by_id(chosen.branch().finished()).items()
    }
    final = start.branch()
    final.refusals += chosen.refusals
    before = tools.price(final.branch().finished())
    stages: dict[str, tuple[Estimate, Estimate]] = {}
    for kind in KINDS:
        if kind.name == "place":
            taken = place_what_fits(final, tools.overfull)
        elif kind.name in STAGING:
            final.finished()  # both ask which unit runs a node
            taken = final.take(final.propose(kind.name))
        elif kind.name in LOOPS:
            taken = _where_it_pays(final, kind.name, before, tools)
        else:
            taken = final.take(_located(final, chosen.actions, kind.name, units))
        if taken:
            after = tools.price(final.branch().finished())
            stages[kind.name] = (before, after)
            before = after
    return Settled(final, before, stages)


def _where_it_pays(final: Draft, kind_name: str, before: Estimate, tools: Tools) -> list[Action]:
    """What the kind proposes, taken where the predicted time of the whole falls with it."""
    final.finished()
    proposed = final.propose(kind_name)
    trial = final.branch()
    taken = trial.take(proposed)
    after = tools.price(trial.branch().finished()) if taken else before
    if before.total is None or after.total is None or after.total.typical < before.total.typical:
        final.become(trial)
        return taken
    times = after.total.typical, before.total.typical
    reason = "With it the whole would take {:,.1f} µs in place of {:,.1f} (predicted).".format(*times)
    final.take(Refusal(kind=each.kind, nodes=each.nodes, reason=reason) if each in taken else each for each in proposed)
    return []


def _located(final: Draft, actions: Iterable[Action], kind_name: str, units: Mapping[str, str | None]) -> list[Action]:
    """The actions of one kind, with the unit that runs their node in the end."""
    located = []
    for action in actions:
        unit = units.get(action.nodes[0]) or units.get(action.nodes[-1])
        if action.kind != kind_name or (kind_name == "pad_channels" and unit != action.params.get("target_hw")):
            continue
        moves = kind_name == "fuse" and unit is not None and unit != action.params.get("target_hw")
        located.append(Fuse().on_unit(final.model, final.spec, action, str(unit)) if moves else action)
    return located
