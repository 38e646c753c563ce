"""`verify` and `compile` on a demo, on a real model: refused with status 3 unless asked, and marked all the way."""

import json
import sys

import onnx
import onnx.parser
import pytest
import typer
from bundle_maker import bundle, person, trust_file

from metainfer_core.bundle.signed_bundle import DEMO
from metainfer_core.bundle.statement import subjects
from metainfer_core.cli import build_commands, console, trust_commands
from metainfer_core.codegen.package import read_package
from metainfer_core.graph.load import load_model
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.hardware_spec import HardwareSpec

CHIP = {
    "name": "chip",
    "version": "1.0.0",
    "compute_units": {"cpu": {"kind": "cpu", "data_types": ["float32", "int8"]}},
    "memories": {"dram": {"kind": "dram", "size_bytes": 1 << 20}},
}
COMPILE = ["compile", "--model", "net.onnx", "--policy", "net.bundle", "--hw-spec", "chip.yaml", "--output", "net.bin"]
VERIFY = ["verify", "net.bundle", "--model", "net.onnx", "--hw-spec", "chip.yaml"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder with a demo; its exit status, and its answer."""
    net = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["": 21]> net (float[1,4] x) => (float[1,4] y) {y = Relu(x)}'
    )
    (tmp_path / "net.onnx").write_bytes(net.SerializeToString())
    (tmp_path / "chip.yaml").write_text(json.dumps(CHIP))
    digests = {"model": load_model(tmp_path / "net.onnx").digest, "spec": HardwareSpec.from_plain(CHIP).values_digest}
    rules = ruleset_digest()
    of = Policy(
        actions=(), name="net", model_digest=digests["model"], spec_digest=digests["spec"], ruleset_digest=rules
    )
    times = {"created": "2026-01-01T00:00:00Z", "expires": "2126-01-01T00:00:00Z"}
    about = subjects(**digests, policy=of.digest)
    data = bundle([], of=of, subject=about, ruleset_digest=rules, chip="chip", demo=True, **times)
    (tmp_path / "net.bundle").write_bytes(data)
    (tmp_path / "trust.json").write_bytes(trust_file(person("ada", "releaser", demo=True)).to_json())
    (tmp_path / "real.json").write_bytes(trust_file(person("ada", "releaser")).to_json())
    monkeypatch.chdir(tmp_path)

    def run(*words, trust="trust.json"):
        app = typer.Typer()
        build_commands.commands(app)
        trust_commands.commands(app)
        monkeypatch.setattr(sys, "argv", ["meta-infer", *words, "--trust", trust])
        with pytest.raises(SystemExit) as end:
            console.run(app)
        out = capsys.readouterr().out
        return end.value.code or 0, json.loads(out) if "--json" in words else out

    return run


def test_verify_says_in_plain_words_that_it_is_a_demo(run):
    status, out = run(*VERIFY)
    assert status == 3
    assert out.splitlines()[:2] == [
        "net.bundle: NOT TRUSTED",
        "- demo: The bundle is a demo: a studio signed it with keys of its own, for whoever sat there.",
    ]
    status, out = run(*VERIFY, "--allow-demo")
    assert (status, out.splitlines()[:2]) == (0, ["net.bundle: holds, as a demo", DEMO])


def test_scripts_never_read_of_a_demo_that_it_is_trusted(run):
    status, answer = run(*VERIFY, "--json")
    assert (status, answer["trusted"], [each["check"] for each in answer["reasons"]]) == (3, False, ["demo"])
    status, answer = run(*VERIFY, "--allow-demo", "--json")
    assert (status, answer["trusted"], answer["demo"], answer["reasons"]) == (0, False, True, [])
    status, answer = run(*VERIFY, "--allow-demo", "--json", trust="real.json")
    assert (status, answer["trusted"], [each["check"] for each in answer["reasons"]]) == (3, False, ["demo"])


def test_compile_refuses_a_demo_unless_asked_and_marks_what_it_builds(run, tmp_path):
    status, answer = run(*COMPILE, "--json")
    assert (status, answer["error"]["check"]) == (3, "demo")
    assert not (tmp_path / "net.bin").exists()
    status, answer = run(*COMPILE, "--development", "--json")
    assert (status, answer["error"]["check"]) == (3, "demo")
    status, answer = run(*COMPILE, "--allow-demo", "--json")
    assert (status, answer.get("development"), answer.get("error")) == (0, True, None)
    manifest = read_package((tmp_path / "net.bin").read_bytes()).manifest
    assert (manifest.review, manifest.development, "bundle" in manifest.parents) == ("demo", True, True)
    page = (tmp_path / "net.report.html").read_text()
    assert "Demo package: a studio signed it for whoever sat there." in page
    report = json.loads((tmp_path / "net.report.json").read_text())
    assert report["demo"] is True
    assert (
        report["headlines"][2]["answer"] == "Nothing technical. It is a demo: a studio signed it for whoever sat there."
    )
    assert not (tmp_path / "trust.seen.json").exists(), "a demo makes no other bundle too old"
