"""A program that runs single kernels for any target: reads calls from standard input, writes what they wrote."""

from __future__ import annotations

import ctypes
import itertools
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from metainfer_core.numerics.library import PreparedCall, library_source
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.numerics.toolchain import KERNELS, Compiler

MAIN = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
struct Entry { const char* name; void (*call)(const void*, void* const*); };
static const Entry entries[] = {%s};
static void read_all(void* target, size_t size) { if (fread(target, 1, size, stdin) != size) exit(3); }
static int32_t read_number() { int32_t n; read_all(&n, 4); return n; }
static void* place(int32_t size) { return malloc(size); }  // no byte more: a sanitizer sees any access beyond
int main() {
    char name[256];
    for (int32_t length; fread(&length, 4, 1, stdin) == 1;) {
        read_all(name, length), name[length] = 0;
        int32_t size = read_number();
        void* params = place(size);
        read_all(params, size);
        const int32_t is_variadic = read_number(), count = read_number();
        void* arrays[64]; int32_t sizes[64];
        for (int32_t i = 0; i < count; ++i) {
            sizes[i] = read_number();
            arrays[i] = sizes[i] < 0 ? nullptr : place(sizes[i]);
            if (sizes[i] > 0) read_all(arrays[i], sizes[i]);
        }
        void* arguments[64];
        if (is_variadic) { arguments[0] = arrays; arguments[1] = arrays[count - 1]; }
        else memcpy(arguments, arrays, sizeof arrays);
        for (const Entry& entry : entries) if (!strcmp(entry.name, name)) entry.call(params, arguments);
        for (int32_t i = 0; i < count; ++i) if (sizes[i] > 0) fwrite(arrays[i], 1, sizes[i], stdout);
        for (int32_t i = 0; i < count; ++i) free(arrays[i]);
        free(params);
    }
}
"""


SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", "-O1")


def build(compiler: Compiler, folder: Path, link: Sequence[str] = ("-static",)) -> Path:
    """The program, linked statically or with sanitizers."""
    entries = ", ".join(f'{{"{kernel}", call_{kernel}}}' for kernel in SIGNATURES)
    source, made = folder / "harness.cpp", folder / "harness"
    source.write_text(library_source() + MAIN % entries)
    compiler.compile([*link, f"-I{KERNELS}", str(source), "-o", str(made)], "the harness", seconds=1800)
    return made


def message(kernel: str, params: Mapping[str, object], arrays: Sequence[np.ndarray | None]) -> bytes:
    """One call as the program reads it."""
    packed = bytes(ctypes.string_at(ctypes.addressof(call := PreparedCall(kernel, params, arrays).params), _size(call)))
    name = kernel.encode()
    is_variadic = any(argument.is_variadic for argument in SIGNATURES[kernel].arguments)
    parts = [struct.pack("<i", len(name)), name, struct.pack("<i", len(packed)), packed]
    parts.append(struct.pack("<ii", is_variadic, len(arrays)))
    for array in arrays:
        parts.append(struct.pack("<i", -1 if array is None else array.nbytes))
        parts.append(b"" if array is None else array.tobytes())
    return b"".join(parts)


def _size(structure: ctypes.Structure) -> int:
    return ctypes.sizeof(structure)


def answers(command: Sequence[str], messages: Sequence[bytes], sizes: Sequence[int]) -> list[bytes]:
    """Runs the calls in one process; the bytes of all arrays of each call afterwards."""
    done = subprocess.run(command, input=b"".join(messages), capture_output=True, check=True, timeout=300)
    assert len(done.stdout) == sum(sizes)
    ends = np.cumsum([0, *sizes])
    return [done.stdout[start:end] for start, end in itertools.pairwise(ends)]
