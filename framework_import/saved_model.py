"""TensorFlow: a function of a SavedModel, checked for what could touch files, to ONNX, and what it computes."""

from __future__ import annotations

import logging
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from framework_import.exchange import DRAWS, Converted, Draw, Task, free_size, random_array, root_of
from metainfer_core.errors import InputError, MetaInferError, UnsupportedError
from metainfer_core.files import read_bytes

GRAPH_LIMIT_BYTES = (1 << 31) - 1
OPSET = 18
"""The newest that tf2onnx writes."""

_IN_NO_ORDER = ("merge_duplication", "fold_constants")
"""Steps of tf2onnx that give another model each time: of equal nodes another one is left. Preparing folds as well."""

HOW_TO_SAVE = "Save it with model.export('folder') of Keras 3 or tf.saved_model.save(model, 'folder')."

_STATEFUL = {
    "VarHandleOp", "ReadVariableOp", "DisableCopyOnRead",  # weights
    "StatefulPartitionedCall", "PartitionedCall", "While", "If", "Case", "Placeholder",  # calls
}  # fmt: skip
"""Operators with a state that a function may have."""
_FILES = re.compile(r".*(?:File|PyFunc|Path|Dataset|Checkpoint|Restore|Save).*")


def convert(task: Task) -> Converted:
    """The ONNX model of a SavedModel's function, and its outputs on seeded inputs.

    Raises:
        InputError: It is no SavedModel, is broken, or holds what could touch files.
        UnsupportedError: It has tables, or an operator that tf2onnx does not know.
    """
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0", "CUDA_VISIBLE_DEVICES": ""}
    import tensorflow as tf  # the extra
    from tf2onnx import optimizer, tf_loader
    from tf2onnx.tfonnx import process_tf_graph

    logging.getLogger("tf2onnx").setLevel(logging.CRITICAL)
    tf.random.set_seed(task.seed)
    _check(task)
    try:
        frozen, inputs, outputs, function, owner, renamed = tf_loader.from_saved_model(
            task.path, None, None, "serve", [task.signature], return_concrete_func=True, return_tensors_to_rename=True
        )
    except Exception as error:  # TensorFlow's classes of errors, and those of broken files
        raise InputError(
            f"{task.path}: TensorFlow {tf.__version__} cannot read this SavedModel.", root_of(error), HOW_TO_SAVE
        ) from error
    draws = tuple(_draw(function, task, number) for number in range(DRAWS))
    del owner  # which keeps the weights of the function alive
    try:
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(frozen, name="")
            converted = process_tf_graph(
                graph, opset=OPSET, input_names=inputs, output_names=outputs, tensors_to_rename=renamed
            )
        steps = {name: step for name, step in optimizer._optimizers.items() if name not in _IN_NO_ORDER}
        onnx = optimizer.optimize_graph(converted, optimizers=steps).make_model("model").SerializeToString()
    except Exception as error:  # an operator that it does not know, mostly
        raise UnsupportedError(
            f"{task.path}: tf2onnx cannot bring this model to ONNX.",
            root_of(error),
            "Replace the operator that it names, or export the model to ONNX yourself and give that.",
        ) from error
    return Converted(onnx, {name: version(name) for name in ("tensorflow-cpu", "tf2onnx")}, draws)


def _check(task: Task) -> None:
    """Refuses a function that reaches an operator with a state of its own, with Python, or with files."""
    from google.protobuf.message import DecodeError
    from tensorflow.core.protobuf import saved_model_pb2
    from tensorflow.python.framework import op_def_registry

    model = saved_model_pb2.SavedModel()
    try:
        model.ParseFromString(read_bytes(Path(task.path) / "saved_model.pb", "SavedModel", GRAPH_LIMIT_BYTES))
        (graph,) = [each for each in model.meta_graphs if "serve" in each.meta_info_def.tags]
    except MetaInferError:
        raise
    except (DecodeError, ValueError) as error:
        raise InputError(f"{task.path}: this is not a SavedModel.", root_of(error), HOW_TO_SAVE) from error
    if task.signature not in graph.signature_def:
        raise InputError(
            f"{task.path}: it has no function {task.signature!r}.",
            f"It has {', '.join(sorted(set(graph.signature_def) - {'__saved_model_init_op'})) or 'none'}.",
            "Name one of these with --signature, or save the model with a signature.",
        )
    if any(each.WhichOneof("kind") == "resource" or each.saveable_objects for each in graph.object_graph_def.nodes):
        raise UnsupportedError(
            f"{task.path}: it holds tables or other resources.",
            "They are filled by functions that run when the model is loaded, and nobody vouches for those.",
            "Move the look-up of words and labels out of the model, and save it again.",
        )
    for operator in sorted(_reached(graph, task.signature)):
        known = op_def_registry.get(operator)
        if known is None or _FILES.fullmatch(operator) or (known.is_stateful and operator not in _STATEFUL):
            raise InputError(
                f"{task.path}: its function {task.signature} has the operator {operator}.",
                "It is unknown, or has a state, files or Python behind it; only what computes is let through.",
                "Take it out of the function (random numbers belong to training), and save the model again.",
            )


def _reached(graph: Any, signature: str) -> set[str]:
    """Operators of the nodes behind a signature's outputs, and of all functions that those call."""
    nodes = {node.name: node for node in graph.graph_def.node}
    functions = {each.signature.name: each.node_def for each in graph.graph_def.library.function}
    waiting = [nodes[each.name.partition(":")[0]] for each in graph.signature_def[signature].outputs.values()]
    seen: set[str] = set()
    operators: set[str] = set()
    while waiting:
        node = waiting.pop()
        operators.add(node.op)
        for source in node.input:  # of a function's body: inputs among themselves, which are all looked at anyway
            name = source.lstrip("^").partition(":")[0]
            if name in nodes and name not in seen:
                seen.add(name)
                waiting.append(nodes[name])
        called = [each.func.name for each in node.attr.values() if each.HasField("func")]
        called += [each.name for attribute in node.attr.values() for each in attribute.list.func]
        for name in [*called, *([node.op] if node.op in functions else [])]:
            if f"function {name}" not in seen:
                seen.add(f"function {name}")
                waiting.extend(functions.get(name, ()))
    return {each for each in operators if each not in functions}


def _draw(function: Any, task: Task, number: int) -> Draw:
    import tensorflow as tf

    generator = np.random.default_rng([task.seed, number])
    specs = function.structured_input_signature[1]
    feeds = {}
    for name in sorted(specs):
        if specs[name].shape.rank is None:
            raise UnsupportedError(
                f"{task.path}: its input {name} has no number of axes.", fix="Save the model with a full signature."
            )
        asked = task.shapes.get(name) or (task.shapes.get("") if len(specs) == 1 else None)
        shape = tuple(
            int(extent)
            if extent is not None
            else (asked[axis] if asked and axis < len(asked) else free_size(number, axis))
            for axis, extent in enumerate(specs[name].shape)
        )
        feeds[name] = random_array(generator, shape, np.dtype(specs[name].dtype.as_numpy_dtype))
    try:
        given = function(**{name: tf.constant(array) for name, array in feeds.items()})
    except Exception as error:  # sizes or values that the model does not take
        raise InputError(
            f"{task.path}: the model does not run on inputs of "
            f"{', '.join(f'{name}={list(array.shape)}' for name, array in feeds.items())}.",
            root_of(error),
            'Say which sizes it takes: --input-shape "x=[1,224,224,3]".',
        ) from error
    return Draw(feeds, tuple(given[name].numpy() for name in sorted(given)))
