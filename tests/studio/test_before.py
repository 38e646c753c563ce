import os

from drafts import CLOCK, DMA, OTP, ROM, desk, revised_draft, small_draft, with_draft
from screens import screen

from metainfer_core.spec.drafting.draft_file import write_draft
from metainfer_core.spec.files.yaml_file import read_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from studio.drafts.before import Before, before, before_data
from studio.drafts.decision_log import read_log
from studio.drafts.desk_messages import take
from studio.drafts.draft_state import standing
from studio.drafts.save_spec import save_version

WINDOW = "b" * 16
NEXT = "drafts/tarn-2.yaml"


def send(workspace, draft, *events):
    refused = take({"draft": draft.digest, "window": WINDOW, "events": list(events)}, draft, "ada", workspace)
    assert refused == []
    return standing(read_log(draft.digest, workspace))


def confirmed(workspace):
    """Decisions about the first revision: everything but the ROM's second reading."""
    choices = {ROM: 1, CLOCK: 3, DMA: 0, OTP: 4}
    event = {"number": 1, "kind": "accept", "places": list(choices), "choices": choices}
    return send(workspace, small_draft(), event)


def with_revision(workspace):
    path = workspace / NEXT
    path.write_bytes(write_draft(revised_draft()))
    later = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(later, later))


def expected(name):
    return {
        "name": name,
        "places": {
            OTP: {"was": "{value: 4096, unit: bit}", "change": "same", "same": 2},
            ROM: {"was": "64 KiB", "change": "same", "same": 1},
            DMA: {"was": "8", "change": "differs"},
        },
        "vanished": [(CLOCK, "NPU clock", "{min: 200 MHz, typ: 800 MHz, max: 1 GHz}")],
    }


def told(data):
    return data | {"vanished": [(each["key"], each["title"], each["was"]) for each in data["vanished"]]}


def test_the_first_draft_of_a_chip_has_nothing_before_it(tmp_path):
    with_draft(tmp_path)
    assert before(small_draft(), "drafts/tarn.yaml", tmp_path) is None
    assert before_data(small_draft(), None) is None


def test_a_revision_is_held_against_the_newest_version(tmp_path, monkeypatch):
    with_draft(tmp_path)
    save_version(small_draft(), confirmed(tmp_path), "ada", "1.0.0", "", None, tmp_path)
    with_revision(tmp_path)
    assert told(before_data(revised_draft(), before(revised_draft(), NEXT, tmp_path))) == expected("tarn 1.0.0")
    data = desk(screen("confirm", tmp_path, monkeypatch, draft=NEXT))
    assert told(data["before"]) == expected("tarn 1.0.0")


def test_decisions_about_an_earlier_draft_count_before_a_version_is_saved(tmp_path):
    with_draft(tmp_path)
    confirmed(tmp_path)
    with_revision(tmp_path)
    assert told(before_data(revised_draft(), before(revised_draft(), NEXT, tmp_path))) == expected("drafts/tarn.yaml")
    assert before(small_draft(), "drafts/tarn.yaml", tmp_path) is None, "the later draft is not before the earlier one"


def test_the_next_version_points_at_the_new_pages_and_loses_what_is_declared_gone(tmp_path):
    with_draft(tmp_path)
    first = save_version(small_draft(), confirmed(tmp_path), "ada", "1.0.0", "", None, tmp_path)
    with_revision(tmp_path)
    draft = revised_draft()
    stands = send(
        tmp_path,
        draft,
        {"number": 1, "kind": "accept", "places": [ROM, DMA], "choices": {ROM: 1, DMA: 0}},
        {"number": 2, "kind": "unknown", "places": [CLOCK]},
    )
    second = save_version(draft, stands, "ben", "1.1.0", "revision B", first.path, tmp_path)
    spec = read_spec(second.path)
    assert (spec.provenance[ROM].source, spec.provenance[ROM].page, spec.provenance[ROM].accepted_by) == (
        "sheet_2",
        4,
        "ben",
    )
    assert (spec.dma.channels, spec.compute_units["npu"].clock_hz) == (16, None)
    assert spec.provenance[OTP].source == "sheet", "undecided, it stays as it was"
    assert spec.sources["sheet_2"].document_digest == "sha256:" + "1" * 64


def test_values_that_vanished_are_said_in_words(tmp_path):
    draft = small_draft()
    place = {"source": "sheet", "page": 1}
    paths = ("compute_units.cortex_a55.l1i_cache.sharing_mode", "l3_cache.size_bytes", "mmio_bases.uart0")
    spec = HardwareSpec.from_plain(
        {
            "name": "tarn",
            "version": "1.0.0",
            "compute_units": {"cortex_a55": {"kind": "cpu", "l1i_cache": {"sharing_mode": "per_core"}}},
            "l3_cache": {"size_bytes": 1048576},
            "mmio_bases": {"uart0": "0x40001000"},
            "sources": {"sheet": {"title": "Sheet", "document_digest": "sha256:" + "0" * 64, "file_name": "sheet.pdf"}},
            "provenance": dict.fromkeys(paths, place),
        }
    )
    told = {each["key"]: (each["title"], each["instance"]) for each in
            before_data(draft, Before("tarn 1.0.0", spec))["vanished"]}  # fmt: skip
    assert told == {
        paths[0]: ("L1i cache sharing mode", "cortex_a55"),
        paths[1]: ("CPU L3 cache size", ""),
        paths[2]: ("Register base", "uart0"),
    }
