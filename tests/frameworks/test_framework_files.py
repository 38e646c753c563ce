"""Files of PyTorch and TensorFlow before any framework reads them: told apart, refused, taken apart."""

import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from framework_import import import_model
from framework_import.exchange import Converted, Draw, Task, pack, pack_error, root_of, unpack
from framework_import.import_model import framework_of, import_from_framework, need_extra
from framework_import.pt2_archive import cleaned
from metainfer_core.errors import DefectError, InputError, MetaInferError, ObligationFailed, UnsupportedError

TREE = json.dumps([1, {"type": "builtins.tuple", "context": "null", "children_spec": []}])


class Bomb:
    """Unpickled, it makes a file."""

    def __reduce__(self):
        return os.mkdir, ("went_off",)


def program(**changes):
    """The parts of an archive as `torch.export.save` writes them, one node in the graph; None leaves a part out."""
    node = {
        "target": "torch.ops.aten.relu.default",
        "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
        "metadata": {"stack_trace": "File '/home/somebody/net.py'"},
    } | changes.pop("node", {})
    size = {"as_expr": {"expr_str": changes.pop("size", "Symbol('s77', positive=True, integer=True)")}}
    graph = {
        "graph_module": {
            "graph": {"nodes": [node], "tensor_values": {"x": {"sizes": [size]}}},
            "module_call_graph": [{"signature": {"in_spec": changes.pop("tree", TREE)}}],
        },
        "guards_code": ["__import__('os').mkdir('went_off')"],
        "torch_version": "2.13.0+cpu",
    }
    weight = {"path_name": "weight_0", "is_param": True, "use_pickle": False} | changes.pop("weight", {})
    parts = {
        "models/model.json": json.dumps(graph),
        "data/weights/model_weights_config.json": json.dumps({"config": {"c.weight": weight}}),
        "data/weights/weight_0": bytes(8),
        "data/constants/model_constants_config.json": json.dumps({"config": {}}),
        "data/sample_inputs/model.pt": pickle.dumps(Bomb()),
        "data/aotinductor/model/code.so": b"\x7fELF",
        "byteorder": "little",
    } | changes
    return packed({name: part for name, part in parts.items() if part is not None})


def packed(parts):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in parts.items():
            archive.writestr(f"conv/{name}", part)
    return file.getvalue()


def opened(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_only_the_graph_and_plain_tensors_are_kept():
    parts = opened(cleaned(program(), "m.pt2"))
    assert parts["data/weights/weight_0"] == bytes(8)
    assert parts["data/sample_inputs/model.pt"] == b""
    assert not [name for name in parts if "aotinductor" in name]
    graph = json.loads(parts["models/model.json"])
    assert graph["guards_code"] == []
    (node,) = graph["graph_module"]["graph"]["nodes"]
    assert (node["target"], node["metadata"]) == ("torch.ops.aten.relu.default", {})


HOSTILE = {
    "an operator that torch leads to": ({"node": {"target": "torch.serialization.os.system"}}, "an operator"),
    "an operator that writes files": ({"node": {"target": "torch.ops.aten.save.default"}}, "an operator"),
    "an operator that maps files": ({"node": {"target": "torch.ops.aten.from_file.default"}}, "an operator"),
    "a call of anything": ({"node": {"target": "_operator.call"}}, "an operator"),
    "a name that is code": ({"node": {"name": "x = __import__('os').mkdir('went_off') #"}}, "a name"),
    "a size that is code": ({"size": "__import__('os').mkdir('went_off')"}, "a size"),
    "a size that reaches for more": ({"size": "Symbol('s1').__class__"}, "a size"),
    "a size that calls": ({"size": "(lambda: 1)()"}, "a size"),
    "a path as an argument": ({"node": {"inputs": [{"arg": {"as_string": "/etc/passwd"}}]}}, "an argument"),
    "a weight that lies elsewhere": ({"weight": {"path_name": "../../secret"}}, "a name"),
    "a structure of a class": (
        {"tree": json.dumps([1, {"type": "subprocess.Popen", "context": "null", "children_spec": []}])},
        "a structure",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_pytorch_would_look_up_or_run_is_refused(name):
    changes, kind = HOSTILE[name]
    with pytest.raises(InputError) as fault:
        cleaned(program(**changes), "m.pt2")
    assert f"cannot be taken in as {kind}" in fault.value.what


@pytest.mark.parametrize(
    "size", ["2*s77 + 1", "Max(1, s0)", "s3//2", "Add(Mul(Integer(2), Symbol('s0')), Float('1.5'))"]
)
def test_sizes_that_models_have_are_let_through(size):
    assert b"as_expr" in opened(cleaned(program(size=size), "m.pt2"))["models/model.json"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (program(weight={"use_pickle": True}), "'c.weight' in it is pickled"),
        (packed({"data.pkl": pickle.dumps(Bomb())}), "written by torch.save, which pickles"),
        (packed({"constants.pkl": b"", "code/__torch__.py": b"import os"}), "TorchScript"),
        (packed({"serialized_exported_program.json": b"{}", "serialized_state_dict.pt": b""}), "older PyTorch"),
        (packed({"readme.txt": b"hello"}), "no program of torch.export"),
        (program(**{"models/other.json": "{}"}), "there are 2 programs in it"),
    ],
)
def test_what_would_have_to_be_unpickled_is_refused(data, why, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedError) as fault:
        cleaned(data, "m.pt2")
    assert why in str(fault.value)
    assert "torch.export" in fault.value.fix or "Save each" in fault.value.fix or "plain tensor" in fault.value.fix
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "data",
    [
        b"PK\x03\x04" + bytes(90),
        program()[:-40],
        program(**{"models/model.json": "[" * 5000}),
        program(**{"data/weights/weight_0": None}),
        program(**{"models/model.json": '"text"'}),
    ],
    ids=["no zip", "cut off", "nested deeply", "a tensor is missing", "no graph"],
)
def test_a_broken_archive_is_one_message(data):
    with pytest.raises(InputError) as fault:
        cleaned(data, "m.pt2")
    assert fault.value.what.startswith("m.pt2: ")


def written(path, data):
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("net.pth", pickle.dumps(Bomb()), "is a pickle"),
        ("net.h5", b"\x89HDF\r\n\x1a\n", "model file of Keras"),
        ("net.keras", packed({"config.json": b"{}"}), "model file of Keras"),
        ("net.tflite", b"\x1c\0\0\0TFL3" + bytes(20), "TensorFlow Lite"),
        ("net.safetensors", bytes(20), "without a graph"),
        ("net.bin", b"plain text", "no model of PyTorch or TensorFlow"),
        ("net.onnx", b"\x08\x0a", "ONNX already"),
    ],
)
def test_files_of_other_kinds_are_told_apart(name, data, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path / name, data)
    with pytest.raises(InputError, match=says):
        framework_of(path)
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_what_is_read_by_which_framework(tmp_path):
    assert framework_of(written(tmp_path / "m.pt2", program())) == "torch"
    with pytest.raises(InputError, match="no SavedModel"):
        framework_of(tmp_path)
    written(tmp_path / "saved_model.pb", b"")
    assert framework_of(tmp_path) == "tensorflow"
    with pytest.raises(InputError, match="no such model"):
        framework_of(tmp_path / "missing.pt2")


def test_without_the_extra_one_message_names_it(tmp_path, monkeypatch):
    monkeypatch.setattr(import_model, "EXTRAS", {"torch": ("torch_that_nobody_has",)})
    with pytest.raises(InputError) as fault:
        need_extra("torch")
    assert fault.value.what == "This model needs the extra 'torch', which is not installed."
    assert fault.value.fix == 'Install it: pip install "meta-infer[torch]".'


def test_the_command_refuses_a_pickle_and_leaves_the_output_as_it_was(tmp_path):
    model, output = written(tmp_path / "net.pt", pickle.dumps(Bomb())), written(tmp_path / "x.onnx", b"before")
    done = subprocess.run(
        [sys.executable, "-m", "metainfer_core", "import", str(model), "--output", str(output)],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "never loaded" in done.stderr
    assert output.read_bytes() == b"before"
    assert not (tmp_path / "went_off").exists()


def answered(converted, monkeypatch, path):
    """The import of a model whose framework answers this."""
    code = f"import sys; sys.stdout.buffer.write({pack(converted)!r})" if converted else "raise SystemExit(9)"
    script = written(path.parent / "answer.py", code.encode())
    popen = subprocess.run
    monkeypatch.setattr(import_model.subprocess, "run", lambda _, **more: popen([sys.executable, str(script)], **more))
    return import_from_framework(Task(framework="torch", path=str(path)))


@pytest.fixture
def relu():
    """An ONNX model, inputs and what it gives."""
    import numpy as np
    import onnx

    model = onnx.parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[N,2] x) => (float[N,2] y) {y = Relu(x)}'
    )
    feeds = np.array([[-1.0, 2.0]], np.float32)
    return model.SerializeToString(), {"x": feeds}, (np.maximum(feeds, 0),)


def test_a_model_that_agrees_carries_its_record(relu, tmp_path, monkeypatch):
    onnx, feeds, outputs = relu
    path = written(tmp_path / "m.pt2", b"bytes")
    imported = answered(Converted(onnx, {"torch": "2.13"}, (Draw(feeds, outputs),)), monkeypatch, path)
    record = json.loads(imported.model.metadata_props["metainfer.import"])
    assert record["source"] == "m.pt2"
    assert record["source_digest"] == "sha256:277089d91c0bdf4f2e6862ba7e4a07605119431f5d13f726dd352b06f1b206a9"
    assert record["versions"]["torch"] == "2.13"
    assert [(each.output, each.max_abs_error) for each in imported.compared] == [("y", 0.0)]


def test_a_model_that_computes_something_else_is_refused(relu, tmp_path, monkeypatch):
    onnx, feeds, (output,) = relu
    path = written(tmp_path / "m.pt2", b"bytes")
    with pytest.raises(ObligationFailed, match=r"Output y: The outputs differ by 0\.01"):
        answered(Converted(onnx, {}, (Draw(feeds, (output + 0.01,)),)), monkeypatch, path)
    with pytest.raises(UnsupportedError, match="other inputs or outputs"):
        answered(Converted(onnx, {}, (Draw(feeds, (output, output)),)), monkeypatch, path)


def test_a_framework_that_breaks_down_is_one_message(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"cannot be imported.\nThe framework broke down \(status 9\)"):
        answered(None, monkeypatch, written(tmp_path / "m.pt2", b"bytes"))


def test_the_process_writes_no_file_and_tells_its_defects(tmp_path):
    """Its own answer comes over a pipe: a model that writes through a hole of the framework finds none open."""
    script = f"""
import sys
from framework_import import child, torch_program
def convert(task):
    with open({str(tmp_path / "written")!r}, "w") as file:
        file.write("x")
torch_program.convert = convert
child.main(child.Task(framework="torch", path="m.pt2"))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=120)
    with pytest.raises(DefectError, match="File too large"):
        unpack(done.stdout)
    assert Path(tmp_path / "written").read_bytes() == b""


def test_what_an_error_of_a_framework_comes_from_is_told():
    error = RuntimeError("\x1b[96mThis is step 2/3\x1b[0m")
    assert root_of(error) == "RuntimeError: This is step 2/3"
    error.__cause__ = KeyError("aten.fancy.default")
    assert root_of(error) == "KeyError: 'aten.fancy.default'"
    assert root_of(ValueError()) == "ValueError: no more is said"


@pytest.mark.parametrize("error", [InputError("a", "b", "c"), UnsupportedError("a"), DefectError("a", "b")])
def test_an_error_comes_back_as_it_was(error):
    with pytest.raises(MetaInferError) as fault:
        unpack(pack_error(error))
    assert (type(fault.value), str(fault.value)) == (type(error), str(error))
