"""The cases of the float operators with every node in 16-bit floats, sums and denormals as a unit may have them."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
from operator_cases import FLOAT_CASES, Case

from metainfer_core.actions.half_laws import form_against
from metainfer_core.actions.half_tensors import in_half
from metainfer_core.numerics.half import FORMATS
from metainfer_core.numerics.lowering.model_reader import FLUSH, HALF_SUMS


def in_format(model: ir.Model, name: str, half_sums: bool = False, flush: bool = False) -> ir.Model:
    """The model with every node in a format, which all of them must have a kernel in."""
    half = FORMATS[name]
    for node in tuple(model.graph):
        if half_sums:
            node.metadata_props[HALF_SUMS] = "1"
        if flush:
            node.metadata_props[FLUSH] = "1"
        in_half(model, node, half, flush)
    return model


def computable(case: Case) -> bool:
    """Whether all nodes of a case have a kernel on 16-bit floats."""
    return all(form_against(node) is None for node in case.model().graph)


def half_cases() -> Iterator[Case]:
    """The cases that have a form in 16-bit floats."""
    return (case for case in FLOAT_CASES if computable(case))
