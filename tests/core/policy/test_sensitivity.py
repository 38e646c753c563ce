"""Sensitivity layer by layer: known answers, a stopped run that goes on, a cache that does not lie."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from action_bench import cpu, spec_of
from tiny_models import from_text

from metainfer_core.pipeline import Prepared, prepare
from metainfer_core.pipeline.sensitivity import FEW, measure_sensitivity
from metainfer_core.policy.objective import Objective, worst_sqnr_db
from metainfer_core.policy.sensitivity import MEASURED_AGAIN, Sensitivity
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.samples import Samples, random_samples

CHAIN = """
    m (float[1,4,8,8] x, float[6,4,3,3] w_a, float[6] w_bias, float[6,1,3,3] w_d, float[6] w_bias_d, float[4,6,1,1] w_p,
       float[4] w_bias_p) => (float[1,4,4,4] y) {
        [a] p = Conv (x, w_a, w_bias)
        [relu] q = Relu (p)
        [d] r = Conv <group = 6> (q, w_d, w_bias_d)
        [p] y = Conv (r, w_p, w_bias_p)
    }"""
SPEC = spec_of(units={"cpu": cpu(weight_granularity=("tensor",))})


@pytest.fixture
def prepared(tmp_path: Path) -> Prepared:
    """A depthwise layer whose channels lie far apart, between two even ones."""
    from onnx import numpy_helper

    proto = from_text(CHAIN, 0)
    for initializer in proto.graph.initializer:
        if initializer.name == "w_d":
            scaled = numpy_helper.to_array(initializer) * np.geomspace(0.05, 1, 6, dtype=np.float32).reshape(6, 1, 1, 1)
            initializer.CopyFrom(numpy_helper.from_array(scaled, "w_d"))
    path = tmp_path / "chain.onnx"
    path.write_bytes(proto.SerializeToString())
    return prepare(path)


def found(prepared: Prepared, folder: Path, spec: HardwareSpec = SPEC, samples: Samples | None = None) -> Sensitivity:
    given = samples or random_samples(prepared.model, 12)
    return measure_sensitivity(prepared, spec, given, given, Objective(min_sqnr_db=35.0), folder)


def test_each_layer_alone_and_with_those_before(prepared: Prepared, tmp_path: Path) -> None:
    report = found(prepared, tmp_path / "kept")
    assert [layer.node_id for layer in report.layers] == ["a", "d", "p"]
    assert report.layers[0].nodes == ("a", "relu")
    assert report.most_sensitive[0].node_id == "d"
    assert [layer.alone.samples for layer in report.layers] == [FEW, 12, FEW]  # the most sensitive one on all
    for layer in report.layers:
        assert layer.predicted_db is not None
        # its own rounding at its own output is about what the outputs show of it
        assert layer.predicted_db == pytest.approx(worst_sqnr_db(layer.alone), abs=8.0)
    together = [worst_sqnr_db(layer.accumulated) for layer in report.layers]
    assert together == sorted(together, reverse=True)
    assert report.first_diverging == "d"
    assert report.why_diverging.endswith("the budget is 35 dB.")


def test_accumulated_figures_are_those_of_whole_models(prepared: Prepared, tmp_path: Path) -> None:
    """Steps that are not repeated must not show: the last layer's figure is that of the model with all of them."""
    given = random_samples(prepared.model, FEW)
    report = found(prepared, tmp_path / "kept", samples=given)
    again = found(prepared, tmp_path / "other", samples=given)
    assert again == report
    few = [layer for layer in report.layers if layer.node_id == "a"]
    assert few[0].alone.outputs == few[0].accumulated.outputs  # before the first layer there is none


def test_a_stopped_run_goes_on_where_it_was(
    prepared: Prepared, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"

    def stop(step: str, done: int, total: int) -> None:
        if step == MEASURED_AGAIN:
            raise KeyboardInterrupt

    given = random_samples(prepared.model, 12)
    with pytest.raises(KeyboardInterrupt):
        measure_sensitivity(prepared, SPEC, given, given, Objective(min_sqnr_db=35.0), kept, stop)
    assert len(list(kept.iterdir())) == 6  # three layers alone, three after another

    def count(*arguments: object) -> object:
        measured.append(arguments)
        return run(*arguments)  # type: ignore[arg-type]

    from metainfer_core.pipeline import sensitivity as module

    measured: list[object] = []
    run = module.run
    monkeypatch.setattr(module, "run", count)
    resumed = found(prepared, kept)
    assert measured == []  # nothing of the few samples is run again
    assert resumed == found(prepared, tmp_path / "fresh")
    assert len(measured) == 7  # the float model and six variants


def test_what_is_kept_is_kept_for_these_inputs_alone(prepared: Prepared, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first = found(prepared, kept)
    other = random_samples(prepared.model, 12, seed=1)
    second = found(prepared, kept, samples=other)
    assert second == found(prepared, tmp_path / "fresh", samples=other)
    assert second.layers[0].alone != first.layers[0].alone
    wider = found(prepared, kept, spec=spec_of(units={"cpu": cpu(weight_granularity=("tensor", "channel"))}))
    assert worst_sqnr_db(wider.layers[1].alone) > worst_sqnr_db(first.layers[1].alone) + 1.0


def test_a_broken_file_is_measured_again(prepared: Prepared, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    first = found(prepared, kept)
    for path in kept.iterdir():
        path.write_bytes(b"{")
    assert found(prepared, kept) == first


def test_a_model_without_layers(tmp_path: Path) -> None:
    path = tmp_path / "none.onnx"
    path.write_bytes(from_text("m (float[1,8] x) => (float[1,8] y) { [s] y = Softmax (x) }", 0).SerializeToString())
    report = found(prepare(path), tmp_path / "kept")
    assert (report.layers, report.first_diverging) == ((), None)
