"""What reads back and compares knows nothing of what planned, lowered or wrote."""

import subprocess
import sys

import pytest

MAKERS = (
    "metainfer_core.codegen.compile_plan",
    "metainfer_core.codegen.emit",
    "metainfer_core.codegen.tables",
    "metainfer_core.codegen.storage",
    "metainfer_core.memory",
    "metainfer_core.numerics.lower",
    "metainfer_core.policy",
    "metainfer_core.actions.kinds",
)


@pytest.mark.parametrize("checker", ["codegen.realised", "codegen.differences", "codegen.scales", "memory.check_plan"])
def test_a_checker_imports_nothing_that_makes_what_it_checks(checker: str) -> None:
    code = f"import sys, metainfer_core.{checker}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    allowed = {"metainfer_core.memory", "metainfer_core.memory.problem"} if checker.startswith("memory") else set()
    made = [name for name in loaded if name.startswith(MAKERS) and name not in {*allowed, f"metainfer_core.{checker}"}]
    assert made == []
