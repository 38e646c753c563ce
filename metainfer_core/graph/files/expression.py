"""An operator written as a formula, `y = scale * (x - zero_point) + bias`, becomes an ONNX function.

Known are + - * / ** and unary minus, numbers (float32), comparisons with one operator, and every ONNX operator by its
name in lower case: `exp(x)`, `clip(x, 0.0, 6.0)`, `softmax(x, axis=-1)`, `reduce_mean(x, keepdims=1)`. `float32(x)` and
the like cast. Several lines may build on each other; the name that the last line gives is the result.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import onnx
import onnx.defs
from onnx import TensorProto, helper

from metainfer_core.errors import InputError
from metainfer_core.graph.files.opset import ONNX_OPSET

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "Add",
    ast.Sub: "Sub",
    ast.Mult: "Mul",
    ast.Div: "Div",
    ast.Pow: "Pow",
    ast.Mod: "Mod",
    ast.MatMult: "MatMul",
}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "Less",
    ast.LtE: "LessOrEqual",
    ast.Gt: "Greater",
    ast.GtE: "GreaterOrEqual",
    ast.Eq: "Equal",
}
CASTS = {
    **{name.lower(): number for name, number in TensorProto.DataType.items()},
    "float32": TensorProto.FLOAT,
    "float64": TensorProto.DOUBLE,
}
LENGTH_LIMIT = 4000


def operator_names() -> dict[str, str]:
    """ONNX operators of the canonical opset by the name that a formula calls them by."""
    names = {schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == ""}
    return {name.lower(): name for name in sorted(names) if onnx.defs.has(name, ONNX_OPSET, "")}


def function_from_expression(text: str, domain: str, name: str, inputs: Sequence[str]) -> onnx.FunctionProto:
    """The formula as a function of `inputs`.

    Raises:
        InputError: It is not such a formula; the message names the place.
    """
    if len(text) > LENGTH_LIMIT:
        raise _wrong(name, f"it has {len(text)} characters; at most {LENGTH_LIMIT} are read")
    try:
        lines = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise _wrong(name, str(error)) from error
    compiler = _Compiler(name, inputs)
    result = ""
    for line in lines:
        if not (isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name)):
            raise _wrong(name, f"{ast.unparse(line)!r} is not of the form `name = formula`")
        try:
            result = compiler.assign(line.targets[0].id, line.value)
        except RecursionError as error:
            raise _wrong(name, "it is nested too deeply") from error
    if not result:
        raise _wrong(name, "it is empty")
    opset = [helper.make_opsetid("", ONNX_OPSET)]
    return helper.make_function(domain, name, list(inputs), [result], compiler.nodes, opset)


class _Compiler:
    """Collects the nodes of one formula."""

    def __init__(self, name: str, inputs: Sequence[str]) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._name = name
        self._values = {each: each for each in inputs}
        self._operators = operator_names()

    def assign(self, target: str, formula: ast.expr) -> str:
        """The name of the value that `target` stands for from here on."""
        if target in self._values:
            raise _wrong(self._name, f"{target!r} gets a value twice")
        value = self._value(formula)
        made = {output for node in self.nodes for output in node.output}
        if value not in made:  # only another name for an input
            value = self._node("Identity", [value])
        self._values[target] = value
        return value

    def _value(self, formula: ast.expr) -> str:
        match formula:
            case ast.Name(id=name):
                if name not in self._values:
                    raise _wrong(self._name, f"{name!r} is neither an input nor given a value before")
                return self._values[name]
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return self._constant(float(number))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return self._constant(-float(number))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._node("Neg", [self._value(operand)])
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in BINARY:
                return self._node(BINARY[type(operator)], [self._value(left), self._value(right)])
            case ast.Compare(left=left, ops=[operator], comparators=[right]) if type(operator) in COMPARISONS:
                return self._node(COMPARISONS[type(operator)], [self._value(left), self._value(right)])
            case ast.Call(func=ast.Name(id=called)):
                return self._call(called, formula)
        raise _wrong(self._name, f"{ast.unparse(formula)!r} cannot be read")

    def _call(self, called: str, call: ast.Call) -> str:
        inputs = [self._value(argument) for argument in call.args]
        if called in CASTS and len(inputs) == 1 and not call.keywords:
            return self._node("Cast", inputs, {"to": int(CASTS[called])})
        operator = self._operators.get(called.replace("_", "").lower())
        if operator is None:
            raise _wrong(self._name, f"ONNX has no operator {called!r}")
        attributes = {}
        for keyword in call.keywords:
            try:
                attributes[keyword.arg or ""] = ast.literal_eval(keyword.value)
            except ValueError as error:
                raise _wrong(self._name, f"the attribute {keyword.arg!r} is not a plain value") from error
        return self._node(operator, inputs, attributes)

    def _constant(self, number: float) -> str:
        return self._node("Constant", [], {"value_float": number})

    def _node(self, op_type: str, inputs: list[str], attributes: dict[str, Any] | None = None) -> str:
        made = f"v{len(self.nodes)}"
        while made in self._values:
            made = f"_{made}"
        try:
            self.nodes.append(helper.make_node(op_type, inputs, [made], **(attributes or {})))
        except (TypeError, ValueError) as error:
            raise _wrong(self._name, f"{op_type}: {error}") from error
        return made


def _wrong(name: str, why: str) -> InputError:
    return InputError(
        f"The formula of the operator {name!r} cannot be used.",
        f"{why[:1].upper()}{why[1:]}.",
        "Write it like `y = scale * (x - zero_point) + bias`.",
    )
