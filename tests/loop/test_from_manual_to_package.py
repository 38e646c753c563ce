"""The thin line through everything: a real data sheet, a real model, a package that is compared with its reference."""

import json
import subprocess
import sys
from pathlib import Path

from metainfer_core.spec.drafting.draft_file import read_draft
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.verify.report import BuildReport

SHARED = Path(__file__).parents[3] / "shared"


def meta_infer(folder, *arguments):
    done = subprocess.run(
        [sys.executable, "-m", "metainfer_core", *map(str, arguments), "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_from_the_rk3588_data_sheet_to_a_compared_package(tmp_path):
    manual = SHARED / "corpus" / "dev" / "docs" / "rk3588_datasheet_v1.4.pdf"
    draft = meta_infer(tmp_path, "ingest", manual, "--chip", "RK3588", "--output", "draft.yaml")
    assert len({candidate["field"] for candidate in draft["candidates"]}) >= 20
    assert all(candidate["page"] and candidate["text"] for candidate in draft["candidates"])

    spec_path = tmp_path / "rk3588_v1.0.0.yaml"
    found = read_draft(tmp_path / "draft.yaml").candidates
    types = [candidate for candidate in found if candidate.field == "npu.data_types"]
    assert [candidate.page for candidate in types] == [9]  # page 6 names four of the six types that page 9 does
    by = ("--by", "A Tester")
    meta_infer(tmp_path, "spec", "accept", "draft.yaml", "--above", "0.85", *by, "--output", spec_path)
    spec = read_spec(spec_path)
    npu = spec.compute_units["npu"]
    assert npu.cores == 3
    assert "int8" in npu.data_types
    place = spec.provenance["compute_units.npu.data_types"]
    assert (place.accepted_by, place.page) == ("A Tester", 9)
    assert spec.sources[place.source].document_digest.startswith("sha256:")

    model = SHARED / "models" / "mlperf_resnet8.onnx"
    answer = meta_infer(tmp_path, "build", "--model", model, "--hw-spec", spec_path, "--output", "resnet8.bin")
    assert answer["violations"] == 0
    assert answer["approved_not_realised"] == []
    assert answer["accuracy"]["simulator_equal"]
    assert answer["development"]
    report = BuildReport.from_json((tmp_path / "resnet8.report.json").read_bytes())
    assert report.spec_digest == spec.values_digest
    assert report.headlines[0].question == "Does it fit?"

    validation = meta_infer(tmp_path, "validate", "resnet8.bin")
    assert validation["equal"]
