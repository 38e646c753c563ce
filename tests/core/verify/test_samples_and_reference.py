import io
import zipfile

import numpy as np
import onnx_ir as ir
import pytest

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.verify import samples as samples_module
from metainfer_core.verify.reference import collect_ranges, run_every_tensor, run_reference
from metainfer_core.verify.samples import random_samples, read_arrays, read_samples

TEXT = """
<ir_version: 8, opset_import: ["" : 19]>
double_relu (float[1,4] x, int64[1] index) => (float[1,4] y, float[1,1] picked)
{
   doubled = Add (x, x)
   y = Relu (doubled)
   picked = Gather <axis = 1> (y, index)
}
"""


@pytest.fixture
def model():
    return ir.from_onnx_text(TEXT)


def npz(tmp_path, **arrays):
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    return str(path)


def good(count=3):
    return {
        "x": np.linspace(-1, 1, count * 4, dtype=np.float32).reshape(count, 1, 4),
        "index": np.zeros((count, 1), np.int64),
    }


def test_samples_are_read_and_named(tmp_path, model):
    samples = read_samples(npz(tmp_path, **good()), model)
    assert samples.label == "3 samples of data.npz"
    assert not samples.is_random
    assert [feed["x"].shape for feed in samples.feeds] == [(1, 4)] * 3
    limited = read_samples(npz(tmp_path, **good()), model, limit=2)
    assert limited.label == "2 samples of data.npz (first 2 of 3)"
    assert limited.digest != samples.digest


def test_random_samples_are_labelled_and_repeatable(model):
    one, other = random_samples(model, 2), random_samples(model, 2)
    assert one.is_random
    assert one.label == "2 random inputs, seed 0"
    assert one.digest == other.digest != random_samples(model, 2, seed=1).digest


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": None}, "there is no array for the input x"),
        ({"x": np.zeros((3, 1, 5), np.float32)}, r"has the shape \[1, 5\] and the type float32"),
        ({"x": np.zeros((3, 1, 4), np.float64)}, "the type float64"),
        ({"x": np.zeros((2, 1, 4), np.float32)}, "different numbers of samples"),
        ({"x": np.full((3, 1, 4), np.nan, np.float32)}, "holds NaN or infinity"),
    ],
)
def test_wrong_data_is_one_clear_message(tmp_path, model, change, words):
    arrays = {name: array for name, array in (good() | change).items() if array is not None}
    with pytest.raises(InputError, match=words):
        read_samples(npz(tmp_path, **arrays), model)


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 not a zip", np.random.default_rng(0).bytes(1000)])
def test_a_broken_file_is_refused(tmp_path, model, data):
    (tmp_path / "broken.npz").write_bytes(data)
    with pytest.raises(InputError, match=r"not a \.npz file"):
        read_samples(str(tmp_path / "broken.npz"), model)


def test_pickled_objects_are_refused(tmp_path, model):
    buffer = io.BytesIO()
    np.savez(buffer, x=np.array([{"a": 1}], dtype=object), index=np.zeros((1, 1), np.int64))
    (tmp_path / "pickle.npz").write_bytes(buffer.getvalue())
    with pytest.raises(InputError, match=r"not a \.npz file of plain arrays"):
        read_samples(str(tmp_path / "pickle.npz"), model)


def test_what_is_no_array_or_unpacks_to_too_much_is_refused(tmp_path, model, monkeypatch):
    (tmp_path / "one.npy").write_bytes(npy(np.zeros(3)))
    claims = npy(np.zeros(3)).replace(b"(3,)", b"(9,)")
    for name, content in {"text.npz": b"hello", "claims.npz": claims}.items():
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x.npy", content)
    for name in ("one.npy", "text.npz", "claims.npz"):
        with pytest.raises(InputError, match=r"not a \.npz file of plain arrays"):
            read_arrays(tmp_path / name, "data file")
    np.savez_compressed(tmp_path / "bomb.npz", x=np.zeros(100_000))
    monkeypatch.setattr(samples_module, "UNPACKED_LIMIT_BYTES", 10_000)
    with pytest.raises(InputError, match="the arrays are too large"):
        read_arrays(tmp_path / "bomb.npz", "data file")


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_inputs_that_would_fill_the_memory_are_refused():
    huge = ir.from_onnx_text(TEXT.replace("float[1,4] x", "float[1,1073741824] x"))
    with pytest.raises(UnsupportedError, match="too large for random data"):
        random_samples(huge)


def test_tensors_that_would_fill_the_memory_are_refused():
    huge = ir.from_onnx_text(TEXT.replace("float[1,4]", "float[1,1073741824]"))
    with pytest.raises(UnsupportedError, match="too large to be measured"):
        list(run_every_tensor(huge, ()))


def test_an_index_that_lies_outside_is_explained(model):
    with pytest.raises(UnsupportedError, match="stopped while it ran this model"):
        run_reference(model, ({"x": np.zeros((1, 4), np.float32), "index": np.array([200])},))


def test_a_function_that_fails_is_explained(model):
    with pytest.raises(InputError, match="no_such_module"):
        read_samples("no_such_module:samples", model)


def test_reference_and_ranges(model):
    feeds = (
        {"x": np.array([[-1, 0, 1, 2]], np.float32), "index": np.array([3])},
        {"x": np.array([[-5, 0, 0, 1]], np.float32), "index": np.array([0])},
    )
    outputs = run_reference(model, feeds)
    np.testing.assert_array_equal(outputs[0]["y"], [[0, 0, 2, 4]])
    np.testing.assert_array_equal(outputs[1]["picked"], [[0]])
    every = list(run_every_tensor(model, feeds))
    np.testing.assert_array_equal(every[0]["doubled"], [[-2, 0, 2, 4]])

    samples = random_samples(model, 1)
    calibration = collect_ranges(model, type(samples)(feeds, "two", "sha256:0", is_random=False))
    ranges = {name: (found.low, found.high) for name, found in calibration.ranges.items()}
    assert ranges == {"x": (-5, 2), "doubled": (-10, 4), "y": (0, 4), "picked": (0, 4)}
    assert calibration.samples == 2


def test_a_tensor_that_overflows_has_no_range(model):
    feeds = ({"x": np.array([[3e38, 0, 0, 0]], np.float32), "index": np.array([0])},)
    samples = random_samples(model, 1)
    calibration = collect_ranges(model, type(samples)(feeds, "one", "sha256:0", is_random=False))
    assert sorted(calibration.ranges) == ["x"]


def test_a_model_that_cannot_run_is_refused():
    broken = ir.from_onnx_text(TEXT.replace("Relu (doubled)", "NoSuchOperator (doubled)"))
    with pytest.raises(UnsupportedError, match="cannot run this model"):
        run_reference(broken, ())
