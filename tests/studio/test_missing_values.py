"""What a spec lacks for a prediction is said in plain words, and can be given where it is said."""

import re
from pathlib import Path

import pytest
from fitted import PATH, fitted
from screens import screen

from metainfer_core.errors import InputError
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.files.yaml_file import read_spec, save_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.drafts.missing_values import missing_values, phrase, save_given, to_be_given, told_plainly
from studio.files.policies import SpecChoice, spec_choices
from studio.words.texts import text

MACS, LAUNCH = "compute_units.npu.macs_per_cycle.int8", "compute_units.npu.launch_overhead_us"
LACKS = f"The prediction does without {LAUNCH} (launches not counted), {MACS}, which the spec lacks."
NO_TIME = "The time on the chip cannot be predicted; candidates are ranked by the bytes they move."
PLAIN = {
    "name": "chip",
    "version": "1.2.0",
    "compute_units": {"npu": {"kind": "npu", "clock_hz": 1e9, "data_types": ["int8"]}},
}


def choice(workspace):
    path = workspace / "specs" / "chip_v1.2.0.yaml"
    path.parent.mkdir(exist_ok=True)
    save_spec(HardwareSpec.from_plain(PLAIN), path)
    spec = read_spec(path)
    return SpecChoice(str(path), spec, spec.values_digest)


def test_warnings_are_told_in_plain_words():
    assert missing_values([NO_TIME, LACKS]) == (LAUNCH, MACS)
    what = (
        f"how long starting work on npu takes ({LAUNCH}); "
        f"how many multiply-accumulates in int8 npu does a cycle ({MACS})"
    )
    assert told_plainly(["Other.", LACKS, NO_TIME]) == [
        f"The time on the chip cannot be predicted: the spec does not say {what}. Candidates are ranked by the bytes "
        "they move.",
        "Other.",
    ]
    assert told_plainly([LACKS]) == [f"The predicted time leaves something out: the spec does not say {what}."]
    assert told_plainly(["Other.", NO_TIME]) == ["Other.", NO_TIME]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("compute_units.cpu.clock_hz", "how fast the clock of cpu is (compute_units.cpu.clock_hz)"),
        ("memories.dram.bandwidth_gbps", "how many bytes a second dram delivers (memories.dram.bandwidth_gbps)"),
        ("memories.dram.latency_cycles", "how many cycles dram takes to answer (memories.dram.latency_cycles)"),
        ("the operations of loop_3", "the operations of loop_3"),
        ("memories", "memories"),
    ],
)
def test_each_kind_of_value_has_its_words(path, said):
    assert phrase(path) == said


def test_what_is_given_makes_a_new_version_and_nothing_is_overwritten(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    on = choice(tmp_path)
    before = (tmp_path / "specs/chip_v1.2.0.yaml").read_bytes()
    saved = save_given(on, {MACS: " 256 ", LAUNCH: ""}, "ada", "told by the vendor")
    assert saved.path == tmp_path / "specs/chip_v1.3.0.yaml"
    spec = read_spec(saved.path)
    assert spec.compute_units["npu"].macs_per_cycle["int8"].nominal == 256
    assert spec.compute_units["npu"].launch_overhead_us is None
    assert dict(spec.assumed) == {MACS: "Given by ada: told by the vendor."}
    assert spec.change_log == (f"v1.3.0: {MACS}: unknown → 256 (assumed), told by the vendor",)
    assert (tmp_path / "specs/chip_v1.2.0.yaml").read_bytes() == before
    assert save_given(on, {LAUNCH: "2 ms"}, "ada", "measured").path.name == "chip_v1.4.0.yaml"
    offered = [Path(each.reference).name for each in spec_choices() if Path(each.reference).is_absolute()]
    assert offered == ["chip_v1.4.0.yaml", "chip_v1.3.0.yaml", "chip_v1.2.0.yaml"]
    again = read_spec(tmp_path / "specs/chip_v1.4.0.yaml")
    assert again.compute_units["npu"].launch_overhead_us.nominal == 2000


@pytest.mark.parametrize(
    ("given", "by", "reason", "said"),
    [
        ({MACS: " "}, "ada", "r", "No value is given."),
        ({MACS: "256"}, "ada", " ", "No reason is given."),
        ({MACS: "256"}, "", "r", "It is not known who accepts."),
        ({MACS: "many"}, "ada", "r", f"{MACS}: "),
        ({LAUNCH: "20 MHz"}, "ada", "r", f"{LAUNCH}: "),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(tmp_path, monkeypatch, given, by, reason, said):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    on = choice(tmp_path)
    with pytest.raises(InputError, match=re.escape(said)):
        save_given(on, given, by, reason)
    assert [path.name for path in (tmp_path / "specs").iterdir()] == ["chip_v1.2.0.yaml"]


def test_a_name_that_leaves_the_folder_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("METAINFER_WORKSPACE", str(tmp_path))
    on = choice(tmp_path)
    evil = HardwareSpec.from_plain(PLAIN | {"name": "../chip"})
    with pytest.raises(InputError, match="cannot be the name of a file"):
        save_given(SpecChoice(on.reference, evil, on.digest), {MACS: "1"}, "ada", "r")


def test_adapt_asks_for_what_is_missing_and_takes_the_new_version(tmp_path, monkeypatch):
    policy = fitted(tmp_path)
    on = choice(tmp_path)
    plain = policy.plain() | {"warnings": [LACKS, NO_TIME]}
    policy = Policy.from_plain(plain)
    (tmp_path / PATH.replace("esp32s3", "chip")).write_bytes(policy.to_json())
    assert to_be_given(policy, on.spec) == (LAUNCH, MACS)
    page = screen("adapt", tmp_path, monkeypatch, model="net.onnx", spec="specs/chip_v1.2.0.yaml")
    shown = "\n".join(each.value for each in page.get("html"))
    assert f"how long starting work on npu takes ({LAUNCH})" in shown
    assert "does without" not in shown
    order = [each.label if each.type == "text_input" else getattr(each, "value", "") for each in page.main]
    told = [n for n, each in enumerate(order) if isinstance(each, str) and text("adapt_candidates") in each]
    asked = [n for n, each in enumerate(page.main) if each.type == "text_input" and each.key == f"missing-{LAUNCH}"]
    assert asked < told  # beside the sentence that says what it lacks, not below all figures
    label = "How long starting work on npu takes (compute_units.npu.launch_overhead_us)"
    assert page.text_input(key=f"missing-{LAUNCH}").label.replace("\\", "") == label
    assert page.text_input(key=f"missing-{LAUNCH}").placeholder == "such as 20 us; empty: it stays unknown"
    page.session_state["person"] = "ada"
    page.text_input(key=f"missing-{LAUNCH}").set_value("20 us")
    page.text_input(key=f"missing-{MACS}").set_value("256")
    page.text_input(key="missing_reason").set_value("measured on the board")
    page.button(key="missing_save").click().run()
    assert not page.exception
    assert page.query_params["spec"] == "specs/chip_v1.3.0.yaml"
    assert text("missing_given") in [each.value for each in page.info]
    spec = read_spec(tmp_path / "specs/chip_v1.3.0.yaml")
    assert (spec.compute_units["npu"].launch_overhead_us.nominal, dict(spec.assumed)) == (
        20,
        dict.fromkeys((LAUNCH, MACS), "Given by ada: measured on the board."),
    )
