"""Which decisions of a policy rest on which values of a spec: what a change of the spec affects."""

from __future__ import annotations

from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.revising.diff import Change
from metainfer_core.values import Value


class Affected(Value):
    """One policy that a change of a spec reaches."""

    policy: str
    """Its path or name."""
    path: str
    """Field path of the value that changed."""
    actions: tuple[str, ...]
    """Ids of the actions that give the value as a reason."""


def is_for(policy: Policy, *specs: HardwareSpec) -> bool:
    """Whether a policy was made for one of the specs; its approvals are bound to that spec's values."""
    return policy.spec_digest in {spec.values_digest for spec in specs}


def affected(name: str, policy: Policy, changes: tuple[Change, ...]) -> tuple[Affected, ...]:
    """What the changes reach in a policy, by path; empty where no action gives one of the values as a reason."""
    found = []
    for change in changes:
        actions = tuple(
            action.id
            for action in policy.actions
            if any(reason.spec_field and _touches(change.path, reason.spec_field) for reason in action.why)
        )
        if actions:
            found.append(Affected(policy=name, path=change.path, actions=actions))
    return tuple(found)


def _touches(path: str, used: str) -> bool:
    """Whether a change at `path` is one of what stands at, above or below `used`."""
    return path == used or path.startswith(f"{used}.") or used.startswith(f"{path}.")
