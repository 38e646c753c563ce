"""The core alone: a wheel of the product in an environment that has the core's dependencies and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
IMPORT_ALL = """
import importlib, pkgutil, sys
import metainfer_core
names = [each.name for each in pkgutil.walk_packages(metainfer_core.__path__, "metainfer_core.")]
for name in names:
    if not name.endswith("__main__"):
        importlib.import_module(name)
print(len(names))
"""


def run(*command, cwd=ROOT, environment=None):
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """Runs a program of the small environment, with nothing of this one's."""
    folder = tmp_path_factory.mktemp("core_alone")
    source, wheels, venv = folder / "source", folder / "wheels", folder / "venv"
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        _copy(ROOT / name, source / name)
    for package in ("metainfer_core", "fine_tuning", "framework_import", "hwdoc_ingest", "review_store", "studio"):
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                _copy(path, source / path.relative_to(ROOT))
    build = f"from setuptools import build_meta; print(build_meta.build_wheel({str(wheels)!r}))"
    _must(run(sys.executable, "-c", build, cwd=source), "The wheel cannot be built")
    (wheel,) = wheels.glob("*.whl")
    _must(run(UV, "venv", "--quiet", "--python", sys.executable, venv), "uv (from `make setup`) makes no environment")
    install = (UV, "pip", "install", "--quiet", "--offline", "--python", venv / "bin" / "python")
    _must(
        run(*install, "--constraint", ROOT / "requirements.lock", wheel),
        "The core's dependencies are not in uv's cache, which `make setup` fills: run `make setup` as this user",
    )
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return lambda program, *arguments: run(venv / "bin" / program, *arguments, cwd=folder, environment=bare)


def _copy(path: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    os.link(path, target) if path.stat().st_dev == target.parent.stat().st_dev else target.write_bytes(
        path.read_bytes()
    )


def _must(outcome, otherwise):
    status, out, err = outcome
    assert status == 0, f"{otherwise}.\n{out}{err}"


def test_it_holds_nothing_but_the_core_s_dependencies(core):
    for module in ("streamlit", "sqlalchemy", "pypdfium2", "rapidocr", "pytest", "torch"):
        status, _, err = core("python", "-c", f"import {module}")
        assert (status, "ModuleNotFoundError" in err) == (1, True), module


def test_every_module_of_the_core_can_be_imported(core):
    status, out, err = core("python", "-c", IMPORT_ALL)
    assert status == 0, err
    assert int(out) >= len([path for path in (ROOT / "metainfer_core").rglob("*.py") if path.stem != "__init__"])


def test_its_commands_are_there_and_the_others_are_left_out(core):
    status, out, err = core("python", "-m", "metainfer_core", "--help")
    assert status == 0, err
    commands = {line.split()[0] for line in out.partition("Commands:\n")[2].splitlines() if line.startswith("  ")}
    assert {"adapt", "build", "compile", "explain", "preprocess", "run", "spec", "targets", "verify"} <= commands
    assert commands.isdisjoint({"review", "sign", "studio"})


def test_a_command_that_is_left_out_says_what_to_install(core):
    status, out, err = core("meta-infer", "review", "list", "some.policy")
    assert (status, out) == (2, "")
    assert 'pip install "meta-infer[store]"' in err


def test_it_works(core):
    assert core("meta-infer", "targets")[1].startswith("native-cpu")
    status, out, err = core("meta-infer", "spec", "list", "--folder", ROOT / "hwspecs")
    assert status == 0, err
    assert "rk3588" in out
    status, out, err = core("hwdoc-validator", *sorted((ROOT / "hwspecs").glob("*.yaml")))
    assert status == 0, out + err


def test_the_wheel_holds_templates_kernels_and_run_time(core):
    show = (
        "from importlib.resources import files; from metainfer_core.numerics.signatures import SIGNATURES; "
        "templates = files('metainfer_core.codegen').joinpath('templates').iterdir(); "
        "print(len(SIGNATURES), *sorted(each.name for each in templates))"
    )
    status, out, err = core("python", "-c", show)
    assert status == 0, err
    count, *templates = out.split()
    assert int(count) > 100
    assert templates == sorted(path.name for path in (ROOT / "metainfer_core/codegen/templates").iterdir())
