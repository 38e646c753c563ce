"""The same bits on every target and vector width: each kernel, as each operator's model calls it."""

from __future__ import annotations

import shutil
from pathlib import Path

import kernel_harness
import numpy as np
import pytest
from channel_cases import CHANNEL_CASES
from half_cases import border_cases, half_cases, in_format
from layout_cases import layout_cases
from operator_cases import FLOAT_CASES, WHERE_BOOL
from packed_cases import packed_cases
from quantized_cases import EXACT_CASES, TABLE_CASES
from wide_cases import wide_cases

from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.numerics.signatures import SIGNATURES, scratch_bytes
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.numerics.toolchain import KERNEL_FLAGS, Compiler, find_compiler

CALLS = list[tuple[str, bytes, list[bytes | None]]]


def _calls_of(lowered: Lowered, tensors: dict[str, np.ndarray]) -> CALLS:
    """Each step as a message, with the bytes that its outputs have on this machine."""
    declared = {tensor.name: tensor for tensor in lowered.program.tensors}

    def array(name: str) -> np.ndarray | None:
        if not name:
            return None
        constant = declared[name].constant
        if constant is not None:
            return np.frombuffer(lowered.constants[constant], np.uint8)
        return np.ascontiguousarray(tensors[name])

    calls: CALLS = []
    for step in lowered.program.steps:
        inputs = [array(name) for name in step.inputs]
        outputs = [array(name) for name in step.outputs]
        blank = [None if output is None else np.zeros_like(output) for output in outputs]
        arrays = [*inputs, *blank]
        expected: list[bytes | None] = [None if a is None else a.tobytes() for a in (*inputs, *outputs)]
        if any(argument.role == "scratch" for argument in SIGNATURES[step.kernel].arguments):
            size = scratch_bytes(step)
            arrays.append(np.full(size, 0x7F, np.uint8) if size else None)
            expected.append(None)
        calls.append((step.kernel, kernel_harness.message(step.kernel, step.params, arrays), expected))
        if arrays[-1] is not None and expected[-1] is None:
            expected[-1] = bytes(arrays[-1].nbytes)
    return calls


@pytest.fixture(scope="module")
def calls() -> CALLS:
    """Every step of every case."""
    found: CALLS = []
    for case in (*FLOAT_CASES, WHERE_BOOL, *EXACT_CASES, *TABLE_CASES, *CHANNEL_CASES):
        lowered = lower(case.model())
        with np.errstate(all="ignore"):
            found += _calls_of(lowered, Simulator(lowered).run(case.feed, keep=True))
    for case in half_cases():
        for name, half_sums in (("float16", False), ("float16", True), ("bfloat16", False)):
            lowered = lower(in_format(case.model(), name, half_sums, flush=half_sums))
            found += _calls_of(lowered, Simulator(lowered).run(case.feed, keep=True))
    for packed in packed_cases():
        lowered = lower(packed.packed)
        found += _calls_of(lowered, Simulator(lowered).run(packed.feed, keep=True))
    for case, model in (*wide_cases(), *border_cases()):
        lowered = lower(model)
        found += _calls_of(lowered, Simulator(lowered).run(case.feed, keep=True))
    for laid in layout_cases():
        lowered = lower(laid.laid_out)
        found += _calls_of(lowered, Simulator(lowered).run(laid.feeds[0], keep=True))
    return [*found, _transfer()]


def _transfer() -> tuple[str, bytes, list[bytes | None]]:
    """What staging adds to a program and no operator is lowered to: three runs of five bytes, seven apart."""
    source, target = np.arange(40, dtype=np.uint8), np.zeros(30, np.uint8)
    params = {"rows": 3, "row_bytes": 5, "source_offset": 2, "source_stride": 7, "target_offset": 1, "target_stride": 9}
    expected = target.copy()
    for row in range(3):
        expected[1 + 9 * row : 6 + 9 * row] = source[2 + 7 * row : 7 + 7 * row]
    message = kernel_harness.message("transfer", params, [source, target])
    return "transfer", message, [source.tobytes(), expected.tobytes()]


def _check(command: list[str], calls: CALLS) -> None:
    sizes = [sum(len(part) for part in expected if part is not None) for _, _, expected in calls]
    got = kernel_harness.answers(command, [message for _, message, _ in calls], sizes)
    different = set()
    for (kernel, _, expected), answer in zip(calls, got, strict=True):
        has_scratch = SIGNATURES[kernel].arguments[-1].role == "scratch" and expected[-1] is not None
        kept = expected[:-1] if has_scratch else expected
        wanted = b"".join(part for part in kept if part is not None)
        if answer[: len(wanted)] != wanted:
            different.add(kernel)
    assert different == set()


def test_every_kernel_is_called_by_some_case(calls: CALLS) -> None:
    assert set(SIGNATURES) - {kernel for kernel, _, _ in calls} == set()


@pytest.mark.skipif(
    not (shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64")),
    reason="needs g++-aarch64-linux-gnu and qemu-user",
)
def test_aarch64_gives_the_same_bits(calls: CALLS, tmp_path: Path) -> None:
    made = kernel_harness.build(find_compiler("aarch64"), tmp_path)
    _check(["qemu-aarch64", str(made)], calls)


@pytest.mark.slow
@pytest.mark.skipif(find_compiler().target != "x86-64", reason="vector widths of x86-64")
@pytest.mark.parametrize("march", ["x86-64", "x86-64-v4"])
def test_other_vector_width_gives_the_same_bits(calls: CALLS, tmp_path: Path, march: str) -> None:
    flags = Path("/proc/cpuinfo").read_text()
    if march == "x86-64-v4" and not all(f" {f}" in flags for f in ("avx512f", "avx512bw", "avx512vl", "avx512dq")):
        pytest.skip("this processor has no AVX-512")
    usual = find_compiler()
    compiler = Compiler(usual.command, usual.version, usual.target, (*KERNEL_FLAGS, f"-march={march}"))
    _check([str(kernel_harness.build(compiler, tmp_path))], calls)


@pytest.mark.slow
def test_no_kernel_reads_or_writes_beyond_its_arrays_or_overflows(calls: CALLS, tmp_path: Path) -> None:
    _check([str(kernel_harness.build(find_compiler(), tmp_path, kernel_harness.SANITIZERS))], calls)
