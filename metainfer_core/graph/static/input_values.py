"""Inputs that are always the same, such as a sample rate, become constants."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import numpy as np
import onnx_ir as ir

from metainfer_core.errors import InputError
from metainfer_core.graph.edit import Editor
from metainfer_core.graph.report import Rewrite
from metainfer_core.graph.shapes import describe


def read_input_values(texts: Iterable[str]) -> dict[str, np.ndarray]:
    """Values as people write them: `rate=16000`, `scale=[0.5,0.25]`, `flag=true`.

    Raises:
        InputError: A text is not of this form, or a name is given twice.
    """
    values: dict[str, np.ndarray] = {}
    for text in texts:
        name, equals, written = text.rpartition("=")
        try:
            array = np.array(json.loads(written))
        except (ValueError, RecursionError):
            array = np.array("")
        if not name or not equals or array.dtype.kind not in "bif":
            raise InputError(
                f"{text!r} is not an input value.",
                "A name, `=`, and a number or a list of numbers was expected.",
                "Write it like --input-value rate=16000.",
            )
        if name in values:
            raise InputError(f"The value of {name!r} is given twice.", fix="Give it once.")
        values[name] = array
    return values


def bind_input_values(edit: Editor, values: Mapping[str, np.ndarray]) -> None:
    """Turns the named inputs into constants; they stop being inputs.

    Raises:
        InputError: There is no such input, or the value does not fit its type or shape.
    """
    by_name = {value.name: value for value in edit.graph.inputs}
    for name, array in values.items():
        value = by_name.get(name)
        if value is None or value.dtype is None:
            inputs = ", ".join(repr(each) for each in by_name)
            raise InputError(f"The model has no input {name!r}.", f"Its inputs are {inputs}.", "Use one of them.")
        tensor = _fitting(value, array)
        edit.graph.inputs.remove(value)
        value.const_value = tensor
        value.shape = ir.Shape(array.shape)
        edit.graph.register_initializer(value)
        shown = np.array2string(array, threshold=8)
        edit.rewrites.append(Rewrite(kind="bind_value", node=name, why=f"It is always {shown}."))


def _fitting(value: ir.Value, array: np.ndarray) -> ir.TensorProtocol:
    """The value in the input's type; refuses one of another shape, or that the type cannot hold."""
    declared = [extent if isinstance(extent, int) else None for extent in value.shape or ()]
    fits = value.shape is None or (
        len(declared) == array.ndim
        and all(have in (None, got) for have, got in zip(declared, array.shape, strict=True))
    )
    assert value.dtype is not None  # the caller looked
    with np.errstate(all="ignore"):
        cast = array.astype(value.dtype.numpy())
        kept = np.array_equal(cast.astype(array.dtype), array) or cast.dtype.kind == "f"
    if not fits or not kept:
        raise InputError(
            f"The value {np.array2string(array, threshold=8)} does not fit the input {value.name!r}.",
            f"The model declares {describe(value)}.",
            "Give a value of that type and shape.",
        )
    return ir.tensor(cast, dtype=value.dtype, name=value.name)
