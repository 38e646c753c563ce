from __future__ import annotations

from typing import Any

import pytest

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.accept import Acceptance, accept
from metainfer_core.spec.drafting.binding import core_name, slug
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.drafting.draft_file import parse_draft, write_draft
from metainfer_core.spec.files.yaml_file import parse_spec, write_spec
from metainfer_core.spec.revising.diff import leaves

DIGEST = "sha256:" + "1" * 64
ALL = Decisions(everything=True)


def draft(*candidates: dict[str, Any]) -> SpecDraft:
    source = {"title": "Sheet", "document_digest": DIGEST, "file_name": "sheet.pdf"}
    filled = [{"source": "sheet", "page": 1, "confidence": 0.9, **candidate} for candidate in candidates]
    return SpecDraft.from_plain({"chip": "chip", "sources": {"sheet": source}, "candidates": filled})


def values(result: Acceptance) -> dict[str, str]:
    return leaves(result.spec)


A72 = {"field": "cpu.cores", "value": 2, "unit": "count", "instance": "Cortex-A72"}
A53 = {"field": "cpu.cores", "value": 4, "unit": "count", "instance": "Cortex-A53"}


def test_instances_bind_to_compute_units() -> None:
    result = accept(
        draft(
            A72,
            A53,
            {"field": "cpu.clock_hz", "value": 1.8e9, "unit": "Hz", "max": 1.8e9, "instance": "quad A53 cluster"},
            {"field": "cpu.l1d_cache.size_bytes", "value": 32768, "unit": "B", "instance": "Cortex A72 (2 cores)",
             "sharing": "per_core"},
        ),
        ALL,
    )  # fmt: skip
    assert values(result) == {
        "name": "chip",
        "version": "1.0.0",
        "change_log": '["v1.0.0: first version"]',
        "compute_units.cortex_a53.kind": "cpu",
        "compute_units.cortex_a53.cores": "4",
        "compute_units.cortex_a53.clock_hz": "{max: 1.8 GHz}",
        "compute_units.cortex_a72.kind": "cpu",
        "compute_units.cortex_a72.cores": "2",
        "compute_units.cortex_a72.l1d_cache.size_bytes": "32 KiB",
        "compute_units.cortex_a72.l1d_cache.sharing_mode": "per_core",
    }
    assert result.conflicts == ()
    assert result.spec.provenance["compute_units.cortex_a72.cores"].source == "sheet"
    assert result.spec.sources["sheet"].document_digest == DIGEST


def test_an_instance_that_no_name_can_be_told_from_goes_to_other_until_it_is_bound() -> None:
    cache = {"field": "cpu.l2_cache.size_bytes", "value": 1048576, "unit": "B", "instance": "big cluster"}
    open_ = accept(draft(A72, A53, cache), ALL)
    assert open_.without_place == (2,)
    assert open_.spec.other == {"cpu.l2_cache.size_bytes[big cluster]": {"value": 1048576, "unit": "B"}}
    bound = accept(draft(A72, A53, cache), Decisions(everything=True, bindings={"big cluster": "cortex_a72"}))
    assert values(bound)["compute_units.cortex_a72.l2_cache.size_bytes"] == "1 MiB"
    assert bound.without_place == ()


def test_a_candidate_that_names_no_core_can_be_bound_by_its_index() -> None:
    clock = {"field": "cpu.clock_hz", "max": 2_400_000_000, "unit": "Hz"}
    assert accept(draft(A72, A53, clock), ALL).without_place == (2,)
    bound = accept(draft(A72, A53, clock), Decisions(everything=True, bindings={"2": "cortex_a72"}))
    assert values(bound)["compute_units.cortex_a72.clock_hz"] == "{max: 2.4 GHz}"
    assert bound.spec.provenance["compute_units.cortex_a72.clock_hz"].page == 1


def test_a_core_type_is_about_the_core_that_it_names() -> None:
    kinds = [{"field": "cpu.core_type", "value": f"Cortex-{name}"} for name in ("A76", "A55")]
    found = values(accept(draft(*kinds), ALL))
    assert found["compute_units.cortex_a76.core_type"] == "Cortex-A76"
    assert found["compute_units.cortex_a55.core_type"] == "Cortex-A55"


def test_the_data_type_of_a_rate_stands_in_its_condition() -> None:
    rate = {"field": "npu.macs_per_cycle", "value": 1920, "unit": "MAC/cycle", "condition": "max 1920 Int8 MAC"}
    result = accept(draft(rate), ALL)
    assert values(result)["compute_units.npu.macs_per_cycle.int8"] == "1920"
    assert result.spec.provenance["compute_units.npu.macs_per_cycle.int8"].condition == "max 1920 Int8 MAC"
    assert accept(draft({**rate, "condition": None}), ALL).without_place == (0,)


def test_the_length_of_a_burst_tells_what_it_counts() -> None:
    burst = {"field": "dma.max_burst_beats", "value": 16, "max": 16, "unit": "beat"}
    found = values(accept(draft(burst), ALL))
    assert (found["dma.burst_length_max"], found["dma.burst_unit"]) == ("16", "beats")
    unknown = values(accept(draft({**burst, "unit": ""}), ALL))
    assert "dma.burst_unit" not in unknown


def test_instances_that_agree_share_the_one_place() -> None:
    shared = {"field": "cpu.l3_cache.size_bytes", "value": 3145728, "unit": "B"}
    result = accept(draft(shared, {**shared, "instance": "Cortex-A55", "sharing": "shared"}), ALL)
    assert values(result)["l3_cache.size_bytes"] == "3 MiB"
    assert values(result)["l3_cache.sharing_mode"] == "shared"
    assert result.without_place == ()


def test_one_value_without_instance_belongs_to_the_only_cluster_but_to_none_of_two() -> None:
    clock = {"field": "cpu.clock_hz", "value": 1e9, "unit": "Hz"}
    assert values(accept(draft(A72, clock), ALL))["compute_units.cortex_a72.clock_hz"] == "1 GHz"
    assert accept(draft(A72, A53, clock), ALL).without_place == (2,)
    assert values(accept(draft(clock), ALL))["compute_units.cpu.clock_hz"] == "1 GHz"


def test_a_conflict_is_never_accepted_silently() -> None:
    made = draft(A72, {**A72, "value": 4, "page": 7})
    result = accept(made, ALL)
    assert result.accepted == ()
    (conflict,) = result.conflicts
    assert (conflict.path, conflict.indexes) == ("compute_units.cortex_a72.cores", (0, 1))
    assert conflict.values == ("2 (sheet, p. 1, Cortex-A72)", "4 (sheet, p. 7, Cortex-A72)")
    assert "compute_units.cortex_a72.cores" not in values(result)
    with pytest.raises(InputError, match="Candidate 1 is both chosen and rejected"):
        accept(made, Decisions(everything=True, choose=(1,), reject=(1,)))
    chosen = accept(made, Decisions(everything=True, choose=(1,)))
    assert chosen.conflicts == ()
    assert values(chosen)["compute_units.cortex_a72.cores"] == "4"
    assert chosen.spec.provenance["compute_units.cortex_a72.cores"].page == 7
    assert values(accept(made, Decisions(everything=True, reject=(0,))))["compute_units.cortex_a72.cores"] == "4"


def test_a_spread_and_its_bound_agree_and_the_fuller_one_stays() -> None:
    made = draft(
        {"field": "npu.clock_hz", "value": 1e9, "unit": "Hz"},
        {"field": "npu.clock_hz", "value": 1e9, "unit": "Hz", "min": 2e8, "max": 1e9},
    )
    result = accept(made, ALL)
    assert result.conflicts == ()
    assert values(result)["compute_units.npu.clock_hz"] == "{min: 200 MHz, max: 1 GHz}"


def test_decisions_by_field_and_by_confidence() -> None:
    made = draft(A72, {"field": "npu.cores", "value": 3, "unit": "count", "confidence": 0.5})
    assert accept(made, Decisions(fields=("npu.cores",))).accepted == (1,)
    assert accept(made, Decisions(above=0.9)).accepted == (0,)
    assert accept(made, Decisions(everything=True, unknown=("npu.cores",))).accepted == (0,)


def test_an_edit_is_kept_as_assumed_and_names_the_person() -> None:
    made = draft({"field": "npu.tops", "value": 6, "unit": "TOPS"})
    decisions = Decisions(everything=True, edits={"compute_units.npu.tops": "3 TOPS"}, accepted_by="Ada")
    result = accept(made, decisions)
    assert values(result)["compute_units.npu.tops"] == "3"
    assert result.spec.assumed == {"compute_units.npu.tops": "Given by Ada."}
    assert "compute_units.npu.tops" not in result.spec.provenance


def test_an_edit_alone_takes_the_kind_of_its_unit_from_what_else_the_draft_says() -> None:
    given = Decisions(edits={"compute_units.npu.clock_hz": "900 MHz"})
    clock = {"field": "npu.clock_hz", "value": 8e8, "unit": "Hz"}
    found = values(accept(draft(clock), given))
    assert (found["compute_units.npu.kind"], found["compute_units.npu.clock_hz"]) == ("npu", "900 MHz")


@pytest.mark.parametrize(
    ("path", "given", "kind"),
    [
        ("memories.npu_sram.size_bytes", "512 KiB", "sram"),
        ("memories.dram.bandwidth_gbps", 12.8, "dram"),
        ("memories.psram.size_bytes", "8 MiB", "psram"),
        ("compute_units.npu.cores", 2, "npu"),
    ],
)
def test_an_edit_of_a_place_no_document_speaks_of_takes_the_kind_from_the_name(
    path: str, given: Any, kind: str
) -> None:
    found = accept(draft(), Decisions(edits={path: given})).spec
    owner = path.rpartition(".")[0]
    assert leaves(found)[f"{owner}.kind"] == kind
    own = accept(draft(), Decisions(edits={path: given, f"{owner}.kind": "tcm" if "mem" in owner else "dsp"})).spec
    assert leaves(own)[f"{owner}.kind"] == ("tcm" if "mem" in owner else "dsp")  # what is said outweighs the name


def test_a_list_can_be_given_too() -> None:
    made = draft({"field": "npu.tops", "value": 6, "unit": "TOPS"})
    given = {"compute_units.npu.operators.supported": ["Conv", "Relu"]}
    result = accept(made, Decisions(everything=True, edits=given))
    assert result.spec.compute_units["npu"].operators.supported == ("Conv", "Relu")


def test_several_rails_do_not_become_the_one_supply_unless_chosen() -> None:
    rails = [
        {"field": "power.supply_v", "value": 0.9, "unit": "V", "instance": "CORE"},
        {"field": "power.supply_v", "value": 1.8, "unit": "V", "instance": "IO"},
    ]
    open_ = accept(draft(*rails), ALL)
    assert open_.spec.supply_v is None
    assert set(open_.spec.other) == {"power.supply_v[CORE]", "power.supply_v[IO]"}
    assert values(accept(draft(*rails), Decisions(choose=(0,))))["supply_v"] == "0.9"


def test_what_no_field_fits_is_kept_under_other() -> None:
    result = accept(draft({"field": "gpio.count", "value": 45, "unit": "count"}), ALL)
    assert result.spec.other == {"gpio.count": {"value": 45, "unit": "count"}}
    assert result.spec.provenance["other.gpio.count"].page == 1


def test_units_lists_and_addresses_are_converted() -> None:
    result = accept(
        draft(
            {"field": "memory.dram.bandwidth_Bps", "value": 2.56e10, "unit": "B/s"},
            {"field": "npu.data_types", "value": ["INT8", "FP16", "BF16"]},
            {"field": "mmio.base", "value": 0xFF6D0000, "unit": "addr", "instance": "dmac_bus"},
            {"field": "reset.vector", "value": "0x0000_0040", "unit": "addr"},
            {"field": "cpu.l1i_cache.size_bytes", "value": [16384, 32768], "unit": "B"},
            {"field": "cpu.l1_cache.shared", "value": True},
            {"field": "memory.tcm.size_bytes", "value": 65536, "unit": "B", "instance": "Cortex-M0 VD_NPU"},
        ),
        ALL,
    )
    found = values(result)
    assert found["memories.dram.bandwidth_gbps"] == "25.6"
    assert found["compute_units.npu.data_types"] == "[int8, float16, bfloat16]"
    assert found["mmio_bases.dmac_bus"] == "0xff6d0000"
    assert found["reset_vector_address"] == "0x40"
    assert found["compute_units.cpu.l1i_cache.size_bytes"] == "{min: 16 KiB, max: 32 KiB}"
    assert found["compute_units.cpu.l1_cache.sharing_mode"] == "shared"
    assert found["memories.cortex_m0_vd_npu_tcm.size_bytes"] == "64 KiB"
    assert found["memories.cortex_m0_vd_npu_tcm.kind"] == "tcm"


def test_an_unknown_stays_unknown() -> None:
    assert accept(draft({"field": "power.max_w", "value": None, "unit": "W"}), ALL).accepted == ()


def test_accepting_onto_a_spec_replaces_assumptions_but_not_facts() -> None:
    base = parse_spec(
        b"""\
name: chip
version: 1.2.0
compute_units: {npu: {kind: npu, cores: 2}}
assumed: {compute_units.npu.tops: {value: 4, reason: guess}}
""",
        "chip_v1.2.0.yaml",
    )
    made = draft({"field": "npu.tops", "value": 6, "unit": "TOPS"}, {"field": "npu.cores", "value": 3, "unit": "count"})
    result = accept(made, ALL, onto=base)
    assert values(result)["compute_units.npu.tops"] == "6"
    assert result.spec.assumed == {}
    assert result.spec.version == "1.2.0"
    (conflict,) = result.conflicts
    assert conflict.values == ("2 (in the spec)", "3 (sheet, p. 1)")
    assert values(accept(made, Decisions(choose=(1,)), onto=base))["compute_units.npu.cores"] == "3"


def test_a_new_version_says_in_the_change_log_what_differs() -> None:
    base = accept(draft({"field": "npu.cores", "value": 2, "unit": "count"}), ALL).spec
    assert base.change_log == ("v1.0.0: first version",)
    made = draft({"field": "npu.cores", "value": 3, "unit": "count"})
    decisions = Decisions(choose=(0,), version="1.1.0", reason="per errata sheet 2")
    result = accept(made, decisions, onto=base)
    assert result.spec.change_log == (
        "v1.0.0: first version",
        "v1.1.0: compute_units.npu.cores: 2 → 3, per errata sheet 2",
    )
    assert accept(made, decisions, onto=result.spec).spec.change_log == result.spec.change_log


def test_the_same_key_for_another_document_is_refused() -> None:
    base = accept(draft(A72), ALL).spec
    other = draft(A53).plain()
    other["sources"]["sheet"]["document_digest"] = "sha256:" + "2" * 64
    with pytest.raises(InputError, match="another document"):
        accept(SpecDraft.from_plain(other), ALL, onto=base)


def test_decisions_about_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="There is no candidate 9"):
        accept(draft(A72), Decisions(choose=(9,)))
    with pytest.raises(InputError, match=r"Nothing in the draft is called 'npu.cores'"):
        accept(draft(A72), Decisions(fields=("npu.cores",)))
    with pytest.raises(InputError, match=r"No candidate of the draft is about 'big cluster'\.\n.*: Cortex-A72\."):
        accept(draft(A72), Decisions(everything=True, bindings={"big cluster": "cortex_a72"}))
    with pytest.raises(InputError, match="No candidate of the draft is about '1'"):
        accept(draft(A72), Decisions(everything=True, bindings={"1": "cortex_a72"}))
    with pytest.raises(InputError, match="no place"):
        accept(draft(A72), Decisions(everything=True, edits={"cpu.cores": 3}))
    with pytest.raises(InputError, match="is a frequency"):
        accept(draft(A72), Decisions(everything=True, edits={"l2_cache.size_bytes": "3 MHz"}))


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Cortex-A76", "cortex_a76"),
        ("Cortex A53", "cortex_a53"),
        ("quad A55 cluster", "a55"),
        ("Cortex-A72 RK3399 0℃~80℃", "cortex_a72"),
        ("Cortex-M0 VD_PMU", "cortex_m0"),
        ("Xtensa LX7", "lx7"),
        ("C906", "c906"),
        ("big cluster", ""),
        ("BIGCPU_VDD", ""),
    ],
)
def test_core_names(words: str, name: str) -> None:
    assert core_name(words) == name


def test_slugs_are_names() -> None:
    assert [slug(words) for words in ("RTC FAST", "gpu (job)", "512KB SRAM", "℃")] == [
        "rtc_fast",
        "gpu_job",
        "n512kb_sram",
        "",
    ]


def test_a_draft_survives_its_file_and_counts_its_candidates() -> None:
    made = draft(A72, {"field": "npu.data_types", "value": ["INT8"], "unit": "", "text": 'says: "INT8" # so\n'})
    data = write_draft(made)
    assert parse_draft(data, "draft.yaml") == made
    assert "  # 1\n  - field: npu.data_types\n" in data.decode()
    with pytest.raises(InputError, match=r"draft.yaml:16:5: candidates.0.confidence"):
        parse_draft(data.replace(b"confidence: 0.9", b"confidence: high", 1), "draft.yaml")
    with pytest.raises(InputError, match="not a draft"):
        parse_draft(b"name: x\n", "draft.yaml")


def test_the_same_draft_and_decisions_give_the_same_bytes() -> None:
    made = draft(A53, A72, {"field": "npu.cores", "value": 3, "unit": "count"})
    assert write_spec(accept(made, ALL).spec) == write_spec(accept(made, ALL).spec)


CORE_RAIL = {"field": "power.supply_v", "value": 0.9, "unit": "V", "instance": "VDD_CORE"}
IO_RAIL = {"field": "power.supply_v", "value": 1.8, "unit": "V", "instance": "VDD_IO"}


def test_several_instances_of_one_place_are_all_kept_apart() -> None:
    result = accept(draft(CORE_RAIL, IO_RAIL), Decisions(apart=(0, 1)))
    assert {path: value for path, value in values(result).items() if path.startswith("other")} == {
        "other.power.supply_v[VDD_CORE]": "{value: 0.9, unit: V}",
        "other.power.supply_v[VDD_IO]": "{value: 1.8, unit: V}",
    }
    assert (result.accepted, result.without_place, result.conflicts) == ((0, 1), (0, 1), ())
    assert result.spec.provenance["other.power.supply_v[VDD_IO]"].page == 1


def test_one_of_several_instances_can_also_be_that_of_the_chip() -> None:
    found = values(accept(draft(CORE_RAIL, IO_RAIL), Decisions(apart=(0, 1), choose=(1,))))
    assert found["supply_v"] == "1.8"
    assert "other.power.supply_v[VDD_CORE]" in found
    assert "other.power.supply_v[VDD_IO]" in found


def test_what_is_kept_apart_is_not_rejected() -> None:
    with pytest.raises(InputError, match="both chosen and rejected"):
        accept(draft(CORE_RAIL), Decisions(apart=(0,), reject=(0,)))
    with pytest.raises(InputError, match="no candidate 3"):
        accept(draft(CORE_RAIL), Decisions(apart=(3,)))


def test_unknown_takes_out_what_the_spec_built_on_says() -> None:
    base = accept(draft(A72, CORE_RAIL), ALL).spec
    after = accept(draft(), Decisions(unknown=("supply_v", "dma.channels")), base).spec
    assert (base.supply_v is not None, after.supply_v) == (True, None)
    assert "supply_v" not in after.provenance
    assert after.compute_units["cortex_a72"].cores == 2


def test_a_value_given_for_what_has_no_place_stands_under_the_document_field() -> None:
    path = "other.power.supply_v[VDD_IO]"
    found = accept(draft(CORE_RAIL, IO_RAIL), Decisions(edits={path: "3.3 V"}, accepted_by="ada")).spec
    assert dict(found.other) == {"power.supply_v[VDD_IO]": "3.3 V"}
    assert found.assumed[path] == "Given by ada."
