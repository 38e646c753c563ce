"""The kernels as a shared library: compiled once, kept in the user's cache, called from Python.

The library holds each kernel with run-time parameters. It is the same C++ text that generated programs include with
constant parameters, compiled with the same flags, so both compute the same bits.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from metainfer_core.errors import DefectError, UnsupportedError
from metainfer_core.numerics.signatures import SIGNATURES, Signature, headers, signature
from metainfer_core.numerics.toolchain import KERNELS, Compiler, find_compiler

Progress = Callable[[str], None]

_C_TYPES: dict[str, type[ctypes._SimpleCData[int]] | type[ctypes._SimpleCData[float]]] = {
    "int32_t": ctypes.c_int32,
    "float": ctypes.c_float,
}
_SOURCE_HEAD = """\
#include "kernels.hpp"
extern "C" {
struct Call { void (*kernel)(const void*, void* const*); const void* params; void* const* arguments; };
void run_calls(const Call* calls, int64_t count) {
    for (int64_t i = 0; i < count; ++i) calls[i].kernel(calls[i].params, calls[i].arguments);
}
"""


class _Call(ctypes.Structure):
    _fields_ = [("kernel", ctypes.c_void_p), ("params", ctypes.c_void_p), ("arguments", ctypes.c_void_p)]


class Library:
    """The loaded kernels."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._run = self._library.run_calls
        self._run.argtypes = [ctypes.POINTER(_Call), ctypes.c_int64]
        self._run.restype = None

    def prepare(self, calls: Sequence[PreparedCall]) -> Callable[[], None]:
        """A function that runs these calls in order; their arrays stay where they are."""
        table = (_Call * len(calls))()
        for entry, call in zip(table, calls, strict=True):
            entry.kernel = ctypes.cast(self._library[f"call_{call.kernel}"], ctypes.c_void_p).value
            entry.params = ctypes.addressof(call.params)
            entry.arguments = ctypes.addressof(call.pointers)

        def run(_keep_alive: Sequence[PreparedCall] = tuple(calls)) -> None:
            self._run(table, len(table))

        return run

    def call(self, kernel: str, params: Mapping[str, object], arrays: Sequence[np.ndarray | None]) -> None:
        """Runs one kernel on its inputs, outputs (written into) and scratch, in the order of the signature."""
        self.prepare([PreparedCall(kernel, params, arrays)])()


class PreparedCall:
    """One kernel call with its parameters and the addresses of its arrays."""

    def __init__(self, kernel: str, params: Mapping[str, object], arrays: Sequence[np.ndarray | None]) -> None:
        self.kernel = kernel
        described = signature(kernel)
        self.params = params_struct(described)(**_filled(described, params))
        self._arrays = tuple(arrays)
        self._variadic: list[ctypes.Array[ctypes.c_void_p]] = []
        self.pointers = self._pointers(described)

    def _pointers(self, described: Signature) -> ctypes.Array[ctypes.c_void_p]:
        arrays = list(self._arrays)
        found: list[int | None] = []
        for argument in described.arguments:
            if argument.is_variadic:
                taken = len(arrays) - (len(described.arguments) - 1)
                many = (ctypes.c_void_p * taken)(*[_address(array) for array in arrays[:taken]])
                arrays = arrays[taken:]
                self._variadic.append(many)
                found.append(ctypes.addressof(many))
            else:
                found.append(_address(arrays.pop(0)))
        if arrays:
            raise DefectError(f"The kernel {described.kernel} was given {len(arrays)} arrays too many.")
        return (ctypes.c_void_p * len(found))(*found)


def _address(array: np.ndarray | None) -> int | None:
    if array is None:
        return None
    if not array.flags.c_contiguous:
        raise DefectError("A kernel was given an array that is not row-major.")
    return array.ctypes.data


def _filled(described: Signature, params: Mapping[str, object]) -> dict[str, object]:
    """Constructor arguments of the params struct: sequences as C arrays, absent fields as zero."""
    known = {field.name: field for field in described.fields}
    unknown = sorted(set(params) - set(known))
    if unknown:
        raise DefectError(f"The kernel {described.kernel} has no parameter {unknown[0]!r}.")
    filled: dict[str, object] = {}
    for name, value in params.items():
        field = known[name]
        filled[name] = value
        if field.length is not None:
            assert isinstance(value, Sequence)
            filled[name] = (_C_TYPES[field.c_type] * field.length)(*value)
    return filled


@cache
def _struct_of(name: str, fields: tuple[tuple[str, str, int | None], ...]) -> type[ctypes.Structure]:
    described = [
        (field, _C_TYPES[c_type] if length is None else _C_TYPES[c_type] * length) for field, c_type, length in fields
    ]
    return type(name, (ctypes.Structure,), {"_fields_": described})


def params_struct(described: Signature) -> type[ctypes.Structure]:
    """The params struct of a kernel, laid out as in C++."""
    return _struct_of(described.params, tuple((f.name, f.c_type, f.length) for f in described.fields))


def library_source() -> str:
    """C++ text of the library: one function of one shape for each kernel."""
    lines = [_SOURCE_HEAD]
    for kernel, described in SIGNATURES.items():
        arguments = [
            f"static_cast<const {a.c_type}* const*>(a[{i}])"
            if a.is_variadic
            else f"static_cast<{'const ' if a.role == 'input' else ''}{a.c_type}*>(a[{i}])"
            for i, a in enumerate(described.arguments)
        ]
        lines.append(
            f"void call_{kernel}(const void* p, void* const* a) {{\n"
            f"    mi::{kernel}(*static_cast<const mi::{described.params}*>(p), {', '.join(arguments)});\n}}"
        )
    for name in sorted({described.params for described in SIGNATURES.values()}):
        lines.append(f"int64_t size_of_{name}() {{ return sizeof(mi::{name}); }}")
    return "\n".join([*lines, "}", ""])


def cache_folder() -> Path:
    """Where compiled kernels are kept: under XDG_CACHE_HOME, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "meta-infer"


def compile_library(compiler: Compiler, path: Path) -> None:
    """Compiles the kernels to a shared library at `path`, which appears as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".kernels-") as folder:
        source, made = Path(folder) / "library.cpp", Path(folder) / "library.so"
        source.write_text(library_source(), encoding="utf-8")
        compiler.compile(["-shared", "-fPIC", f"-I{KERNELS}", str(source), "-o", str(made)], "the kernels", seconds=900)
        os.replace(made, path)


def load_library(progress: Progress | None = None) -> Library:
    """The kernels, compiled on the first call on this machine (about a minute) and loaded from the cache later."""
    path = cache_folder() / f"kernels-{_digest()}.so"
    if not path.exists():
        if progress is not None:
            progress("Compiling the kernels for this machine (once).")
        try:
            compile_library(find_compiler(), path)
        except OSError as error:
            raise UnsupportedError(
                f"{path.parent}: the compiled kernels cannot be kept there.",
                f"{error.strerror or error}.",
                "Make the folder writable, or name another in XDG_CACHE_HOME.",
            ) from error
    return _open(path)


@cache
def _digest() -> str:
    """What the compiled library depends on: compiler, flags, headers."""
    compiler = find_compiler()
    text = "\0".join([compiler.version, *compiler.flags, library_source(), *headers().keys(), *headers().values()])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@cache
def _open(path: Path) -> Library:
    return Library(path)
