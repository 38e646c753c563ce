"""`verify` and `compile` on a demo, on a real model: refused with status 3 unless asked, and marked all the way."""

import json

import pytest
from bundle_maker import person, trust_file
from command_rig import COMPILE, VERIFY, command, lay_out, signed

from metainfer_core.bundle.signed_bundle import DEMO
from metainfer_core.codegen.package import read_package


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in a folder with a demo; its exit status, and its answer."""
    lay_out(tmp_path)
    (tmp_path / "net.bundle").write_bytes(signed(tmp_path, demo=True))
    (tmp_path / "trust.json").write_bytes(trust_file(person("ada", "releaser", demo=True)).to_json())
    (tmp_path / "real.json").write_bytes(trust_file(person("ada", "releaser")).to_json())
    monkeypatch.chdir(tmp_path)
    return lambda *words, trust="trust.json": command(monkeypatch, capsys, *words, "--trust", trust)


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
