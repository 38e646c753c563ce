"""The option `--input-shape`, which every command that reads a model has."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from metainfer_core.errors import InputError
from metainfer_core.graph.static.input_shapes import ONLY_INPUT

InputShapes = Annotated[
    list[str],
    typer.Option(
        "--input-shape",
        help='Shape of an input: "[1,3,48,192]", "x=[1,3,48,192]", or "N=1" for a named dimension. Can be repeated.',
    ),
]


def input_shapes(texts: list[str]) -> dict[str, tuple[int, ...]]:
    """Shapes by input name (or extents by dimension name), as `preprocess` takes them; "" is the only input."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        found = re.fullmatch(r"(?:(?P<name>[^=\[\]]+)=)?\[?(?P<dims>\d{1,9}(?:\s*,\s*\d{1,9})*)\]?", text.strip())
        if found is None:
            raise InputError(
                f"--input-shape {text!r} cannot be read.",
                "It is a list of whole numbers, after the name of an input where the model has several.",
                'Examples: --input-shape "[1,3,48,192]"  --input-shape "x=[1,3,48,192]"  --input-shape "N=1"',
            )
        name = (found["name"] or ONLY_INPUT).strip()
        if name in shapes:
            raise InputError(f"--input-shape gives {name or 'the input'} twice.", fix="Give each input one shape.")
        shapes[name] = tuple(int(extent) for extent in found["dims"].split(","))
    return shapes
