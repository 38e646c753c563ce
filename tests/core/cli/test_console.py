import json
import os
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


def test_a_log_hears_of_each_step_and_of_a_long_one_again(monkeypatch, capsys):
    def told():
        with console.progress("ingest") as report:
            for done in (1, 2):
                report("reading pages", done, 400)
            report("tables", 1, 400)
        return capsys.readouterr().err.splitlines()

    assert told() == ["ingest: reading pages", "ingest: tables"]
    monkeypatch.setattr(console, "SILENCE_S", 0.0)
    assert told() == ["ingest: reading pages", "ingest: reading pages, 2 of 400", "ingest: tables"]


HOSTILE = "conv\x1b]0;title\x07\x1b[2J\r\x7f\x9b31m\u202e\u2066\udcff"


def test_a_name_cannot_steer_the_terminal(app, monkeypatch, capsys):
    @app.command()
    def named(as_json: console.Json = False):
        with console.progress(HOSTILE) as report:
            report(HOSTILE, 0, 1)
        console.emit(as_json, {"name": HOSTILE}, f"{HOSTILE}\tü\nnext")
        raise InputError(HOSTILE, HOSTILE, HOSTILE)

    status, out, err = run(app, ["named"], monkeypatch, capsys)
    assert status == 2
    written = r"conv\u001b]0;title\u0007\u001b[2J\u000d\u007f\u009b31m\u202e\u2066\udcff"
    assert out == f"{written}\tü\nnext\n"
    assert err == f"{written}: {written}\n{written}\n{written}\n{written}\n"
    _, out, _ = run(app, ["named", "--json"], monkeypatch, capsys)
    first, second = out.splitlines()
    assert written.replace("\\u000d", "\\r") in first
    assert json.loads(first) == {"name": HOSTILE}
    assert json.loads(second)["error"]["what"] == HOSTILE


def test_a_wrong_argument_cannot_steer_the_terminal(app, monkeypatch, capsys):
    status, _, err = run(app, ["fine", "--\x1b[2J"], monkeypatch, capsys)
    assert status == 2
    assert "No such option" in err
    assert "\x1b" not in err


def test_json_names_the_check_that_refused_trust(app, monkeypatch, capsys):
    @app.command()
    def refused(as_json: console.Json = False):
        raise NotTrustedError("No.", check="wrong_model")

    status, out, _ = run(app, ["refused", "--json"], monkeypatch, capsys)
    assert status == 3
    assert json.loads(out)["error"]["check"] == "wrong_model"


def test_an_interruption_with_json_is_one_object(app, monkeypatch, capsys):
    @app.command()
    def stopped(as_json: console.Json = False):
        raise KeyboardInterrupt

    status, out, err = run(app, ["stopped", "--json"], monkeypatch, capsys)
    assert (status, err) == (130, "Interrupted.\n")
    assert json.loads(out)["error"]["kind"] == "Interrupted"


def test_what_the_machine_refuses_is_no_defect(app, monkeypatch, capsys):
    @app.command()
    def closed():
        os.stat("/proc/nowhere")

    status, _, err = run(app, ["closed"], monkeypatch, capsys)
    assert status == 2
    assert err.splitlines()[1:] == ["No such file or directory.", "Check the path, its permissions and the free space."]


def test_too_little_memory_is_said(app, monkeypatch, capsys):
    @app.command()
    def hungry():
        raise MemoryError

    status, _, err = run(app, ["hungry"], monkeypatch, capsys)
    assert status == 1
    assert "more memory than this machine has" in err


@pytest.mark.parametrize(
    ("arguments", "redirection", "status", "words"),
    [
        ("targets --json", "| head -c 0", 0, ""),
        ("targets --json", ">/dev/full", 2, "The answer cannot be written to stdout.\nNo space left on device."),
        ("targets --json", ">&-", 2, "The answer cannot be written to stdout.\nBad file descriptor."),
        ("targets --json", "2>&- >/dev/null", 0, ""),
        ("targets --json", "2>/dev/full >/dev/null", 0, ""),
        ("targets --json", "<&- >/dev/null", 0, ""),
        ("targets --help", ">&-", 2, "A file cannot be used.\nBad file descriptor."),
    ],
)
def test_a_closed_or_full_stream_is_no_defect(arguments, redirection, status, words):
    command = f"set -o pipefail; {sys.executable} -m metainfer_core {arguments} {redirection}"
    done = subprocess.run(["bash", "-c", command], stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == status
    assert done.stderr.startswith(words)
    assert "Exception" not in done.stderr
