from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from spec_texts import CLEAN, FILE_NAME, line_of
from test_accept import A53, A72, draft
from test_profiles_and_schema import PROFILE

from metainfer_core.cli import console, spec_commands, validator
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.drafting.draft_file import write_draft
from metainfer_core.spec.files.yaml_file import read_spec


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    monkeypatch.setattr("sys.argv", list(words))
    app = typer.Typer(no_args_is_help=True)
    spec_commands.commands(app)
    app.callback()(lambda: None)
    main = validator.main if words[0] == "hwdoc-validator" else lambda: console.run(app)
    with pytest.raises(SystemExit) as left:
        main()
    printed = capsys.readouterr()
    return int(str(left.value.code)), printed.out, printed.err


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)
    return lambda *words: run(capsys, monkeypatch, *words)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "hwspecs" / FILE_NAME
    path.parent.mkdir()
    path.write_text(CLEAN)
    return path


def test_the_validator_says_yes(command: Any, spec: Path) -> None:
    status, out, _ = command("hwdoc-validator", str(spec))
    assert status == 0
    assert f"{spec}: 0 errors, 0 warnings, 0 notes" in out
    assert "HW014" in out


def test_the_validator_says_no_with_line_and_mend(command: Any, spec: Path) -> None:
    spec.write_text(CLEAN.replace("    cores: 2", "    core: 2"))
    status, out, _ = command("hwdoc-validator", str(spec))
    assert status == 1
    assert f"{spec}:{line_of(spec.read_text(), 'core: 2')}:5: error HW002: " in out
    assert "    fix: Did you mean `cores`?" in out


def test_warnings_fail_only_when_strict(command: Any, spec: Path) -> None:
    spec.write_text(CLEAN.replace("verification_method: read on the page\n", ""))
    assert command("hwdoc-validator", str(spec))[0] == 0
    assert command("hwdoc-validator", "--strict", str(spec))[0] == 1


def test_findings_as_json(command: Any, spec: Path) -> None:
    spec.write_text(CLEAN.replace("tops: {max: 1}", "tops: {max: 9}"))
    status, out, _ = command("hwdoc-validator", "--json", str(spec))
    (finding,) = json.loads(out)["findings"]
    assert status == 1
    assert set(finding) == {"file", "code", "severity", "path", "line", "column", "message", "fix"}
    assert (finding["code"], finding["path"]) == ("HW012", "compute_units.npu.tops")


def test_findings_as_sarif(command: Any, spec: Path) -> None:
    spec.write_text(CLEAN.replace("tops: {max: 1}", "tops: {max: 9}"))
    _, out, _ = command("hwdoc-validator", "--format", "sarif", str(spec))
    run_ = json.loads(out)["runs"][0]
    (result,) = run_["results"]
    assert run_["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "HW012"
    place = result["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == line_of(spec.read_text(), "tops: {max: 9}")


def test_a_missing_file_and_a_wrong_option_are_bad_usage(command: Any, spec: Path) -> None:
    assert command("hwdoc-validator", "none.yaml")[0] == 2
    assert command("hwdoc-validator", "--format", "xml", str(spec))[0] == 2


def test_a_comparison_that_nothing_offers_is_no_verdict(command: Any, spec: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(validator, "MANUAL_CHECKS", "metainfer.no_such_checks")
    status, out, err = command("hwdoc-validator", str(spec), "--manual", "sheet.pdf")
    assert (status, out) == (2, "")
    assert "Nothing that is installed compares a spec with its manual." in err


def test_list_and_show(command: Any, spec: Path) -> None:
    _, out, _ = command("meta-infer", "spec", "list", "--json")
    assert json.loads(out)["specs"] == [{"name": "tiny", "version": "1.0.0", "path": f"hwspecs/{FILE_NAME}"}]
    status, out, _ = command("meta-infer", "spec", "show", "tiny", "--field", "memories.sram")
    assert status == 0
    assert "memories.sram.size_bytes       256 KiB   [sheet p. 2]" in out
    status, _, err = command("meta-infer", "spec", "show", "tiny", "--field", "memory")
    assert status == 2
    assert "nothing under 'memory'" in err


def test_diff_tells_and_says_no(command: Any, spec: Path) -> None:
    other = spec.with_name("tiny_v1.1.0.yaml")
    other.write_text(CLEAN.replace("version: 1.0.0", "version: 1.1.0").replace("mean: 120", "mean: 135"))
    assert command("meta-infer", "spec", "diff", "tiny@1.0.0", "tiny@1.0.0")[0] == 0
    status, out, _ = command("meta-infer", "spec", "diff", "tiny@1.0.0", str(other), "--json")
    assert status == 1
    assert [change["path"] for change in json.loads(out)["changes"]] == ["memories.dram.latency_cycles", "version"]


def test_accept_writes_a_spec_and_lists_conflicts(command: Any, tmp_path: Path) -> None:
    Path("draft.yaml").write_bytes(write_draft(draft(A72, A53, {**A53, "value": 8, "page": 2})))
    status, out, _ = command("meta-infer", "spec", "accept", "draft.yaml", "--output", "chip_v1.0.0.yaml", "--all")
    assert status == 0
    assert "1 of 3 candidates accepted" in out
    assert "       2  8 (sheet, p. 2, Cortex-A53)" in out
    words = ("--choose", "2", "--by", "Ada", "--set", "compute_units.cortex_a72.l2_cache.size_bytes=1 MiB")
    command("meta-infer", "spec", "accept", "draft.yaml", "-o", "chip_v1.0.0.yaml", "--all", *words)
    made = read_spec(Path("chip_v1.0.0.yaml"))
    assert command("hwdoc-validator", "chip_v1.0.0.yaml")[0] == 0
    assert made.compute_units["cortex_a53"].cores == 8
    assert made.provenance["compute_units.cortex_a53.cores"].accepted_by == "Ada"
    assert made.assumed == {"compute_units.cortex_a72.l2_cache.size_bytes": "Given by Ada."}


def test_accepting_onto_a_spec_keeps_its_comments(command: Any, spec: Path) -> None:
    spec.write_text("# by hand\n" + CLEAN.replace("0" * 64, "1" * 64))
    Path("draft.yaml").write_bytes(write_draft(draft({"field": "power.supply_v", "value": 1.8, "unit": "V"})))
    words = ("meta-infer", "spec", "accept", "draft.yaml", "--all", "--onto", str(spec), "--output", str(spec))
    assert command(*words)[0] == 0
    assert spec.read_text().startswith("# by hand\nname: tiny\n")
    assert read_spec(spec).supply_v is not None


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "Acceptance is a decision"),
        (("--choose", "7"), "There is no candidate 7"),
        (("--all", "--bind", "big"), "is not LEFT=RIGHT"),
        (("--all", "--set", "cpu=3"), "no place 'cpu'"),
        (("--all", "--set", "compute_units.npu.clck_hz=1 GHz"), "Did you mean compute_units.npu.clock_hz?"),
        (("--all", "--set", "memory.dram.kind=dram"), "Did you mean memories?"),
        (("--all", "--bind", "big=cortex_a72"), "No candidate of the draft is about 'big'."),
    ],
)
def test_a_decision_that_cannot_be_followed_writes_nothing(command: Any, words: tuple[str, ...], told: str) -> None:
    Path("draft.yaml").write_bytes(write_draft(draft(A72)))
    status, _, err = command("meta-infer", "spec", "accept", "draft.yaml", "--output", "out.yaml", *words)
    assert status == 2
    assert told in err
    assert not Path("out.yaml").exists()


def test_import_names_its_assumptions(command: Any) -> None:
    Path("p.yaml").write_text(PROFILE)
    status, out, _ = command("meta-infer", "spec", "import", "p.yaml", "--output", "edgenpu_x1_v1.0.0.yaml")
    assert status == 0
    assert "memories.dram.bandwidth_gbps: `mbps` may mean" in out
    assert read_spec(Path("edgenpu_x1_v1.0.0.yaml")).compute_units["accelerator"].cores == 4
    assert command("meta-infer", "spec", "import", "edgenpu_x1_v1.0.0.yaml", "--output", "x.yaml")[0] == 2


@pytest.mark.parametrize("words", [("host",), ("import", "p.yaml")])
def test_what_is_drafted_takes_no_spec_from_its_place(command: Any, words: tuple[str, ...]) -> None:
    Path("p.yaml").write_text(PROFILE)
    Path("confirmed_v1.0.0.yaml").write_text("checked by hand")
    status, _, err = command("meta-infer", "spec", *words, "--output", "confirmed_v1.0.0.yaml")
    assert (status, "confirmed_v1.0.0.yaml: this is there already." in err) == (2, True)
    assert Path("confirmed_v1.0.0.yaml").read_text() == "checked by hand"


def test_drift_is_told_with_its_size(command: Any, spec: Path) -> None:
    Path("good.yaml").write_text(
        "memories.dram.latency_cycles: 178 cycles\nl1_cache.latency_cycles: {mean: 3, std: 1}\n"
    )
    assert command("meta-infer", "spec", "drift", "tiny", "good.yaml")[0] == 0
    Path("bad.yaml").write_text("memories.dram.bandwidth_gbps: 10.5 GB/s\nmemories.dram.latency_cycles: 120\n")
    status, out, _ = command("meta-infer", "spec", "drift", "tiny", "bad.yaml")
    assert status == 1
    assert out.splitlines() == [
        "memories.dram.bandwidth_gbps has drifted: recorded 12.8, measured 10.5 (-18.0%)",
        "memories.dram.latency_cycles holds: recorded {min: 100, typ: 120, max: 180, std: 5}, measured 120 (+0.0%)",
    ]
    assert command("meta-infer", "spec", "drift", "tiny", "bad.yaml", "--tolerance", "0.2")[0] == 0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("memories.dram.bandwidth: 3\n", "is no quantity of a spec"),
        ("memories.dram.bandwidth_gbps: 3 MHz\n", "is a frequency"),
        ("power_typ_w: 3 W\n", "records no power_typ_w"),
        ("- 3\n", "map field paths to values"),
    ],
)
def test_measurements_that_fit_nothing_are_bad_input(command: Any, spec: Path, text: str, told: str) -> None:
    Path("m.yaml").write_text(text)
    status, _, err = command("meta-infer", "spec", "drift", "tiny", "m.yaml")
    assert status == 2
    assert told in err


def test_the_schema_is_printed(command: Any) -> None:
    status, out, _ = command("meta-infer", "spec", "schema", "--json")
    assert status == 0
    assert "memories" in json.loads(out)["properties"]


def test_diff_says_which_policies_rest_on_what_changed(command: Any, tmp_path: Path) -> None:
    old, new = tmp_path / "tiny_v1.0.0.yaml", tmp_path / "tiny_v1.1.0.yaml"
    old.write_text(CLEAN)
    new.write_text(CLEAN.replace("256 KiB", "128 KiB").replace("version: 1.0.0", "version: 1.1.0"))

    def policy(name: str, field: str, digest: str) -> None:
        why = ({"claim": "It fits.", "spec_field": field, "spec_value": "256 KiB"},)
        line = {"node_id": "Conv_1", "action": "place", "why": why}
        made = Policy.from_plain({"actions": [line], "spec_digest": digest}, name)
        (tmp_path / "policies").mkdir(exist_ok=True)
        (tmp_path / "policies" / name).write_bytes(made.to_json())

    digest = read_spec(old).values_digest
    policy("rests.policy", "memories.sram.size_bytes", digest)
    policy("above.policy", "memories.sram", digest)
    policy("apart.policy", "compute_units.npu.clock_hz", digest)
    policy("other.policy", "memories.sram.size_bytes", "sha256:" + "0" * 64)
    (tmp_path / "policies" / "broken.policy").write_text("{")
    status, out, err = command(
        "meta-infer", "spec", "diff", str(old), str(new), "--policies", str(tmp_path / "policies"), "--json"
    )
    assert status == 1, err
    answer = json.loads(out)
    assert status == 1
    assert "broken.policy" in err
    assert answer["policies"] == ["above.policy", "apart.policy", "rests.policy"]
    assert [(each["policy"], each["path"], each["actions"]) for each in answer["affected"]] == [
        ("above.policy", "memories.sram.size_bytes", ["place@Conv_1"]),
        ("rests.policy", "memories.sram.size_bytes", ["place@Conv_1"]),
    ]
    status, _, err = command("meta-infer", "spec", "diff", str(old), str(new), "--policies", str(tmp_path / "nowhere"))
    assert (status, "there is no such folder" in err) == (2, True)
