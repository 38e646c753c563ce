"""What was built runs, says the same as the simulator bit for bit, and is the same bytes wherever it is built."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from metainfer_core.codegen import emit
from metainfer_core.codegen.catalog import BACKENDS, backend
from metainfer_core.codegen.elf import section
from metainfer_core.codegen.emit import TAKEN, c_text, comment, identifier
from metainfer_core.codegen.make import build
from metainfer_core.codegen.package import Package, read_package, write_package
from metainfer_core.codegen.realised import SECTION, WEIGHTS_SECTION, read_realised, read_table
from metainfer_core.codegen.run import execute, run_package, supported_variants
from metainfer_core.codegen.validate import validate_package
from metainfer_core.errors import InputError, MetaInferError, ObligationFailed
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.values import sha256

Feeds = tuple[dict[str, np.ndarray], ...]


def sources_of(package: Package) -> dict[str, bytes]:
    return {name.removeprefix("source/"): data for name, data in package.files.items() if name.startswith("source/")}


@pytest.fixture(params=["native", "arm"])
def package(request: pytest.FixtureRequest) -> Package:
    found: Package = request.getfixturevalue(request.param)
    return found


def test_every_step_has_the_bits_of_the_simulator(package: Package, small: Lowered, feeds: Feeds) -> None:
    expected = Simulator(small).run(feeds[0], keep=True)
    got = execute(package, feeds[0], dump=True)
    assert list(got.outputs) == ["y"]
    for step in small.program.steps:
        assert got.tensors[step.outputs[0]].tobytes() == expected[step.outputs[0]].tobytes(), step.node_ids


def test_the_test_vectors_replay_on_every_instruction_set(package: Package) -> None:
    validation = validate_package(package)
    assert validation.equal
    assert validation.worst is None
    assert validation.variants == supported_variants(package)
    assert len(validation.layers) == 5 * 2 * len(validation.variants)
    assert validation.text.startswith("Equal: ")


def test_a_wrong_layer_is_named(native: Package) -> None:
    files = {**native.files, "vectors/001/layers.json": b'{"twice":"sha256:0"}'}
    manifest = {**native.manifest.plain(), "files": {name: sha256(data) for name, data in files.items()}}
    wrong = read_package(write_package(type(native.manifest).from_plain(manifest), files))
    validation = validate_package(wrong)
    assert not validation.equal
    assert validation.first_diverging is not None
    assert (validation.first_diverging.vector, validation.first_diverging.step) == (1, 0)
    assert "Not equal" in validation.text


def test_a_wrong_output_is_measured(native: Package) -> None:
    path = "vectors/000/output_0.bin"
    array = np.frombuffer(native.files[path], np.float32).copy()
    array[7] += 0.5
    files = {**native.files, path: array.tobytes()}
    manifest = {**native.manifest.plain(), "files": {name: sha256(data) for name, data in files.items()}}
    validation = validate_package(read_package(write_package(type(native.manifest).from_plain(manifest), files)))
    assert not validation.equal
    assert validation.worst is not None
    assert (validation.worst.output, validation.worst.different) == ("y", 1)
    assert validation.worst.max_abs_error == pytest.approx(0.5)


def test_nan_comes_out_as_the_simulator_has_it(native: Package, small: Lowered) -> None:
    feed = {"x": np.full((1, 3, 8, 8), np.nan, np.float32)}
    assert run_package(native, feed)["y"].tobytes() == Simulator(small).run(feed)["y"].tobytes()


def test_the_binary_is_the_same_in_another_folder_and_process(native: Package, tmp_path: Path) -> None:
    for path, data in sources_of(native).items():
        place = tmp_path / "another folder" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8"}
    subprocess.run(["make", "-s", "host", "example"], cwd=tmp_path / "another folder", env=environment, check=True)
    assert (tmp_path / "another folder" / "my_model_1").read_bytes() == native.binary
    done = subprocess.run(["./my_model_1_example"], cwd=tmp_path / "another folder", capture_output=True, check=True)
    assert len(done.stdout.split()) == 4  # the example prints the first four values


def test_the_makefile_replays_the_test_vectors(package: Package, tmp_path: Path) -> None:
    for path, data in package.files.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    make = ["make", "-s", "check"]
    done = subprocess.run(make, cwd=tmp_path / "source", capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["../vectors/000/: equal", "../vectors/001/: equal"]
    (tmp_path / "vectors" / "001" / "output_0.bin").write_bytes(bytes(4096))
    done = subprocess.run(make, cwd=tmp_path / "source", capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert done.stdout.splitlines()[0] == "../vectors/000/: equal"


def test_the_package_is_the_same_when_it_is_built_again(make_package: Callable[[str], bytes], native: Package) -> None:
    assert sha256(make_package("native_cpu")) == native.digest


def test_the_manifest_says_what_it_is(native: Package) -> None:
    manifest = native.manifest
    assert manifest.development
    assert manifest.review == "unreviewed"
    assert manifest.spec == "chip 1.0.0"
    assert set(manifest.parents) == {"model", "spec", "policy"}
    assert set(manifest.compiler) == {"make", "g++"}
    assert [port.name for port in manifest.inputs] == ["x"]


def test_no_path_or_date_of_this_machine_is_in_the_package(native: Package) -> None:
    for name, data in native.files.items():
        assert b"/tmp" not in data, name
        assert os.fsencode(Path.home()) + b"/" not in data or name.endswith(".hpp"), name


def test_odd_names_stay_text(native: Package, odd: str) -> None:
    steps = native.files["source/steps_000.cpp"].decode()
    assert odd not in steps
    assert "#error" not in native.files["source/layout.hpp"].decode().replace("\\012#error", "")
    assert read_realised(native).steps[0].node_ids == (odd,)


def test_what_is_read_back_is_what_was_planned(package: Package, odd: str) -> None:
    graph = read_realised(package)
    assert graph.target == package.manifest.target
    assert [step.kernel for step in graph.steps] == [
        "conv2d_float32",
        "sqrt_float32",
        "view",
        "concat_32",
        "add_float32",
    ]
    assert graph.steps[0].inputs == ("x", "weights", "bias")
    assert graph.steps[0].scratch == ("0: scratch",)
    assert graph.steps[3].inputs == ("flat", "flat")
    assert {step.unit for step in graph.steps} == {"cpu"}
    tensors = {tensor.name: tensor for tensor in graph.tensors}
    assert tensors[odd].memory == "on-chip sram"
    assert (tensors["shift"].memory, tensors["shift"].is_constant) == ("on-chip sram", True)
    assert (tensors["weights"].memory, tensors["weights"].offset_bytes) == (None, None)
    assert tensors["flat"].offset_bytes == tensors["root"].offset_bytes
    assert tensors["y"].shape == (1, 1024)
    assert {name: arena.alignment_bytes for name, arena in graph.arenas.items()} == {"ddr": 64, "on-chip sram": 32}


def test_a_source_that_calls_another_kernel_than_the_table_names_does_not_compile(native: Package) -> None:
    files = sources_of(native)
    files["steps_000.cpp"] = files["steps_000.cpp"].replace(b"CALL(1, sqrt_float32", b"CALL(1, exp_float32")
    with pytest.raises(MetaInferError, match="The table names another"):
        build(files, "host", "my_model_1", backend("native-cpu"))


def test_a_tensor_past_its_arena_does_not_compile(native: Package) -> None:
    files = sources_of(native)
    lines = files["layout.hpp"].decode().splitlines()
    at = next(index for index, line in enumerate(lines) if line.endswith(": y"))
    size, offset, rest = lines[at].split(", ", 2)
    lines[at] = f"{size}, {int(offset) + 64 * 1024}, {rest}"
    files["layout.hpp"] = "\n".join(lines).encode()
    with pytest.raises(MetaInferError, match="Past the arena"):
        build(files, "host", "my_model_1", backend("native-cpu"))


def test_a_step_that_writes_past_its_memory_is_stopped_by_name(native: Package, feeds: Feeds) -> None:
    files = sources_of(native)
    at = files["steps_000.cpp"].index(b"METAINFER_CALL(4")
    wild = b"output<4, 0, float>()[table.arenas[0].size_bytes / 4] = 1.0f;\n    "
    files["steps_000.cpp"] = files["steps_000.cpp"][:at] + wild + files["steps_000.cpp"][at:]
    binary = build(files, "host", "my_model_1", backend("native-cpu"))
    broken = Package(native.manifest, {**native.files, native.manifest.binary: binary}, native.digest)
    with pytest.raises(ObligationFailed, match="Add_4: it wrote past the end of its memory"):
        execute(broken, feeds[0])


def test_timing_and_profile_count_what_was_asked_for(native: Package, feeds: Feeds) -> None:
    execution = execute(native, feeds[0], repeat=5, warm_up=2, profile=True)
    assert len(execution.nanoseconds) == 5
    assert all(0 < one < 10**9 for one in execution.nanoseconds)
    assert len(execution.ticks) == 5
    assert execution.ticks[0] > 0
    assert execution.start_up_nanoseconds < 15_000_000
    assert execute(native, feeds[0]).ticks == ()


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "The input 'x' is missing"),
        ({"z": np.zeros(3)}, "no input 'z'"),
        ({"x": np.zeros((1, 3, 8, 8))}, "Got float64"),
        ({"x": np.zeros((3, 8, 8), np.float32)}, r"Got float32 \[3, 8, 8\]"),
        ({"x": np.array("text")}, "does not fit"),
    ],
)
def test_wrong_inputs_are_refused(native: Package, inputs: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        run_package(native, inputs)


def test_the_host_tool_refuses_files_of_another_size(native: Package, tmp_path: Path) -> None:
    binary = tmp_path / "program"
    binary.write_bytes(native.binary)
    binary.chmod(0o700)
    for size, word in ((767, "fewer"), (769, "more")):
        (tmp_path / "x.bin").write_bytes(bytes(size))
        done = subprocess.run([binary, "--input", tmp_path / "x.bin"], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert "the input has 768 bytes" in done.stderr
        assert word in done.stderr
    for words in (["--input"], ["--repeat", "many"], ["--what", "x"], ["--input", "missing.bin"], []):
        done = subprocess.run([binary, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr


def test_a_program_that_does_not_end_is_stopped(native: Package, feeds: Feeds) -> None:
    with pytest.raises(ObligationFailed, match="stopped after"):
        execute(native, feeds[0], repeat=1_000_000, time_limit_s=0.3)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("hello", "a broken answer"),
        ('{"nanoseconds": "x"}', "a broken answer"),
        ('{"nanoseconds": [1]}', "a broken '"),
        ("", "a broken answer"),
    ],
)
def test_a_program_that_answers_something_else_is_said(native: Package, feeds: Feeds, answer: str, words: str) -> None:
    program = f"#!/bin/sh\necho '{answer}'\n".encode()
    swapped = Package(native.manifest, {**native.files, native.manifest.binary: program}, native.digest)
    with pytest.raises(ObligationFailed, match=words):
        execute(swapped, feeds[0])
    with pytest.raises(ObligationFailed):
        validate_package(swapped)


def test_an_unknown_instruction_set_is_refused(native: Package, feeds: Feeds) -> None:
    with pytest.raises(ObligationFailed, match="lacks the instructions"):
        execute(native, feeds[0], variant="x86_64_v9")


def test_a_broken_table_ends_in_one_error(native: Package) -> None:
    whole = section(native.binary, SECTION)
    for at in range(0, len(whole), 3):
        flipped = whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
        for broken in (whole[:at], flipped):
            try:
                read_table(broken, section(native.binary, WEIGHTS_SECTION))
            except InputError:
                continue


def test_the_microbenchmarks_measure_something(native: Package, tmp_path: Path) -> None:
    variant = supported_variants(native)[-1]
    program = tmp_path / "limits"
    program.write_bytes(build(sources_of(native), f"limits_{variant}", f"limits_{variant}", backend("native-cpu")))
    program.chmod(0o700)
    done = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    for key in ("main_memory_read_gbps", "first_level_read_gbps", "float32_gmacs", "int8_gmacs"):
        assert f'"{key}": ' in done.stdout


def test_a_closed_temporary_folder_is_one_clear_message(native: Package, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    with pytest.raises(InputError, match=r"temporary folder for the run cannot be used[\s\S]*TMPDIR"):
        supported_variants(native)
    with pytest.raises(InputError, match="temporary folder for the build"):
        build(sources_of(native), "host", "my_model_1", backend("native-cpu"))


def test_each_backend_is_found_by_name() -> None:
    for one in BACKENDS:
        assert backend(one.name) is one
        assert backend(one.name.replace("-", "_")) is one
        assert (one.folder / "runtime" / "target.hpp").is_file()
    with pytest.raises(InputError, match="Known targets: native-cpu, aarch64-linux"):
        backend("toaster")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("ppocr_cls", "ppocr_cls"),
        ("My Model-2.onnx", "my_model_2_onnx"),
        ("3d", "model_3d"),
        ("模型", "model"),
        ("", "model"),
        ("Kernels", "model_kernels"),
        ("check", "model_check"),
    ],
)
def test_identifiers(model: str, name: str) -> None:
    assert identifier(model) == name


def test_no_program_is_named_as_a_goal_of_its_makefile_or_a_folder_beside_it() -> None:
    makefile = (Path(emit.__file__).parent / "templates" / "Makefile.jinja").read_text("utf-8")
    (goals,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    folders = {place.parts[0] for place in map(Path, re.findall(r"[a-z]+/[*a-z]+\.[ch]pp", makefile))}
    assert {*goals.split(), *folders} == TAKEN


def test_text_and_comments_hold_nothing_that_acts() -> None:
    assert c_text('a"\\\n?1') == '"a\\042\\134\\012\\0771\\000"'
    assert comment("a */ b\nc\\") == "a __ b_c_"
