"""The card says that an action is overridden, and that its words and figures are those of the proposal."""

import pytest
from fitted import PATH, fitted
from screens import screen

from review_store.review.decide import Decision, decide
from review_store.review.workspace import now
from studio.files.policies import review_of, subject
from studio.words.texts import text


@pytest.mark.parametrize(
    ("override", "said"),
    [(None, None), (False, "card_is_off"), ({"scheme": "tensor_wise"}, "card_is_changed")],
)
def test_the_card_says_how_an_action_differs_from_its_proposal(tmp_path, monkeypatch, override, said):
    workspace = tmp_path / "w"
    policy = fitted(workspace)
    monkeypatch.setenv("METAINFER_WORKSPACE", str(workspace))
    action = next(each.id for each in policy.actions if each.action == "quantize")
    if override is not None:
        review = review_of(subject(workspace / PATH))
        decide(
            review.log, review.state,
            Decision("ada", (action,), ("override",), reason="why", override=override, unmeasured="no data"), now(),
            lambda _: None,
        )  # fmt: skip
    page = screen("review", workspace, monkeypatch, policy=PATH, action=action)
    shown = "".join(each.proto.body for each in page.get("html"))
    assert (text("effect_unmeasured", why="no data") in shown) == (override is not None)
    assert [key for key in ("card_is_off", "card_is_changed") if text(key) in shown] == ([said] if said else [])
