from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
from spec_texts import CLEAN, FILE_NAME

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.flat_profile import import_profile, load_spec_or_profile
from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.files.aliases import FIELDS
from metainfer_core.spec.files.schema import json_schema
from metainfer_core.spec.files.strict_yaml import read_yaml
from metainfer_core.spec.files.yaml_file import parse_spec, write_spec
from metainfer_core.spec.hardware_spec import Quantity

PROFILE = """\
accelerator:
  name: "EdgeNPU X1"
  compute_units: 4
  supported_ops: [conv2d, depthwise_conv2d, relu, add, AveragePool, fully_connected]
  data_layouts: [NHWC, NC4HW4]
  precision: [fp16, int8]
  aligned_channel: 16
  unified_memory: true
  bandwidth_mbps: 12800
  max_workers: 2
"""


def test_a_flat_profile_becomes_a_spec_and_its_gaps_assumptions() -> None:
    spec = import_profile(read_yaml(PROFILE.encode(), "p.yaml"))
    unit = spec.compute_units["accelerator"]
    assert spec.name == "edgenpu_x1"
    assert (unit.cores, unit.channel_multiple, unit.data_types) == (4, 16, ("float16", "int8"))
    assert unit.operators.supported == ("Conv", "Relu", "Add", "AveragePool", "Gemm")
    assert unit.data_layouts == ("NHWC", "NC4HW4")
    assert spec.memories["dram"].bandwidth_gbps == Quantity(typ=12.8)
    assert "8 times less" in spec.assumed["memories.dram.bandwidth_gbps"]
    assert spec.other == {"unified_memory": True, "max_workers": 2}
    assert parse_spec(write_spec(spec), "edgenpu_x1_v1.0.0.yaml") == spec


def test_the_unit_of_the_bandwidth_can_be_said() -> None:
    spec = import_profile(read_yaml(PROFILE.encode(), "p.yaml"), "Mbit/s")
    assert spec.memories["dram"].bandwidth_gbps == Quantity(typ=1.6)
    assert "memories.dram.bandwidth_gbps" not in spec.assumed


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("precision:", "precisions:", "p.yaml:6:3", "Did you mean `precision`?"),
        ("fp16", "fp17", "p.yaml:6:3", "the precision 'fp17' is not known"),
        ("relu", "rellu", "p.yaml:4:3", "Did you mean `relu`?"),
        ("aligned_channel: 16", "aligned_channel: -1", "p.yaml:7:3", "a whole number above 0"),
        ('name: "EdgeNPU X1"', "name: 3", "p.yaml:2:3", "has no name"),
        ("12800", "12800 MHz", "p.yaml:9:3", "is a frequency"),
        ("12800", "0", "p.yaml:9:3", "not a number above 0"),
    ],
)
def test_a_profile_with_a_fault_is_refused_with_its_line(old: str, new: str, place: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        import_profile(read_yaml(PROFILE.replace(old, new, 1).encode(), "p.yaml"))
    assert str(caught.value).startswith(place)
    assert words in str(caught.value)


def test_specs_and_profiles_load_alike(tmp_path: Path) -> None:
    profile, spec = tmp_path / "p.yaml", tmp_path / FILE_NAME
    profile.write_text(PROFILE)
    spec.write_text(CLEAN)
    assert load_spec_or_profile(profile).name == "edgenpu_x1"
    assert load_spec_or_profile(spec).name == "tiny"


def test_every_document_field_points_at_a_place_that_exists() -> None:
    for field, pattern in FIELDS.items():
        path = re.sub(r"\{\w+\}", "a", pattern)
        assert shape_at(path) is not None, f"{field} → {path}"


def test_the_schema_accepts_good_specs_and_catches_what_editors_should() -> None:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = read_yaml(CLEAN.encode(), FILE_NAME).data
    assert list(validator.iter_errors(good)) == []
    for old, new in (
        ("    cores: 2", "    core: 2"),
        ("kind: sram", "kind: srm"),
        ("cores: 4", "cores: [4]"),
        ("    kind: npu\n", ""),
        ("page: 1", "pages: 1"),
    ):
        assert list(validator.iter_errors(read_yaml(CLEAN.replace(old, new).encode(), FILE_NAME).data)), new
    json.dumps(schema)


def test_the_written_form_of_a_spec_fits_the_schema() -> None:
    data = write_spec(parse_spec(CLEAN.encode(), FILE_NAME))
    errors = jsonschema.Draft202012Validator(json_schema()).iter_errors(read_yaml(data, FILE_NAME).data)
    assert [error.message for error in errors] == []
