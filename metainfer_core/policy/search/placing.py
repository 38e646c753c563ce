"""Placing tensors so that the planner, which also knows scratch space, kernels and tiles, finds room for all."""

from __future__ import annotations

from collections.abc import Callable

import onnx_ir as ir

from metainfer_core.actions.action import Action, Refusal
from metainfer_core.actions.stored_tensors import stored_tensors
from metainfer_core.errors import DoesNotFitError
from metainfer_core.policy.draft import Draft

Overfull = Callable[[ir.Model], DoesNotFitError | None]
STAGING = ("tile", "prefetch")
"""Kinds that come last, and bring parts of tensors into local memories beside what is placed there."""


def place_what_fits(draft: Draft, overfull: Overfull) -> list[Action]:
    """Takes the place actions that are proposed, less those that the planner has no room for; gives what was taken.

    The proposals come from the graph. Kernels need more than the graph shows (scratch space, wider intermediate
    results), and so do tiles, so the plan is made with all of it, and as long as a memory overflows the largest tensor
    in it stays outside.
    """
    draft.finished()  # placing asks which unit touches a tensor
    proposed = draft.propose("place")
    while True:
        trial = draft.branch()
        taken = trial.take(proposed)
        for name in STAGING:
            trial.finished()  # both ask which unit runs a node
            trial.take(trial.propose(name))
        error = overfull(trial.finished())
        largest = _largest_in(error, taken, trial.model) if error is not None else None
        if error is None or largest is None:
            return draft.take(proposed)
        reason = (
            f"With it the memory would need {error.needed:,} {error.unit} of {error.available:,}: "
            f"{error.resource}. It stays where tensors lie that no action places."
        )
        refused = Refusal(kind="place", nodes=largest.nodes, reason=reason)
        proposed = [refused if entry is largest else entry for entry in proposed]


def _largest_in(error: DoesNotFitError, taken: list[Action], model: ir.Model) -> Action | None:
    """The action that puts most bytes into the memory that overflows."""
    sizes = {tensor.name: tensor.size_bytes for tensor in stored_tensors(model)}

    def bytes_there(action: Action) -> int:
        pairs = action.params["memory"].items()
        return sum(sizes.get(tensor, 0) for tensor, memory in pairs if f"(memories.{memory}." in error.resource)

    found = max(taken, key=bytes_there, default=None)
    return found if found is not None and bytes_there(found) > 0 else None
