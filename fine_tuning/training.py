"""The training loop: Adam on the changed layers, seeded, stopped early by samples that are not trained on.

Weights that will be stored in few bits are rounded in the forward pass, and the slope passes through the rounding as
if it were not there (straight-through estimator, Bengio et al. 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx_ir as ir
import torch

from fine_tuning.checkpoint import Arrays, Checkpoint
from fine_tuning.objective import Objective
from fine_tuning.rounding import Rounding
from fine_tuning.settings import Settings
from fine_tuning.torch_graph import network, stacked
from metainfer_core.errors import UnsupportedError
from metainfer_core.verify.reference import Progress
from metainfer_core.verify.samples import Feeds

THREADS = 2
"""Fixed, for sums are taken in another order by another number of threads."""
PATIENCE = 4
"""Looks without a better loss, after which the learning rate is halved and the best weights are gone back to."""
HALVINGS = 3
"""After so many of them training ends."""
BETTER = 0.999
"""Of the best loss, which a new one must be below."""
DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8


@dataclass(frozen=True)
class TrainingData:
    """Samples to train on and samples that decide when to stop, in one list."""

    feeds: Sequence[Feeds]
    objective: Objective
    trained: Sequence[int]
    deciding: Sequence[int]


def train(
    model: ir.Model,
    weights: Arrays,
    rounded: Mapping[str, Rounding],
    data: TrainingData,
    settings: Settings,
    state: Checkpoint | None,
    keep: Callable[[Checkpoint], None],
    progress: Progress,
) -> Checkpoint:
    """Trains, and gives the state at the end; the best weights are in it.

    Args:
        model: The changed model.
        weights: Constants that are trained, by name.
        rounded: Those of them that will be stored in few bits.
        data: Samples and what is right for them.
        settings: Steps, batch, learning rate, seed.
        state: Where a stopped run was.
        keep: Called with each state that a stopped run can go on from.
        progress: Called with each step.

    Raises:
        UnsupportedError: The loss is no finite number from the start.
    """
    torch.manual_seed(settings.seed)
    torch.set_num_threads(THREADS)
    torch.use_deterministic_algorithms(True)
    run = network(model)

    def loss_of(tensors: Mapping[str, Any], places: Sequence[int]) -> Any:
        used = {name: _as_stored(tensor, rounded.get(name)) for name, tensor in tensors.items()}
        return data.objective.loss(run(used, stacked([data.feeds[place] for place in places])), places)

    def deciding_loss(arrays: Arrays) -> float:
        tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
        total = 0.0
        with torch.no_grad():
            for batch in _batches(data.deciding, settings.batch):
                total += float(loss_of(tensors, batch)) * len(batch)
        return total / len(data.deciding)

    if state is None:
        progress("looking at the untrained loss", 0, 0)
        state = _start(weights, deciding_loss(weights), settings)
        keep(state)
    while state.step < settings.steps and state.halved < HALVINGS:
        progress(f"training (loss {state.best_loss:.4g}, from {state.first_loss:.4g})", state.step, settings.steps)
        state = _steps(state, min(settings.look_every, settings.steps - state.step), loss_of, data.trained, settings)
        state = _looked(state, deciding_loss(state.now), settings)
        keep(state)
    return state


def _start(weights: Arrays, loss: float, settings: Settings) -> Checkpoint:
    if not np.isfinite(loss):
        raise UnsupportedError(
            "The changed model's loss is no finite number before training.",
            "Its outputs overflow, or the data holds numbers that it does not take.",
            "Leave out a change, or check the data.",
        )
    zeros = {name: np.zeros_like(array) for name, array in weights.items()}
    return Checkpoint(weights, weights, zeros, zeros, 0, 0, loss, loss, settings.learning_rate, 0, 0, 0)


def _steps(
    state: Checkpoint, count: int, loss_of: Callable[..., Any], places: Sequence[int], settings: Settings
) -> Checkpoint:
    """So many steps of Adam (Kingma and Ba 2015)."""
    now, first, second = (
        {n: torch.from_numpy(a.copy()) for n, a in part.items()}
        for part in (state.now, state.first_moment, state.second_moment)
    )
    for step in range(state.step, state.step + count):
        since = step - state.restarted + 1
        tensors = {name: tensor.requires_grad_() for name, tensor in now.items()}
        loss = loss_of(tensors, batch_of(step, places, settings))
        slopes = torch.autograd.grad(loss, list(tensors.values()), allow_unused=True)
        with torch.no_grad():
            for (name, tensor), slope in zip(tensors.items(), slopes, strict=True):
                if slope is None:
                    continue
                first[name].mul_(DECAY).add_(slope, alpha=1 - DECAY)
                second[name].mul_(SQUARE_DECAY).addcmul_(slope, slope, value=1 - SQUARE_DECAY)
                size = torch.sqrt(second[name] / (1 - SQUARE_DECAY**since)) + EPSILON
                change = first[name] / (1 - DECAY**since) / size
                now[name] = (tensor - state.learning_rate * change).detach()
    parts = ({name: tensor.detach().numpy() for name, tensor in part.items()} for part in (now, first, second))
    trained, one, two = parts
    return replace(state, now=trained, first_moment=one, second_moment=two, step=state.step + count)


def _looked(state: Checkpoint, loss: float, settings: Settings) -> Checkpoint:
    """The state after a look at the deciding samples: better, waiting, or back at the best with half the rate."""
    if loss < state.best_loss * BETTER:
        return replace(state, best=state.now, best_loss=loss, best_step=state.step, waited=0)
    if state.waited + 1 < PATIENCE:
        return replace(state, waited=state.waited + 1)
    zeros = {name: np.zeros_like(array) for name, array in state.best.items()}
    return replace(state, 
        now=state.best, first_moment=zeros, second_moment=zeros,
        learning_rate=state.learning_rate / 2, waited=0, halved=state.halved + 1, restarted=state.step,
    )  # fmt: skip


def batch_of(step: int, places: Sequence[int], settings: Settings) -> list[int]:
    """The samples of a step: each pass over the data has an order of its own, drawn from the seed."""
    size = min(settings.batch, len(places))
    whole = len(places) // size
    order = np.random.default_rng([settings.seed, step // whole]).permutation(len(places))
    first = step % whole * size
    return [places[index] for index in order[first : first + size]]


def _batches(places: Sequence[int], size: int) -> list[Sequence[int]]:
    return [places[first : first + size] for first in range(0, len(places), size)]


def _as_stored(tensor: Any, rounding: Rounding | None) -> Any:
    if rounding is None:
        return tensor
    with torch.no_grad():
        off = torch.from_numpy(rounding(tensor.detach().numpy())) - tensor
    return tensor + off
