"""The tutorial, executed: every command, its exit status, and the lines that are shown."""

import os
import sys
from pathlib import Path

from console_blocks import commands_of, run

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "tutorial.md"


def test_every_command_of_the_tutorial_does_what_is_shown(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "work"
    folder.mkdir()
    programs = Path(sys.executable).parent
    environment = {
        "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache")),
    }
    commands = commands_of(TUTORIAL)
    for command in commands:
        run(command, folder, environment, timeout_s=600)
    assert {command.status for command in commands} == {0, 3}
    assert not [path.name for path in folder.rglob("*.tmp")], "a half-written file was left"
    assert "Nothing" in (folder / "text.report.html").read_text()


def test_the_readme_s_loop_is_that_of_the_tutorial():
    """So that every command of the README is run by the test above; only the passphrase is asked for there."""
    shown = [command.text.removesuffix(" --passphrase-fd 3 3< passphrase") for command in commands_of(TUTORIAL)]
    loop = [command.text for command in commands_of(ROOT / "README.md")]
    assert len(loop) >= 10
    at = 0
    for text in loop:
        assert text in shown[at:], f"not in the tutorial, or not in this order: {text}"
        at = shown.index(text, at) + 1
