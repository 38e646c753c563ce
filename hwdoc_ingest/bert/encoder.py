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
THREADS = 1
"""Fixed and few: a statement is small, and the sums of a matrix product are always made in the same order."""

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
        """The opinions on some statements, in their order.

        Each is read alone: the eight-bit steps of a layer are set by all that is in a batch, and what one statement
        means must not depend on which others are read beside it.
        """
        return [self._read_one(each) for each in contexts]

    def _read_one(self, context: Context) -> Opinion:
        ids = np.array([context.ids], np.int64)
        roles, fields, kinds = self.session.run(None, {"ids": ids, "mask": np.ones_like(ids)})
        return Opinion(context.places, _chances(roles[0]), _chances(fields[0]), _chances(kinds[0]))


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


def _chances(scores: Floats) -> Floats:
    """Softmax over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    chances: Floats = powers / powers.sum(-1, keepdims=True)
    return chances
