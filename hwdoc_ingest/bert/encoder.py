"""The encoder at run time: ONNX Runtime and `tokenizers`, nothing else; one file holds weights, words and labels."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from hwdoc_ingest.bert.context import Context, HeadedCell, context

if TYPE_CHECKING:
    import onnxruntime as ort

WEIGHTS = "constraint_tagger.onnx"
BATCH_TOKENS = 2048
"""Most tokens of one batch, padding included; more is not faster and takes memory."""
THREADS = 2
"""Fixed, so that the sums of a matrix product are always made in the same order."""
PADDING = 0

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Opinion:
    """What the encoder makes of one statement: chances, each row a token's."""

    places: tuple[tuple[int, int] | None, ...]
    """Where each token stands in the statement's text."""
    roles: Floats
    """(tokens, roles)"""
    fields: Floats
    """(tokens, fields)"""
    kinds: Floats
    """(kinds,)"""


@dataclass(frozen=True)
class Encoder:
    """A loaded encoder."""

    session: ort.InferenceSession
    words: Tokenizer
    roles: tuple[str, ...]
    fields: tuple[str, ...]
    kinds: tuple[str, ...]
    training: Mapping[str, object]
    """How it was trained and what it reached."""

    def context(self, path: Sequence[str], text: str, cells: Sequence[HeadedCell]) -> Context:
        """A statement as this encoder reads it."""
        return context(self.words, path, text, cells)

    def read(self, contexts: Sequence[Context]) -> list[Opinion]:
        """The opinions on some statements, in their order; statements of like length are read together."""
        opinions: dict[int, Opinion] = {}
        for group in _groups(contexts):
            longest = max(len(contexts[at].ids) for at in group)
            ids = np.full((len(group), longest), PADDING, np.int64)
            mask = np.zeros((len(group), longest), np.int64)
            for line, at in enumerate(group):
                ids[line, : len(contexts[at].ids)] = contexts[at].ids
                mask[line, : len(contexts[at].ids)] = 1
            roles, fields, kinds = self.session.run(None, {"ids": ids, "mask": mask})
            for line, at in enumerate(group):
                own = slice(0, len(contexts[at].ids))
                opinions[at] = Opinion(
                    contexts[at].places,
                    _chances(roles[line, own]),
                    _chances(fields[line, own]),
                    _chances(kinds[line]),
                )
        return [opinions[at] for at in range(len(contexts))]


def load(weights: bytes) -> Encoder:
    """The encoder of a weights file."""
    import onnxruntime as ort  # takes half a second, which the other kinds of documents need not wait for

    options = ort.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = ort.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    said = session.get_modelmeta().custom_metadata_map
    return Encoder(
        session,
        Tokenizer.from_str(said["tokenizer"]),
        tuple(json.loads(said["roles"])),
        tuple(json.loads(said["fields"])),
        tuple(json.loads(said["kinds"])),
        json.loads(said["training"]),
    )


@lru_cache(maxsize=1)
def shipped() -> Encoder:
    """The encoder of this package."""
    return load(files(__package__).joinpath(WEIGHTS).read_bytes())


def _groups(contexts: Sequence[Context]) -> list[list[int]]:
    """Positions of statements of like length, each group of few enough tokens."""
    groups: list[list[int]] = []
    for at in sorted(range(len(contexts)), key=lambda at: (len(contexts[at].ids), at)):
        length = len(contexts[at].ids)
        if not groups or (len(groups[-1]) + 1) * length > BATCH_TOKENS:
            groups.append([])
        groups[-1].append(at)
    return groups


def _chances(scores: Floats) -> Floats:
    """Softmax over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    chances: Floats = powers / powers.sum(-1, keepdims=True)
    return chances
