import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from metainfer_core.spec.drafting.draft_file import read_draft

TREE = """/ { compatible = "acme,a1"; #address-cells = <1>; #size-cells = <1>;
  uart: serial@1000 { reg = <0x1000 0x100>; }; };
"""
TABLE = "Register,Offset,Description\nCTRL,0x4,control\n"
MAIN = """
import typer
from hwdoc_ingest.cli import commands
from metainfer_core.cli import console
app = typer.Typer()
app.callback()(lambda: None)
commands(app)
console.run(app)
"""


def run(*arguments, module=False):
    start = [sys.executable, "-m", "hwdoc_ingest.evaluate"] if module else [sys.executable, "-c", MAIN, "ingest"]
    return subprocess.run([*start, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def documents(tmp_path):
    tree, table, broken = tmp_path / "chip.dts", tmp_path / "regs.csv", tmp_path / "bad.pdf"
    tree.write_text(TREE)
    table.write_text(TABLE)
    broken.write_bytes(b"MZ a program")
    return tree, table, broken


def test_one_document_as_json(documents):
    done = run(documents[1], "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout) == {
        "doc": "regs.csv",
        "candidates": [
            {
                "field": "register.offset",
                "value": "0x4",
                "unit": "addr",
                "instance": "CTRL",
                "page": 2,
                "text": "CTRL | 0x4 | control",
                "confidence": 0.98,
                "method": "csv, row 2",
            }
        ],
        "notes": [],
    }
    assert "ingest: regs.csv: reading rows" in done.stderr


def test_several_documents_make_one_draft_and_a_bad_one_is_told(documents, tmp_path):
    output = tmp_path / "draft.yaml"
    done = run(*documents, "--chip", "a1", "--output", output, "--json", "--workers", 2)
    assert done.returncode == 2
    told = json.loads(done.stdout)["documents"]
    assert [entry["doc"] for entry in told] == ["chip.dts", "regs.csv", "bad.pdf"]
    assert told[2]["error"]["what"].endswith("this is a Windows program.")
    assert "this is a Windows program" in done.stderr
    made = read_draft(output)
    assert (made.chip, list(made.sources)) == ("a1", ["chip", "regs"])
    assert [(c.field, c.value) for c in made.candidates] == [
        ("chip.name", "a1"),
        ("mmio.base", "0x1000"),
        ("register.offset", "0x4"),
    ]


def test_the_same_documents_make_the_same_bytes(documents, tmp_path):
    drafts = []
    for name in ("one.yaml", "two.yaml"):
        run(*documents[:2], "--chip", "a1", "--output", tmp_path / name, "--workers", 2)
        drafts.append((tmp_path / name).read_bytes())
    assert drafts[0] == drafts[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--output", "x.yaml"], "needs the name of its chip"), (["--workers", "0"], "--workers")],
)
def test_wrong_usage(documents, arguments, message):
    done = run(documents[0], *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_only_a_bad_document_writes_no_draft(documents, tmp_path):
    done = run(documents[2], "--chip", "x", "--output", tmp_path / "d.yaml", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "InputError"
    assert not (tmp_path / "d.yaml").exists()


def test_an_interruption_leaves_what_stood_there(tmp_path):
    register = "<register><name>R</name><addressOffset>0</addressOffset></register>"
    peripheral = f"<peripheral><name>P</name><registers>{register * 300_000}</registers></peripheral>"
    big = tmp_path / "big.svd"
    big.write_text(f"<device><name>X</name><peripherals>{peripheral}</peripherals></device>")
    output = tmp_path / "draft.yaml"
    output.write_text("before")
    command = [sys.executable, "-c", MAIN, "ingest", str(big), "--chip", "x", "--output", str(output)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert "parsing" in process.stderr.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert output.read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.svd", "draft.yaml"]


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "truth").mkdir()
    (tmp_path / "docs" / "chip.dts").write_text(TREE)
    (tmp_path / "docs" / "bad.svd").write_text("<device")
    base = {"field": "mmio.base", "unit": "addr", "instance": "uart", "page": 2}
    facts = [base | {"value": 0x1000}, {"field": "cpu.cores", "value": 2}]
    (tmp_path / "truth" / "a.json").write_text(json.dumps({"doc": "dev/chip.dts", "kind": "dts", "facts": facts}))
    (tmp_path / "truth" / "b.json").write_text(json.dumps({"doc": "bad.svd", "kind": "svd", "facts": facts}))
    return tmp_path


def test_evaluate(corpus):
    done = run(corpus, "--only", "chip", "--json", module=True)
    assert done.returncode == 0
    report = json.loads(done.stdout)
    assert (report["recall"], report["precision"], report["page_right"]) == (0.5, 1.0, 1.0)
    assert report["by_kind"]["structured"]["facts"] == 2
    assert report["documents"][0]["missed"] == [{"field": "cpu.cores", "value": 2}]
    assert report["seconds"] > 0
    assert "evaluate: chip.dts: parsing the device tree" in done.stderr


def test_evaluate_goes_on_after_a_document_that_cannot_be_read(corpus):
    done = run(corpus, module=True)
    assert done.returncode == 1
    assert "recall 0.250" in done.stdout
    assert "not read:" in done.stdout


def test_evaluate_without_truth(tmp_path):
    done = run(tmp_path / "nothing", module=True)
    assert done.returncode == 2
    assert Path(tmp_path / "nothing" / "truth").name in done.stderr
