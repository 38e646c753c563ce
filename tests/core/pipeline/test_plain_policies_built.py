"""A policy written by hand has no ranges: they come from the data that is given with it."""

import json
import re
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
import pytest
import typer
from onnx import numpy_helper

from metainfer_core.cli import build_commands, console
from metainfer_core.codegen.package import read_package
from metainfer_core.codegen.realised import read_realised

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8,8] x) => (float[1,4,8,8] y) { [conv] c = Conv <pads = [1,1,1,1]> (x, w)  [act] y = Relu (c) }"""
PLAIN = {
    "version": "1.2",
    "actions": [
        {
            "node_id": "conv",
            "action": "quantize",
            "params": {"bit_width": 8, "scheme": "channel_wise", "target_hw": "cortex_a72"},
        }
    ],
}


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = onnx.parser.parse_model(MODEL)
    weights = np.random.default_rng(1).normal(0, 0.01, (4, 3, 3, 3)).astype(np.float32)
    model.graph.initializer.append(numpy_helper.from_array(weights, "w"))
    onnx.save(model, "net.onnx")
    np.savez("data.npz", x=np.random.default_rng(2).normal(0, 37, (4, 1, 3, 8, 8)).astype(np.float32))
    (tmp_path / "plain.policy").write_text(json.dumps(PLAIN))

    def call(*words):
        monkeypatch.setattr("sys.argv", ["meta-infer", *words])
        app = typer.Typer(no_args_is_help=True)
        build_commands.commands(app)
        with pytest.raises(SystemExit) as left:
            console.run(app)
        return left.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def compile_plain(call):
    words = ("compile", "--model", "net.onnx", "--policy", "plain.policy", "--hw-spec", "rk3399", "--output", "net.bin")
    return lambda *options: call(*words, *options)


def coarsest_scale():
    """Of the activations of the built program: that of its input, which the weights make smaller."""
    realised = read_realised(read_package(Path("net.bin").read_bytes()))
    return max(scale for tensor in realised.tensors if not tensor.is_constant for scale in tensor.scales)


def test_ranges_come_from_the_calibration_data(compile_plain):
    status, _, err = compile_plain("--development", "--calib", "data.npz")
    assert (status, "Warning" in err) == (0, False)
    seen = np.load("data.npz")["x"]
    assert coarsest_scale() == pytest.approx((seen.max() - seen.min()) / 255, rel=0.02)


def test_random_ranges_are_said_to_be_random(compile_plain):
    status, _, err = compile_plain("--development")
    assert status == 0
    assert "they come from random numbers. Give --calib." in err
    assert re.search(r"predicted [0-9.]+ to [0-9.]+ ms on rk3399; ", Path("net.report.html").read_text())


def test_nothing_unsigned_is_built_without_being_asked_for(compile_plain):
    assert compile_plain("--calib", "data.npz")[0] == 3


def test_a_time_under_emulation_is_said_to_be_one(compile_plain, call):
    np.savez("one.npz", x=np.load("data.npz")["x"][0])
    compile_plain("--development", "--calib", "data.npz")
    assert call("run", "net.bin", "--input", "one.npz")[1].endswith(" ms over 1 run\n")
    compile_plain("--development", "--calib", "data.npz", "--target", "aarch64-linux")
    printed = call("run", "net.bin", "--input", "one.npz", "--repeat", "2")[1]
    assert printed.endswith(" ms over 2 runs, emulated: it says nothing about the chip\n")
