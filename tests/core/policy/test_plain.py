from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from action_bench import calibrated, model_of, ops, spec_of

from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.policy.apply import apply
from metainfer_core.policy.plain import parse_policy, plain_form, read_policy
from metainfer_core.policy.policy import Policy

QUANTIZE = {
    "node_id": "Conv_12",
    "action": "quantize",
    "params": {"bit_width": 6, "scheme": "channel_wise", "target_hw": "npu_int6"},
}
FUSE = {"node_id": "Add_24", "action": "fuse", "params": {"with": ["Relu_25"], "target_hw": "npu_int6"}}
PLAIN = {"version": "1.2", "actions": [QUANTIZE, FUSE]}


def parsed(plain: object) -> Policy:
    return parse_policy(json.dumps(plain).encode(), "p.policy")


def test_the_plain_form_loads_unchanged_and_is_written_back() -> None:
    policy = parsed(PLAIN)
    assert [line.id for line in policy.actions] == ["quantize@Conv_12", "fuse@Add_24"]
    assert policy.actions[0].params["bit_width"] == 6
    assert (policy.model_digest, policy.warnings) == (None, ())
    assert json.loads(plain_form(policy)) == PLAIN


def test_reviewers_fields_survive() -> None:
    fields = {
        "override": {"bit_width": 8},
        "review_required": True,
        "zero_point_clip": True,
        "precision_sensitive": False,
    }
    plain = {"version": "1.2", "actions": [{**PLAIN["actions"][0], **fields}]}  # type: ignore[index]
    assert json.loads(plain_form(parsed(plain))) == plain
    off = {"version": "1.2", "actions": [{**PLAIN["actions"][0], "override": False}]}  # type: ignore[index]
    assert parsed(off).actions[0].override is False


def test_unknown_keys_are_named_and_left_out() -> None:
    plain = {
        **PLAIN,
        "author": "me",
        "actions": [{**PLAIN["actions"][1], "mood": 1}, {"node_id": "a", "action": "engrave"}],
    }  # type: ignore[index]
    policy = parsed(plain)
    assert policy.warnings[:2] == (
        "author is not a field of a plain policy: it was left out.",
        "actions[0].mood is not a field of a plain policy: it was left out.",
    )
    assert policy.warnings[2].startswith("actions[1]: engrave is no action kind of this version (bind_shape, ")


def test_our_own_form_comes_back_as_it_was(tmp_path: Path) -> None:
    policy = parsed(PLAIN)
    path = tmp_path / "p.policy"
    path.write_bytes(policy.to_json())
    assert read_policy(path) == policy


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ([], "p.policy: a policy is a JSON object."),
        ({"actions": []}, "p.policy: version is missing."),
        ({"version": 1.2, "actions": []}, "p.policy: version is 1.2."),
        ({"version": "1.2"}, "p.policy: actions is missing."),
        ({"version": "1.2", "actions": {}}, "p.policy: actions is an object."),
        ({"version": "1.2", "actions": [3]}, "p.policy: actions[0] is 3."),
        ({"version": "1.2", "actions": [{"action": "fuse"}]}, "p.policy: actions[0].node_id is missing."),
        ({"version": "1.2", "actions": [{"node_id": "a", "action": 7}]}, "p.policy: actions[0].action is 7."),
        ({"version": "1.2", "actions": [{**FUSE, "params": 3}]}, "p.policy: actions[0]: params is not right."),
        ({"version": "1.2", "actions": [{**FUSE, "override": "no"}]}, "p.policy: actions[0]: override"),
        ({"format": "metainfer.policy/9", "actions": []}, "p.policy: format is not right."),
    ],
)  # fmt: skip
def test_broken_policies_end_in_one_message(plain: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(plain)
    assert caught.value.what.startswith(message)
    assert caught.value.fix


@pytest.mark.parametrize("data", [b"\xff", b"{", b'{"a":1,"a":2}', b"[" * 100_000, b"NaN"])
def test_hostile_bytes_end_in_one_message(data: bytes) -> None:
    with pytest.raises(InputError):
        parse_policy(data, "p.policy")


CONV = """
    m (float[1,3,4,4] x, float[8,3,3,3] w_c) => (float[1,8,2,2] y) {
        [Conv_12] c = Conv (x, w_c) [Relu_13] y = Relu (c) }"""


def applied(**line: Any) -> list[str]:
    """Operators after applying one plain quantize action with a reviewer's fields."""
    model = model_of(CONV)
    whole = {"node_id": "Conv_12", "action": "quantize", "params": {"bit_width": 8, "target_hw": "cpu"}, **line}
    policy = parsed({"version": "1.2", "actions": [whole]})
    return ops(apply(model, spec_of(), policy, calibrated(model)))


def test_a_plain_policy_is_applied_with_calibration() -> None:
    assert applied().count("QuantizeLinear") == 2
    assert applied(override=False) == ["Conv", "Relu"]
    assert applied(precision_sensitive=True) == ["Conv", "Relu"]
    assert applied(precision_sensitive=False).count("QuantizeLinear") == 2
    assert applied(override={"scheme": "tensor_wise"}).count("QuantizeLinear") == 2
    assert applied(zero_point_clip=True).count("QuantizeLinear") == 2


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            {"params": {"bit_width": 6, "scheme": "channel_wise", "target_hw": "npu_int6"}},
            "The spec has no compute unit named npu_int6 (compute_units); it has cpu.",
        ),
        (
            {"params": {"bit_width": 6}},
            "cpu has no INT6: compute_units.cpu.data_types and npu_int_support give INT8.",
        ),
        (
            {"override": {"bit_width": 4}},
            "cpu has no INT4: compute_units.cpu.data_types and npu_int_support give INT8.",
        ),
        ({"params": {"group_size": 32}}, "params: group_size is not right. Extra inputs are not permitted. Got 32."),
        ({"node_id": "Conv_99"}, "The model has no node Conv_99."),
        ({"params": {"ranges": "all"}}, "params: ranges is not right. Input should be a valid dictionary. Got 'all'."),
    ],
)
def test_what_is_not_legal_is_refused_with_the_way_on(line: dict[str, Any], reason: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        applied(**line)
    assert caught.value.what == f"The action quantize@{line.get('node_id', 'Conv_12')} is not legal here."
    assert caught.value.why.startswith(reason.split(" Input")[0])
    assert caught.value.fix == "Switch it off with `override: false`, or override its parameters."


def test_without_calibration_a_plain_quantize_is_refused() -> None:
    policy = parsed({"version": "1.2", "actions": [{"node_id": "Conv_12", "action": "quantize"}]})
    with pytest.raises(UnsupportedError, match="INT8 needs calibration data"):
        apply(model_of(CONV), spec_of(), policy)


def test_an_unknown_kind_is_named() -> None:
    policy = parsed({"version": "1.2", "actions": [{"node_id": "Conv_12", "action": "engrave"}]})
    with pytest.raises(InputError, match="'engrave' on Conv_12 is of no known kind"):
        apply(model_of(CONV), spec_of(), policy)
    off = parsed({"version": "1.2", "actions": [{"node_id": "Conv_12", "action": "engrave", "override": False}]})
    assert ops(apply(model_of(CONV), spec_of(), off)) == ["Conv", "Relu"]
