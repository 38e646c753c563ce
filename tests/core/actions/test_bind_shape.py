from __future__ import annotations

import pytest
from action_bench import keeps_promise, model_of, proposed, refusal, rewritten, spec_of
from tiny_models import from_text

from metainfer_core.actions.action import Action
from metainfer_core.actions.kinds.bind_shape import BindShape
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.static.preprocess import preprocess

KIND, SPEC = BindShape(), spec_of()
DYNAMIC = "m (float[N,3,H,8] x, float[2,3] s) => (float[N,3,H,8] y, float[2,3] t) { [r] y = Relu (x) [q] t = Relu (s) }"


def test_what_preprocessing_bound_is_put_on_record() -> None:
    done = preprocess(import_model(from_text(DYNAMIC).SerializeToString(), "m").model, {"x": (2, 3, 16, 8)})
    (action,) = KIND.bound(done.report)
    assert action.nodes == ("x",)
    assert action.params == {"shape": (2, 3, 16, 8)}
    assert "bound to [2, 3, 16, 8]" in action.why[0].claim
    assert refusal(KIND, done.model, SPEC, action) is None
    assert keeps_promise(KIND, done.model, rewritten(KIND, done.model, SPEC, [action]))
    assert KIND.sentence(action) == "Fix the shape of the input x to [2, 3, 16, 8]."


def test_an_assumed_batch_is_named_as_a_reason() -> None:
    text = DYNAMIC.replace("H", "5")
    report = preprocess(import_model(from_text(text).SerializeToString(), "m").model).report
    (action,) = KIND.bound(report)
    assert action.params == {"shape": (1, 3, 5, 8)}
    assert [reason.claim for reason in action.why[1:]] == list(report.assumptions)


def test_a_model_with_open_dimensions_is_refused() -> None:
    model = import_model(from_text(DYNAMIC).SerializeToString(), "m").model
    reason = "The input x still has open dimensions: preprocess the model with its shape."
    assert proposed(KIND, model, SPEC) == ([], [reason])
    assert proposed(KIND, model_of("m (float[2] x) => (float[2] y) { y = Relu (x) }"), SPEC) == ([], [])


@pytest.mark.parametrize(
    ("name", "shape", "reason"),
    [
        ("x", (2,), "The model was preprocessed with x as [3], not [2]: preprocess it again with the new shape."),
        ("x", (0,), "The shape [0] has an extent below 1."),
        ("r", (3,), "The model has no input r."),
        ("z", (3,), "The model has no node z."),
    ],
)
def test_overrides_meet_the_same_laws(name: str, shape: tuple[int, ...], reason: str) -> None:
    model = model_of("m (float[3] x) => (float[3] y) { [r] y = Relu (x) }")
    action = Action(kind="bind_shape", nodes=(name,), params={"shape": shape})
    assert refusal(KIND, model, SPEC, action) == reason
