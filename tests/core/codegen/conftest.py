"""A small program with odd names, two memories, a view, in-place steps and scratch, built once for all tests here."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.package import Package, read_package
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program, Step, Tensor
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256

ODD = 'Conv "0"\\\n#error */ ??/ é'
"""A node and a tensor name that would break C++ if it got into the code."""
DIGESTS = {"model": sha256(b"model"), "spec": sha256(b"spec"), "policy": sha256(b"{}")}


@pytest.fixture(scope="session")
def chip() -> HardwareSpec:
    return HardwareSpec.from_plain(
        {
            "name": "chip",
            "version": "1.0.0",
            "compute_units": {"cpu": {"kind": "cpu", "data_types": ["float32", "int8"]}},
            "memories": {
                "on-chip sram": {"kind": "sram", "size_bytes": 8192, "alignment_bytes": 32},
                "ddr": {"kind": "dram", "size_bytes": 1 << 30, "alignment_bytes": 64},
            },
        }
    )


@pytest.fixture(scope="session")
def small() -> Lowered:
    """x -> conv (odd name, in on-chip memory) -> sqrt -> view -> concat with itself -> plus a loaded constant -> y."""
    random = np.random.default_rng(5)
    constants: dict[str, bytes] = {}
    tensors: list[Tensor] = []

    def constant(name: str, array: np.ndarray, **more: Any) -> None:
        digest = sha256(array.tobytes())
        constants[digest] = array.tobytes()
        tensors.append(Tensor(name=name, element_type="float32", shape=array.shape, constant=digest, **more))

    def tensor(name: str, *shape: int, **more: Any) -> None:
        tensors.append(Tensor(name=name, element_type="float32", shape=shape, **more))

    tensor("x", 1, 3, 8, 8)
    constant("weights", random.standard_normal((2, 3, 3, 3, 4), dtype=np.float32))
    constant("bias", random.standard_normal(8, dtype=np.float32))
    constant("shift", random.standard_normal((1, 1024), dtype=np.float32), memory="on-chip sram")
    tensor(ODD, 1, 8, 8, 8, memory="on-chip sram")
    tensor("root", 1, 8, 8, 8, memory="on-chip sram")
    tensor("flat", 1, 512)
    tensor("twice", 1, 1024)
    tensor("y", 1, 1024)
    conv = {
        **dict(batch=1, groups=1, channels=3, height=8, width=8, filters=8, out_height=8, out_width=8),
        **dict(kernel_height=3, kernel_width=3, stride_height=1, stride_width=1, dilation_height=1, dilation_width=1),
        **dict(pad_top=1, pad_left=1, band_rows=8, scratch_bytes=4 * 3 * 10 * 18, activation=1),
    }
    flat = {"rank": 1, "shape": (1024, 1, 1, 1, 1, 1), "left_step": (1,) + (0,) * 5, "right_step": (1,) + (0,) * 5}

    def step(kernel: str, node: str, inputs: tuple[str, ...], output: str, params: dict[str, Any]) -> Step:
        return Step(kernel=kernel, node_ids=(node,), inputs=inputs, outputs=(output,), params=params, unit="cpu")

    steps = (
        step("conv2d_float32", ODD, ("x", "weights", "bias"), ODD, conv),
        step("sqrt_float32", "Sqrt_1", (ODD,), "root", {"count": 512}),
        step("view", "Flatten_2", ("root",), "flat", {"bytes": 2048}),
        step(
            "concat_32",
            "Concat_3",
            ("flat", "flat"),
            "twice",
            {"outer": 1, "count": 2, "extent": (512, 512) + (0,) * 14},
        ),
        step("add_float32", "Add_4", ("twice", "shift"), "y", flat),
    )
    program = Program(inputs=("x",), outputs=("y",), tensors=tuple(tensors), steps=steps)
    return Lowered(program, constants)


@pytest.fixture(scope="session")
def feeds() -> tuple[dict[str, np.ndarray], ...]:
    random = np.random.default_rng(6)
    return tuple({"x": random.standard_normal((1, 3, 8, 8), dtype=np.float32)} for _ in range(2))


@pytest.fixture(scope="session")
def odd() -> str:
    return ODD


@pytest.fixture(scope="session")
def make_package(small: Lowered, chip: HardwareSpec, feeds: Any) -> Callable[[str], bytes]:
    """Builds the small program for a target and gives the package's bytes."""

    def made(target: str) -> bytes:
        return build_package(small, chip, target, DIGESTS, b"{}", b"onnx", feeds, True, model='My "model" 1')

    return made


@pytest.fixture(scope="session")
def native(make_package: Callable[[str], bytes]) -> Package:
    return read_package(make_package("native-cpu"))


@pytest.fixture(scope="session")
def arm(make_package: Callable[[str], bytes]) -> Package:
    return read_package(make_package("aarch64-linux"))
