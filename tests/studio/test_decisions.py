import multiprocessing

import pytest
from drafts import CLOCK, DMA, OTP, ROM, small_draft

from metainfer_core.errors import InputError
from metainfer_core.spec.files.yaml_file import read_spec
from studio.drafts.decision_log import log_path, read_log
from studio.drafts.desk_data import View, desk_data
from studio.drafts.desk_messages import take
from studio.drafts.desk_routes import meaning
from studio.drafts.draft_state import counts, last_of, standing
from studio.drafts.save_spec import next_version, save_version, versions_of

DRAFT = small_draft()
ONE, TWO = "1" * 16, "2" * 16


def sent(number, kind, *places, **other):
    return {"number": number, "kind": kind, "places": list(places)} | other


def send(workspace, *events, window=ONE, actor="ada"):
    return take({"draft": DRAFT.digest, "window": window, "events": list(events)}, DRAFT, actor, workspace)


def accepted(number, key, index):
    return sent(number, "accept", key, choices={key: index})


def stands(workspace):
    return {
        key: (each.kind, each.index, each.given) for key, each in standing(read_log(DRAFT.digest, workspace)).items()
    }


def test_decisions_are_written_in_order_and_each_once(tmp_path):
    first = [accepted(1, ROM, 1), sent(2, "reject", OTP)]
    assert send(tmp_path, *first) == []
    assert send(tmp_path, *reversed(first), sent(3, "edit", DMA, given="4")) == []  # sent again, not yet acknowledged
    assert [(each.seq, each.decision.kind, each.decision.number) for each in read_log(DRAFT.digest, tmp_path)] == [
        (1, "accept", 1),
        (2, "reject", 2),
        (3, "edit", 3),
    ]
    assert stands(tmp_path) == {ROM: ("accept", 1, ""), OTP: ("reject", None, ""), DMA: ("edit", None, "4")}
    figures = counts(DRAFT, standing(read_log(DRAFT.digest, tmp_path)))
    assert (figures.places, figures.decided, figures.conflicts) == (4, 3, 0)


def test_undo_takes_back_ones_own_last_decision_and_shows_what_stood_before(tmp_path):
    send(tmp_path, accepted(1, ROM, 1), accepted(2, ROM, 2))
    send(tmp_path, sent(1, "unknown", DMA), window=TWO, actor="ben")
    send(tmp_path, sent(3, "undo", ROM))
    assert stands(tmp_path) == {ROM: ("accept", 1, ""), DMA: ("unknown", None, "")}
    send(tmp_path, sent(4, "undo", ROM))
    assert stands(tmp_path) == {DMA: ("unknown", None, "")}
    (refused,) = send(tmp_path, sent(5, "undo", ROM))
    assert refused["why"] == "There is nothing of yours to take back."
    assert last_of(read_log(DRAFT.digest, tmp_path), "ben").decision.places == (DMA,)


def test_a_window_cannot_overwrite_what_it_has_not_seen(tmp_path):
    send(tmp_path, accepted(1, ROM, 1))
    (refused,) = send(tmp_path, sent(1, "reject", ROM, seen={ROM: 0}), window=TWO, actor="ben")
    assert refused["why"].startswith("ada decided this place in another window meanwhile.")
    assert stands(tmp_path) == {ROM: ("accept", 1, "")}
    assert send(tmp_path, sent(2, "reject", ROM, seen={ROM: 1}), window=TWO, actor="ben") == []
    assert stands(tmp_path) == {ROM: ("reject", None, "")}


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (sent(1, "edit", ROM, given="64 parsecs"), "memories.boot_rom.size_bytes: "),
        (sent(1, "edit", ROM, given=" "), "No value is given."),
        (sent(1, "edit", ROM, given="[1, {"), "memories.boot_rom.size_bytes"),
        (accepted(1, ROM, 3), f"{ROM}: this reading is not one of the draft's for this place."),
        (accepted(1, ROM, 99), f"{ROM}: this reading is not one of the draft's for this place."),
        (sent(1, "reject", "memories.moon.size_bytes"), "The draft has no place memories.moon.size_bytes."),
        (sent(1, "burn", ROM), "decision: kind is not right."),
    ],
)
def test_what_cannot_stand_is_refused_with_the_reason_and_not_written(tmp_path, event, why):
    (refused,) = send(tmp_path, event)
    assert refused["why"].startswith(why)
    assert (refused["window"], refused["number"]) == (ONE, 1)
    assert read_log(DRAFT.digest, tmp_path) == ()
    assert desk_data(DRAFT, "d.yaml", (), [refused], "ada", View(), tmp_path)["acked"] == {ONE: 1}


@pytest.mark.parametrize("message", [None, 3, {}, {"window": "x", "events": []}, {"window": ONE, "events": [{}]}])
def test_what_is_no_message_changes_nothing(tmp_path, message):
    assert take(message, DRAFT, "ada", tmp_path) == []
    assert read_log(DRAFT.digest, tmp_path) == ()


def test_a_line_torn_by_a_crash_is_skipped_and_can_be_sent_again(tmp_path):
    send(tmp_path, accepted(1, ROM, 1), sent(2, "reject", OTP))
    path = log_path(DRAFT.digest, tmp_path)
    path.write_bytes(path.read_bytes()[:-20])
    assert stands(tmp_path) == {ROM: ("accept", 1, "")}
    send(tmp_path, sent(2, "reject", OTP), sent(3, "unknown", DMA))
    assert stands(tmp_path) == {ROM: ("accept", 1, ""), OTP: ("reject", None, ""), DMA: ("unknown", None, "")}


def _write_fifty(workspace, window):
    for number in range(1, 51):
        send(workspace, accepted(number, DMA, 0) | {"seen": {DMA: 10**6}}, window=window, actor=f"p{window[0]}")


def test_two_writers_lose_nothing(tmp_path):
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write_fifty, args=(tmp_path, window)) for window in (ONE, TWO)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    log = read_log(DRAFT.digest, tmp_path)
    for window in (ONE, TWO):
        assert [each.decision.number for each in log if each.decision.window == window] == list(range(1, 51))


def test_a_version_holds_what_was_accepted_with_its_source_and_person(tmp_path):
    send(tmp_path, accepted(1, ROM, 2), accepted(2, CLOCK, 3), sent(3, "edit", DMA, given="4"), sent(4, "reject", OTP))
    now = standing(read_log(DRAFT.digest, tmp_path))
    saved = save_version(DRAFT, now, "ada", "1.0.0", "first look", None, tmp_path)
    assert saved.path == tmp_path / "specs" / "tarn_v1.0.0.yaml"
    assert (saved.values, saved.conflicts) == (3, ())
    assert saved.sentence == "tarn_v1.0.0.yaml is saved, with 3 accepted or given values."
    spec = read_spec(saved.path)
    assert (spec.name, spec.version) == ("tarn", "1.0.0")
    assert spec.memories["boot_rom"].size_bytes.typ == 131072
    assert (spec.compute_units["npu"].clock_hz.min, spec.compute_units["npu"].clock_hz.max) == (2e8, 1e9)
    assert spec.dma.channels == 4
    assert spec.assumed == {DMA: "Given by ada."}
    assert not spec.other
    told = spec.provenance[ROM]
    assert (told.source, told.page, told.box, told.text) == ("sheet", 2, (10.0, 40.0, 60.0, 50.0), "boot ROM 128 KB")
    assert told.accepted_by == "ada"


def test_the_next_version_builds_on_the_last_and_none_is_overwritten(tmp_path):
    send(tmp_path, accepted(1, ROM, 1))
    now = standing(read_log(DRAFT.digest, tmp_path))
    first = save_version(DRAFT, now, "ada", "1.0.0", "", None, tmp_path)
    assert next_version(versions_of("tarn", tmp_path)) == "1.1.0"
    send(tmp_path, accepted(2, DMA, 0))
    now = standing(read_log(DRAFT.digest, tmp_path))
    second = save_version(DRAFT, now, "ada", "1.1.0", "channels", first.path, tmp_path)
    assert read_spec(second.path).dma.channels == 8
    assert read_spec(first.path).dma is None
    with pytest.raises(InputError, match="A version is never changed"):
        save_version(DRAFT, now, "ada", "1.1.0", "", None, tmp_path)
    with pytest.raises(InputError, match="is no version"):
        save_version(DRAFT, now, "ada", "../1", "", None, tmp_path)
    with pytest.raises(InputError, match="not known who accepts"):
        save_version(DRAFT, now, "", "2.0.0", "", None, tmp_path)


def test_a_later_choice_replaces_what_the_spec_built_on_says(tmp_path):
    send(tmp_path, accepted(1, ROM, 1))
    first = save_version(DRAFT, standing(read_log(DRAFT.digest, tmp_path)), "ada", "1.0.0", "", None, tmp_path)
    assert read_spec(first.path).memories["boot_rom"].size_bytes.typ == 65536
    send(tmp_path, accepted(2, ROM, 2))
    now = standing(read_log(DRAFT.digest, tmp_path))
    second = save_version(DRAFT, now, "ben", "1.1.0", "per errata", first.path, tmp_path)
    spec = read_spec(second.path)
    assert spec.memories["boot_rom"].size_bytes.typ == 131072
    assert (spec.provenance[ROM].page, spec.provenance[ROM].accepted_by) == (2, "ben")


def test_what_is_about_another_draft_is_not_written(tmp_path):
    event = accepted(1, ROM, 1)
    assert take({"draft": "sha256:" + "1" * 64, "window": ONE, "events": [event]}, DRAFT, "ada", tmp_path) == []
    assert read_log(DRAFT.digest, tmp_path) == ()


def _accept_rom(workspace, window):
    send(workspace, accepted(1, ROM, 1), window=window, actor=f"p{window[0]}")


def test_of_two_windows_at_the_same_moment_one_wins_and_the_other_is_told(tmp_path):
    context = multiprocessing.get_context("fork")
    windows = [digit * 16 for digit in "12345678"]
    writers = [context.Process(target=_accept_rom, args=(tmp_path, window)) for window in windows]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert len(read_log(DRAFT.digest, tmp_path)) == 1


def test_a_number_for_a_place_with_a_unit_needs_it(tmp_path):
    (refused,) = send(tmp_path, sent(1, "edit", CLOCK, given="900"))
    assert refused["why"] == "900 has no unit. Give it, such as 900 Hz."
    assert send(tmp_path, sent(2, "edit", CLOCK, given="900 MHz"), sent(3, "edit", DMA, given="4")) == []


def test_what_a_typed_value_means_is_said_at_once():
    assert meaning(CLOCK, "900 MHz") == {"holds": "900 MHz"}
    assert meaning(ROM, "{min: 1 KiB, max: 2 KiB}") == {"holds": "{min: 1 KiB, max: 2 KiB}"}
    assert "a frequency in Hz is expected" in meaning(CLOCK, "900 KiB")["why"]
    assert "is not a number with a unit" in meaning(CLOCK, "fast")["why"]
