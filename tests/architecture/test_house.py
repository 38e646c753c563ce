"""The shape of the house, held by tests: who may import what, how long files are, what the text may not say."""

import ast
import inspect
import re
import subprocess
from pathlib import Path

import pytest

from metainfer_core.actions.catalog import KINDS
from metainfer_core.codegen.catalog import BACKENDS

ROOT = Path(__file__).parents[2]
PACKAGES = ("metainfer_core", "fine_tuning", "framework_import", "hwdoc_ingest", "review_store", "studio", "pages")
SOURCES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def tracked_text() -> list[Path]:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    binary = {".png", ".pdf", ".onnx", ".npz", ".lock", ".bin"}
    return [ROOT / name for name in names if name and Path(name).suffix not in binary and (ROOT / name).is_file()]


def test_only_the_studio_imports_streamlit():
    for path in SOURCES:
        if path.is_relative_to(ROOT / "studio") or path.is_relative_to(ROOT / "pages"):
            continue
        assert "streamlit" not in path.read_text(), path


def test_no_room_for_odds_and_ends():
    names = {part for path in SOURCES for part in path.relative_to(ROOT).with_suffix("").parts}
    assert names.isdisjoint({"utils", "util", "helpers", "helper", "common", "misc"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_file_says_what_it_is_and_is_not_too_long(path):
    text = path.read_text()
    assert ast.get_docstring(ast.parse(text)), "the file has no docstring"
    assert text.count("\n") <= 500, "over 500 lines: split it"


def test_packages_print_nothing_and_configure_no_logging():
    for path in SOURCES:
        calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)}
        assert calls.isdisjoint({"print", "logging.basicConfig", "eval", "exec", "os.system", "pickle.loads"}), path


def test_the_text_speaks_of_the_project_alone():
    machine = re.compile(r"/work/|/root/|/tmp/[a-z]|index-url|files\.pythonhosted|registry\.npmjs", re.IGNORECASE)
    for path in tracked_text():
        if path == Path(__file__).resolve():
            continue
        found = machine.search(path.read_text(errors="replace"))
        assert found is None, f"{path}: {found.group()}"


def test_app_only_calls_the_frame():
    app = ROOT / "app.py"
    calls = [node for node in ast.walk(ast.parse(app.read_text())) if isinstance(node, ast.Call)]
    assert [ast.unparse(call.func) for call in calls] == ["frame"]


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_the_catalogs_hold_what_the_folders_hold():
    kinds = ROOT / "metainfer_core" / "actions" / "kinds"
    assert sorted(kind.name for kind in KINDS) == sorted(path.stem for path in kinds.glob("[a-z]*.py"))
    assert all(Path(inspect.getfile(type(kind))) == kinds / f"{kind.name}.py" for kind in KINDS)
    folders = ROOT / "metainfer_core" / "codegen" / "backends"
    assert sorted(str(backend.folder) for backend in BACKENDS) == sorted(
        str(path.parent) for path in folders.glob("*/backend.py")
    )
    assert all(backend.name.replace("-", "_") == backend.folder.name for backend in BACKENDS)


def test_every_kind_has_tests_of_its_own():
    for kind in KINDS:
        assert (ROOT / "tests" / "core" / "actions" / f"test_{kind.name}.py").is_file(), kind.name


def test_modules_use_only_public_names_of_each_other():
    for path in SOURCES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in PACKAGES:
                private = [alias.name for alias in node.names if re.match("_(?!_)", alias.name)]
                assert not private, f"{path}:{node.lineno} imports {private}"


def test_headless_packages_keep_no_state_in_modules():
    """No `global`, and no list, dict or set at the top of a module that its functions change."""
    changing = {"append", "add", "update", "setdefault", "pop", "clear", "extend", "insert", "remove", "discard"}
    for path in SOURCES:
        if path.relative_to(ROOT).parts[0] in ("studio", "pages"):
            continue
        tree = tree_of(path)
        tops = {
            ast.unparse(target)
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        }
        for node in ast.walk(tree):
            place = f"{path}:{getattr(node, 'lineno', 0)}"
            assert not isinstance(node, ast.Global), place
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in changing:
                assert ast.unparse(node.func.value) not in tops, place
            written = node.targets if isinstance(node, ast.Assign | ast.Delete) else []
            items = [ast.unparse(target.value) for target in written if isinstance(target, ast.Subscript)]
            assert tops.isdisjoint(items), place
