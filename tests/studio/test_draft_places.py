import re

import pytest
from drafts import CLOCK, DMA, OTP, ROM, small_draft

from hwdoc_ingest.fields import FIELDS
from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.accept import accept
from metainfer_core.spec.drafting.draft import Candidate, DraftSource, SpecDraft
from studio.drafts.desk_places import amount_in, place_data
from studio.drafts.draft_places import amount, group_of, missing, places, will_hold
from studio.drafts.draft_state import Standing, decisions_of, given


def test_readings_for_one_place_stand_together_and_the_core_tells_conflicts():
    assert [
        (each.key, each.group, each.instance, each.indexes, each.is_conflict) for each in places(small_draft())
    ] == [
        (OTP, "memory", "", (4,), False),
        (ROM, "memory", "boot ROM", (1, 2), True),
        (CLOCK, "compute", "", (3,), False),
        (DMA, "movement", "", (0,), False),
    ]


def test_what_the_spec_will_hold():
    draft = small_draft()
    assert will_hold(draft.candidates[1], ROM) == "memories.boot_rom.size_bytes: 64 KiB"
    assert will_hold(draft.candidates[3], CLOCK) == (
        "compute_units.npu.clock_hz: {min: 200 MHz, typ: 800 MHz, max: 1 GHz}"
    )
    assert will_hold(draft.candidates[4], OTP) == ""


def test_what_a_run_asks_for_and_no_document_gives():
    keys = [place.key for place in missing(small_draft())]
    assert "compute_units.npu.macs_per_cycle.int8" in keys
    assert "memories.dram.bandwidth_gbps" in keys
    assert "compute_units.npu.clock_hz" not in keys
    assert not any(key.startswith("compute_units.cpu") for key in keys), "the documents speak of no CPU"


def test_a_largest_size_counts_as_a_size():
    draft = SpecDraft(chip="c", candidates=(
        Candidate(field="memory.dram.max_size_bytes", value=1 << 31, unit="B", source="s"),
    ))  # fmt: skip
    assert "memories.dram.size_bytes" not in [place.key for place in missing(draft)]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (524288, "B", "512 KiB"),
        (65535, "B", "65,535 B"),
        (1_000_000_000, "Hz", "1 GHz"),
        (21.999999999999996, "nm", "22 nm"),
        (2, "count", "2"),
        (-40, "degC", "-40 °C"),
        (1, "degC", "1 °C"),
        (1.5, "cm2", "1.5 cm²"),
        (8, "way", "8 ways"),
        (1, "way", "1 way"),
        ("0x4000", "addr", "0x4000"),
        (("INT8", "INT16"), None, "INT8, INT16"),
        (True, None, "yes"),
        (None, "B", ""),
        (1024, "MAC/cycle", "1024 MAC/cycle"),
        (3_200_000_000, "B/s", "3.2 GB/s"),
        (12_500, "B/s", "12.5 kB/s"),
        (999, "B/s", "999 B/s"),
    ],
)
def test_amounts_are_written_with_their_unit(value, unit, shown):
    assert amount(value, unit) == shown


def test_amounts_are_chinese_but_for_the_symbols_of_units():
    units = {each.unit for each in FIELDS.values()} - {"bit(lsb,width)"}  # the form of a register's field, not a unit
    assert len(units) > 30
    said = {amount_in("zh", value, unit) for unit in units for value in (1, 3)}
    symbols = re.compile(r"[GM]?FLOPS|TOPS|MIPS|MAC|[kMG]?Hz|MT/s|Mpix/s|B(/s)?|°C(/W)?|nm|cm²|ms|[us]?s|[AVW]")
    assert sorted(each for each in said if re.search("[A-Za-z]", symbols.sub("", each))) == []
    assert amount_in("zh", (True, False), None) == "是, 否"
    assert amount_in("en", (True, False), None) == "yes, no"


@pytest.mark.parametrize(
    ("field", "unit", "said", "key"),
    [
        ("dma.max_burst_beats", "beat", ("8 拍", "8 beats"), "dma.burst_length_max"),
        ("dma.data_width_bits", "bit", ("8 位", "8 bits"), "dma.data_width_bits"),
    ],
)
def test_an_edit_begins_with_words_that_are_read_in_each_language(field, unit, said, key):
    draft = SpecDraft(chip="c", candidates=(Candidate(field=field, value=8, unit=unit, source="s"),))
    (place,) = places(draft)
    assert place.key == key
    (chinese,), (english,) = (place_data(draft, place, speaks)["readings"] for speaks in ("zh", "en"))
    assert (chinese["value"], english["value"]) == said
    assert given(key, chinese["typed"]) == given(key, english["typed"]) == 8
    with pytest.raises(InputError):
        given(key, chinese["value"])


def test_groups():
    assert [group_of(field) for field in ("cpu.l2_cache.size_bytes", "cpu.cores", "bus.width_bits", "chip.name")] == [
        "memory",
        "compute",
        "movement",
        "other",
    ]


def rails():
    def rail(instance, value, **other):
        return Candidate(field="power.supply_v", value=value, unit="V", instance=instance, source="s", **other)

    return SpecDraft(
        chip="c",
        sources={"s": DraftSource(title="S", document_digest="sha256:" + "0" * 64, file_name="s.pdf")},
        candidates=(rail("VDD_CORE", 0.9), rail("VDD_IO", 1.8), rail("VDD_IO", 3.3), rail(None, 5.0)),
    )


def test_each_supply_rail_has_a_place_and_the_one_of_the_chip_can_be_chosen():
    assert [(each.key, each.indexes, each.is_conflict, each.is_mixed) for each in places(rails())] == [
        ("supply_v", (0, 1, 2, 3), False, True),
        ("other.power.supply_v[VDD_CORE]", (0,), False, False),
        ("other.power.supply_v[VDD_IO]", (1, 2), True, False),
    ]


def test_all_rails_that_were_accepted_stand_in_the_spec():
    stands = {
        "other.power.supply_v[VDD_CORE]": Standing("accept", 1, "ada", 0),
        "other.power.supply_v[VDD_IO]": Standing("accept", 2, "ada", 2),
        "supply_v": Standing("accept", 3, "ada", 3),
    }
    spec = accept(rails(), decisions_of(rails(), stands, "ada", "c", "1.0.0", "")).spec
    assert spec.supply_v.typ == 5.0
    assert {key: value["value"] for key, value in spec.plain()["other"].items()} == {
        "power.supply_v[VDD_CORE]": 0.9,
        "power.supply_v[VDD_IO]": 3.3,
    }


def test_no_rail_is_the_chips_and_yet_they_are_kept():
    stands = {
        "other.power.supply_v[VDD_CORE]": Standing("accept", 1, "ada", 0),
        "supply_v": Standing("reject", 2, "ada"),
    }
    spec = accept(rails(), decisions_of(rails(), stands, "ada", "c", "1.0.0", "")).spec
    assert (spec.supply_v, list(spec.other)) == (None, ["power.supply_v[VDD_CORE]"])


def test_two_fields_of_one_place_stand_together_when_one_has_several_instances():
    def dram(field, value, instance):
        return Candidate(field=f"memory.dram.{field}", value=value, unit="B", instance=instance, source="s")

    draft = SpecDraft(
        chip="c",
        candidates=(
            dram("size_bytes", 1 << 30, "channel 0"),
            dram("size_bytes", 1 << 31, "channel 1"),
            dram("max_size_bytes", 1 << 32, None),
        ),
    )
    found = {each.key: (each.indexes, each.is_mixed) for each in places(draft)}
    assert found["memories.dram.size_bytes"] == ((0, 1, 2), True)
    assert len(found) == 3


def test_a_place_whose_readings_name_it_differently_bears_its_name_in_the_spec():
    def clock(instance, value):
        return Candidate(field="cpu.clock_hz", value=value, unit="Hz", instance=instance, source="s")

    found = places(SpecDraft(chip="c", candidates=(
        clock("Cortex-A53", 1.4e9), clock("quad A53 cluster", 1.4e9), clock("Cortex-A72", 1.8e9),
    )))  # fmt: skip
    assert [(each.key, each.instance) for each in found] == [
        ("compute_units.cortex_a72.clock_hz", "Cortex-A72"),
        ("compute_units.cortex_a53.clock_hz", "cortex_a53"),
    ]


def test_what_corrects_is_offered_before_what_describes_though_it_was_read_less_surely():
    def source(name):
        return DraftSource(title=name, document_digest="sha256:00", file_name=f"{name}.pdf")

    def said(key, value, confidence):
        return Candidate(field="dma.channels", value=value, unit="count", source=key, confidence=confidence)

    sources = {"brief": source("x brief"), "manual": source("x reference manual"), "errata": source("x errata")}
    readings = (said("brief", 16, 0.99), said("manual", 8, 0.7), said("manual", 9, 0.8), said("errata", 6, 0.6))
    (place,) = places(SpecDraft(chip="x", sources=sources, candidates=readings))
    assert place.indexes == (3, 2, 1, 0)
    assert place.is_conflict
