"""What the documentation says is there, is there; and what is there, the documentation names."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer.main
from console_blocks import commands_of

from metainfer_core import errors
from metainfer_core.actions.catalog import KINDS
from metainfer_core.cli import build_app
from metainfer_core.codegen.catalog import BACKENDS
from metainfer_core.numerics.signatures import SIGNATURES
from metainfer_core.spec.checking.error_classes import CLASSES
from metainfer_core.spec.files.schema import json_schema

ROOT = Path(__file__).parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS]
WITH_COMMANDS = [path for path in (ROOT / "README.md", *DOCS) if "```console" in path.read_text()]
REFERENCE = ROOT / "docs" / "reference"
CODE_BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL_WORDS = {"make", "echo", "sed", "awk", "grep", "python3", ".venv/bin/python", ".venv-train/bin/python"}


def name(path):
    return str(path.relative_to(ROOT))


@cache
def tree():
    return typer.main.get_command(build_app())


def leaves(command=None, path=()):
    command = command or tree()
    inner = getattr(command, "commands", None)
    if not inner:
        yield path, command
    for word, child in (inner or {}).items():
        yield from leaves(child, (*path, word))


def test_the_reference_says_what_the_code_says():
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "make_reference.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_everything_there_is_stands_in_the_reference():
    commands = (REFERENCE / "commands.md").read_text()
    for path, _ in leaves():
        assert f"## `meta-infer {' '.join(path)}`\n" in commands
    assert "## `hwdoc-validator`\n" in commands
    kinds = (REFERENCE / "action_kinds.md").read_text()
    assert [kind.name for kind in KINDS] == re.findall(r"^## `(\w+)`$", kinds, re.MULTILINE)
    backends = (REFERENCE / "backends.md").read_text()
    assert [backend.name for backend in BACKENDS] == re.findall(r"^## `([\w-]+)`$", backends, re.MULTILINE)
    classes = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, Exception)]
    for each in set(classes) - {errors.MetaInferError}:
        assert f"| `{each.__name__}` | {each.exit_status} |" in (REFERENCE / "errors.md").read_text()
    for code in CLASSES:
        assert f"\n## {code}\n" in (REFERENCE / "validator.md").read_text()
    kernels = (REFERENCE / "kernels.md").read_text()
    assert all(f"| `{kernel}` |" in kernels for kernel in SIGNATURES)


def test_every_field_of_the_schema_stands_in_the_reference():
    """By the JSON Schema, which is made another way than the page."""
    page = set(re.findall(r"^\| `([^`]+)` \|", (REFERENCE / "spec_fields.md").read_text(), re.MULTILINE))

    def walk(schema, path):
        if "properties" in schema and "anyOf" not in schema:
            for key, inner in schema["properties"].items():
                yield from walk(inner, f"{path}.{key}" if path else key)
        elif schema.get("type") == "array" and "properties" in schema["items"]:
            yield from walk(schema["items"], f"{path}[]")
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from walk(schema["additionalProperties"], f"{path}.<name>")
        else:
            yield path

    paths = {path for path in walk(json_schema(), "") if not path.startswith("assumed.")}
    assert len(paths) > 150
    assert paths <= page, sorted(paths - page)


def test_the_readme_shows_the_program_s_own_help():
    program = Path(sys.executable).with_name("meta-infer")
    shown = subprocess.run(
        [program, "--help"], capture_output=True, text=True, check=True, env={"COLUMNS": "80"}
    ).stdout
    assert f"```text\n{shown.rstrip()}\n```" in (ROOT / "README.md").read_text()


def test_the_readme_names_the_system_packages_that_set_up_installs():
    setup = (ROOT / "tools" / "setup.sh").read_text()
    (packages,) = re.findall(r"^packages=\((.*)\)$", setup, re.MULTILINE)
    assert f"    {packages}\n" in (ROOT / "README.md").read_text()


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith("http"):
            file, _, _ = target.partition("#")
            assert (path.parent / file).exists(), f"{name(path)} links to {target}"


def test_every_page_can_be_reached_from_the_index():
    seen, queue = set(), [ROOT / "docs" / "index.md"]
    while queue:
        path = queue.pop()
        if path in seen or path.suffix != ".md" or not path.is_file():
            continue
        seen.add(path)
        queue += [(path.parent / link).resolve() for link in re.findall(r"\]\(([^)#\s]+)\)", path.read_text())]
    assert set(DOCS) <= seen, [name(path) for path in set(DOCS) - seen]


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_the_text_speaks_of_the_project_alone(path):
    """Paths and hosts of machines are found by the test of the house, for all files."""
    own = re.compile(r"\bissues? #?\d|(?<!\w)#\d+\b|\bsessions?\b.*\bagents?\b|\bTODO\b|\bFIXME\b", re.IGNORECASE)
    assert own.search(path.read_text()) is None


def options_of(command):
    """All options, and those that must be given."""
    options = [each for each in command.params if each.param_type_name == "option"]
    return {word for each in options for word in each.opts}, {each.opts[0] for each in options if each.required}


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=name)
def test_commands_that_are_shown_exist_with_their_options(path):
    known = {" ".join(words): options_of(command) for words, command in leaves()}
    validator = (REFERENCE / "commands.md").read_text().partition("## `hwdoc-validator`")[2]
    for shown in commands_of(path):
        for words in shown.words:
            program, *rest = words[1:] if words[0] == "xargs" else words
            if program not in ("meta-infer", "hwdoc-validator"):
                assert program in SHELL_WORDS, f"{shown.place}: {program}"
                continue
            command = " ".join(rest[:2]) if " ".join(rest[:2]) in known else rest[0]
            assert program == "hwdoc-validator" or command in known, f"{shown.place}: there is no command {command}"
            own = set(re.findall(r"--[\w-]+", validator)), set()
            options, required = own if program == "hwdoc-validator" else known[command]
            given = {word.partition("=")[0] for word in rest if word.startswith("-")}
            assert given <= options, f"{shown.place}: {program} {command} has no {given - options}"
            from_the_pipe = {"--action"} if words[0] == "xargs" else set()
            assert required <= given | from_the_pipe, f"{shown.place}: {required - given} must be given"


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "howto").glob("add_*.md")), ids=name)
def test_code_that_is_quoted_is_that_of_the_repository(path):
    blocks = CODE_BLOCK.findall(path.read_text())
    assert len(blocks) >= 4
    for language, file, code in blocks:
        text = (ROOT / file).read_text()
        if language == "diff":
            for line in code.splitlines():
                assert line[0] == "+"
                assert line[1:] in text.splitlines(), f"{file} has no line {line[1:]!r}"
        else:
            assert code.rstrip() in text, f"{name(path)}: {file} has changed; quote it anew:\n{code}"


def test_a_kind_is_one_file_and_one_line_and_one_test_file():
    sources = [path for path in (ROOT / "metainfer_core").rglob("*.py") if "kinds" not in path.parts]
    for kind in KINDS:
        naming = {name(path) for path in sources if f"kinds.{kind.name} import" in path.read_text()}
        # choosing tries kinds for precision, shapes and fusing by name; no other kind needs to be known anywhere
        naming = {file for file in naming if not file.startswith("metainfer_core/policy/")}
        assert naming == {"metainfer_core/actions/catalog.py"}, kind.name
        assert (ROOT / "tests" / "core" / "actions" / f"test_{kind.name}.py").is_file()


def test_a_backend_is_one_folder_and_one_line():
    sources = [path for path in (ROOT / "metainfer_core").rglob("*.py") if "backends" not in path.parts]
    for backend in BACKENDS:
        folder = backend.folder.name
        naming = [name(path) for path in sources if f"backends.{folder}" in path.read_text()]
        assert naming == ["metainfer_core/codegen/catalog.py"], folder
        assert {path.name for path in backend.folder.iterdir()} >= {"backend.py", "runtime"}


def test_every_field_of_a_spec_says_what_it_means():
    rows = re.findall(r"^\| `([^`]+)` \|.*\| ([^|]*) \|$", (REFERENCE / "spec_fields.md").read_text(), re.MULTILINE)
    assert len(rows) > 200
    assert [path for path, meaning in rows if not meaning.strip()] == []
