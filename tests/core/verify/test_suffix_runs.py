"""Programs that differ in a few steps: the same bits as a whole run, and no step repeated that need not be."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir
import pytest
from action_bench import calibrated, model_of, proposed, rewritten, samples_of, spec_of

from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.numerics.lower import lower
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.verify import suffix_runs
from metainfer_core.verify.suffix_runs import State, run

SPEC = spec_of()
CHAIN = """
    m (float[1,4,6,6] x, float[4,4,1,1] w_a, float[4,4,1,1] w_b, float[4,4,1,1] w_c)
        => (float[1,4,6,6] y, float[1,4,6,6] r) {
        [a] r = Conv (x, w_a)
        [relu] p = Relu (r)
        [b] q = Conv (p, w_b)
        [flat] s = Identity (q)
        [c] y = Conv (s, w_c)
    }"""


def variants() -> list[ir.Model]:
    """The float model, and with one, two and three of its layers in INT8."""
    model = model_of(CHAIN)
    actions, _ = proposed(Quantize(), model, SPEC, calibrated(model))
    layers = [action for action in actions if action.nodes[0] in ("a", "b", "c")]
    return [model, *(rewritten(Quantize(), model, SPEC, layers[:count]) for count in (1, 2, 3))]


def same(state: State, model: ir.Model) -> bool:
    whole = Simulator(lower(model))
    feeds = samples_of(model_of(CHAIN)).feeds
    return all(
        np.array_equal(found[name], whole.run(feed)[name])
        for feed, found in zip(feeds, state.outputs, strict=True)
        for name in ("y", "r")
    )


def test_the_bits_are_those_of_a_whole_run() -> None:
    models = variants()
    feeds = samples_of(models[0]).feeds
    state = run(lower(models[0]), feeds)
    assert same(state, models[0])
    for model in (*models[1:], *reversed(models)):
        state = run(lower(model), feeds, state)
        assert same(state, model)


def test_only_what_changed_and_what_follows_is_run() -> None:
    model = model_of(CHAIN)
    feeds = samples_of(model).feeds
    first = run(lower(rewritten(Quantize(), model, SPEC, [])), feeds)
    assert first.steps_run == len(first.program.steps)
    assert run(lower(rewritten(Quantize(), model, SPEC, [])), feeds, first).steps_run == 0
    (last,) = (action for action in proposed(Quantize(), model, SPEC, calibrated(model))[0] if action.nodes[0] == "c")
    changed = run(lower(rewritten(Quantize(), model, SPEC, [last])), feeds, first)
    kernels = [step.kernel for step in changed.program.steps]
    assert 0 < changed.steps_run < len(kernels)
    assert changed.steps_run == sum("c" in step.node_ids or "quant" in step.kernel for step in changed.program.steps)
    assert same(changed, rewritten(Quantize(), model, SPEC, [last]))


def test_another_weight_is_another_step() -> None:
    """Planted: the same steps and shapes, one constant differs. Whoever compares names alone repeats old outputs."""
    feeds = samples_of(model_of(CHAIN)).feeds
    first = run(lower(model_of(CHAIN)), feeds)
    weights = {"w_b": np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)}
    other = model_of(CHAIN, weights)
    second = run(lower(other), feeds, first)
    assert second.steps_run < len(second.program.steps)  # the first layer is the same
    assert same(second, other)


def test_too_much_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suffix_runs, "MOST_KEPT_BYTES", 100)
    model = model_of(CHAIN)
    feeds = samples_of(model).feeds
    first = run(lower(model), feeds)
    assert first.kept == ()
    again = run(lower(model), feeds, first)
    assert again.steps_run == len(again.program.steps)
    assert same(again, model)
