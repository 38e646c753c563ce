"""Operator tables read into typed rules: two layouts of tables and one outline, exactly and with their places."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from operator_pages import drawn_table, outline, plain_table
from reportlab.pdfgen.canvas import Canvas

from hwdoc_ingest.drafting.draft import draft, of_chip
from hwdoc_ingest.intake.pdf_reading import read_pdf_bytes
from hwdoc_ingest.operators.operator_tables import read_operator_tables
from hwdoc_ingest.page.pages import Page, PdfFile
from hwdoc_ingest.reading import no_progress
from metainfer_core.spec.drafting.accept import accept
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.spec.drafting.draft_file import parse_draft, write_draft
from metainfer_core.spec.files.yaml_file import read_spec, write_spec

NOT_DEPTHWISE = {"when": [{"of": ["depthwise"], "one_of": ["0"]}]}
DEPTHWISE = {"when": [{"of": ["depthwise"], "one_of": ["1"]}]}


def pages_of(data: bytes) -> list[Page]:
    with PdfFile(data, "table.pdf") as file:
        return [file.page(number) for number in range(1, file.count + 1)]


def candidates_of(data: bytes) -> tuple[Candidate, ...]:
    return read_operator_tables(pages_of(data), "doc").candidates


def rules(data: bytes, chip: str | None = None) -> dict[str, dict[str, Any]]:
    return {
        str(candidate.instance): candidate.rule.model_dump(mode="json", exclude_defaults=True)
        for candidate in candidates_of(data)
        if candidate.rule is not None and (chip is None or chip in (candidate.chips or ()))
    }


def lists(data: bytes, chip: str | None = None) -> dict[str, object]:
    return {
        candidate.field: candidate.value
        for candidate in candidates_of(data)
        if candidate.rule is None and (chip is None or chip in (candidate.chips or ()))
    }


def test_a_drawn_table_with_merged_cells_over_two_pages() -> None:
    assert rules(drawn_table()) == {
        "Conv.kernel_h": {"of": ["kernel_h"], "min": 1, "max": 11},
        "Conv.kernel_w": {"of": ["kernel_w"], "min": 1, "max": 11},
        "Conv.stride": {"of": ["stride"], "one_of": ["1", "2", "4"]},
        "Conv.in_channels": {"of": ["in_channels"], "multiple_of": 16},
        "Conv.data_types": {"data_types": ["int8", "int16"]},
        "MaxPool.kernel_shape": {"of": ["kernel_shape"], "one_of": ["2x2", "3x3"]},
        "MaxPool.pad": {"of": ["pad"], "max": 1},
        "MaxPool.data_types": {"data_types": ["int8"]},
        "Gemm.in_channels": {"of": ["in_channels"], "max": 4096},
        "Gemm.data_types": {"data_types": ["int8"]},
        "Softmax.note": {"understood": False, "words": "only 1 when the batch is even"},
        "Softmax.data_types": {"data_types": ["float16"]},
    }
    assert lists(drawn_table()) == {"npu.operators": ("Conv", "Gemm", "MaxPool", "Softmax")}


def test_each_rule_has_its_page_and_the_box_of_its_cell() -> None:
    data = drawn_table()
    for candidate in candidates_of(data):
        assert candidate.page in (1, 2)
        page = pages_of(data)[int(candidate.page) - 1]
        assert candidate.box is not None
        left, top, right, bottom = candidate.box
        inside = [
            word.text
            for word in page.words
            if left - 1 <= word.box[0]
            and word.box[2] <= right + 1
            and top - 1 <= word.box[1]
            and word.box[3] <= bottom + 1
        ]
        if candidate.rule is not None:
            assert " ".join(inside) == candidate.text


def test_a_table_without_lines_and_with_a_column_for_each_chip() -> None:
    constraints = {
        "Conv.kernel_h": {"of": ["kernel_h"], "min": 1, "max": 64, **NOT_DEPTHWISE},
        "Conv.kernel_w": {"of": ["kernel_w"], "min": 1, "max": 64, **NOT_DEPTHWISE},
        "Conv.input1_constant": {"operand": "input1", "constant": True, **NOT_DEPTHWISE},
        "Conv.kernel_h_x_kernel_w": {"of": ["kernel_h", "kernel_w"], "max": 64, **DEPTHWISE},
        "Concat.equal_scale": {"equal_scale": True},
    }
    note = {"LSTM.note": {"understood": False, "words": "Batch must be 1 unless the layer is unrolled"}}
    assert rules(plain_table(), "RX100") == constraints
    assert rules(plain_table(), "RX200") == constraints | note
    assert lists(plain_table(), "RX100") == {
        "npu.operators": ("Concat", "Conv", "Reshape"),
        "npu.unavailable_operators": ("Gelu", "LSTM"),
    }
    assert lists(plain_table(), "RX200") == {"npu.operators": ("Concat", "Conv", "Gelu", "LSTM", "Reshape")}


def test_an_outline_with_a_chapter_for_each_family() -> None:
    assert rules(outline(), "ZK10") == {
        "Conv.input0_data_types": {"operand": "input0", "data_types": ["int8", "float16"], **NOT_DEPTHWISE},
        "Conv.input1_data_types": {"operand": "input1", "data_types": ["int8", "float16"], **NOT_DEPTHWISE},
        "Conv.input1_granularity": {"operand": "input1", "granularity": ["tensor", "channel"], **NOT_DEPTHWISE},
        "Conv.kernel_h": {"of": ["kernel_h"], "min": 1, "max": 31, **NOT_DEPTHWISE},
        "Conv.stride": {"of": ["stride"], "one_of": ["1", "2"], **NOT_DEPTHWISE},
        "Conv.note": {
            "operand": "input0",
            "understood": False,
            "words": "width must be even except for the first layer",
            **NOT_DEPTHWISE,
        },
        "Conv.kernel_h_2": {"of": ["kernel_h"], "min": 1, "max": 8, **DEPTHWISE},
        "Add.input0_data_types": {"operand": "input0", "data_types": ["int8", "float16"]},
        "Add.input1_data_types": {
            "operand": "input1",
            "data_types": ["int8", "float16"],
            "constant_data_types": ["float32"],
        },
        "Softmax.input0_height_x_width": {
            "of": ["height", "width"],
            "operand": "input0",
            "max": 16383,
            "when": [
                {"of": ["axis"], "one_of": ["1"]},
                {"of": ["rank"], "operand": "input0", "one_of": ["4"]},
            ],
        },
        "Softmax.input0_height": {"of": ["height"], "operand": "input0", "min": 1, "max": 512},
        "Softmax.input0_height_2": {
            "of": ["height"],
            "operand": "input0",
            "multiple_of": 4,
            "when": [{"of": ["height"], "operand": "input0", "min": 2}],
        },
    }
    assert lists(outline(), "ZK10") == {
        "npu.operators": ("Add", "Conv", "Relu", "Softmax"),
        "npu.unavailable_operators": ("GRU",),
        "npu.operator_fusions": ("Conv+Relu",),
    }
    assert lists(outline(), "ZK20")["npu.operators"] == ("Add", "Conv")


def test_the_processor_chapter_is_none_of_the_accelerator() -> None:
    assert all(candidate.chips for candidate in candidates_of(outline()))
    assert "Sin" not in str([candidate.value for candidate in candidates_of(outline())])


@pytest.mark.parametrize(
    ("chip", "known_as", "kept"),
    [("zk-20", None, True), ("board_9", "ZK20", True), ("zk30", None, False)],
)
def test_a_draft_holds_what_is_said_of_its_chip(chip: str, known_as: str | None, kept: bool) -> None:
    reading = read_pdf_bytes(outline(), "doc", "outline.pdf", no_progress)
    made = draft(chip, [reading], known_as)
    fields = {candidate.field for candidate in made.candidates}
    assert ("npu.operators" in fields) is kept
    (note,) = [note for note in made.notes if "other chips" in note]
    assert ("--known-as" in note) is not kept
    assert "ZK10" in note
    own = of_chip(reading, chip, known_as)
    assert draft(chip, [own], known_as) == made  # what the answer of the command holds, the draft holds too


def test_accepted_rules_stand_typed_in_the_spec_with_page_and_words(tmp_path: Path) -> None:
    reading = read_pdf_bytes(outline(), "doc", "outline.pdf", no_progress)
    made = draft("zk10", [reading])
    assert parse_draft(write_draft(made), "draft.yaml") == made
    accepted = accept(made, Decisions(everything=True, accepted_by="ada"))
    operators = accepted.spec.compute_units["npu"].operators
    assert accepted.conflicts == ()
    assert operators.rules is not None
    assert operators.rules["Conv"]["kernel_h"].max == 31
    assert operators.fusions == (("Conv", "Relu"),)
    place = accepted.spec.provenance["compute_units.npu.operators.rules.Conv.kernel_h"]
    assert (place.page, place.text) == (1, "kernel_h in [1, 31]")
    path = tmp_path / "zk10_v1.0.0.yaml"
    path.write_bytes(write_spec(accepted.spec))
    assert read_spec(path) == accepted.spec


def test_a_manual_that_only_mentions_operators_has_no_table() -> None:
    out = io.BytesIO()
    canvas = Canvas(out, invariant=True)
    canvas.drawString(60, 700, "The engine runs convolution, softmax, relu, lstm and gemm at 2 TOPS.")
    canvas.drawString(60, 680, "Operation modes: sleep and run. Layer 2 is shielded.")
    canvas.save()
    assert candidates_of(out.getvalue()) == ()
