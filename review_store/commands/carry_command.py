"""Command `meta-infer review carry`."""

from __future__ import annotations

from typing import Annotated

import typer

from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit
from metainfer_core.errors import InputError
from review_store.commands.decide_command import report
from review_store.commands.review_options import ModelFile, PolicyFile, SpecFile, Workspace, opened, policy_of
from review_store.record.log import Conflict
from review_store.review.carry import carry, earlier_revision
from review_store.review.decide import Decision, decide
from review_store.review.workspace import DEFAULT_WORKSPACE, default_person, now, person_id, trust_path


def carry_command(
    policy: PolicyFile,
    action: Annotated[
        list[str] | None, typer.Option("--action", help="Confirm this one again; several times. None: they are listed.")
    ] = None,
    person: Annotated[str | None, typer.Option("--as", metavar="PERSON", help="Who decides (default: git).")] = None,
    model: ModelFile = None,
    hw_spec: SpecFile = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Retrained weights: lists which of your earlier approvals still fit, and confirms those that are named."""
    who = default_person() if person is None else person_id(person)
    log, state = opened(workspace, policy_of(policy, model, hw_spec)[0])
    found = carry(earlier_revision(log, state, read_trust(trust_path(workspace))), state, who)
    fitting = [each.action_id for each in found if not each.obstacle]
    if not action:
        lines = [f"{each.action_id}: {each.obstacle or 'as before'}" for each in found]
        lines.append(f"{len(fitting)} of {len(found)} can be confirmed together: name each with --action.")
        data = {"fitting": fitting, "others": {each.action_id: each.obstacle for each in found if each.obstacle}}
        emit(as_json, data, "\n".join(lines))
        return
    others = [each for each in action if each not in fitting]
    if others:
        obstacles = {each.action_id: each.obstacle for each in found}
        raise InputError(
            f"{others[0]}: this approval cannot be carried over.",
            f"{obstacles.get(others[0], f'{who} did not approve it before, or has decided about it').capitalize()}.",
            "Look at it with `meta-infer review show`, and approve it with `meta-infer review decide`.",
        )
    outcome = decide(log, state, Decision(who, tuple(action), ("approve",)), now(), None)
    report(as_json, [] if isinstance(outcome, Conflict) else [outcome], [outcome], state)
