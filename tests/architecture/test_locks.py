"""What `make setup` installs, and what only `make test-full` adds."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRAMEWORKS = {"onnxscript", "openvino", "tensorflow-cpu", "tf2onnx", "torch"}


def pins(name):
    found = re.findall(r"^([\w.-]+)==(\S+)( ;.*?)?(?: \\)?$", (ROOT / name).read_text(), re.MULTILINE)
    return {(package, version, marker) for package, version, marker in found}


def test_set_up_brings_no_framework_and_the_full_tests_move_nothing_that_is_pinned():
    bare, full = pins("requirements.lock"), pins("requirements-full.lock")
    assert len(bare) > 90
    assert bare <= full
    assert {name for name, _, _ in bare} & FRAMEWORKS == set()
    assert {name for name, _, _ in full} >= FRAMEWORKS
