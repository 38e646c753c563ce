import pytest
from screens import screen

from hwdoc_ingest.sample.command import DATASHEET
from metainfer_core.errors import InputError
from metainfer_core.spec.draft import SpecDraft
from metainfer_core.spec.draft_file import write_draft
from metainfer_core.spec.library import load
from metainfer_core.spec.yaml_file import save_spec, write_spec
from studio.cli import lay_out_sample
from studio.stations import rows
from studio.texts import text
from studio.uploads import take_in_spec
from studio.workspace import in_workspace, kind_of, workspace_files


def states(row):
    return [(station.name, station.state) for station in row.stations]


def test_an_empty_workspace_offers_the_sample_and_lays_it_out(tmp_path, monkeypatch):
    page = screen("home", tmp_path, monkeypatch)
    assert page.markdown[0].value == text("home_empty")
    assert next(link.label for link in page.get("page_link")) == f"**{text('start_manual')}**"
    page.button(key="sample").click().run(timeout=120)
    assert not page.exception
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == [
        "NOTICE.txt",
        "calibration.npz",
        "evaluation.npz",
        DATASHEET,
        "text_direction.onnx",
    ]
    assert not [button for button in page.button if button.key == "sample"]
    assert "**text\\_direction\\.onnx** × no chip yet" in [each.value for each in page.markdown]


def test_rows_tell_what_is_next_and_what_blocks(tmp_path):
    assert rows(tmp_path) == ()
    (tmp_path / "m.onnx").write_bytes(b"1")
    (row,) = rows(tmp_path)
    assert (row.model, row.chip, row.done) == ("m.onnx", "", 0)
    assert states(row)[0] == ("manual", "next")
    assert row.stations[2].sentence == text("station_policy_no_spec")

    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "a.yaml").write_bytes(write_draft(SpecDraft(chip="tarn")))
    (row,) = rows(tmp_path)
    assert row.chip == "tarn"
    assert states(row)[:3] == [("manual", "done"), ("spec", "next"), ("policy", "blocked")]
    assert row.next.parameters == {"draft": "drafts/a.yaml"}

    (tmp_path / "specs").mkdir()
    save_spec(load("rk3588"), tmp_path / "specs" / "rk3588_v1.0.0.yaml")
    first, second = rows(tmp_path)
    assert (first.chip, first.done, second.chip) == ("rk3588", 2, "tarn")
    assert states(first) == [
        ("manual", "done"),
        ("spec", "done"),
        ("policy", "next"),
        ("review", "blocked"),
        ("signed", "blocked"),
        ("built", "blocked"),
    ]
    assert first.next.parameters == {"model": "m.onnx", "spec": "specs/rk3588_v1.0.0.yaml"}


def test_a_broken_file_does_not_take_the_screen_down(tmp_path, monkeypatch):
    (tmp_path / "broken_v1.0.0.yaml").write_text("memories: [1, {")
    (tmp_path / "m.onnx").write_bytes(b"1")
    (tmp_path / "p.policy").write_text("{")
    (tmp_path / "p.bin").write_text("{")
    assert [row.chip for row in rows(tmp_path)] == [""]
    screen("home", tmp_path, monkeypatch)


def test_names_are_words_and_no_markup(tmp_path, monkeypatch):
    (tmp_path / "[x](http:__evil)*b*<b>.onnx").write_bytes(b"1")
    page = screen("home", tmp_path, monkeypatch)
    shown = next(each.value for each in page.markdown if "evil" in each.value)
    assert shown.startswith(r"**\[x\]\(http\:\_\_evil\)\*b\*\<b\>\.onnx** × ")


def test_files_are_found_by_kind_and_links_are_not_followed(tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / ".studio").mkdir()
    (tmp_path / "specs" / "chip_v1.0.0.yaml").write_bytes(b"12345")
    (tmp_path / "d.yaml").write_text("format: metainfer.spec_draft/1\n")
    (tmp_path / "m.onnx").write_bytes(b"1")
    (tmp_path / ".studio" / "hidden.onnx").write_bytes(b"1")
    (tmp_path / "link.onnx").symlink_to(tmp_path / "m.onnx")
    (tmp_path / "notes.yaml").write_text("a: 1\n")
    found = [(file.kind, file.name, file.size_bytes) for file in workspace_files(tmp_path)]
    assert found == [("draft", "d.yaml", 31), ("spec", "specs/chip_v1.0.0.yaml", 5), ("model", "m.onnx", 1)]
    assert kind_of(tmp_path / "notes.yaml") is None


def test_an_address_leads_to_files_of_the_workspace_only(tmp_path):
    (tmp_path / "w").mkdir()
    (tmp_path / "w" / "m.onnx").write_bytes(b"1")
    (tmp_path / "out.onnx").write_bytes(b"1")
    (tmp_path / "w" / "l.onnx").symlink_to(tmp_path / "out.onnx")
    assert in_workspace("m.onnx", tmp_path / "w") == tmp_path / "w" / "m.onnx"
    for name in ("../out.onnx", str(tmp_path / "out.onnx"), "l.onnx", "", ".", "no.onnx", "a\0b", ".studio/x"):
        with pytest.raises(InputError, match="The workspace has no file"):
            in_workspace(name, tmp_path / "w")


def test_laying_out_the_sample_again_leaves_what_is_there_alone(tmp_path):
    assert len(lay_out_sample(tmp_path)) == 5
    (tmp_path / DATASHEET).write_bytes(b"mine")
    (tmp_path / "text_direction.onnx").unlink()
    assert [path.name for path in lay_out_sample(tmp_path)] == ["text_direction.onnx"]
    assert (tmp_path / DATASHEET).read_bytes() == b"mine"


def test_a_spec_file_is_kept_when_it_is_right_and_else_told_with_its_line(tmp_path):
    data = write_spec(load("rk3588"))
    assert take_in_spec("anything.yaml", data, tmp_path) == tmp_path / "specs" / "rk3588_v1.0.0.yaml"
    with pytest.raises(InputError, match="A version is never changed"):
        take_in_spec("again.yaml", data, tmp_path)
    with pytest.raises(InputError, match=r"bad\.yaml:3"):
        take_in_spec("bad.yaml", b"name: x\nversion: [1\n", tmp_path)
    with pytest.raises(InputError, match="cannot be the name of a file"):
        take_in_spec("out.yaml", data.replace(b"name: rk3588", b"name: ../../x", 1), tmp_path)
