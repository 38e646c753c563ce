from __future__ import annotations

from typing import Any

import pytest

from metainfer_core.spec.drafting.accept import accept
from metainfer_core.spec.drafting.carry_over import CarryOver, carry_over, with_own_keys
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.hardware_spec import HardwareSpec

CACHE, CLOCK, DMA, RAIL = "l3_cache.size_bytes", "compute_units.npu.clock_hz", "dma.channels", "other.package.name"


def draft(*candidates: dict[str, Any], file_name: str = "tarn_datasheet_v1.0.pdf", digit: str = "1") -> SpecDraft:
    source = {"title": "Sheet", "document_digest": "sha256:" + digit * 64, "file_name": file_name}
    filled = [{"source": "sheet", "page": 1, "confidence": 0.9, **candidate} for candidate in candidates]
    return SpecDraft.from_plain({"chip": "tarn", "sources": {"sheet": source}, "candidates": filled})


def cache(size: int, **other: Any) -> dict[str, Any]:
    return {"field": "cpu.l3_cache.size_bytes", "value": size, "unit": "B", **other}


CLOCK_READ = {"field": "npu.clock_hz", "value": 1e9, "unit": "Hz", "max": 1e9}
DMA_READ = {"field": "dma.channels", "value": 8, "unit": "count"}
PACKAGE_READ = {"field": "package.name", "value": "FCBGA"}
REVISION_A = accept(draft(cache(1 << 20), CLOCK_READ, DMA_READ, PACKAGE_READ), Decisions(everything=True)).spec


def held(*candidates: dict[str, Any], readings: dict[str, list[int]], confirmed: HardwareSpec = REVISION_A,
         file_name: str = "tarn_datasheet_v1.1.pdf") -> CarryOver:  # fmt: skip
    return carry_over(confirmed, draft(*candidates, file_name=file_name, digit="2"), readings)


def test_what_is_said_again_is_carried_over_and_the_rest_is_told_apart() -> None:
    found = held(
        DMA_READ | {"page": 7},
        cache(2 << 20),
        PACKAGE_READ,
        {"field": "power.max_w", "value": 3.0, "unit": "W"},
        readings={DMA: [0], CACHE: [1], RAIL: [2], "power_max_w": [3]},
    )
    assert dict(found.again) == {DMA: 0, RAIL: 2}
    assert dict(found.was) == {DMA: "8", CACHE: "1 MiB", RAIL: "FCBGA"}
    assert found.differs == (CACHE,)
    assert dict(found.vanished) == {CLOCK: "{max: 1 GHz}"}
    assert found.revised == ("sheet",)


def test_of_several_readings_the_one_that_says_the_same_is_taken() -> None:
    assert dict(held(cache(2 << 20), cache(1 << 20), readings={CACHE: [0, 1]}).again) == {CACHE: 1}


def test_a_spread_that_says_more_is_asked_again() -> None:
    found = held(CLOCK_READ | {"min": 2e8}, readings={CLOCK: [0]})
    assert (dict(found.again), found.differs) == ({}, (CLOCK,))


def test_the_same_value_under_another_condition_is_asked_again() -> None:
    assert held(cache(1 << 20, condition="speed grade 2"), readings={CACHE: [0]}).differs == (CACHE,)
    base = accept(draft(cache(1 << 20, condition="Speed  grade 2")), Decisions(everything=True)).spec
    assert dict(held(cache(1 << 20, condition="speed grade 2"), readings={CACHE: [0]}, confirmed=base).again) == {
        CACHE: 0
    }


@pytest.mark.parametrize(
    ("file_name", "vanished"),
    [
        ("Tarn-Datasheet rev B.pdf", [CLOCK, DMA, RAIL]),  # by its name
        ("errata.pdf", []),  # one of four values again: another document, which takes nothing away
    ],
)
def test_only_a_revision_makes_values_vanish(file_name: str, vanished: list[str]) -> None:
    found = held(cache(1 << 20), readings={CACHE: [0]}, file_name=file_name)
    assert sorted(found.vanished) == sorted(vanished)


def test_a_revision_under_another_name_is_known_by_what_it_says() -> None:
    found = held(cache(1 << 20), CLOCK_READ, readings={CACHE: [0], CLOCK: [1]}, file_name="manual.pdf")
    assert sorted(found.vanished) == [DMA, RAIL]


def test_a_value_that_a_person_gave_never_vanishes() -> None:
    given = accept(draft(cache(1 << 20)), Decisions(everything=True, edits={"power_max_w": "3 W"})).spec
    assert dict(held(cache(1 << 20), readings={CACHE: [0]}, confirmed=given).vanished) == {}


def test_two_documents_with_one_name_are_kept_apart_in_the_next_version() -> None:
    revision = draft(DMA_READ, digit="2")
    renamed = with_own_keys(revision, REVISION_A)
    assert list(renamed.sources) == ["sheet_2"]
    assert renamed.candidates[0].source == "sheet_2"
    after = accept(renamed, Decisions(choose=(0,)), REVISION_A).spec
    assert {key: each.document_digest[7] for key, each in after.sources.items()} == {"sheet": "1", "sheet_2": "2"}
    assert (after.provenance[DMA].source, after.provenance[CACHE].source) == ("sheet_2", "sheet")
    same = draft(DMA_READ)
    assert with_own_keys(same, REVISION_A) is same


def test_what_a_reading_tells_besides_its_value_has_not_vanished() -> None:
    read = {"field": "cpu.l1d_cache.size_bytes", "value": 32768, "unit": "B", "sharing": "per_core"}
    path = "compute_units.cpu.l1d_cache.size_bytes"
    base = accept(draft(read), Decisions(everything=True)).spec
    assert base.compute_units["cpu"].l1d_cache.sharing_mode == "per_core"
    assert dict(held(read | {"value": 65536}, readings={path: [0]}, confirmed=base).vanished) == {}
