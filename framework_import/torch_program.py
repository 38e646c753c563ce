"""PyTorch: an exported program (`torch.export.save`), from its own graph to ONNX, and what it computes."""

from __future__ import annotations

import io
import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from framework_import.exchange import DRAWS, Converted, Draw, Task, free_size, random_array, root_of
from framework_import.pt2_archive import UNPACKED_LIMIT_BYTES, cleaned
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.files import read_bytes


def convert(task: Task) -> Converted:
    """The ONNX model of an exported program, and its outputs on seeded inputs.

    Raises:
        InputError: It is no exported program, is broken, or holds what could run when it is read.
        UnsupportedError: It takes what is no tensor, or has an operator that its exporter does not know.
    """
    archive = cleaned(read_bytes(Path(task.path), "exported program", UNPACKED_LIMIT_BYTES), task.path)
    import torch  # the extra

    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    torch.manual_seed(task.seed)
    try:
        program = torch.export.load(io.BytesIO(archive))
    except Exception as error:  # of the archive: PyTorch has no class of its own for it
        raise InputError(
            f"{task.path}: PyTorch {torch.__version__} cannot read this program.",
            root_of(error),
            "Save it again with this version of PyTorch.",
        ) from error
    draws = tuple(_draw(program, task, number) for number in range(DRAWS))
    try:
        exported = torch.onnx.export(program, dynamo=True, optimize=True, verbose=False)
        onnx = exported.model_proto.SerializeToString()
    except Exception as error:  # an operator that it does not know, mostly, in classes of its own
        raise UnsupportedError(
            f"{task.path}: PyTorch's exporter cannot bring this program to ONNX.",
            root_of(error),
            "Replace the operator that it names, or export the model to ONNX yourself and give that.",
        ) from error
    return Converted(onnx, {name: version(name) for name in ("torch", "onnxscript")}, draws)


def _draw(program: Any, task: Task, number: int) -> Draw:
    import torch

    generator = np.random.default_rng([task.seed, number])
    values = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    names = list(program.graph_signature.user_inputs)
    strange = [name for name in names if not isinstance(values.get(str(name)), torch.Tensor)]
    if strange:
        raise UnsupportedError(
            f"{task.path}: its input {strange[0]} is no tensor.",
            "An ONNX model takes tensors only.",
            "Fix that argument in a module around the model, and export that.",
        )
    sizes = _sizes(program, values, names, task, number)
    feeds = {}
    for name in names:
        shape = tuple(int(_known(extent, sizes)) for extent in values[name].shape)
        feeds[name] = random_array(generator, shape, torch.empty(0, dtype=values[name].dtype).numpy().dtype)
    flat = [torch.from_numpy(feeds[name]) for name in names]
    arguments, keywords = torch.utils._pytree.tree_unflatten(flat, program.call_spec.in_spec)
    try:
        with torch.no_grad():
            given = program.module()(*arguments, **keywords)
    except Exception as error:  # sizes or values that the model does not take
        raise InputError(
            f"{task.path}: the program does not run on inputs of {_shapes(feeds)}.",
            root_of(error),
            'Say which sizes it takes: --input-shape "x=[1,3,224,224]".',
        ) from error
    outputs = torch.utils._pytree.tree_leaves(given)
    return Draw(feeds, tuple(each.detach().numpy() for each in outputs if isinstance(each, torch.Tensor)))


def _sizes(program: Any, values: dict[str, Any], names: list[str], task: Task, number: int) -> dict[Any, int]:
    """A size for each symbol in the shapes of the inputs: what was asked for, else one within its bounds."""
    sizes: dict[Any, int] = {}
    for name in names:
        asked = task.shapes.get(name) or (task.shapes.get("") if len(names) == 1 else None)
        for axis, extent in enumerate(values[name].shape):
            symbol = getattr(getattr(extent, "node", None), "expr", None)
            if symbol is None:
                continue
            for each in symbol.free_symbols - sizes.keys():
                bounds = program.range_constraints.get(each)
                lower, upper = (bounds.lower, bounds.upper) if bounds is not None else (None, None)
                sizes[each] = free_size(number, axis, _whole(lower) or 1, _whole(upper))
                if asked is not None and axis < len(asked) and symbol == each:
                    sizes[each] = asked[axis]
    return sizes


def _whole(bound: Any) -> int | None:
    """A bound as a number; None for infinity, of which there are several kinds."""
    return int(bound) if bound is not None and bound.is_Integer else None


def _known(extent: Any, sizes: dict[Any, int]) -> Any:
    symbol = getattr(getattr(extent, "node", None), "expr", None)
    return extent if symbol is None else symbol.subs(sizes)


def _shapes(feeds: dict[str, np.ndarray]) -> str:
    return ", ".join(f"{name}={list(array.shape)}" for name, array in feeds.items())
