"""Binding the dynamic dimensions of graph inputs to numbers: given ones, or a batch of one."""

from __future__ import annotations

from collections.abc import Mapping

import onnx_ir as ir

from metainfer_core.errors import InputError
from metainfer_core.graph.report import Rewrite

EXTENT_LIMIT = 1 << 31
ONLY_INPUT = ""
"""Key of a shape that is given without a name: it belongs to the only input, or to the only dynamic one."""


def bind_input_shapes(graph: ir.Graph, given: Mapping[str, tuple[int, ...]]) -> tuple[list[Rewrite], list[str]]:
    """Gives every graph input a static shape, in place. Returns the rewrites and the assumptions.

    Args:
        graph: The main graph.
        given: Shapes keyed by input name, extents (as a shape of length 1) keyed by dimension name, or one shape
            keyed by `ONLY_INPUT`. A dimension's name stands for the same number at every input.

    Raises:
        InputError: A shape contradicts the model, names nothing, or is missing.
    """
    shapes, named = _sort_out(graph, given)
    for value in graph.inputs:
        if value.name in shapes:
            _check(value, shapes[value.name], named)
            for dimension, extent in zip(_dims(value), shapes[value.name], strict=False):
                if isinstance(dimension, str):
                    named.setdefault(dimension, extent)
    rewrites, assumptions, open_inputs = [], [], []
    for value in graph.inputs:
        declared = _dims(value)
        bound = [_bound(extent, named) for extent in shapes.get(value.name or "", declared)]
        if bound and bound[0] is None and None not in bound[1:]:
            bound[0] = 1
            assumptions.append(
                f"The input {value.name!r} takes one sample at a time: its first dimension was left open."
            )
            if isinstance(declared[0], str):
                named.setdefault(declared[0], 1)
        if None in bound or (value.shape is None and value.name not in shapes):
            open_inputs.append(value)
            continue
        if bound != declared:
            why = f"{_shown(declared)} is bound to {bound}."
            rewrites.append(Rewrite(kind="bind_shape", node=value.name or "", why=why))
        value.shape = ir.Shape([extent for extent in bound if extent is not None])
    if open_inputs:
        raise _shapes_needed(open_inputs)
    return rewrites, assumptions


def _sort_out(
    graph: ir.Graph, given: Mapping[str, tuple[int, ...]]
) -> tuple[dict[str, tuple[int, ...]], dict[str, int]]:
    """Splits what was given into shapes by input name and extents by dimension name."""
    by_name = {value.name or "": value for value in graph.inputs}
    dimensions = {extent for value in graph.inputs for extent in _dims(value) if isinstance(extent, str)}
    shapes: dict[str, tuple[int, ...]] = {}
    named: dict[str, int] = {}
    for name, shape in given.items():
        if any(extent < 1 or extent > EXTENT_LIMIT for extent in shape):
            raise InputError(
                f"The shape {list(shape)} given for {name or 'the input'!r} cannot be.",
                f"Each extent is a number from 1 to {EXTENT_LIMIT:,}.",
                'Give numbers, such as --input-shape "[1,3,224,224]".',
            )
        if name in by_name:
            shapes[name] = shape
        elif name == ONLY_INPUT:
            shapes[_only_input(graph).name or ""] = shape
        elif name in dimensions and len(shape) == 1:
            named[name] = shape[0]
        else:
            inputs = ", ".join(f"{value.name!r} {_shown(_dims(value))}" for value in graph.inputs)
            raise InputError(
                f"The model has no input or dimension {name!r}.",
                f"Its inputs are {inputs}.",
                "Use the name of one of them, or of one of their dimensions.",
            )
    return shapes, named


def _only_input(graph: ir.Graph) -> ir.Value:
    if len(graph.inputs) == 1:
        return graph.inputs[0]
    dynamic = [value for value in graph.inputs if any(not isinstance(extent, int) for extent in _dims(value))]
    if len(dynamic) == 1:
        return dynamic[0]
    names = ", ".join(repr(value.name) for value in graph.inputs)
    raise InputError(
        "A shape was given without the name of its input.",
        f"The model has several inputs: {names}.",
        f'Name it: --input-shape "{graph.inputs[0].name}=[...]".' if graph.inputs else "Leave the shape out.",
    )


def _check(value: ir.Value, shape: tuple[int, ...], named: Mapping[str, int]) -> None:
    """Refuses a given shape that contradicts what the model declares."""
    if value.shape is None:
        return
    declared = _dims(value)
    fits = len(shape) == len(declared)
    for have, want in zip(declared, shape, strict=False):
        fixed = named.get(have) if isinstance(have, str) else have
        fits = fits and fixed in (None, want)
    if not fits:
        raise InputError(
            f"The shape {list(shape)} does not fit the input {value.name!r}.",
            f"The model declares {_shown(declared)}; named dimensions that were given: {dict(named) or 'none'}.",
            "Give a shape of the same rank that keeps the numbers in it.",
        )


def _dims(value: ir.Value) -> list[int | str | None]:
    """Extents as declared: a number, a name, or None."""
    if value.shape is None:
        return []
    return [extent if isinstance(extent, int) else extent.value for extent in value.shape]


def _bound(extent: int | str | None, named: Mapping[str, int]) -> int | None:
    return named.get(extent) if isinstance(extent, str) else extent


def _shown(declared: list[int | str | None]) -> str:
    return "[" + ", ".join("?" if extent is None else str(extent) for extent in declared) + "]"


def _shapes_needed(values: list[ir.Value]) -> InputError:
    listed = "; ".join(
        f"{value.name!r} {_shown(_dims(value)) if value.shape is not None else 'of unknown rank'}" for value in values
    )
    example = ", ".join(str(extent) if isinstance(extent, int) else "..." for extent in _dims(values[0])) or "..."
    name = values[0].name
    example = example.replace("...", "1", 1) if example.startswith("...") else example
    return InputError(
        f"The model leaves the shape of its inputs open: {listed}.",
        "A chip runs fixed shapes, and only an open batch dimension has a usual value (1).",
        f'Give numbers for what is open, such as --input-shape "{name}=[{example.replace("...", "224")}]".',
    )
