"""The compiled kernels: kept, shared by processes, replaced when a header changes; clear errors without a compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from metainfer_core.errors import DefectError, UnsupportedError
from metainfer_core.numerics import library as library_module
from metainfer_core.numerics import toolchain
from metainfer_core.numerics.library import Library, PreparedCall, compile_library, load_library
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.numerics.toolchain import find_compiler

SMALL = 'extern "C" {\nint answer() { return 42; }\n}\n'
LOADING = """
import metainfer_core.numerics.library as library
library.library_source = lambda: {source!r}
library.Library = lambda path: print(path)
library.load_library(lambda text: print(text))
"""


def _load_in_process(cache: Path, source: str = SMALL) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    code = LOADING.format(source=source)
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def test_two_processes_at_once_leave_one_whole_library(tmp_path: Path) -> None:
    running = [_load_in_process(tmp_path) for _ in range(2)]
    answers = [process.communicate(timeout=300)[0].splitlines()[-1] for process in running]
    assert answers[0] == answers[1]
    assert [path.name for path in (tmp_path / "meta-infer").iterdir()] == [Path(answers[0]).name]


def test_second_load_compiles_nothing_and_another_source_compiles_anew(tmp_path: Path) -> None:
    first = _load_in_process(tmp_path).communicate(timeout=300)[0].splitlines()
    second = _load_in_process(tmp_path).communicate(timeout=300)[0].splitlines()
    changed = _load_in_process(tmp_path, SMALL.replace("42", "43")).communicate(timeout=300)[0].splitlines()
    assert first[0] == "Compiling the kernels for this machine (once)."
    assert second == first[1:]
    assert changed[1] != first[1]


def test_missing_compiler_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain.shutil, "which", lambda _: None)
    with pytest.raises(UnsupportedError, match=r"apt-get install g\+\+"):
        find_compiler()
    other = "aarch64" if toolchain.host_target() == "x86-64" else "x86-64"
    with pytest.raises(UnsupportedError, match=f"no C.. compiler for {other}"):
        find_compiler(other)


def test_code_that_does_not_compile_shows_the_first_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_module, "library_source", lambda: "this is no code;")
    with pytest.raises(UnsupportedError, match=r"could not compile the kernels") as caught:
        compile_library(find_compiler(), tmp_path / "made.so")
    assert "error" in caught.value.why
    assert list(tmp_path.iterdir()) == []


def test_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "meta-infer").write_text("a file stands where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(UnsupportedError, match="XDG_CACHE_HOME"):
        load_library()


def test_calls_are_checked() -> None:
    x = np.zeros((4, 4), np.float32)
    with pytest.raises(DefectError, match="no parameter 'colour'"):
        PreparedCall("relu_float32", {"colour": 1}, [x, x])
    with pytest.raises(DefectError, match="1 arrays too many"):
        PreparedCall("relu_float32", {"count": 1}, [x, x, x])
    with pytest.raises(DefectError, match="row-major"):
        PreparedCall("relu_float32", {"count": 1}, [x.T[:, :2], x])


def test_planted_rounding_down_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that drops the rounding term gives other codes than the exact oracle."""
    for header in toolchain.KERNELS.glob("*.hpp"):
        text = header.read_text()
        if header.name == "requantize.hpp":
            assert text.count("(int64_t{1} << (shift - 1))") == 1
            text = text.replace("(int64_t{1} << (shift - 1))", "int64_t{0}")
        (tmp_path / header.name).write_text(text)
    right = load_library()
    monkeypatch.setattr(library_module, "KERNELS", tmp_path)
    monkeypatch.setattr(library_module, "SIGNATURES", {"gemm_int8": SIGNATURES["gemm_int8"]})  # a minute less
    made = tmp_path / "planted.so"
    compile_library(find_compiler(), made)
    outputs = []
    for library in (right, Library(made)):
        output = np.zeros(1, np.int8)
        arrays = [np.zeros(1, np.int8), np.zeros((1, 1, 16, 2), np.int8), *np.array([[3], [1 << 30], [31]], np.int32)]
        params = {"rows": 1, "columns": 1, "depth": 1, "block": 16, "low": -128, "high": 127}
        library.call("gemm_int8", params, [*arrays, *[None] * 3, output, np.zeros(2, np.int16)])
        outputs.append(int(output[0]))
    assert outputs == [2, 1]
