"""Operators that users define: kept in a YAML file, and replaced by their definition when a model is imported."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import onnx
import onnx.checker
import onnx.defs
import onnx.parser
import onnx_ir as ir
import onnx_ir.passes.common as passes
import pydantic

from metainfer_core import files
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.graph.files.expression import function_from_expression
from metainfer_core.graph.files.functions import short_reason
from metainfer_core.graph.files.opset import CANONICAL_IR_VERSION, ONNX_OPSET
from metainfer_core.graph.files.proto_walk import nodes_below
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, read_yaml, value_from
from metainfer_core.spec.files.yaml_writer import yaml_text
from metainfer_core.values import FrozenMap, Value

Identifier = Annotated[str, pydantic.StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,99}$")]
Domain = Annotated[str, pydantic.StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.\-]{0,99}$")]


class RegisteredOperator(Value):
    """One operator that a user defined."""

    name: Identifier
    """The operator type of nodes in a model."""
    domain: Domain = "custom"
    """The operator's domain in a model."""
    inputs: tuple[Identifier, ...] = ()
    """Names of the inputs in order; they are left out where `function` tells them."""
    expression: str | None = None
    """The definition as a formula, such as `y = scale * (x - zero_point) + bias` (see `expression.py`)."""
    function: str | None = None
    """The definition as a function in ONNX text: `name (x, s) => (y) { y = Mul (x, s) }`."""
    hardware: FrozenMap[str] = {}
    """Compute unit to the instruction that does it there, such as `npu: quantize_int8`."""
    fallback: str | None = None
    """The precision to run its definition in where no unit has the instruction, such as `float16`."""

    @pydantic.model_validator(mode="after")
    def _has_one_definition(self) -> RegisteredOperator:
        if (self.expression is None) == (self.function is None):
            raise ValueError("an operator needs either an expression or a function")
        if self.expression is not None and not self.inputs:
            raise ValueError("an expression needs the names of its inputs")
        if self.domain in ("ai.onnx", "ai.onnx.ml"):
            raise ValueError("the operators of this domain are defined by the standard")
        return self

    @property
    def title(self) -> str:
        """Domain and name."""
        return f"{self.domain}.{self.name}"


class OperatorRegistry(Value):
    """All operators of one registry file, by title."""

    format: Literal["metainfer.op_registry/1"] = "metainfer.op_registry/1"
    operators: tuple[RegisteredOperator, ...] = ()

    @pydantic.model_validator(mode="after")
    def _titles_are_unique(self) -> OperatorRegistry:
        repeated = [title for title, count in Counter(each.title for each in self.operators).items() if count > 1]
        if repeated:
            raise ValueError(f"{repeated[0]} is defined twice")
        return self

    def find(self, name: str) -> RegisteredOperator | None:
        """The operator of that title, or of that name alone where it is the only one."""
        found = [each for each in self.operators if name in (each.title, each.name)]
        return found[0] if len(found) == 1 else next((each for each in found if each.title == name), None)

    def with_operator(self, operator: RegisteredOperator, replace: bool = False) -> OperatorRegistry:
        """A registry that also holds `operator`; raises InputError if its title is taken and `replace` is not set."""
        others = tuple(each for each in self.operators if each.title != operator.title)
        if len(others) < len(self.operators) and not replace:
            raise InputError(
                f"The operator {operator.title} is registered already.",
                fix="Add --replace to replace it, or choose another name.",
            )
        return OperatorRegistry(operators=tuple(sorted((*others, operator), key=lambda each: each.title)))


def read_registry(path: Path) -> OperatorRegistry:
    """The registry in a file; an empty one where there is no file yet. Raises InputError for a broken one."""
    if not path.exists():
        return OperatorRegistry()
    document = read_yaml(files.read_bytes(path, "operator registry", BYTES_LIMIT), str(path))
    if not isinstance(document.data, dict):
        raise InputError(f"{path}: this is no operator registry.", "Keys `format` and `operators` were expected.")
    return value_from(document, document.data, OperatorRegistry)


def registry_bytes(registry: OperatorRegistry) -> bytes:
    """The registry as YAML; `read_registry` gives the same value back."""
    lines = [f"format: {yaml_text(registry.format)}"]
    lines += ["operators:"] if registry.operators else ["operators: []"]
    for operator in registry.operators:
        for index, (key, value) in enumerate(_filled(operator)):
            lines.append(f"{'  - ' if index == 0 else '    '}{key}: {_flow(value)}")
    return ("\n".join(lines) + "\n").encode()


def save_registry(path: Path, registry: OperatorRegistry) -> None:
    """Writes the registry file, as a whole or not at all."""
    files.write_bytes(path, registry_bytes(registry), "operator registry")


def definition(operator: RegisteredOperator) -> onnx.FunctionProto:
    """The operator's body in ONNX operators of the canonical opset.

    Raises:
        InputError: The definition cannot be read, or breaks a rule of ONNX.
    """
    if operator.expression is not None:
        function = function_from_expression(operator.expression, operator.domain, operator.name, operator.inputs)
    else:
        function = _parsed(operator)
    unknown = sorted(
        node.op_type
        for node in nodes_below(function.node)
        if node.domain not in ("", "ai.onnx") or not onnx.defs.has(node.op_type, ONNX_OPSET, "")
    )
    if unknown:
        raise _undefined(operator, f"it uses {unknown[0]}, which opset {ONNX_OPSET} does not have")
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = CANONICAL_IR_VERSION, {"": ONNX_OPSET}
    try:
        onnx.checker.check_function(function, context)
    except (onnx.checker.ValidationError, RuntimeError) as error:
        raise _undefined(operator, " ".join(str(error).split("==>")[0].split()).rstrip(".")) from error
    return function


def inline_registered(model: ir.Model, registry: OperatorRegistry) -> ir.Model:
    """Replaces each node of a registered operator by its definition, in place.

    The nodes of the definition are named `<id of the node>/<op>_<index>` and carry `metainfer.operator` (its title),
    `metainfer.call` (the id of the node that was replaced), `metainfer.hardware` and `metainfer.fallback`.

    Raises:
        InputError: A node does not fit the definition.
    """
    by_type = {(each.domain, each.name): each for each in registry.operators}
    for node in model.graph.all_nodes():
        operator = by_type.get((node.domain, node.op_type))
        if operator is None:
            continue
        node.metadata_props["metainfer.operator"] = operator.title
        node.metadata_props["metainfer.call"] = node.name or ""
        if operator.hardware:
            mapped = ",".join(f"{unit}={instruction}" for unit, instruction in sorted(operator.hardware.items()))
            node.metadata_props["metainfer.hardware"] = mapped
        if operator.fallback:
            node.metadata_props["metainfer.fallback"] = operator.fallback
        function = ir.serde.deserialize_function(definition(operator))
        model.functions[function.identifier()] = function
    if not model.functions:
        return model
    try:
        model = passes.InlinePass()(model).model
    except (ValueError, RuntimeError) as error:
        raise InputError(
            "A node does not fit the definition of its registered operator.",
            f"{short_reason(error)}.",
            "Compare its inputs with `meta-infer op-registry show`.",
        ) from error
    done: Counter[str] = Counter()
    for node in model.graph.all_nodes():
        call = node.metadata_props.get("metainfer.call")
        if call is not None:
            node.name = f"{call}/{node.op_type}_{done[call]}"
            done[call] += 1
    return model


def _parsed(operator: RegisteredOperator) -> onnx.FunctionProto:
    """The function in ONNX text; domain and opset are ours to say."""
    text = (operator.function or "").strip()
    if not text.startswith("<"):
        text = f'<domain: "{operator.domain}", opset_import: ["" : {ONNX_OPSET}]> {text}'
    try:
        function = onnx.parser.parse_function(text)
    except (onnx.parser.ParseError, RuntimeError, UnicodeError) as error:
        raise _undefined(operator, " ".join(str(error).split())[:300].rstrip(".")) from error
    if (function.domain, function.name) != (operator.domain, operator.name):
        raise _undefined(operator, f"the text defines {function.domain}.{function.name}")
    versions = {entry.domain: entry.version for entry in function.opset_import}
    if versions.get("", ONNX_OPSET) != ONNX_OPSET:
        raise UnsupportedError(
            f"The definition of the operator {operator.title} is written for opset {versions['']}.",
            f"Definitions use opset {ONNX_OPSET}.",
            "Leave the header out and write it with operators of that opset.",
        )
    return function


def _filled(operator: RegisteredOperator) -> list[tuple[str, Any]]:
    return [(key, value) for key, value in operator.plain().items() if value not in ({}, [], None)]


def _flow(value: Any) -> str:
    """A text, list or mapping of texts as YAML on one line."""
    if isinstance(value, list):
        return "[" + ", ".join(yaml_text(each) for each in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{yaml_text(key)}: {yaml_text(value[key])}" for key in sorted(value)) + "}"
    return yaml_text(value)


def _undefined(operator: RegisteredOperator, why: str) -> InputError:
    return InputError(
        f"The definition of the operator {operator.title} cannot be used.",
        f"{why[:1].upper()}{why[1:]}.",
        "Mend it; `meta-infer op-registry add -h` shows an example.",
    )
