"""Commands that look at a model alone: preprocess, shape-inferer, model show, op-registry."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.cli import console
from metainfer_core.cli.model_options import InputShapes, input_shapes
from metainfer_core.errors import InputError
from metainfer_core.files import alone, check_outputs, read_bytes
from metainfer_core.graph.files.load import ImportedModel, load_model
from metainfer_core.graph.files.registry import (
    OperatorRegistry,
    RegisteredOperator,
    definition,
    read_registry,
    registry_bytes,
    save_registry,
)
from metainfer_core.graph.files.save import model_digest, save_model
from metainfer_core.graph.report import PreprocessReport
from metainfer_core.graph.shapes import describe
from metainfer_core.graph.static.input_values import read_input_values
from metainfer_core.graph.static.preprocess import Preprocessed, dynamic_nodes, infer, preprocess
from metainfer_core.graph.summary import GraphSummary, summarise
from metainfer_core.policy.lineage import lineage_of
from metainfer_core.spec.files.yaml_file import read_spec

ModelArgument = Annotated[Path, typer.Argument(metavar="MODEL", help="An ONNX file.")]
InputValues = Annotated[
    list[str],
    typer.Option("--input-value", help="An input that is always the same, such as rate=16000. Can be repeated."),
]
RegistryFile = Annotated[Path, typer.Option("--registry", help="File of the operators that you defined.")]
DEFAULT_REGISTRY = Path("workspace/operators.yaml")

ADD_EXAMPLE = (
    "Example: meta-infer op-registry add --name BiasQuantize --input x --input scale --input zero_point --input bias "
    '--expression "y = scale * (x - zero_point) + bias" --hardware npu=quantize_int8 --fallback float16'
)


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command(
        "preprocess",
        epilog='Example: meta-infer preprocess --model unet.onnx --input-shape "[1,3,512,512]" --hw-spec '
        "hwspecs/rk3588_v1.0.0.yaml --output unet_static.onnx",
    )(preprocess_model)
    app.command("shape-inferer", epilog='Example: meta-infer shape-inferer det.onnx --input-shape "x=[1,3,640,640]"')(
        show_shapes
    )
    model = typer.Typer(help="Models: what they hold and cost.", no_args_is_help=True, rich_markup_mode=None)
    model.callback()(_group)
    model.command("show", epilog="Example: meta-infer model show mobilenet.onnx")(show_model)
    app.add_typer(model, name="model")
    registry = typer.Typer(
        help="Operators that you define, for models that use what ONNX does not have.",
        no_args_is_help=True,
        rich_markup_mode=None,
    )
    registry.command("add", epilog=ADD_EXAMPLE)(add_operator)
    registry.command("list", epilog="Example: meta-infer op-registry list")(list_operators)
    registry.command("show", epilog="Example: meta-infer op-registry show BiasQuantize")(show_operator)
    app.add_typer(registry, name="op-registry")


def _group() -> None:
    """Keeps `model` a group of commands while it has one."""


def preprocess_model(
    model: Annotated[Path, typer.Option("--model", help="An ONNX file.")],
    output: Annotated[Path, typer.Option("--output", help="Where the new model is written (ONNX).")],
    shapes: InputShapes = [],  # noqa: B006 - typer copies it
    values: InputValues = [],  # noqa: B006
    hw_spec: Annotated[Path | None, typer.Option("--hw-spec", help="Spec that the model is prepared for.")] = None,
    registry: RegistryFile = DEFAULT_REGISTRY,
    json: console.Json = False,
) -> None:
    """Gives a model fixed shapes, folds what is constant, and takes out what only training needs."""
    check_outputs([output], "model", [model, hw_spec, registry])
    spec = read_spec(hw_spec) if hw_spec is not None else None
    with console.progress("Preprocess") as progress:
        progress("reading the model", 0, 0)
        imported = load_model(model, read_registry(registry))
        result = preprocess(imported.model, input_shapes(shapes), read_input_values(values), progress)
        result.model.metadata_props["metainfer.model_digest"] = imported.digest
        if spec is not None:
            result.model.metadata_props["metainfer.spec_digest"] = spec.values_digest
        progress("writing the model", 0, 0)
        save_model(output, result.model)
    answer: dict[str, Any] = {
        "output": str(output),
        "model_digest": imported.digest,
        "output_digest": model_digest(result.model),
        **({"spec": {"name": spec.name, "version": spec.version, "digest": spec.values_digest}} if spec else {}),
        **result.report.plain(),
    }
    console.emit(json, answer, "\n".join([*_report_lines(imported.name, result.report), f"Written to {output}."]))


def show_shapes(
    model: ModelArgument,
    shapes: InputShapes = [],  # noqa: B006
    values: InputValues = [],  # noqa: B006
    registry: RegistryFile = DEFAULT_REGISTRY,
    json: console.Json = False,
) -> None:
    """Shows type and shape of every tensor, and each node whose shape stays open (exit status 1 if there is one)."""
    with console.progress("Shapes") as progress:
        imported = load_model(model, read_registry(registry))
        result = infer(imported.model, input_shapes(shapes), read_input_values(values), progress)
    graph = result.model.graph
    dynamic = [node.name or "" for node in dynamic_nodes(result.model)]
    tensors = [
        {"node": node.name, "op_type": node.op_type, "tensor": value.name, "type": describe(value)}
        for node in graph
        for value in node.outputs
        if value.name
    ]
    answer = {
        "inputs": {value.name: describe(value) for value in graph.inputs},
        "outputs": {value.name: describe(value) for value in graph.outputs},
        "tensors": tensors,
        "dynamic": dynamic,
        "assumptions": list(result.report.assumptions),
    }
    lines = [f"input   {value.name}  {describe(value)}" for value in graph.inputs]
    lines += _table(["node", "operator", "tensor", "type"], [[str(text) for text in each.values()] for each in tensors])
    lines += [f"output  {value.name}  {describe(value)}" for value in graph.outputs]
    lines += result.report.assumptions
    lines.append(f"Shape still open: {', '.join(dynamic)}." if dynamic else "Every shape is known.")
    console.emit(json, answer, "\n".join(lines))
    console.verdict(bool(dynamic))


def show_model(
    model: ModelArgument,
    shapes: InputShapes = [],  # noqa: B006
    values: InputValues = [],  # noqa: B006
    registry: RegistryFile = DEFAULT_REGISTRY,
    json: console.Json = False,
) -> None:
    """Shows what each node computes and moves, whatever the hardware."""
    with console.progress("Model") as progress:
        imported = load_model(model, read_registry(registry))
        result = preprocess(imported.model, input_shapes(shapes), read_input_values(values), progress)
        summary = summarise(result.model)
        lineage = lineage_of(imported.model)
    answer = {
        "name": imported.name,
        "digest": imported.digest,
        "inputs": {value.name: describe(value) for value in result.model.graph.inputs},
        "outputs": {value.name: describe(value) for value in result.model.graph.outputs},
        "assumptions": list(result.report.assumptions),
        "macs": summary.macs,
        "flops": summary.flops,
        "moved_bytes": summary.moved_bytes,
        "unknown_operators": list(summary.unknown_operators),
        **({"fine_tuning": lineage.plain()} if lineage is not None else {}),
        **summary.plain(),
    }
    told = [lineage.words] if lineage is not None else []
    console.emit(json, answer, "\n".join([*told, *_summary_lines(imported, result, summary)]))


def add_operator(
    name: Annotated[str, typer.Option("--name", help="Operator type of the nodes in a model.")],
    inputs: Annotated[list[str], typer.Option("--input", help="Name of an input, in order. Can be repeated.")] = [],  # noqa: B006
    domain: Annotated[str, typer.Option("--domain", help="Domain of the nodes in a model.")] = "custom",
    expression: Annotated[str | None, typer.Option("--expression", help="Definition as a formula.")] = None,
    function: Annotated[Path | None, typer.Option("--function", help="File with the definition in ONNX text.")] = None,
    hardware: Annotated[
        list[str], typer.Option("--hardware", help="UNIT=INSTRUCTION that does it there. Can be repeated.")
    ] = [],  # noqa: B006
    fallback: Annotated[
        str | None, typer.Option("--fallback", help="Precision to run the definition in elsewhere.")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace an operator of the same name.")] = False,
    registry: RegistryFile = DEFAULT_REGISTRY,
    json: console.Json = False,
) -> None:
    """Registers an operator by its definition, and how hardware does it."""
    text = _text_of(function) if function is not None else None
    plain = {
        "name": name,
        "domain": domain,
        "inputs": inputs,
        "expression": expression,
        "function": text,
        "hardware": dict(_pair(each) for each in hardware),
        "fallback": fallback,
    }
    operator = RegisteredOperator.from_plain(plain, "op-registry add")
    nodes = [node.op_type for node in definition(operator).node]
    with alone(registry):
        save_registry(registry, read_registry(registry).with_operator(operator, replace))
    answer = {"registry": str(registry), "operator": operator.plain(), "nodes": nodes}
    console.emit(json, answer, f"Registered {operator.title} as {', '.join(nodes)} in {registry}.")


def list_operators(registry: RegistryFile = DEFAULT_REGISTRY, json: console.Json = False) -> None:
    """Lists the operators that you defined."""
    known = read_registry(registry)
    rows = [[each.title, each.expression or "ONNX function", each.fallback or "-"] for each in known.operators]
    lines = _table(["operator", "definition", "fallback"], rows) if rows else [f"No operator is defined in {registry}."]
    answer = {"registry": str(registry), "operators": [each.plain() for each in known.operators]}
    console.emit(json, answer, "\n".join(lines))


def show_operator(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Its name, or domain.name.")],
    registry: RegistryFile = DEFAULT_REGISTRY,
    json: console.Json = False,
) -> None:
    """Shows one operator and the ONNX operators that it stands for."""
    known = read_registry(registry)
    operator = known.find(name)
    if operator is None:
        titles = ", ".join(each.title for each in known.operators) or "none"
        raise InputError(
            f"{registry}: there is no operator {name!r}.", f"It defines: {titles}.", "Use one of these names."
        )
    nodes = [node.op_type for node in definition(operator).node]
    text = registry_bytes(OperatorRegistry(operators=(operator,))).decode() + f"Stands for: {', '.join(nodes)}."
    console.emit(json, {"operator": operator.plain(), "nodes": nodes}, text)


def _report_lines(name: str, report: PreprocessReport) -> list[str]:
    """The report for people: counts first, then what is not routine."""
    shapes = ", ".join(f"{each} {list(shape)}" for each, shape in report.input_shapes.items())
    lines = [f"{name}: {report.nodes_before} nodes became {report.nodes_after}. Inputs: {shapes}."]
    lines += report.assumptions
    lines += [f"  {kind}: {count}" for kind, count in sorted(Counter(each.kind for each in report.rewrites).items())]
    telling = (
        "bind_shape",
        "bind_value",
        "inference_form",
        "inline_branch",
        "unroll_loop",
        "gather_to_slice",
        "keep_large",
    )
    lines += [f"  {each.node}: {each.why}" for each in report.rewrites if each.kind in telling]
    return lines


def _summary_lines(imported: ImportedModel, result: Preprocessed, summary: GraphSummary) -> list[str]:
    rows = [
        [
            node.id,
            node.op_type,
            " ".join(f"{node.element_type}{list(shape)}" for shape in node.output_shapes),
            f"{node.macs:,}",
            "unknown" if node.flops is None else f"{node.flops:,}",
            f"{node.parameter_bytes:,}",
            f"{node.moved_bytes:,}",
            f"{node.live_bytes:,}",
            "-" if node.arithmetic_intensity is None else f"{node.arithmetic_intensity:.2f}",
        ]
        for node in summary.nodes
    ]
    heads = ["node", "operator", "output", "MACs", "operations", "parameter B", "moved B", "live B", "ops/B"]
    graph = result.model.graph
    return [
        f"{imported.name} {imported.digest}",
        *(f"input   {value.name}  {describe(value)}" for value in graph.inputs),
        *(f"output  {value.name}  {describe(value)}" for value in graph.outputs),
        *_table(heads, rows),
        *result.report.assumptions,
        f"{len(summary.nodes)} nodes · {summary.macs:,} MACs · {summary.flops:,} operations · "
        f"{summary.parameter_bytes:,} bytes of parameters · {summary.moved_bytes:,} bytes moved · "
        f"at least {summary.peak_live_bytes:,} bytes of working memory",
    ]


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """Text columns, each as wide as its widest entry."""
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    return [
        "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in [heads, *rows]
    ]


def _text_of(path: Path) -> str:
    try:
        return read_bytes(path, "function", 1 << 20).decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8.", fix="Save the file as UTF-8 text.") from error


def _pair(text: str) -> tuple[str, str]:
    unit, equals, instruction = text.partition("=")
    if not (unit and equals and instruction):
        raise InputError(
            f"--hardware {text!r} cannot be read.",
            "The name of a compute unit, `=`, and its instruction were expected.",
            "Write it like --hardware npu=quantize_int8.",
        )
    return unit, instruction
