"""Evaluates the constant integer expressions and macros of C that device trees and register lists carry."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_MAX_LENGTH = 500
_MAX_MACRO_DEPTH = 16
_MASK = (1 << 64) - 1
_NUMBER = re.compile(r"\b(0[xX][0-9a-fA-F]+|0[0-7]+|\d+)[uUlL]{0,3}\b")
_MACRO = re.compile(r"([A-Za-z_]\w*)(?:\(([\w\s,]*)\))?(?:\s+(.*))?$", re.S)
_OPERATORS: Mapping[type, Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.LShift: lambda left, right: left << min(right, 64),
    ast.RShift: lambda left, right: left >> min(right, 64),
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
}


@dataclass(frozen=True)
class Macro:
    """A `#define` of one line."""

    name: str
    parameters: tuple[str, ...] | None
    """None for a macro that is used without parentheses."""
    body: str


def read_macro(definition: str) -> Macro | None:
    """The macro of the text behind `#define`, None when it is no plain one."""
    match = _MACRO.match(definition[: _MAX_LENGTH * 4].strip())
    if not match:
        return None
    parameters = None if match[2] is None else tuple(part.strip() for part in match[2].split(",") if part.strip())
    return Macro(match[1], parameters, (match[3] or "").strip())


def evaluate(words: str, macros: Mapping[str, Macro]) -> int | None:
    """The number that `words` stand for, modulo 2^64; None when it is not known or no number."""
    if len(words) > _MAX_LENGTH:
        return None
    plain = re.fullmatch(r"\d+|0[xX][0-9a-fA-F]+", words)
    if plain and not re.fullmatch(r"0\d+", words):
        return int(words, 0) & _MASK
    if len(words) >= 3 and words[0] == words[-1] == "'":
        return ord(words[-2])
    try:
        python = re.sub(r"/", "//", _NUMBER.sub(_python_number, words)).strip()
        return _number(ast.parse(python, mode="eval").body, macros, {}, 0) & _MASK
    except (_UnknownError, SyntaxError, ValueError, ZeroDivisionError, RecursionError, MemoryError):
        return None


class _UnknownError(Exception):
    """A name or form that has no number here."""


def _python_number(match: re.Match[str]) -> str:
    digits = match[1]
    return str(int(digits, 8)) if re.fullmatch(r"0[0-7]+", digits) else digits


def _number(node: ast.expr, macros: Mapping[str, Macro], names: Mapping[str, int], depth: int) -> int:
    if depth > _MAX_MACRO_DEPTH * 8:
        raise _UnknownError
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value & _MASK
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        left = _number(node.left, macros, names, depth + 1)
        return _OPERATORS[type(node.op)](left, _number(node.right, macros, names, depth + 1)) & _MASK
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd | ast.Invert):
        value = _number(node.operand, macros, names, depth + 1)
        return {ast.USub: -value, ast.UAdd: value, ast.Invert: ~value}[type(node.op)] & _MASK
    if isinstance(node, ast.Name):
        if node.id in names:
            return names[node.id]
        return _expanded(macros.get(node.id), None, macros, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        arguments = tuple(_number(argument, macros, names, depth + 1) for argument in node.args)
        return _expanded(macros.get(node.func.id), arguments, macros, depth)
    raise _UnknownError


def _expanded(macro: Macro | None, arguments: tuple[int, ...] | None, macros: Mapping[str, Macro], depth: int) -> int:
    if macro is None or (macro.parameters is None) != (arguments is None) or len(macro.body) > _MAX_LENGTH:
        raise _UnknownError
    if macro.parameters is not None and arguments is not None and len(macro.parameters) != len(arguments):
        raise _UnknownError
    names = dict(zip(macro.parameters or (), arguments or (), strict=True))
    python = re.sub(r"/", "//", _NUMBER.sub(_python_number, macro.body)).strip()
    return _number(ast.parse(python, mode="eval").body, macros, names, depth + 8)
