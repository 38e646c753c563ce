"""The command line as people call it, within the process of the test."""

import sys

import pytest

from metainfer_core.cli import build_app, console


@pytest.fixture
def meta_infer(monkeypatch, capsys):
    """Gives a command with all that is installed; returns exit status, standard output and standard error."""

    def give(*words):
        monkeypatch.setattr(sys, "argv", ["meta-infer", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            console.run(lambda: build_app(str(words[0])))
        printed = capsys.readouterr()
        return end.value.code or 0, printed.out, printed.err

    return give
