"""Models whose weights are stored in 4 or 6 bits, and the same with those weights dequantized in float32."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir
from operator_cases import Case, conv, draw, one

from metainfer_core.actions.low_bit import low_bit, low_bit_constant
from metainfer_core.actions.rewiring import add_constant, numbers_of, set_input
from metainfer_core.numerics.lowering.model_reader import ModelReader

BASES: tuple[tuple[Case, int, int], ...] = (
    (conv("packed", (1, 12, 7, 18), (6, 12, 3, 3), pads=[1, 1, 1, 1]), 0, 1),
    (conv("packed1x1", (2, 20, 6, 16), (10, 20, 1, 1)), 0, 1),
    (conv("packed_groups", (1, 16, 7, 18), (6, 8, 3, 2), group=2), 0, 1),
    (conv("packed_rows", (1, 12, 5, 5), (18, 12, 3, 3), bias=False), 0, 1),
    (conv("packed_1d", (1, 12, 30), (6, 12, 3)), 0, 1),
    (one("packed_gemm", "Gemm", [draw("pg", 5, 27)], [draw("pgw", 27, 70), draw("pgb", 70)]), 1, 0),
    (one("packed_turned", "Gemm", [draw("pt", 3, 27)], [draw("ptw", 19, 27), draw("ptb", 19)], transB=1), 0, 1),
    (one("packed_matmul", "MatMul", [draw("pm", 2, 3, 27)], [draw("pmw", 27, 18)]), 1, 0),
)
"""Each with the weight's axes of outputs and of inputs; all end in the middle of a block."""


@dataclass(frozen=True)
class PackedCase:
    """A model in both forms."""

    name: str
    packed: ir.Model
    real: ir.Model
    feed: dict[str, np.ndarray]
    bits: int
    weights: int
    """How many weights it has."""


def packed_cases() -> Iterator[PackedCase]:
    """Every base in both widths, scaled by tensor, channel and group, symmetric or not."""
    for case, output, inputs in BASES:
        for bits in (4, 6):
            for scheme, axis, group in (("tensor", None, 0), ("channel", output, 0), ("group", inputs, 8)):
                for symmetric in (True, False):
                    words = f"{case.name}-{bits}-{scheme}-{'symmetric' if symmetric else 'asymmetric'}"
                    yield _case(words, case, bits, axis, group, symmetric)


def _case(name: str, case: Case, bits: int, axis: int | None, group: int, symmetric: bool) -> PackedCase:
    packed, real = case.model(), case.model()
    (node,), (plain,) = packed.graph, real.graph
    weight = low_bit(numbers_of(node.inputs[1]), bits, axis, group, symmetric)
    set_input(node, 1, low_bit_constant(packed, "weight", weight, bits, node))
    numbers = ModelReader(packed.graph).array(node.inputs[1])
    assert numbers is not None
    set_input(plain, 1, add_constant(real, "weight.real", numbers))
    return PackedCase(name, packed, real, dict(case.feed), bits, weight.codes.size)
