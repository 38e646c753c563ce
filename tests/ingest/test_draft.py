import pytest

from hwdoc_ingest.drafting.draft import draft, merge, source_keys
from hwdoc_ingest.fields import FIELDS, address, candidate_json
from hwdoc_ingest.reading import Reading
from metainfer_core.errors import DefectError
from metainfer_core.spec.drafting.draft import Candidate, DraftSource


def said(source="a", **told):
    return Candidate(
        **({"field": "cpu.cores", "value": 4, "unit": "count", "source": source, "confidence": 0.5} | told)
    )


def reading(key, *candidates, notes=()):
    source = DraftSource(title=key, document_digest="sha256:00", file_name=f"{key}.pdf")
    return Reading(key=key, source=source, candidates=candidates, notes=notes)


def test_a_repetition_in_one_document_is_merged_to_the_surest():
    first, surer, same = said(page=1), said(page=2, confidence=0.9), said(page=3, confidence=0.9)
    assert merge([first, surer, same]) == (surer,)


def test_conflicts_and_other_documents_stay_side_by_side():
    one, other = said(), said(value=8, page=2)
    elsewhere = said(source="b")
    made = draft("x", [reading("a", one, other, notes=("blurred",)), reading("b", elsewhere)])
    assert made.candidates == (one, other, elsewhere)
    assert made.notes == ("a: blurred",)
    assert list(made.sources) == ["a", "b"]


def test_candidates_of_one_field_and_instance_stand_together():
    a, b, c = said(instance="big"), said(field="chip.name", value="x", unit=None), said(instance="big", value=2)
    assert draft("x", [reading("a", a, b, c)]).candidates == (b, a, c)


def test_two_documents_of_one_key_are_a_defect():
    with pytest.raises(DefectError):
        draft("x", [reading("a"), reading("a")])


def test_source_keys():
    names = ["RK3588 Datasheet v1.4.pdf", "b/x.dts", "x.dtsi", "数据手册.pdf", "x.svd"]
    assert source_keys(names) == ("rk3588_datasheet_v1_4", "b_x", "x", "document", "x_2")


def test_candidate_json_has_whole_numbers_and_no_empty_parts():
    plain = candidate_json(said(min=1.0, max=2.5, value=None, page=3, box=(1.0, 2.0, 3.0, 4.0)))
    assert plain == {
        "field": "cpu.cores",
        "unit": "count",
        "min": 1,
        "max": 2.5,
        "page": 3,
        "box": [1, 2, 3, 4],
        "confidence": 0.5,
    }
    assert isinstance(plain["min"], int)


def test_every_field_says_its_unit():
    assert FIELDS["mmio.base"].unit == "addr"
    assert FIELDS["npu.data_types"].unit is None
    assert FIELDS["memory.otp.size_bits"].unit == "bit"
    endings = {"_bytes": "B", "_hz": "Hz", "_c": "degC", "_bits": "bit", "_cycles": "cycle", "_v": "V", "_a": "A"}
    for name, field in FIELDS.items():
        ending = next((end for end in endings if name.endswith(end)), None)
        assert ending is None or field.unit == endings[ending], name


def test_addresses_keep_all_64_bits():
    assert address(0xFFFF_FFFF_FFFF_FFFF) == "0xffffffffffffffff"
