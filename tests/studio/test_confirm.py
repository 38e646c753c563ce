from drafts import CLOCK, DMA, OTP, ROM, desk, small_draft, with_draft
from screens import screen

from metainfer_core.spec.yaml_file import read_spec
from studio import desk_data as desk_data_module
from studio.decision_log import read_log
from studio.desk_data import KEYS, View, desk_data, title
from studio.desk_messages import take
from studio.draft_places import missing
from studio.draft_state import Standing, standing
from studio.texts import text

WINDOW = "a" * 16


def accept(number, key, index):
    return {"number": number, "kind": "accept", "places": [key], "choices": {key: index}}


def test_without_a_draft_the_screen_says_how_to_get_one(tmp_path, monkeypatch):
    page = screen("confirm", tmp_path, monkeypatch)
    assert [each.value for each in page.markdown] == [text("confirm_empty")]
    assert page.get("bidi_component") == []


def test_the_desk_gets_every_place_with_its_readings_in_words(tmp_path, monkeypatch):
    digest = with_draft(tmp_path)
    data = desk(screen("confirm", tmp_path, monkeypatch))
    assert data["draft"] == digest
    assert [place["key"] for place in data["places"]][:4] == [OTP, ROM, CLOCK, DMA]
    rom = data["places"][1]
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
    clock = data["places"][2]["readings"][0]
    assert (clock["value"], clock["range"]) == ("800 MHz", "min 200 MHz · typ 800 MHz · max 1 GHz")
    assert clock["holds"] == "compute_units.npu.clock_hz: {min: 200 MHz, typ: 800 MHz, max: 1 GHz}"
    assert [(group["key"], group["title"]) for group in data["groups"]] == [
        ("all", "All"),
        ("memory", "Memory"),
        ("compute", "Compute"),
        ("movement", "Data movement"),
        ("conflicts", "Conflicts"),
        ("missing", "Not in the manual"),
    ]
    assert data["documents"] == {"sheet": {"kind": "absent", "name": "sheet.pdf"}}
    assert (data["standing"], data["acked"]) == ({}, {})


def test_the_desk_shows_what_was_decided_and_acknowledges_it(tmp_path, monkeypatch):
    with_draft(tmp_path)
    take({"window": WINDOW, "events": [accept(1, ROM, 2), accept(2, DMA, 0)]}, small_draft(), "ada", tmp_path)
    data = desk(screen("confirm", tmp_path, monkeypatch, draft="drafts/tarn.yaml", place=DMA))
    assert data["cursor"] == DMA
    assert data["acked"] == {WINDOW: 2}
    assert data["seqs"] == {ROM: 1, DMA: 2}
    assert data["standing"][ROM] == {"kind": "accept", "actor": "ada", "index": 2, "given": ""}


def test_a_large_draft_is_sent_around_the_place_that_is_looked_at(monkeypatch):
    monkeypatch.setattr(desk_data_module, "SHOWN_PLACES", 2)
    draft = small_draft()
    sent = desk_data(draft, (), [], "ada", View(place=CLOCK))
    assert (sent["whole"], [place["key"] for place in sent["places"]]) == (False, [ROM, CLOCK])
    sent_group = desk_data(draft, (), [], "ada", View(group="movement"))
    first_missing = next(place.key for place in missing(draft) if place.group == "movement")
    assert [place["key"] for place in sent_group["places"]] == [DMA, first_missing]
    assert sent["groups"][0] == {"key": "all", "title": "All", "places": 4, "decided": 0}


def test_next_unsure_leaves_out_what_is_sure_or_decided_and_comes_round():
    draft = small_draft()
    nothing = {}
    decided = {ROM: Standing("accept", 1, "ada", 1)}
    assert View(place=OTP, asks=1).at_next_unsure(draft, nothing).place == ROM
    assert View(place=ROM, asks=2).at_next_unsure(draft, nothing) == View(OTP, "all", 2)
    assert View(place=OTP).at_next_unsure(draft, decided).place == OTP
    both = decided | {OTP: Standing("reject", 2, "ada")}
    assert View(place=OTP).at_next_unsure(draft, both).place == CLOCK, "all that is left is sure"
    assert View.of({"place": 3, "asks": "x"}) == View("3", "all", 0)
    assert View.of(None) == View()


def test_a_version_is_saved_from_the_screen(tmp_path, monkeypatch):
    digest = with_draft(tmp_path)
    take({"window": WINDOW, "events": [accept(1, ROM, 1), accept(2, CLOCK, 3)]}, small_draft(), "ada", tmp_path)
    page = screen("confirm", tmp_path, monkeypatch)
    page.session_state["person"] = "ada"
    page.run()
    assert page.text_input(key="version-0").value == "1.0.0"
    page.text_input(key="save_reason").set_value("first look")
    page.button(key="save").click().run()
    assert not page.exception
    assert [toast.value for toast in page.toast] == [r"tarn\_v1\.0\.0\.yaml is saved, with 2 values from documents\."]
    spec = read_spec(tmp_path / "specs" / "tarn_v1.0.0.yaml")
    assert spec.provenance[ROM].accepted_by == "ada"
    assert page.text_input(key="version-1").value == "1.1.0"
    assert set(standing(read_log(digest, tmp_path))) == {ROM, CLOCK}
    page.button(key="save").click().run()
    assert read_spec(tmp_path / "specs" / "tarn_v1.1.0.yaml").version == "1.1.0"


def test_nothing_decided_nothing_to_save(tmp_path, monkeypatch):
    with_draft(tmp_path)
    assert screen("confirm", tmp_path, monkeypatch).button(key="save").disabled


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
