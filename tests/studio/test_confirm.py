import json
import re

import pytest
from drafts import CLOCK, DMA, OTP, ROM, desk, small_draft, with_draft
from screens import screen
from serving import served

from hwdoc_ingest.fields import FIELDS
from metainfer_core.spec.files.aliases import FIELDS as PATHS
from metainfer_core.spec.files.yaml_file import read_spec
from studio.drafts.decision_log import read_log
from studio.drafts.desk_data import KEYS, View
from studio.drafts.desk_messages import take
from studio.drafts.desk_places import desk_places, title
from studio.drafts.desk_routes import desk_routes
from studio.drafts.draft_examples import example
from studio.drafts.draft_places import EXPECTED, missing
from studio.drafts.draft_state import given, standing
from studio.words.texts import text

WINDOW = "a" * 16


def accept(number, key, index):
    return {"number": number, "kind": "accept", "places": [key], "choices": {key: index}}


def send(workspace, *events):
    draft = small_draft()
    take({"draft": draft.digest, "window": WINDOW, "events": list(events)}, draft, "ada", workspace)


def test_without_a_draft_the_screen_says_how_to_get_one(tmp_path, monkeypatch):
    page = screen("confirm", tmp_path, monkeypatch)
    assert [each.value for each in page.markdown] == [text("confirm_empty")]
    assert page.get("bidi_component") == []


def test_every_place_with_its_readings_in_words():
    found = json.loads(desk_places(small_draft()))
    places = found["places"]
    assert found["draft"] == small_draft().digest
    assert [place["key"] for place in places][:4] == [OTP, ROM, CLOCK, DMA]
    assert {place["key"] for place in places[4:]} == {place.key for place in missing(small_draft())}
    rom = places[1]
    assert (rom["title"], rom["instance"], rom["group"], rom["conflict"]) == (
        "Memory ROM size",
        "boot ROM",
        "memory",
        True,
    )
    assert [(each["index"], each["value"], each["place"], each["confidence"]) for each in rom["readings"]] == [
        (1, "64 KiB", "page 1", 0.9),
        (2, "128 KiB", "page 2", 0.7),
    ]
    clock = places[2]["readings"][0]
    assert (clock["value"], clock["range"]) == ("800 MHz", "min 200 MHz · typ 800 MHz · max 1 GHz")
    assert clock["holds"] == "compute_units.npu.clock_hz: {min: 200 MHz, typ: 800 MHz, max: 1 GHz}"


def test_the_desk_is_told_where_to_fetch_the_places(tmp_path, monkeypatch):
    digest = with_draft(tmp_path)
    data = desk(screen("confirm", tmp_path, monkeypatch))
    assert data["draft"] == digest
    assert data["documents"] == {"sheet": {"kind": "absent", "name": "sheet.pdf"}}
    assert (data["standing"], data["acked"]) == ({}, {})
    with served(desk_routes()) as get:
        status, _, body = get(data["places_at"])
        assert (status, json.loads(body)["draft"]) == (200, digest)
        assert get(data["places_at"].replace("tarn.yaml", "other.yaml"))[0] == 403
        status, _, body = get(f"{data['value_at']}&place={CLOCK}&given=900+MHz")
        assert (status, json.loads(body)) == (200, {"holds": "900 MHz"})
        assert get(f"/value-of-place?place={CLOCK}&given=900+MHz")[0] == 403


def test_the_desk_shows_what_was_decided_and_acknowledges_it(tmp_path, monkeypatch):
    with_draft(tmp_path)
    take(
        {"draft": small_draft().digest, "window": WINDOW, "events": [accept(1, ROM, 2), accept(2, DMA, 0)]},
        small_draft(),
        "ada",
        tmp_path,
    )
    data = desk(screen("confirm", tmp_path, monkeypatch, draft="drafts/tarn.yaml", place=DMA))
    assert data["cursor"] == DMA
    assert data["acked"] == {WINDOW: 2}
    assert data["seqs"] == {ROM: 1, DMA: 2}
    assert data["standing"][ROM] == {"kind": "accept", "actor": "ada", "index": 2, "given": ""}


def test_a_view_in_a_message_is_taken_as_far_as_it_is_right():
    assert View.of({"place": 3}) == View("3", "all")
    assert View.of(None) == View()


def test_a_version_is_saved_from_the_screen(tmp_path, monkeypatch):
    digest = with_draft(tmp_path)
    take(
        {"draft": small_draft().digest, "window": WINDOW, "events": [accept(1, ROM, 1), accept(2, CLOCK, 3)]},
        small_draft(),
        "ada",
        tmp_path,
    )
    page = screen("confirm", tmp_path, monkeypatch)
    page.session_state["person"] = "ada"
    page.run()
    assert page.text_input(key="version-0").value == "1.0.0"
    page.text_input(key="save_reason").set_value("first look")
    page.button(key="save").click().run()
    assert not page.exception
    said = r":green[:material/check_circle:] tarn\_v1\.0\.0\.yaml is saved, with 2 accepted or given values\."
    assert said in [each.value for each in page.markdown]
    assert "2 accepted or given values of tarn become a version" in page.caption[0].value.replace("\\", "")
    assert page.caption[1].value == text("save_left", count=2)
    spec = read_spec(tmp_path / "specs" / "tarn_v1.0.0.yaml")
    assert spec.provenance[ROM].accepted_by == "ada"
    assert page.text_input(key="version-1").value == "1.1.0"
    assert set(standing(read_log(digest, tmp_path))) == {ROM, CLOCK}
    page.button(key="save").click().run()
    assert read_spec(tmp_path / "specs" / "tarn_v1.1.0.yaml").version == "1.1.0"


def test_nothing_decided_nothing_to_save(tmp_path, monkeypatch):
    with_draft(tmp_path)
    page = screen("confirm", tmp_path, monkeypatch)
    assert page.button(key="save").disabled
    assert text("save_nothing") in [each.value for each in page.caption]


def test_a_broken_draft_is_told_with_its_line(tmp_path, monkeypatch):
    (tmp_path / "d.yaml").write_text("format: metainfer.spec_draft/1\nchip: x\ncandidates:\n  - {field: 3}\n")
    page = screen("confirm", tmp_path, monkeypatch)
    assert "d\\.yaml\\:4" in page.error[0].value


def test_one_table_of_keys_without_doubles_or_reserved_ones():
    names = [name for _, keys, _ in KEYS for name in keys]
    assert len(names) == len(set(names))
    assert not set(names) & {"Tab", "Enter", "Escape", " ", "F5"} | {name for name in names if name in "123456789"}
    for act, _, _ in KEYS:
        assert text(f"desk_{act}")


def test_titles_in_words():
    assert title("cpu.l1d_cache.size_bytes") == "CPU L1d cache size"
    assert title("memory.dram.bandwidth_Bps") == "Memory DRAM bandwidth"
    assert title("reset.vector") == "Reset vector"
    assert title("chip.die_cm2") == "Chip die area"
    assert title("thermal.resistance_ja_c_per_w") == "Thermal resistance junction to ambient"
    assert title("gpu.fill_rate_mpix_s") == "GPU fill rate"
    assert title("cpu.capacity_dmips_per_mhz") == "CPU capacity DMIPS per MHz"
    assert title("npu.tops") == "NPU peak TOPS"
    assert [title(f"bus.delay_{unit}") for unit in ("us", "ms", "ns", "s")] == ["Bus delay"] * 4


def test_no_title_ends_with_a_unit_as_names_write_it():
    endings = {"bytes", "bits", "hz", "cm2", "mm2", "v", "w", "c", "a", "s", "us", "ms", "gbps", "bps", "nm", "mtps"}
    assert [name for name in FIELDS if title(name).split()[-1].lower() in endings] == []


@pytest.mark.parametrize(
    ("key", "field", "unit", "shown"),
    [
        ("memories.sram.size_bytes", "memory.sram.size_bytes", "B", "512 KiB"),
        ("compute_units.npu.clock_hz", "npu.clock_hz", "Hz", "800 MHz"),
        ("memories.dram.bandwidth_gbps", "memory.dram.bandwidth_Bps", "GB/s", "12.8 GB/s"),
        ("reset_vector_address", "reset.vector", "", "0x1000_0000"),
        ("compute_units.cpu.isa", "cpu.isa", "", "rv64gc"),
        ("dma.channels", "dma.channels", "", "4"),
        ("junction_c", "thermal.junction_c", "degC", "85 degC"),
        ("other.chip.die_cm2", "chip.die_cm2", "cm²", "0.8 cm²"),
        ("compute_units.npu.model", "npu.model", "", ""),
    ],
)
def test_an_empty_field_says_in_which_unit_a_value_is_kept_and_gives_an_example(key, field, unit, shown):
    assert example(key, field) == {"unit": unit, "example": shown}


def test_each_place_that_no_manual_gives_comes_with_an_example_that_can_be_given():
    found = {place["key"]: place for place in json.loads(desk_places(small_draft()))["places"]}
    macs = found["compute_units.npu.macs_per_cycle.int8"]
    assert (macs["readings"], macs["unit"], macs["example"]) == ([], "MAC/cycle", "512 MAC/cycle")
    for field in EXPECTED:
        key = re.sub(r"\{(\w+)\}", r"\1", PATHS[field].replace("{type}", "int8"))
        assert given(key, example(key, field)["example"]), field
