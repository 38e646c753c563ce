from metainfer_core.explain.explanation import explain
from metainfer_core.explain.render import as_data, as_text
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec

SPEC = HardwareSpec.from_plain(
    {
        "name": "chip",
        "version": "1.0.0",
        "compute_units": {"npu": {"kind": "npu", "data_types": ["int8"]}},
        "sources": {"sheet": {"title": "Data Sheet", "document_digest": "sha256:" + "0" * 64}},
        "provenance": {"compute_units.npu.data_types": {"source": "sheet", "page": 3, "text": "INT8"}},
    }
)
FIELD = "compute_units.npu"


def policy():
    reasons = [
        {"claim": "npu has int8.", "spec_field": f"{FIELD}.data_types", "spec_value": "int8"},
        {"claim": "npu scales by tensor.", "spec_field": f"{FIELD}.weight_granularity"},
    ]
    actions = [
        {"node_id": "a", "action": "quantize", "nodes": ["a"], "why": reasons},
        {"node_id": "b", "action": "quantize", "nodes": ["b"]},
    ]
    refusals = [
        {"kind": "fuse", "nodes": ["a", "r"], "reason": "Also read elsewhere."},
        {"kind": "fuse", "nodes": ["b", "s"], "reason": "Not a chain."},
    ]
    return Policy.from_plain({"actions": actions, "refusals": refusals})


def test_a_value_leads_to_its_page_and_a_missing_one_says_so():
    text = as_text(explain(policy(), SPEC), policy())
    assert '      compute_units.npu.data_types = int8  [Data Sheet, page 3: "INT8"]\n' in text
    assert "      compute_units.npu.weight_granularity = unknown (not in the spec)\n" in text


def test_one_action_comes_with_its_own_refusals_only():
    explanations = explain(policy(), SPEC)
    assert as_text(explanations[:1], policy()).endswith("Refused:\n  a, r (fuse): Also read elsewhere.")
    assert [each["nodes"] for each in as_data(explanations[1:], policy())["refusals"]] == [["b", "s"]]
    assert len(as_data(explanations, policy())["refusals"]) == 2


def test_a_line_end_in_a_name_or_reason_does_not_forge_a_line():
    plain = policy().plain()
    plain["actions"][0] |= {"sentence": "Fine.\nAction on b: off", "nodes": ["a\u2028Risk: low"]}
    plain["refusals"][0]["reason"] = "No.\r\nRefused: nothing"
    forged = Policy.from_plain(plain)
    text = as_text(explain(forged, SPEC), forged)
    assert len(text.splitlines()) == len(as_text(explain(policy(), SPEC), policy()).splitlines())
    assert "  Fine. Action on b: off\n" in text
