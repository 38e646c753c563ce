"""Activation functions: which are a clamp, and which subgraphs spell one out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.rewiring import only_reader, readers, scalar_of
from metainfer_core.numerics.activations import OPERATORS

ACTIVATIONS = tuple(OPERATORS)
"""Activations that a kernel can apply to its own results: clamps by limits alone, curves on 8 bits by a table."""

SIXTH = {"alpha": 1 / 6, "beta": 0.5}


@dataclass(frozen=True)
class SpelledOut:
    """Nodes that together compute one operator."""

    op_type: str
    nodes: tuple[ir.Node, ...]
    """In execution order; the last one gives the result."""
    source: ir.Value
    """What the operator is applied to."""
    attributes: Mapping[str, float | int | str] = field(default_factory=dict)
    operands: tuple[np.ndarray, ...] = field(default=(), compare=False)
    """Constant inputs behind the source."""
    lacking: str = ""
    """Why ONNX has no operator for it, as the end of a sentence; empty where it has one."""


def spelled_out(start: ir.Node) -> SpelledOut | None:
    """HardSwish or HardSigmoid that begins at `start`, or None.

    HardSwish(x) = x * clip(x + 3, 0, 6) / 6, with the division before or after the product, as a division by 6 or a
    product with 1/6, or as x * HardSigmoid(x) with slope 1/6 and offset 1/2; HardSigmoid(x) = clip(x + 3, 0, 6) / 6.
    Howard et al. 2019, section 5.2.
    """
    if start.op_type == "HardSigmoid":
        return _product(start.inputs[0], (start,)) if _is_sixth(start) else None
    source = _without_constant(start, 3.0) if start.op_type == "Add" else None
    clip = only_reader(start.outputs[0]) if source is not None else None
    if source is None or clip is None or clip.op_type != "Clip" or _limits(clip) != (0.0, 6.0):
        return None
    chain: tuple[ir.Node, ...] = (start, clip)
    after = only_reader(clip.outputs[0])
    if after is not None and _divides_by_six(after, clip.outputs[0]):
        return _product(source, (*chain, after)) or SpelledOut("HardSigmoid", (*chain, after), source, SIXTH)
    if after is not None and after.op_type == "Mul" and source in after.inputs:
        last = only_reader(after.outputs[0])
        if last is not None and _divides_by_six(last, after.outputs[0]):
            return SpelledOut("HardSwish", (*chain, after, last), source)
    return None


def _product(source: ir.Value | None, chain: tuple[ir.Node, ...]) -> SpelledOut | None:
    last = only_reader(chain[-1].outputs[0])
    if source is None or last is None or last.op_type != "Mul" or set(last.inputs) != {source, chain[-1].outputs[0]}:
        return None
    return SpelledOut("HardSwish", (*chain, last), source)


def _is_sixth(node: ir.Node) -> bool:
    alpha, beta = node.attributes.get_float("alpha", 0.2), node.attributes.get_float("beta", 0.5)
    return abs(alpha - SIXTH["alpha"]) < 1e-6 and abs(beta - SIXTH["beta"]) < 1e-6


def _without_constant(node: ir.Node, constant: float) -> ir.Value | None:
    """The other input of a commutative node that has this constant as one input."""
    first, second = node.inputs
    if scalar_of(second) == constant:
        return first
    return second if scalar_of(first) == constant else None


def _limits(clip: ir.Node) -> tuple[float | None, float | None]:
    low, high = (*clip.inputs[1:], None, None)[:2]
    return scalar_of(low), scalar_of(high)


def _divides_by_six(node: ir.Node, value: ir.Value) -> bool:
    if node.op_type == "Div":
        return node.inputs[0] is value and scalar_of(node.inputs[1]) == 6.0
    if node.op_type == "Mul" and len(readers(value)) == 1:
        factors = [scalar_of(other) for other in node.inputs if other is not value]
        return len(factors) == 1 and factors[0] is not None and abs(factors[0] - 1 / 6) < 1e-7
    return False
