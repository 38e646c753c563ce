import json
import pickle

import pytest
from bundle_maker import (
    ACTIONS,
    MODEL,
    NOW,
    RULES,
    SPEC,
    action,
    approval,
    approved,
    bundle,
    person,
    policy,
    public_key,
    sign,
    statement,
    trust_file,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.envelope import PAYLOAD_TYPE, key_id
from metainfer_core.bundle.reason import CHECKS
from metainfer_core.bundle.seen import Seen
from metainfer_core.bundle.signed_bundle import inspect_bundle, open_bundle
from metainfer_core.bundle.statement import subjects
from metainfer_core.bundle.trust import Quorum, Revocation
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.values import canonical_json, sha256

TRUST = trust_file()
EXPECTED = Expected(MODEL, SPEC, RULES)
OTHER = sha256(b"other")


def refused_by(data, trust=TRUST, now=NOW, expected=EXPECTED, seen=None):
    """Names of the checks that failed, after making sure that `open_bundle` refuses with the first of them."""
    reasons = inspect_bundle(data, trust, now, expected, seen).reasons
    if reasons:
        with pytest.raises(NotTrustedError) as refusal:
            open_bundle(data, trust, now, expected, seen)
        assert refusal.value.check == reasons[0].check
        assert refusal.value.exit_status == 3
        assert reasons[0].check in refusal.value.what
        assert refusal.value.fix
    assert {each.check for each in reasons} <= CHECKS.keys()
    return [each.check for each in reasons]


def test_good_bundle_is_opened():
    verified = open_bundle(bundle(), TRUST, NOW, EXPECTED)
    assert verified.policy == policy()
    assert verified.releasers == ("ada",)
    assert verified.reviewers == {each.id: ("bob",) for each in ACTIONS}
    assert verified.sentences == (
        "Released by ada on 2026-11-29T12:00:00Z as number 1 of 'net_on_chip', valid until 2027-11-29T12:00:00Z.",
        "3 actions, all approved: bob signed for 3.",
        "Authors may approve their own work here (trust file).",
        "One reviewer is enough for every risk here (trust file).",
        "The trust file is not signed: whoever can write it decides what is trusted.",
    )


def test_what_was_not_compared_is_said():
    assert open_bundle(bundle(), TRUST, NOW).sentences[-1] == (
        "Not compared, because it was not given: the model, the hardware spec, the rule set."
    )


# --- signature


def test_plain_policy_and_envelope_without_signature_are_unsigned():
    assert refused_by(policy().to_json()) == ["unsigned"]
    assert refused_by(b'{"version":"1.2","actions":[]}') == ["unsigned"]
    assert refused_by(b"[]") == ["unsigned"]
    assert refused_by(bundle(signers=())) == ["unsigned"]


def test_changed_payload_is_tampered():
    plain = json.loads(bundle())
    plain["payload"] = json.loads(bundle(serial=2))["payload"]
    assert refused_by(canonical_json(plain)) == ["tampered"]


def test_stranger_is_unknown():
    assert refused_by(bundle(signers=("mallory",))) == ["unknown_key"]
    assert refused_by(bundle(), trust_file(person("bob", "releaser"))) == ["unknown_key"]


def test_key_id_of_a_releaser_on_a_strangers_signature_is_tampering():
    plain = json.loads(bundle(signers=("mallory",)))
    plain["signatures"][0]["keyid"] = key_id(public_key("ada"))
    assert refused_by(canonical_json(plain)) == ["tampered"]


@pytest.mark.parametrize("named", [None, "absent"])
def test_key_id_is_only_a_hint(named):
    plain = json.loads(bundle())
    if named is None:
        plain["signatures"][0]["keyid"] = None
    else:
        del plain["signatures"][0]["keyid"]
    assert refused_by(canonical_json(plain)) == []


def test_bogus_signatures_beside_a_good_one_change_nothing():
    plain = json.loads(bundle(signers=("mallory",)))
    plain["signatures"] += json.loads(bundle())["signatures"]
    assert refused_by(canonical_json(plain)) == []


def test_other_payload_type_is_refused_although_signed():
    envelope = sign(statement().to_json(), "ada", payload_type="application/json")
    assert refused_by(envelope.to_json()) == ["wrong_type"]


def test_other_predicate_type_is_refused_although_signed():
    approval_file = approval("ada", *ACTIONS)
    assert refused_by(canonical_json(approval_file)) == ["wrong_type"]


def test_reviewer_cannot_release():
    assert refused_by(bundle(signers=("bob",))) == ["role"]


def test_revoked_and_expired_keys_of_the_releaser():
    revoked = person("ada", "releaser", revoked=Revocation(at="2026-12-01T00:00:00Z", reason="lost"))
    assert refused_by(bundle(), trust_file(revoked, person("bob"))) == ["revoked_key"]
    late = person("ada", "releaser", valid_until="2026-01-01T00:00:00Z")
    assert refused_by(bundle(), trust_file(late, person("bob"))) == ["expired_key"]


def test_two_releasers_must_be_two_people_with_two_keys():
    two = trust_file(person("ada", "releaser"), person("bob"), person("eve", "releaser"), quorum=Quorum(release=2))
    assert refused_by(bundle(), two) == ["quorum"]
    plain = json.loads(bundle())
    plain["signatures"] *= 2
    assert refused_by(canonical_json(plain), two) == ["quorum"]
    plain["signatures"][1] = {"sig": plain["signatures"][1]["sig"]}
    assert refused_by(canonical_json(plain), two) == ["quorum"]
    assert refused_by(bundle(signers=("ada", "eve")), two) == []


# --- form of what is signed


def resigned(change):
    plain = json.loads(statement().to_json())
    change(plain)
    return sign(canonical_json(plain), "ada").to_json()


def test_signed_junk_is_malformed():
    assert refused_by(sign(b"\x00", "ada").to_json()) == ["malformed"]
    assert refused_by(sign(b"[" * 100_000, "ada").to_json()) == ["malformed"]
    assert refused_by(sign(b'{"predicateType":1e999}', "ada").to_json()) == ["malformed"]
    assert refused_by(sign(b'{"n":99999999999999999999}', "ada").to_json()) == ["malformed"]


def test_unknown_fields_in_the_payload_are_refused():
    assert refused_by(resigned(lambda plain: plain.update(extra=1))) == ["malformed"]
    assert refused_by(resigned(lambda plain: plain["predicate"].update(extra=1))) == ["malformed"]
    assert refused_by(resigned(lambda plain: plain["predicate"]["policy"].update(extra=1))) == ["malformed"]


def test_other_spelling_of_the_same_json_is_refused():
    payload = statement().to_json()
    assert refused_by(sign(json.dumps(json.loads(payload)).encode(), "ada").to_json()) == ["malformed"]
    double = payload[:-1] + b',"predicateType":"urn:metainfer:release:1"}'
    assert refused_by(sign(double, "ada").to_json()) == ["malformed"]


def test_missing_or_other_subjects_are_refused():
    assert refused_by(resigned(lambda plain: plain["subject"].pop())) == ["malformed"]
    assert refused_by(resigned(lambda plain: plain["subject"].append(plain["subject"][0]))) == ["malformed"]


@pytest.mark.parametrize("serial", [0, -1])
def test_serial_counts_from_one(serial):
    assert refused_by(resigned(lambda plain: plain["predicate"].update(serial=serial))) == ["malformed"]


def test_not_json_at_all_is_bad_input():
    with pytest.raises(InputError, match="not JSON"):
        inspect_bundle(b"PK\x03\x04", TRUST, NOW)


# --- binding


def test_other_model_spec_and_rules():
    assert refused_by(bundle(), expected=Expected(OTHER, SPEC, RULES)) == ["wrong_model"]
    assert refused_by(bundle(), expected=Expected(MODEL, OTHER, RULES)) == ["wrong_spec"]
    assert refused_by(bundle(), expected=Expected(MODEL, SPEC, OTHER)) == ["wrong_rules"]
    assert refused_by(bundle(), expected=Expected(MODEL, SPEC, RULES, policy_digest=OTHER)) == ["wrong_policy"]
    assert refused_by(bundle(), expected=Expected(OTHER, OTHER, OTHER)) == ["wrong_model", "wrong_spec", "wrong_rules"]


def test_policy_that_is_not_the_signed_subject():
    subject = subjects(model=MODEL, spec=SPEC, policy=OTHER)
    assert refused_by(bundle(subject=subject)) == ["wrong_policy"]


def test_policy_made_for_another_model_inside_a_bundle_for_this_one():
    assert refused_by(bundle(of=policy(model_digest=OTHER))) == ["wrong_policy"]
    assert refused_by(bundle(of=policy(model_digest=None))) == ["wrong_policy"]


def test_action_edited_added_or_reordered_after_listing():
    listing = statement().predicate.actions
    assert "wrong_policy" in refused_by(bundle(of=policy(*ACTIONS, action("new")), actions=listing))
    assert "wrong_policy" in refused_by(bundle(of=policy(*reversed(ACTIONS)), actions=listing))
    edited = action("conv_0", override={"bit_width": 4})
    assert "wrong_policy" in refused_by(bundle(of=policy(edited, *ACTIONS[1:]), actions=listing))


def test_two_actions_of_one_id_are_refused():
    twice = policy(action("conv_0"), action("conv_0"))
    assert refused_by(bundle(of=twice)) == ["wrong_policy"]


# --- time


def test_expired_and_not_yet_valid():
    assert refused_by(bundle(), now="2027-11-29T12:00:00Z") == []
    assert refused_by(bundle(), now="2027-11-29T12:00:01Z") == ["expired"]
    assert refused_by(bundle(), now="2026-11-29T11:59:59Z") == ["expired"]


# --- approvals


def test_missing_approval_names_the_actions():
    data = bundle([approval("bob", ACTIONS[0])])
    reasons = inspect_bundle(data, TRUST, NOW, EXPECTED).reasons
    assert [each.check for each in reasons] == ["missing_approval"]
    assert reasons[0].actions == ("quantize@conv_1", "fuse@add_2")
    assert "quantize@conv_1, fuse@add_2" in reasons[0].what
    assert refused_by(bundle([])) == ["missing_approval"]


@pytest.mark.parametrize("changed", ["model", "spec", "rules"])
def test_approval_is_stale_when_model_spec_or_rules_changed(changed):
    assert refused_by(bundle([approval("bob", *ACTIONS, **{changed: OTHER})])) == ["stale_approval"]


def test_approval_is_stale_when_the_action_changed():
    edited = policy(action("conv_0", override=False), *ACTIONS[1:])
    reasons = inspect_bundle(bundle([approval("bob", *ACTIONS)], of=edited), TRUST, NOW, EXPECTED).reasons
    assert [(each.check, each.actions) for each in reasons] == [("stale_approval", ("quantize@conv_0",))]


def test_evidence_may_change_without_making_approvals_stale():
    explained = policy(action("conv_0", sentence="Another sentence."), *ACTIONS[1:])
    assert refused_by(bundle([approval("bob", *ACTIONS)], of=explained)) == []


def test_signature_in_the_name_of_another():
    assert refused_by(bundle([approval("bob", *ACTIONS, signer="eve")])) == ["unknown_key"]
    assert refused_by(bundle([approval("bob", *ACTIONS, signer="mallory")])) == ["missing_approval"]


def test_changed_approval_does_not_count():
    plain = dict(approval("bob", ACTIONS[0]))
    plain["payload"] = approval("bob", *ACTIONS)["payload"]
    assert refused_by(bundle([plain])) == ["missing_approval"]
    assert refused_by(bundle([{"junk": 1}])) == ["missing_approval"]


def test_release_statement_is_no_approval():
    assert refused_by(bundle([sign(statement().to_json(), "bob").plain()])) == ["missing_approval"]


def test_person_without_the_role_cannot_approve():
    trust = trust_file(person("ada", "releaser"), person("bob"))
    assert refused_by(bundle([approval("ada", *ACTIONS)]), trust) == ["role"]


def test_reviewers_key_revoked_or_expired_after_the_release():
    lost = person("bob", "reviewer", revoked=Revocation(at="2026-12-01T00:00:00Z", reason="lost"))
    assert refused_by(bundle(), trust_file(person("ada", "releaser"), lost)) == ["revoked_key"]
    late = person("bob", "reviewer", valid_until="2026-12-01T00:00:00Z")
    data, trust = bundle(), trust_file(person("ada", "releaser"), late)
    assert refused_by(data, trust, now="2026-11-30T00:00:00Z") == []
    assert refused_by(data, trust, now="2026-12-02T00:00:00Z") == ["expired_key"]


def test_high_risk_needs_the_three_lines():
    bare = [approved(each, justification=None) for each in ACTIONS]
    reasons = inspect_bundle(bundle([approval("bob", *bare)]), TRUST, NOW, EXPECTED).reasons
    assert [(each.check, each.actions) for each in reasons] == [("review_required", ("fuse@add_2",))]


def test_tagged_action_needs_the_three_lines():
    tagged = policy(action("conv_0", review_required=True))
    bare = [approved(each, justification=None) for each in tagged.actions]
    assert refused_by(bundle([approval("bob", *bare)], of=tagged)) == ["review_required"]
    assert refused_by(bundle([approval("bob", *tagged.actions)], of=tagged)) == []


def test_unassessed_action_counts_as_high():
    unknown = policy(action("conv_0", risk=None))
    bare = [approved(each, justification=None) for each in unknown.actions]
    assert refused_by(bundle([approval("bob", *bare)], of=unknown)) == ["review_required"]
    assert refused_by(bundle(of=unknown), trust_file(quorum=Quorum(high=2))) == ["quorum"]


def test_quorum_by_risk():
    trust = trust_file(quorum=Quorum(high=2))
    one, both = [approval("bob", *ACTIONS)], [approval("bob", *ACTIONS), approval("eve", ACTIONS[2])]
    reasons = inspect_bundle(bundle(one), trust, NOW, EXPECTED).reasons
    assert [(each.check, each.actions) for each in reasons] == [("quorum", ("fuse@add_2",))]
    assert refused_by(bundle(both), trust) == []
    assert refused_by(bundle([one[0], one[0]]), trust) == ["quorum"]


def test_re_rating_after_the_review_does_not_lower_the_quorum():
    rated_down = policy(action("conv_0", "low"))
    seen_as_high = [approval("bob", approved(rated_down.actions[0], risk="high"))]
    assert refused_by(bundle(seen_as_high, of=rated_down), trust_file(quorum=Quorum(high=2))) == ["quorum"]


def test_own_work_counts_only_where_the_trust_file_says_so():
    strict = trust_file(authors_may_approve=False)
    assert refused_by(bundle(authors=("bob",))) == []
    assert refused_by(bundle(authors=("bob",)), strict) == ["own_work"]
    assert refused_by(bundle([approval("eve", *ACTIONS)], authors=("bob",)), strict) == []


# --- older than what was seen


def test_older_bundle_is_a_downgrade():
    old, new = bundle(), bundle(serial=2)
    newest = open_bundle(new, TRUST, NOW, EXPECTED)
    seen = Seen().with_bundle(newest.name, 2, newest.payload_digest, TRUST)
    assert refused_by(old, seen=seen) == ["downgrade"]
    assert refused_by(new, seen=seen) == []
    assert refused_by(bundle(serial=2, created="2026-11-29T11:00:00Z"), seen=seen) == ["downgrade"]
    assert refused_by(bundle(serial=3), seen=seen) == []


def test_older_trust_file_is_a_downgrade():
    seen = Seen(trust_version=5)
    assert refused_by(bundle(), trust_file(version=4), seen=seen) == ["downgrade"]
    assert refused_by(bundle(), trust_file(version=5), seen=seen) == []


# --- any change at all


GOOD = bundle()
OPENED = open_bundle(GOOD, TRUST, NOW, EXPECTED)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_no_changed_byte_changes_what_is_trusted(place, flip):
    """Refused, or exactly what was signed: the few bytes that nobody signed, as the key id, must mean nothing."""
    data = bytearray(GOOD)
    data[place] ^= flip
    try:
        verified = open_bundle(bytes(data), TRUST, NOW, EXPECTED)
    except (NotTrustedError, InputError):
        return
    assert verified == OPENED


def test_every_changed_byte_of_payload_and_signature_is_refused():
    plain = json.loads(GOOD)
    for place in range(0, len(plain["payload"]), 7):
        text = plain["payload"]
        changed = plain | {"payload": text[:place] + ("B" if text[place] == "A" else "A") + text[place + 1 :]}
        with pytest.raises((NotTrustedError, InputError)):
            open_bundle(canonical_json(changed), TRUST, NOW, EXPECTED)
    signature = plain["signatures"][0]["sig"]
    for place in range(len(signature) - 2):
        other = signature[:place] + ("B" if signature[place] == "A" else "A") + signature[place + 1 :]
        changed = plain | {"signatures": [plain["signatures"][0] | {"sig": other}]}
        with pytest.raises((NotTrustedError, InputError)):
            open_bundle(canonical_json(changed), TRUST, NOW, EXPECTED)


def test_order_of_keys_in_the_envelope_means_nothing():
    plain = json.loads(GOOD)
    reordered = json.dumps(dict(reversed(plain.items())), indent=3).encode()
    assert open_bundle(reordered, TRUST, NOW, EXPECTED) == OPENED


def test_refusal_survives_a_process_border():
    with pytest.raises(NotTrustedError) as refusal:
        open_bundle(bundle(signers=("mallory",)), TRUST, NOW)
    assert pickle.loads(pickle.dumps(refusal.value)).check == "unknown_key"


def test_payload_type_is_the_one_that_in_toto_uses():
    assert json.loads(GOOD)["payloadType"] == PAYLOAD_TYPE == "application/vnd.in-toto+json"
