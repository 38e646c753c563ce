"""One training run from beginning to end: base model, examples, network, file."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import torch
from safetensors.torch import load

from hwdoc_ingest.bert.labels import KINDS, ROLE_LABELS
from hwdoc_ingest.train.base_model import read_base
from hwdoc_ingest.train.batches import as_numbers
from hwdoc_ingest.train.example import Example
from hwdoc_ingest.train.export import export
from hwdoc_ingest.train.learning import learn
from hwdoc_ingest.train.network import Network, Shape, start_from_base
from hwdoc_ingest.train.phrases import Phrases
from hwdoc_ingest.train.vocabulary import UNKNOWN, tokenizer, vocabulary

THREADS = 1
"""One, so that sums are always made in the same order and a busy machine loses nothing by waiting."""


def train(
    base: Path,
    out: Path,
    examples: Sequence[Example],
    phrases: Phrases,
    fields: Sequence[str],
    epochs: int,
    layers: int,
    seed: int,
    progress: Callable[[str, int, int], None],
) -> None:
    """Trains an encoder on the examples and writes it to `out`.

    Args:
        base: The base model's package file.
        out: The weights file to write.
        examples: What is learnt.
        phrases: All phrases; their letters make up the vocabulary.
        fields: Names of the fields to tell apart.
        epochs: How often each example is learnt.
        layers: How many of the base model's layers are kept.
        seed: Where all randomness comes from.
        progress: Called with what is done, the step and the number of steps.
    """
    torch.manual_seed(seed)
    torch.set_num_threads(THREADS)
    weights, words = read_base(base)
    kept = vocabulary(words, list(_texts(phrases)))
    encoding = tokenizer(list(kept))
    known = sum(number is not None for number in kept.values())
    network = Network(Shape(known, len(kept) - known, len(ROLE_LABELS), len(fields), len(KINDS), layers))
    start_from_base(network, load(weights), list(kept.values()), words.index(UNKNOWN))
    numbers = [as_numbers(example, encoding, fields) for example in examples]
    random.Random(seed).shuffle(numbers)
    learn(network, numbers, epochs, seed, lambda at, steps, loss: progress(f"learning, loss {loss:.2f}", at, steps))
    facts = {"seed": seed, "epochs": epochs, "layers": layers, "examples": len(examples)}
    export(network, encoding, fields, facts, out)


def _texts(phrases: Phrases) -> Iterator[str]:
    """Every text of the phrases."""
    for each in phrases.fields:
        yield from (name for names in each.names.values() for name in names)
        yield from (*each.frames, *each.values)
    for family in phrases.frames.values():
        for frames in family.values():
            yield from frames
    for words in phrases.words.values():
        yield from words
    yield str(phrases.negatives)
