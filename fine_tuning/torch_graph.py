"""A model as a function of its weights in PyTorch: what training differentiates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import onnx_ir as ir
import torch

from fine_tuning.torch_operators import check_operators, run_node
from metainfer_core.actions.rewiring import array_of, name_of

Weights = Mapping[str, Any]
"""Tensors by the name of their initializer."""


def network(model: ir.Model) -> Callable[[Weights, Mapping[str, Any]], list[Any]]:
    """The model as `(weights, inputs [samples, ...]) -> outputs [samples, ...]`; what has no weight given is constant.

    Raises:
        UnsupportedError: it holds an operator that cannot be trained through.
    """
    check_operators(model)
    nodes = list(model.graph)
    constants = {
        str(value.name): torch.from_numpy(array.copy())
        for node in nodes
        for value in node.inputs
        if value is not None and (array := array_of(value)) is not None
    }
    outputs = [name_of(value) for value in model.graph.outputs]

    def one(weights: Weights, feeds: Mapping[str, Any]) -> tuple[Any, ...]:
        known = {**constants, **weights, **feeds}
        for node in nodes:
            given = [None if value is None else known[name_of(value)] for value in node.inputs]
            for value, result in zip(node.outputs, run_node(node, given), strict=False):
                known[name_of(value)] = result
        return tuple(known[name] for name in outputs)

    def many(weights: Weights, feeds: Mapping[str, Any]) -> list[Any]:
        return list(torch.func.vmap(one, in_dims=(None, 0))(dict(weights), dict(feeds)))

    return many


def stacked(feeds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Inputs of several samples as tensors [samples, ...]."""
    return {name: torch.stack([torch.from_numpy(each[name]) for each in feeds]) for name in feeds[0]}
