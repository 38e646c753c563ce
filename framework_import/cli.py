"""Command of `meta-infer`: import, which brings models of PyTorch and TensorFlow to ONNX."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from framework_import.exchange import Task
from framework_import.import_model import Imported, framework_of, import_from_framework, need_extra
from metainfer_core.cli import console
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.errors import InputError
from metainfer_core.files import check_outputs
from metainfer_core.graph.files.save import model_digest, save_model


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command("import", epilog="Example: meta-infer import detector.pt2 --output detector.onnx")(import_command)


def import_command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A program of torch.export.save (.pt2), or the folder of a SavedModel."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="X.onnx", help="Where the ONNX model goes.")],
    shapes: InputShapes = [],  # noqa: B006 - typer copies it
    signature: Annotated[str, typer.Option("--signature", help="Which function of a SavedModel.")] = "serving_default",
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the inputs on which both are compared.")] = 0,
    json: console.Json = False,
) -> None:
    """Brings a model of PyTorch or TensorFlow to ONNX, and compares the two on seeded inputs.

    The model is read in a process without network that writes no files; pickles are never loaded. Sizes that the
    model leaves free stay free; --input-shape says on which sizes to compare.
    """
    framework = framework_of(model)
    if model.is_dir() and output.absolute().is_relative_to(model.absolute()):
        raise InputError(f"{output}: this lies in the folder that is read.", fix="Give a place outside of it.")
    check_outputs([output], "model", [model])
    need_extra(framework)
    task = Task(framework=framework, path=str(model), signature=signature, shapes=input_shapes(shapes), seed=seed)
    with console.progress("import") as progress:
        progress(f"reading the model in {framework}, converting it, and comparing", 0, 0)
        imported = import_from_framework(task)
        save_model(output, imported.model)
    answer: dict[str, Any] = {
        "output": str(output),
        "output_digest": model_digest(imported.model),
        "source_digest": imported.source_digest,
        "versions": imported.versions,
        "inputs": list(imported.inputs),
        "compared": [each.plain() for each in imported.compared],
    }
    console.emit(json, answer, "\n".join([*_lines(imported, seed), f"Written to {output}."]))


def _lines(imported: Imported, seed: int) -> list[str]:
    tools = ", ".join(f"{name} {version}" for name, version in imported.versions.items())
    return [
        f"Brought to ONNX by {tools}.",
        f"Compared with the framework on random inputs, seed {seed}: {'; '.join(imported.inputs)}.",
        *(
            f"  {each.output}: off by at most {each.max_abs_error:.3g} (allowed {each.allowed:.3g})"
            for each in imported.compared
        ),
    ]
