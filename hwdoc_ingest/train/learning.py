"""Training: the base model learns roles, fields and kinds from examples."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import torch
from torch.nn import functional

from hwdoc_ingest.train.batches import IGNORED, Batch, Learnt, batches
from hwdoc_ingest.train.network import Network

BATCH = 32
RATE = 4e-4
HEAD_RATE = 2e-3
WARM_UP = 0.1
KIND_WEIGHT = 0.5
HEADS = ("roles", "fields", "kinds", "new_words")
"""Parts that are learnt from nothing, and faster."""

Report = Callable[[int, int, float], None]
"""Called with the step, the number of steps, and the loss."""


def learn(network: Network, examples: Sequence[Learnt], epochs: int, seed: int, report: Report) -> None:
    """Trains the network in place; the order of the examples and all randomness come from the seed."""
    rng = random.Random(seed)
    steps = [batch for _ in range(epochs) for batch in batches(examples, BATCH, rng, 0)]
    named = [(name.split(".")[0], p) for name, p in network.named_parameters() if p.requires_grad]
    rest = [p for name, p in named if name not in HEADS]
    optimizer = torch.optim.AdamW(
        [{"params": rest, "lr": RATE}, {"params": [p for name, p in named if name in HEADS], "lr": HEAD_RATE}],
        weight_decay=0.01,
    )
    warm = max(1, int(WARM_UP * len(steps)))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda at: min((at + 1) / warm, max(0.0, (len(steps) - at) / max(1, len(steps) - warm)))
    )
    network.train()
    for at, batch in enumerate(steps):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = loss_of(network, batch)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        report(at + 1, len(steps), float(loss.detach()))
    network.eval()


def loss_of(network: Network, batch: Batch) -> torch.Tensor:
    """The mean cross-entropy of roles and fields, and half of that of the kinds."""
    roles, fields, kinds = network(torch.from_numpy(batch.ids), torch.from_numpy(batch.mask))
    return (
        functional.cross_entropy(
            roles.flatten(0, 1).float(), torch.from_numpy(batch.roles).flatten(), ignore_index=IGNORED
        )
        + functional.cross_entropy(
            fields.flatten(0, 1).float(), torch.from_numpy(batch.fields).flatten(), ignore_index=IGNORED
        )
        + KIND_WEIGHT * functional.cross_entropy(kinds.float(), torch.from_numpy(batch.kinds))
    )
