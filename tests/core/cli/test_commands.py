"""One entry point a command, and only what was asked for is loaded."""

import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import typer.main

from metainfer_core.cli import GROUP, build_app
from metainfer_core.errors import InputError

NAMES = sorted(entry.name for entry in entry_points(group=GROUP))


def commands(app):
    return sorted(typer.main.get_command(app).commands)


def test_every_command_has_an_entry_point_of_its_name():
    assert commands(build_app()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_entry_point_brings_its_command(name):
    assert name in commands(build_app(name))


def test_a_light_command_loads_no_heavy_library():
    code = "import sys; from metainfer_core.cli import build_app; build_app('spec'); print('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def without(package):
    return f"import sys\nsys.modules['{package}'] = None\nfrom metainfer_core.cli import main\nmain()"


def run_without(package, *arguments):
    return subprocess.run(
        [sys.executable, "-c", without(package), *arguments], capture_output=True, text=True, timeout=60
    )


def test_a_command_of_a_missing_extra_says_what_to_install():
    done = run_without("sqlalchemy", "keys", "list")
    assert done.returncode == 2
    assert done.stderr == (
        "The command keys needs the Python package sqlalchemy, which is not installed.\n"
        "This installation holds a part of meta-infer only.\n"
        'Install it: pip install "meta-infer[store]"\n'
    )


def test_the_other_commands_do_without_it():
    done = run_without("sqlalchemy", "--help")
    assert done.returncode == 0
    assert "adapt" in done.stdout
    assert "review" not in done.stdout


def test_a_broken_module_of_our_own_is_a_defect_not_a_missing_extra():
    done = run_without("review_store.record.log", "keys", "list")
    assert done.returncode == 70
    assert "defect of meta-infer" in done.stderr


def test_an_unknown_command_is_not_looked_up():
    assert commands(build_app("no-such-command")) == NAMES
    assert issubclass(InputError, Exception)
