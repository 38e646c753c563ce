import json
import subprocess
import sys

import pytest
import typer

from metainfer_core.cli import console
from metainfer_core.errors import InputError, NotTrustedError


def run(app, arguments, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["meta-infer", *arguments])
    with pytest.raises(SystemExit) as caught:
        console.run(app)
    output = capsys.readouterr()
    return caught.value.code, output.out, output.err


@pytest.fixture
def app():
    tree = typer.Typer()

    @tree.command()
    def bad(as_json: console.Json = False):
        raise InputError("file.yaml:3: wrong.", "It is 4.", "Write 5.")

    @tree.command()
    def untrusted():
        raise NotTrustedError("The bundle has no signature.")

    @tree.command()
    def defect():
        raise ZeroDivisionError("division by zero")

    @tree.command()
    def interrupted():
        raise KeyboardInterrupt

    @tree.command()
    def negative():
        console.emit(False, {}, "No.")
        console.verdict(negative=True)

    @tree.command()
    def fine(as_json: console.Json = False):
        console.emit(as_json, {"answer": 42}, "The answer is 42.")

    return tree


@pytest.mark.parametrize(
    ("arguments", "status", "out", "err"),
    [
        (["fine"], 0, "The answer is 42.\n", ""),
        (["fine", "--json"], 0, '{"answer": 42}\n', ""),
        (["negative"], 1, "No.\n", ""),
        (["bad"], 2, "", "file.yaml:3: wrong.\nIt is 4.\nWrite 5.\n"),
        (["untrusted"], 3, "", "The bundle has no signature.\n"),
        (["interrupted"], 130, "", "Interrupted.\n"),
    ],
)
def test_exit_status_and_streams(app, arguments, status, out, err, monkeypatch, capsys):
    assert run(app, arguments, monkeypatch, capsys) == (status, out, err)


def test_an_error_with_json_is_one_object(app, monkeypatch, capsys):
    status, out, _ = run(app, ["bad", "--json"], monkeypatch, capsys)
    assert status == 2
    error = {"kind": "InputError", "what": "file.yaml:3: wrong.", "why": "It is 4.", "fix": "Write 5."}
    assert json.loads(out) == {"error": error}


def test_a_defect_asks_for_a_report_and_shows_no_traceback(app, monkeypatch, capsys):
    status, _, err = run(app, ["defect"], monkeypatch, capsys)
    assert status == 70
    assert "defect of meta-infer: ZeroDivisionError" in err
    assert "Traceback" not in err


def test_wrong_usage_exits_with_2(app, monkeypatch, capsys):
    status, _, err = run(app, ["fine", "--nonsense"], monkeypatch, capsys)
    assert status == 2
    assert "No such option: --nonsense" in err


def test_the_installed_command_answers():
    done = subprocess.run(
        [sys.executable, "-m", "metainfer_core", "--help"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    assert "Fits an AI model to a chip" in done.stdout


def test_a_watching_program_gets_progress_as_json_lines(monkeypatch, capsys):
    monkeypatch.setenv(console.PROGRESS_VARIABLE, "json")
    with console.progress("ingest") as report:
        report("reading pages", 3, 12)
    assert capsys.readouterr().err == '{"progress": ["reading pages", 3, 12]}\n'
