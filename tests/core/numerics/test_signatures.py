"""The table of kernels is what the compiler sees: declarations, struct layouts, initializers."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from metainfer_core.errors import DefectError
from metainfer_core.numerics.library import load_library, params_struct
from metainfer_core.numerics.program import Step
from metainfer_core.numerics.signatures import SIGNATURES, params_initializer, scratch_bytes, signature
from metainfer_core.numerics.toolchain import KERNELS, find_compiler


def test_table_holds_every_kernel_that_the_compiler_sees(tmp_path: Path) -> None:
    source = tmp_path / "all.cpp"
    source.write_text('#include "kernels.hpp"\n')
    compiler = find_compiler()
    text = subprocess.run(
        [compiler.command, *compiler.flags, f"-I{KERNELS}", "-E", "-P", str(source)],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    text = re.sub(r"\s+", " ", text[text.index("namespace mi") :])
    seen = {}
    for kernel, params, rest in re.findall(r"(?<!\)\) )inline void (\w+)\(const (\w+Params) p,([^)]*)\)", text):
        seen[kernel] = (params, [part.split()[-1] for part in rest.split(",")])
    assert seen == {k: (s.params, [a.name for a in s.arguments]) for k, s in SIGNATURES.items()}


def test_structs_are_laid_out_as_in_cpp() -> None:
    library = load_library()._library
    for described in SIGNATURES.values():
        assert getattr(library, f"size_of_{described.params}")() == ctypes.sizeof(params_struct(described))


def test_roles_and_types() -> None:
    conv = signature("conv2d_int8")
    assert (conv.header, conv.function, conv.params_struct) == ("conv2d.hpp", "mi::conv2d_int8", "mi::Conv2dParams")
    assert [a.name for a in conv.inputs] == [
        *("input", "weights", "bias", "multiplier", "shift", "table"),
        *("curve_multiplier", "curve_shift"),
    ]
    assert [(a.name, a.c_type) for a in conv.outputs] == [("output", "int8_t")]
    assert (conv.arguments[-1].role, conv.arguments[-1].c_type) == ("scratch", "int16_t")
    assert (conv.in_place, conv.is_view) == ((), False)
    assert (signature("add_float32").in_place, signature("view").is_view) == ((0, 1), True)
    concat = signature("concat_32")
    assert [a.is_variadic for a in concat.arguments] == [True, False]
    assert next(f for f in concat.fields if f.name == "extent").length == 16


def test_unknown_kernel_is_a_defect() -> None:
    with pytest.raises(DefectError, match="no kernel conv9d"):
        signature("conv9d")


def test_initializer_loses_no_digit() -> None:
    step = Step(
        kernel="add_float32",
        node_ids=("Add_0",),
        inputs=("a", "b"),
        outputs=("y",),
        params={"rank": 1, "shape": (7, 1, 1, 1, 1, 1), "alpha": 0.1, "beta": -2},
    )
    assert (
        params_initializer(step)
        == "{1, {7, 1, 1, 1, 1, 1}, {}, {}, 0, 0x1.999999999999ap-4f, -0x1.0000000000000p+1f, 0}"
    )


def test_scratch_is_what_the_step_states() -> None:
    step = Step(kernel="conv2d_float32", node_ids=("c",), inputs=("x",), outputs=("y",), params={"scratch_bytes": 640})
    assert scratch_bytes(step) == 640
    assert scratch_bytes(Step(kernel="relu_float32", node_ids=("r",), inputs=("x",), outputs=("y",))) == 0
