"""What preprocessing did to a model, rewrite by rewrite, for people and for the records."""

from __future__ import annotations

from typing import Literal

from metainfer_core.values import FrozenMap, Value

RewriteKind = Literal[
    "bind_shape",
    "bind_value",
    "fold_constant",
    "keep_large",
    "remove_no_op",
    "inference_form",
    "inline_branch",
    "unroll_loop",
    "gather_to_slice",
    "remove_unused",
]


class Rewrite(Value):
    """One change to the graph."""

    kind: RewriteKind
    node: str
    """Node id; for `bind_shape` and `bind_value` the name of the input."""
    why: str
    changes_values: bool = False
    """True only for training leftovers: the outputs are those of inference, not those of the file in training mode."""


class PreprocessReport(Value):
    """The record of one preprocessing run."""

    format: Literal["metainfer.preprocess_report/1"] = "metainfer.preprocess_report/1"
    input_shapes: FrozenMap[tuple[int, ...]]
    """Static shape of every graph input."""
    assumptions: tuple[str, ...] = ()
    """What was taken for granted because nothing was given, such as a batch of 1."""
    rewrites: tuple[Rewrite, ...] = ()
    nodes_before: int
    nodes_after: int

    def of_kind(self, kind: RewriteKind) -> tuple[Rewrite, ...]:
        """The rewrites of one kind, in the order in which they were made."""
        return tuple(rewrite for rewrite in self.rewrites if rewrite.kind == kind)
