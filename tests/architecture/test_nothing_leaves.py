"""What the product runs on reports nothing: ONNX Runtime makes no identifier of the machine and no queue of events."""

import os
import subprocess
import sys

import pytest

RUN = """
import {module}
import onnxruntime
from onnx import parser
model = parser.parse_model('<ir_version: 8, opset_import: ["": 17]> g (float[1] x) => (float[1] y) {{ y = Relu (x) }}')
onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
"""


def files_made(code, home):
    hidden = ("CI", "TF_BUILD", "GITHUB_ACTIONS", "XDG_CACHE_HOME", "PYTEST_CURRENT_TEST")  # these suppress it too
    environment = {k: v for k, v in os.environ.items() if k not in hidden and not k.startswith("ORT_")}
    subprocess.run([sys.executable, "-c", code], env=environment | {"HOME": str(home)}, check=True, timeout=120)
    return [path for path in home.rglob("*") if path.is_file()]


MODULES = ["metainfer_core.verify.reference", "hwdoc_ingest.ocr.ocr", "hwdoc_ingest.bert.encoder"]


@pytest.mark.parametrize("module", MODULES)
def test_a_session_leaves_no_trace_at_home(module, tmp_path):
    assert files_made(RUN.format(module=module), tmp_path) == []
