from metainfer_core.actions.kinds.bind_shape import BindShape
from metainfer_core.policy.policy import Policy


def test_a_policy_tells_the_shapes_that_it_was_made_for() -> None:
    bind = {"node_id": "x", "action": BindShape.name, "params": {"shape": [1, 3, 48, 192]}}
    other = {"node_id": "Conv_1", "action": "quantize", "params": {"shape": [1]}}
    assert Policy.from_plain({"actions": [bind, other]}).bound_shapes == {"x": (1, 3, 48, 192)}
    assert Policy.from_plain({"actions": [other]}).bound_shapes == {}
