"""The cases of the float operators with every node in 16-bit floats, sums and denormals as a unit may have them."""

from __future__ import annotations

from collections.abc import Iterator

import onnx_ir as ir
from onnx.helper import make_node
from operator_cases import FLOAT_CASES, Case, build, draw

from metainfer_core.actions.half_laws import form_against
from metainfer_core.actions.half_tensors import in_half
from metainfer_core.actions.quantize_dequantize import quantize_output, read_in
from metainfer_core.actions.scales import activation_scale
from metainfer_core.actions.wide_integers import wide_scale
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


def between_codes(name: str, bits: int) -> tuple[Case, ir.Model]:
    """A Sigmoid in a 16-bit format between two Relus on integer codes."""
    links = (("Relu", "x", "r"), ("Sigmoid", "r", "s"), ("Relu", "s", "y"))
    nodes = [make_node(op, [of], [to], to) for op, of, to in links]
    case = build(f"between_{name}_{bits}", nodes, {"x": draw("between", 7, 30) * 2})
    model = case.model()
    first, middle, last = model.graph
    scales = {8: lambda low, high: activation_scale(low, high, False), 16: wide_scale}[bits]
    read_in(model, first, 0, scales(-6.0, 6.0), bits)
    quantize_output(model, first.outputs[0], scales(0.0, 6.0), first, bits)
    quantize_output(model, middle.outputs[0], scales(0.0, 1.0), middle, bits)
    quantize_output(model, last.outputs[0], scales(0.0, 0.9), last, bits)
    in_half(model, middle, FORMATS[name], False)
    return case, model


def border_cases() -> Iterator[tuple[Case, ir.Model]]:
    """Each format between codes of each width."""
    return (between_codes(name, bits) for name in FORMATS for bits in (8, 16))
