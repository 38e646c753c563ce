"""Ctrl-C and the request to end, at any moment: status 130, one message, nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

LOADING = """
import sys, time
sys.argv = ["meta-infer", "targets", "--json"]
from metainfer_core import cli
def slow(command):
    print("ready", file=sys.stderr, flush=True)
    try:
        time.sleep(60)
    except BaseException as error:
        raise ImportError("initialization failed") from error  # as compiled modules do
cli.build_app = slow
cli.main()
"""
WORKING = """
import sys, time, typer
from metainfer_core.cli import console
from metainfer_core.codegen.private_folder import private_folder
sys.argv = ["meta-infer", "--json"]
app = typer.Typer()
@app.command()
def work(as_json: console.Json = False):
    with private_folder("test"):
        print("ready", file=sys.stderr, flush=True)
        time.sleep(60)
console.run(app)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("code", [LOADING, WORKING], ids=["loading", "working"])
def test_an_interruption_ends_in_good_order(code, sign, tmp_path):
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    assert program.stderr.readline() == "ready\n"
    time.sleep(0.1)
    program.send_signal(sign)
    out, err = program.communicate(timeout=30)
    assert program.returncode == 130
    assert err == "Interrupted.\n"
    assert json.loads(out)["error"]["kind"] == "Interrupted"
    assert list(tmp_path.iterdir()) == []


def test_what_was_told_to_ignore_interruptions_does():
    code = f"import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n{WORKING}".replace("sleep(60)", "sleep(1)")
    program = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    assert program.stderr.readline() == "ready\n"
    program.send_signal(signal.SIGINT)
    assert program.wait(30) == 0
    program.stderr.close()
