"""Faults that users met in other tools, in what is trusted: switches without effect, doubled keys, paths in names."""

import pytest
from attack_rig import TRUST, checks
from bundle_maker import ACTIONS, NOW, approval, bundle, person, trust_file, trusted_key

from metainfer_core.bundle.seen import Seen
from metainfer_core.bundle.trust import Person, Quorum, Revocation, TrustedKey, TrustFile, TrustRoot
from metainfer_core.bundle.trust_root import open_trust
from metainfer_core.errors import InputError, NotTrustedError

ADA = person("ada", "reviewer", "releaser")
LATER = "2026-11-30T00:00:00Z"


def bob(**more):
    key = {field: more.pop(field) for field in ("valid_from", "valid_until", "revoked", "demo") if field in more}
    return Person(**({"id": "bob", "roles": ("reviewer",), "keys": (trusted_key("bob", **key),)} | more))


def trusted(**more):
    return trust_file(ADA, bob(), **more)


SWITCHES = {
    "TrustFile.people": (trust_file(ADA), "missing_approval"),
    "TrustFile.quorum": (trusted(quorum=Quorum(low=2)), "quorum"),
    "TrustFile.version": (trusted(version=1), "downgrade"),
    "TrustFile.authors_may_approve": (trusted(authors_may_approve=False), "own_work"),
    "TrustFile.expires": (trusted(expires="2026-11-29T11:00:00Z"), "expired"),
    "TrustFile.audience": (trusted(audience="line 5"), "audience"),
    "TrustFile.min_tool_version": (trusted(min_tool_version="9.0.0"), "tool_version"),
    "Quorum.low": (trusted(quorum=Quorum(low=2)), "quorum"),
    "Quorum.medium": (trusted(quorum=Quorum(medium=2)), "quorum"),
    "Quorum.high": (trusted(quorum=Quorum(high=2)), "quorum"),
    "Quorum.release": (trusted(quorum=Quorum(release=2)), "quorum"),
    "Person.id": (trust_file(ADA, bob(id="rob")), "unknown_key"),
    "Person.roles": (trust_file(ADA, bob(roles=())), "role"),
    "Person.keys": (trust_file(ADA, bob(keys=(trusted_key("rob"),))), "missing_approval"),
    "Person.chips": (trust_file(ADA, bob(chips=("other",))), "scope"),
    "Person.max_risk": (trust_file(ADA, bob(max_risk="medium")), "scope"),
    "TrustedKey.public_key": (trust_file(ADA, bob(keys=(trusted_key("rob"),))), "missing_approval"),
    "TrustedKey.valid_from": (trust_file(ADA, bob(valid_from=LATER)), "expired_key"),
    "TrustedKey.valid_until": (trust_file(ADA, bob(valid_until="2026-01-01T00:00:00Z")), "expired_key"),
    "TrustedKey.revoked": (trust_file(ADA, bob(revoked=Revocation(at=NOW, reason="x"))), "revoked_key"),
    "TrustedKey.demo": (trust_file(ADA, bob(demo=True)), "demo"),
    "Revocation.kept": (trust_file(ADA, bob(revoked=Revocation(at=NOW, reason="x"))), "revoked_key"),
}
"""Every switch of the trust file, set so that it refuses what passes otherwise; and the check that refuses."""
NO_SWITCH = {
    "TrustFile.format": "names the file's format",
    "TrustFile.comments_block": "holds approvals back in the review, a bundle holds no comments: test_feature_09",
    "TrustFile.least_reason": "is asked for when people decide: test_feature_14_reasons",
    "TrustFile.root": "refuses the file itself: test_fault_02_root_keys",
    "Person.name": "is for people to read; twice in a file it is refused",
    "TrustedKey.algorithm": "says how the key is read; another one is refused with the file",
    "Revocation.at": "is for people to read: a revoked key counts at no time",
    "Revocation.reason": "is for people to read",
    "Revocation.event": "is where `kept` comes from",
    "TrustRoot.keys": "refuse the file itself: test_fault_02_root_keys",
    "TrustRoot.threshold": "refuses the file itself: test_fault_02_root_keys",
}


@pytest.mark.parametrize("switch", SWITCHES)
def test_fault_02_every_switch_of_the_trust_file_changes_the_verdict(switch):
    trust, check = SWITCHES[switch]
    data = bundle([approval("bob", *ACTIONS)], authors=("bob",), chip="chip", audience=("line 4", ""))
    seen = Seen(trust_version=2) if switch == "TrustFile.version" else None
    lenient = trusted(version=2)
    assert checks(data, lenient, seen=seen) == []
    assert set(checks(data, trust, seen=seen)) == {check}


def test_fault_02_no_switch_is_without_such_a_test():
    fields = {
        f"{kind.__name__}.{field}"
        for kind in (TrustFile, Quorum, Person, TrustedKey, Revocation, TrustRoot)
        for field in kind.model_fields
    }
    assert fields == SWITCHES.keys() | NO_SWITCH.keys()
    assert not SWITCHES.keys() & NO_SWITCH.keys()


def test_fault_02_root_keys():
    for threshold in (1, 2):
        root = TrustRoot(keys=(trusted_key("ruth"), trusted_key("rolf")), threshold=threshold)
        with pytest.raises(NotTrustedError) as refusal:
            open_trust(trusted(root=root).to_json(), "trust.json", Seen())
        assert (refusal.value.check, refusal.value.why) == (
            "trust_root",
            f"0 of its own root keys signed it; {threshold} must.",
        )


def test_fault_24_one_key_under_two_names_satisfies_no_threshold_of_two():
    alias = {"id": "bob2", "roles": ["reviewer"], "keys": [bob().keys[0].plain()]}
    with pytest.raises(InputError, match="twice"):
        TrustFile.from_plain({"people": [bob().plain(), alias]}, "trust.json")
    two = trusted(quorum=Quorum(high=2))
    twice = [approval("bob", *ACTIONS), approval("bob", *ACTIONS, at="2026-11-29T12:00:01Z")]
    assert checks(bundle(twice), two) == ["quorum"]
    assert checks(bundle(), TRUST) == []
