"""Imports a model of PyTorch or TensorFlow: told apart, converted in a process with limits, compared, recorded."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir

from framework_import.exchange import Converted, Task, unpack
from framework_import.pt2_archive import HOW_TO_SAVE as SAVE_A_PROGRAM
from framework_import.saved_model import HOW_TO_SAVE as SAVE_A_FOLDER
from metainfer_core import __version__, files
from metainfer_core.errors import InputError, MetaInferError, ObligationFailed, UnsupportedError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.input_shapes import ONLY_INPUT
from metainfer_core.values import canonical_json, sha256
from metainfer_core.verify.equivalence import Distance, distances
from metainfer_core.verify.reference import run_reference

EXTRAS = {"torch": ("torch", "onnxscript"), "tensorflow": ("tensorflow", "tf2onnx")}
"""The optional dependency that reads a framework's models, and the modules that it brings."""
RECORD = "metainfer.import"
"""Key of the record in the ONNX model's metadata."""
FOLDER_LIMIT_FILES = 1000
FOLDER_LIMIT_BYTES = 8 << 30


@dataclass(frozen=True)
class Imported:
    """A model of a framework as ONNX."""

    model: ir.Model
    source_digest: str
    """SHA-256 of the file, or of the names and digests of a folder's files."""
    versions: dict[str, str]
    compared: tuple[Distance, ...]
    """For each output: how far the ONNX model is from the framework."""
    inputs: tuple[str, ...]
    """Name and shape of what was run, one text an inference."""


def import_from_framework(task: Task) -> Imported:
    """The ONNX model of an exported program or a SavedModel, whose outputs are the framework's.

    Raises:
        InputError: It is neither, or broken, or hostile, or its extra is not installed.
        UnsupportedError: It cannot be brought to ONNX.
        ObligationFailed: The ONNX model computes something else.
    """
    digest = _digest(Path(task.path))
    converted = _in_child(task)
    imported = import_model(converted.onnx, Path(task.path).stem, f"{task.path} as ONNX")
    model = imported.model
    for node in model.graph.all_nodes():
        node.metadata_props.clear()  # where in whose source the node came from
        node.doc_string = None
    for value in [
        *model.graph.inputs,
        *model.graph.initializers.values(),
        *(v for n in model.graph for v in n.outputs),
    ]:
        value.metadata_props.clear()
    model.graph.metadata_props.clear()
    model.metadata_props.clear()
    versions = {**converted.versions, "meta-infer": __version__}
    record = {"source": Path(task.path).name, "source_digest": digest, "versions": versions}
    model.metadata_props[RECORD] = canonical_json(record).decode()
    compared = _compare(task, model, converted)
    shapes = tuple(
        ", ".join(f"{name}={list(array.shape)}" for name, array in draw.feeds.items()) for draw in converted.draws
    )
    return Imported(model, digest, versions, compared, shapes)


def framework_of(path: Path) -> str:
    """`torch` or `tensorflow`, by what stands at the path.

    Raises:
        InputError: It is a model of another kind: says how to save it so that it can be read.
    """
    if path.is_dir():
        if (path / "saved_model.pb").is_file():
            return "tensorflow"
        raise InputError(f"{path}: this folder is no SavedModel.", "There is no saved_model.pb in it.", SAVE_A_FOLDER)
    head = files.read_bytes(path, "model", FOLDER_LIMIT_BYTES)[:16]
    if path.suffix == ".onnx":
        raise InputError(f"{path}: this is ONNX already.", fix="Give it to the other commands as it is.")
    if head.startswith(b"\x89HDF") or path.suffix in (".h5", ".keras"):
        why = "Keras files may hold code beside weights (Lambda layers, classes by name), so they are never loaded."
        raise InputError(f"{path}: this is a model file of Keras.", why, SAVE_A_FOLDER)
    if head[4:8] == b"TFL3":
        raise InputError(
            f"{path}: this is a TensorFlow Lite model.", "Its weights may be quantized already.", SAVE_A_FOLDER
        )
    if path.suffix == ".safetensors":
        raise InputError(
            f"{path}: these are weights without a graph.", "safetensors holds tensors only.", SAVE_A_PROGRAM
        )
    if not zipfile.is_zipfile(path):
        pickled = head[:1] == b"\x80"
        raise InputError(
            f"{path}: this is {'a pickle' if pickled else 'no model of PyTorch or TensorFlow'}.",
            "A pickle can run code when it is read, so it is never loaded."
            if pickled
            else "An exported program (.pt2) or the folder of a SavedModel was expected.",
            SAVE_A_PROGRAM if pickled else f"{SAVE_A_PROGRAM} {SAVE_A_FOLDER}",
        )
    return "torch"


def need_extra(framework: str) -> None:
    """Refuses where the framework is not installed; says which extra brings it."""
    missing = [name for name in EXTRAS[framework] if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(
            f"This model needs the extra {framework!r}, which is not installed.",
            f"There is no module {missing[0]} in {sys.prefix}.",
            f'Install it: pip install "meta-infer[{framework}]".',
        )


def _in_child(task: Task) -> Converted:
    """The answer of the process that converts, or its death as an error."""
    command = [sys.executable, "-m", "framework_import.child", task.to_json().decode()]
    environment = os.environ | {"PYTHONHASHSEED": "0"}  # exporters name what they add in the order of their sets
    seconds = task.seconds * 1.5
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False, env=environment
        )
    except subprocess.TimeoutExpired as error:
        raise _stopped(task, f"It was stopped after {seconds:.0f} s.") from error
    if not done.stdout:
        if done.returncode == -signal.SIGXCPU:
            raise _stopped(task, f"It took more than {task.seconds} s of computing.")
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        ended = signal.Signals(-done.returncode).name if done.returncode < 0 else f"status {done.returncode}"
        raise _stopped(task, f"The framework broke down ({ended}). {said[-1][:300] if said else ''}".strip())
    return unpack(done.stdout)


def _stopped(task: Task, why: str) -> MetaInferError:
    return InputError(f"{task.path}: this model cannot be imported.", why, "Export it to ONNX yourself and give that.")


def _compare(task: Task, model: ir.Model, converted: Converted) -> tuple[Distance, ...]:
    """How far ONNX Runtime on the new model is from the framework.

    Raises:
        ObligationFailed: Further than float arithmetic in another order explains.
    """
    inputs = {str(each.name) for each in model.graph.inputs}
    unknown = sorted(task.shapes.keys() - converted.draws[0].feeds.keys() - {ONLY_INPUT})
    if unknown:
        raise InputError(
            f"--input-shape names {unknown[0]!r}, which is no input of {task.path}.",
            f"Its inputs are {', '.join(converted.draws[0].feeds)}.",
            "Name one of these.",
        )
    feeds = [{name: array for name, array in draw.feeds.items() if name in inputs} for draw in converted.draws]
    outputs = [str(each.name) for each in model.graph.outputs]
    given = {len(draw.outputs) for draw in converted.draws}
    if given != {len(outputs)} or inputs - feeds[0].keys():
        raise UnsupportedError(
            f"{task.path}: the ONNX model has other inputs or outputs than the framework's.",
            f"Inputs {sorted(inputs)}, outputs {outputs}; the framework took {sorted(converted.draws[0].feeds)}.",
            "Let the model take and give tensors only, each once.",
        )
    theirs = [dict(zip(outputs, draw.outputs, strict=True)) for draw in converted.draws]
    compared = distances(theirs, run_reference(model, feeds))
    worst = next((each for each in compared if not each.holds), None)
    if worst is not None:
        raise ObligationFailed(
            f"{task.path}: the ONNX model does not compute what the framework does.",
            f"Output {worst.output}: {worst.reason}",
            "Export the model to ONNX yourself and compare, or report it with the model.",
        )
    return compared


def _digest(path: Path) -> str:
    if path.is_file():
        return sha256(files.read_bytes(path, "model", FOLDER_LIMIT_BYTES))
    found = sorted(path.rglob("*"))
    if any(each.is_symlink() for each in found) or len(found) > FOLDER_LIMIT_FILES:
        raise InputError(
            f"{path}: this folder holds links, or more than {FOLDER_LIMIT_FILES} files.",
            "A SavedModel has a few files of its own.",
            SAVE_A_FOLDER,
        )
    if sum(each.stat().st_size for each in found) > FOLDER_LIMIT_BYTES:
        raise InputError(
            f"{path}: this folder has more than {FOLDER_LIMIT_BYTES:,} bytes.", fix="Give a smaller model."
        )
    digests = {
        each.relative_to(path).as_posix(): sha256(files.read_bytes(each, "model", FOLDER_LIMIT_BYTES))
        for each in found
        if each.is_file()
    }
    return sha256(canonical_json(digests))
