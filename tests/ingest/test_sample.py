import numpy as np
import onnxruntime
import pytest

from hwdoc_ingest.sample.command import sample, sample_files
from hwdoc_ingest.sample.text_lines import text_lines
from metainfer_core.errors import InputError


def test_lines_are_repeatable_and_differ_by_seed():
    one, same, other = text_lines(4, seed=3), text_lines(4, seed=3), text_lines(4, seed=4)
    np.testing.assert_array_equal(one["x"], same["x"])
    assert not np.array_equal(one["x"], other["x"])
    assert one["x"].shape == (4, 1, 3, 48, 192)
    assert (one["x"].min(), one["x"].max()) >= (-1.0, 0.5)


def test_the_real_model_tells_the_direction_of_the_drawn_lines():
    files = sample_files()
    session = onnxruntime.InferenceSession(files["text_direction.onnx"])
    lines = text_lines(32, seed=2)
    scores = np.concatenate([session.run(None, {"x": line})[0] for line in lines["x"]])
    assert (scores.argmax(axis=1) == lines["label"]).mean() >= 0.9


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "NOTICE.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        sample(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["NOTICE.txt"]
    assert (tmp_path / "NOTICE.txt").read_text() == "mine"
