import datetime
import itertools

from screens import screen

from metainfer_core.actions.action import Reason
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.files.yaml_writer import write_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import load
from metainfer_core.spec.revising.diff import diff
from studio.manuals.spec_library import affected, fields, findings, is_stale, shelf, uses
from studio.model.chip_drawing import chip_drawing
from studio.words.texts import text

TODAY = datetime.date(2026, 11, 30)


def spec(version="1.0.0", sram="256 KiB", **other):
    return HardwareSpec.from_plain(
        {
            "name": "tarn",
            "version": version,
            "last_verified_date": "2026-11-20",
            "verification_method": "read",
            "compute_units": {
                "cpu": {"kind": "cpu", "cores": 4, "clock_hz": 1.2e9},
                "npu": {"kind": "npu", "macs_per_cycle": {"int8": 1024}, "clock_hz": 8e8},
            },
            "memories": {
                "sram": {"kind": "sram", "size_bytes": {"typ": 1024 * int(sram.split()[0])}, "bandwidth_gbps": 25.6},
                "npu_sram": {"kind": "sram", "size_bytes": 131072, "accessible_by": ["npu"]},
                "dram": {"kind": "dram", "size_bytes": {"max": 1 << 31}},
            },
            "bandwidth_gbps": 12.8,
            "assumed": {"memories.dram.size_bytes": "guess"},
            "sources": {"sheet": {"title": "Sheet", "document_digest": "sha256:" + "0" * 64}},
            "provenance": {"memories.sram.size_bytes": {"source": "sheet", "page": 7, "confidence": 0.9}},
        }
        | other
    )


def with_specs(workspace, *specs):
    folder = workspace / "specs"
    folder.mkdir(parents=True)
    for each in specs:
        (folder / f"{each.name}_v{each.version}.yaml").write_bytes(write_spec(each))


def test_how_long_ago_a_spec_was_checked_is_said_in_the_right_number(tmp_path, monkeypatch):
    today = datetime.datetime.now(datetime.UTC).date()
    before = {f"1.0.{days}": str(today - datetime.timedelta(days=days)) for days in (1, 2)}
    with_specs(tmp_path, *(spec(version, last_verified_date=day) for version, day in before.items()))
    (table,) = screen("specs", tmp_path, monkeypatch).dataframe
    said = {row[text("spec_version")]: row[text("spec_checked")] for _, row in table.value.iterrows()}
    assert [said["1.0.1"], said["1.0.2"]] == ["1 day ago", "2 days ago"]


def test_a_spec_leads_on_to_fitting_a_model_to_it(tmp_path, monkeypatch):
    with_specs(tmp_path, spec())
    page = screen("specs", tmp_path, monkeypatch, spec="specs/tarn_v1.0.0.yaml")
    assert text("saved_adapt") in [each.proto.label for each in page.get("page_link")]


def with_policy(workspace, made_for):
    why = (Reason(claim="It fits.", spec_field="memories.sram.size_bytes", spec_value="256 KiB"),)
    policy = Policy(
        name="p",
        actions=(PolicyAction(node_id="n", action="fuse", nodes=("n",), why=why),),
        model_digest="sha256:" + "1" * 64,
        spec_digest=made_for.values_digest,
    )
    (workspace / "p.policy").write_bytes(policy.to_json())
    return policy


def test_the_picture_has_every_unit_and_memory_once_and_none_overlaps():
    for each in (spec(), load("rk3588"), load("rk3399"), load("esp32s3")):
        drawing = chip_drawing(each)
        paths = [box.path for box in drawing.boxes]
        assert sorted(paths) == sorted(
            [f"compute_units.{name}" for name in each.compute_units] + [f"memories.{name}" for name in each.memories]
        )
        for one, other in itertools.combinations(drawing.boxes, 2):
            apart = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart or one.y + one.height <= other.y or other.y + other.height <= one.y, (one, other)
        for box in drawing.boxes:
            assert box.x >= 0
            assert box.x + box.width <= drawing.width
            assert box.y + box.height <= drawing.height
        assert len(drawing.links) == len(drawing.boxes), "each box hangs on the bus or on its unit"


def test_links_carry_bandwidths_and_what_is_outside_lies_outside():
    drawing = chip_drawing(spec())
    boxes = {box.path: box for box in drawing.boxes}
    assert [link.label for link in drawing.links if link.label] == ["25.6 GB/s", "12.8 GB/s"]
    assert boxes["memories.dram"].y > drawing.chip_height > boxes["memories.sram"].y + boxes["memories.sram"].height
    assert boxes["memories.npu_sram"].y < drawing.bus_y, "only the NPU reaches it"
    assert boxes["compute_units.cpu"].lines[0] == "4 × CPU at 1.2 GHz"
    assert boxes["memories.dram"].lines[0] == "DRAM, up to 2.00 GiB"


def test_lines_are_cut_between_names():
    types = ["int4", "int8", "int16", "float16", "bfloat16", "tf32", "float32"]
    drawing = chip_drawing(spec(compute_units={"npu": {"kind": "npu", "model": "N" * 80, "data_types": types}}))
    lines = next(box.lines for box in drawing.boxes if box.path == "compute_units.npu")
    assert lines[1] == "int4, int8, int16, float16 …"
    assert len(lines[0]) == 34


def test_a_long_name_or_many_units_stay_inside():
    units = {f"unit_{number}": {"kind": "cpu"} for number in range(9)}
    drawing = chip_drawing(spec(compute_units=units, memories={}))
    assert len(drawing.boxes) == 9
    assert max(box.x + box.width for box in drawing.boxes) < drawing.width


def test_every_value_tells_where_it_is_from():
    told = {each.path: each for each in fields(spec())}
    sram, dram = told["memories.sram.size_bytes"], told["memories.dram.size_bytes"]
    assert (sram.value, sram.source, sram.is_assumed, sram.confidence) == ("256 KiB", "Sheet, page 7", False, 0.9)
    assert (dram.source, dram.is_assumed) == ("guess", True)
    assert told["compute_units.cpu.cores"].source == ""


def test_the_shelf_has_the_workspace_and_the_library(tmp_path):
    with_specs(tmp_path, spec("1.10.0"), spec("1.9.0"))
    (tmp_path / "specs" / "broken_v1.0.0.yaml").write_text("compute_units: [")
    found = shelf(tmp_path)
    assert [each.reference for each in found if each.spec.name == "tarn"] == [
        "specs/tarn_v1.9.0.yaml",
        "specs/tarn_v1.10.0.yaml",
    ]
    assert "rk3588@1.0.0" in [each.reference for each in found]
    tarn = next(each for each in found if each.spec.name == "tarn")
    assert any(finding.code == "HW015" for finding in findings(tarn, TODAY))


def test_staleness():
    assert not is_stale(spec(), TODAY)
    assert is_stale(spec(last_verified_date="2025-11-29"), TODAY)
    assert is_stale(spec(last_verified_date="soon"), TODAY)


def test_what_a_change_affects(tmp_path):
    old, new = spec(), spec("1.1.0", sram="512 KiB", bandwidth_gbps=14.0)
    policies = (("p.policy", with_policy(tmp_path, old)),)
    changes = diff(old, new)
    found = affected(changes, policies, (old.values_digest, new.values_digest))
    assert {path: names for path, names in found.items() if names} == {"memories.sram.size_bytes": ("p.policy",)}
    assert affected(changes, policies, ("sha256:other",))["memories.sram.size_bytes"] == ()
    assert uses(policies, old.values_digest) == ("p.policy",)


def test_the_screen_lists_opens_and_compares(tmp_path, monkeypatch):
    old, new = spec(), spec("1.1.0", sram="512 KiB")
    with_specs(tmp_path, old, new)
    with_policy(tmp_path, old)
    page = screen("specs", tmp_path, monkeypatch)
    table = page.dataframe[0].value
    row = table[table[text("spec_file")] == "specs/tarn_v1.0.0.yaml"].iloc[0]
    assert (row[text("spec_used")], row[text("spec_version")]) == (1, "1.0.0")
    drawn = [each.type for each in page.main]
    assert drawn.index("selectbox") < drawn.index(page.dataframe[0].type)  # whose tools one need not walk through
    page.selectbox(key="open").set_value("specs/tarn_v1.1.0.yaml").run()
    assert not page.exception, page.exception
    assert page.title[0].value == r"tarn 1\.1\.0"
    (picture,) = page.get("bidi_component")
    assert "memories.npu_sram" in picture.proto.json
    page.query_params["view"] = text("spec_compare")
    page.session_state["view"] = text("spec_compare")
    page.run()
    assert not page.exception, page.exception
    changed = next(each.value for each in page.dataframe if text("spec_affected") in each.value.columns)
    row = changed[changed[text("spec_field")] == "memories.sram.size_bytes"].iloc[0]
    assert list(row) == ["memories.sram.size_bytes", "256 KiB", "512 KiB", "p.policy"]


def test_a_spec_that_is_gone_leads_back_to_the_library(tmp_path, monkeypatch):
    page = screen("specs", tmp_path, monkeypatch, spec="specs/gone_v1.0.0.yaml")
    assert page.title[0].value == text("page_specs")


def test_the_matrix_says_what_fails_first_and_how_that_is_known(tmp_path, monkeypatch):
    issue = {
        "verdict": "hurts",
        "operators": ["Conv", "HardSwish"],
        "action": "fuse",
        "unit": "npu",
        "evidence": "12 ms.",
    }
    table = {"supported": ["Conv"], "unavailable": ["Pad"]}
    units = {"npu": {"kind": "npu", "macs_per_cycle": {"int8": 1024}, "clock_hz": 8e8, "operators": table}}
    with_specs(
        tmp_path, spec(compute_units=units, known_issues={"slow": issue}, memories={}, provenance={}, assumed={})
    )
    page = screen("specs", tmp_path, monkeypatch, spec="specs/tarn_v1.0.0.yaml", view=text("spec_matrix"))
    page.session_state["view"] = text("spec_matrix")
    page.run()
    assert not page.exception, page.exception
    shown = next(each.value for each in page.dataframe if text("spec_verdict") in each.value.columns)
    assert shown[[text("spec_verdict"), text("spec_subject"), text("spec_unit")]].to_numpy().tolist() == [
        ["✕ fails", "Pad", "npu"],
        ["▼ hurts", "fuse: Conv → HardSwish", "npu"],
        ["○ stated", "Conv", "npu"],
    ]
    assert shown[text("spec_evidence")][1] == "12 ms. (known_issues.slow)"


def test_a_file_that_would_be_a_spec_and_is_none_is_told_with_its_fault(tmp_path, monkeypatch):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "bad.yaml").write_text("name: x\ncompute_units:\n  npu: {kind: zz\n")
    page = screen("specs", tmp_path, monkeypatch)
    (said,) = [each.value.replace("\\", "") for each in page.warning]
    assert "specs/bad.yaml:" in said
    assert len(page.dataframe) == 1  # the others are there as before
