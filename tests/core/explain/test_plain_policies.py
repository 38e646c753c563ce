"""The plain form of a policy is explained by what the spec and this version say, and nothing is made up."""

import json

from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_data, as_text
from metainfer_core.policy.plain import parse_policy
from metainfer_core.spec.hardware_spec import HardwareSpec

PLAIN = {
    "version": "1.2",
    "actions": [
        {
            "node_id": "Conv_12",
            "action": "quantize",
            "params": {"bit_width": 6, "scheme": "channel_wise", "target_hw": "npu_int6"},
        },
        {
            "node_id": "Add_24",
            "action": "fuse",
            "params": {"with": ["Relu_25"], "target_hw": "npu"},
            "review_required": True,
        },
    ],
}
SPEC = HardwareSpec.from_plain(
    {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {"npu": {"kind": "npu", "data_types": ["int8"]}},
        "sources": {"manual": {"title": "Chip manual", "document_digest": "sha256:0"}},
        "provenance": {"compute_units.npu.data_types": {"source": "manual", "page": 7, "text": "Supports INT8"}},
    }
)


def test_each_action_has_its_title_and_what_is_known():
    policy = parse_policy(json.dumps(PLAIN).encode())
    quantize, fuse = explain(policy, SPEC)
    assert quantize.title == "Action on Conv_12: quantize to INT6"
    assert [because.claim for because in quantize.why] == [
        "The policy states this action without a reason.",
        "Its target npu_int6 is not a compute unit of this spec; the units are: npu.",
    ]
    assert quantize.risk == "unknown"
    assert fuse.title == "Action on Add_24: fuse with Relu_25"
    assert fuse.why[-1].source.text == 'Chip manual, page 7: "Supports INT8"'
    assert fuse.reviewer == ("A review is required.",)


def test_text_and_data_hold_the_promised_words():
    policy = parse_policy(json.dumps(PLAIN).encode())
    text = as_text(explain(policy, SPEC), policy)
    for words in ("Action on Conv_12: quantize to INT6", "Why:", "Constraint satisfied:", "Risk:", "Not measured"):
        assert words in text
    action = as_data(explain(policy, SPEC), policy)["actions"][1]
    assert {"id", "node_ids", "action", "why", "constraint", "measured", "predicted", "risk", "alternatives"} <= set(
        action
    )
    assert action["why"][-1]["spec_field"] == "compute_units.npu.data_types"
    assert action["why"][-1]["source"] == 'Chip manual, page 7: "Supports INT8"'
