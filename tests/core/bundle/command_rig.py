"""`verify` and `compile` as commands, in a folder with a real model, a spec, and bundles that are signed for both."""

import json
import sys

import onnx.parser
import pytest
import typer
from bundle_maker import bundle

from metainfer_core.bundle.statement import subjects
from metainfer_core.cli import build_commands, console, trust_commands
from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.hardware_spec import HardwareSpec

NET = '<ir_version: 10, opset_import: ["": 21]> net (float[1,4] x) => (float[1,4] y) {y = Relu(x)}'
CHIP = {
    "name": "chip",
    "version": "1.0.0",
    "compute_units": {"cpu": {"kind": "cpu", "data_types": ["float32", "int8"]}},
    "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 20}},
}
COMPILE = ["compile", "--model", "net.onnx", "--policy", "net.bundle", "--hw-spec", "chip.yaml", "--output", "net.bin"]
VERIFY = ["verify", "net.bundle", "--model", "net.onnx", "--hw-spec", "chip.yaml"]
TIMES = {"created": "2026-01-01T00:00:00Z", "expires": "2126-01-01T00:00:00Z"}


def lay_out(folder):
    """Writes the model and the spec."""
    (folder / "net.onnx").write_bytes(onnx.parser.parse_model(NET).SerializeToString())
    (folder / "chip.yaml").write_text(json.dumps(CHIP))


def signed(folder, **changes):
    """A bundle for that model, that spec and this program: nothing is done to the model, so nobody has to approve."""
    about = {"model": load_model(folder / "net.onnx").digest, "spec": HardwareSpec.from_plain(CHIP).values_digest}
    bound = {"model_digest": about["model"], "spec_digest": about["spec"], "ruleset_digest": ruleset_digest()}
    of = Policy(actions=(), name="net", **bound)
    subject = subjects(**about, policy=of.digest)
    return bundle([], of=of, subject=subject, ruleset_digest=ruleset_digest(), chip="chip", **(TIMES | changes))


def command(monkeypatch, capsys, *words):
    """Exit status of a command, and what it printed: parsed, where that is JSON."""
    app = typer.Typer()
    build_commands.commands(app)
    trust_commands.commands(app)
    monkeypatch.setattr(sys, "argv", ["meta-infer", *words])
    with pytest.raises(SystemExit) as end:
        console.run(app)
    out = capsys.readouterr().out
    return end.value.code or 0, json.loads(out) if "--json" in words else out
