"""A demo passed off as more: its key as a person's own, its mark taken out, its signature beside people's."""

import base64
import json

import pytest
from attack_rig import EXPECTED, TRUST, changed, checks, signed_anew
from bundle_maker import ACTIONS, NOW, approval, approved, bundle, person, policy, statement, trust_file, trusted_key
from bundle_maker import sign as sign_payload

from metainfer_core.bundle.signed_bundle import DEMO, inspect_bundle, open_bundle
from metainfer_core.bundle.trust import Person, Quorum, TrustFile
from metainfer_core.errors import InputError, NotTrustedError

SHOW = trust_file(person("ada", "reviewer", "releaser", demo=True), person("bob", demo=True))
"""A demo's trust file: the studio holds both keys."""
AS_OWN = trust_file(person("ada", "reviewer", "releaser"), person("bob"))
"""The same keys, passed off as people's own."""


def demo(approvals=None, **more):
    given = [approval("bob", *ACTIONS, demo=True)] if approvals is None else approvals
    return bundle(given, **({"demo": True} | more))


def allowed(data, trust=SHOW):
    """Names of the checks that refuse a bundle even for those who asked for a demo."""
    return [each.check for each in inspect_bundle(data, trust, NOW, EXPECTED, demo_allowed=True).reasons]


def test_a_demo_is_refused_and_says_in_plain_words_what_it_is():
    assert checks(demo(), SHOW) == ["demo"]
    with pytest.raises(NotTrustedError) as refusal:
        open_bundle(demo(), SHOW, NOW, EXPECTED, source="net.bundle")
    assert str(refusal.value).startswith(
        "net.bundle: not trusted (demo). The bundle is a demo: a studio signed it with keys of its own"
    )
    assert "--allow-demo" in refusal.value.fix


def test_who_asks_for_a_demo_gets_it_and_is_told_first():
    opened = open_bundle(demo(), SHOW, NOW, EXPECTED, demo_allowed=True)
    assert opened.is_demo
    assert opened.sentences[0] == DEMO
    assert opened.reviewers == {each.id: ("bob",) for each in ACTIONS}
    real = open_bundle(bundle(), TRUST, NOW, EXPECTED, demo_allowed=True)
    assert not real.is_demo
    assert DEMO not in real.sentences


def test_a_demo_s_key_passed_off_as_a_person_s_own_counts_nowhere():
    assert checks(demo(), AS_OWN) == ["demo"]
    assert allowed(demo(), AS_OWN) == ["demo"]
    half = trust_file(person("ada", "reviewer", "releaser", demo=True), person("bob"))
    assert allowed(demo(), half) == ["demo"]
    assert allowed(demo(), trust_file(person("zoe", "reviewer", "releaser"))) == ["unknown_key"]


def test_a_demo_s_key_that_signs_without_the_mark_counts_nowhere():
    unmarked = bundle([approval("bob", *ACTIONS)])
    assert checks(unmarked, AS_OWN) == []
    assert checks(unmarked, SHOW) == ["demo"]
    assert allowed(unmarked) == ["demo"]
    assert allowed(demo([approval("bob", *ACTIONS)])) == ["demo"]


def test_the_mark_taken_out_of_what_was_signed_is_tampering():
    plain = json.loads(demo())
    payload = base64.b64decode(plain["payload"])
    without = payload.replace(b'"demo":true,', b"", 1)
    assert len(without) == len(payload) - len(b'"demo":true,')
    stripped = changed(demo(), payload=base64.b64encode(without).decode())
    for trust in (SHOW, AS_OWN):
        assert checks(stripped, trust) == ["tampered"]
        assert allowed(stripped, trust) == ["tampered"]


def test_the_mark_taken_out_of_an_approval_inside_leaves_it_without_a_signature():
    inner = approval("bob", *ACTIONS, demo=True)
    payload = base64.b64decode(inner["payload"]).replace(b'"demo":true,', b"", 1)
    inner["payload"] = base64.b64encode(payload).decode()
    half = trust_file(person("ada", "reviewer", "releaser"), person("bob"))
    assert checks(bundle([inner]), half) == ["missing_approval"]


def test_the_mark_has_one_spelling():
    for other in (False, 1, "true", None, "demo"):

        def spell(plain, other=other):
            plain["predicate"]["demo"] = other

        expected = [] if other is None else ["malformed"]
        assert allowed(signed_anew(spell), AS_OWN) == expected
        key = trusted_key("ada").plain() | {"demo": other}
        plain = {"people": [{"id": "ada", "roles": ["releaser"], "keys": [key]}]}
        if other is None:
            assert TrustFile.from_plain(plain, "trust.json").people[0].keys[0].demo is None
        else:
            with pytest.raises(InputError, match="demo"):
                TrustFile.from_plain(plain, "trust.json")


def test_a_demo_counts_toward_nobody_s_quorum():
    """Two must release, and two must stand behind what is of high risk: a person and a demo are not two."""
    ada = person("ada", "reviewer", "releaser")
    mixed = (ada, person("bob"), person("show", "reviewer", "releaser", demo=True))
    two = trust_file(*mixed, quorum=Quorum(release=2))
    payload = statement([approval("bob", *ACTIONS)]).to_json()
    both = sign_payload(payload, "ada", "show").to_json()
    assert checks(both, two) == ["quorum"]
    assert inspect_bundle(both, two, NOW, EXPECTED).reasons[0].what == "1 of 2 releasers signed it."
    assert checks(both, trust_file(*mixed)) == []
    high = trust_file(*mixed, quorum=Quorum(high=2))
    for mark in (None, True):
        approvals = [approval("bob", *ACTIONS), approval("show", *ACTIONS, demo=mark)]
        for asked in (False, True):
            reasons = inspect_bundle(bundle(approvals), high, NOW, EXPECTED, demo_allowed=asked).reasons
            assert [(each.check, each.actions) for each in reasons] == [("demo", (ACTIONS[2].id,))]
    real = trust_file(*mixed[:2], person("eve"), quorum=Quorum(high=2))
    assert checks(bundle([approval("bob", *ACTIONS), approval("eve", *ACTIONS)]), real) == []


def test_people_s_own_approvals_do_not_make_a_demo_more_than_that():
    half = trust_file(person("ada", "reviewer", "releaser", demo=True), person("bob"))
    assert allowed(demo([approval("bob", *ACTIONS)]), half) == ["demo"]
    assert checks(bundle([approval("bob", *ACTIONS)]), half) == ["demo"]
    both_keys = Person(id="bob", roles=("reviewer",), keys=(trusted_key("bob"), trusted_key("bob's demo", demo=True)))
    signed = approval("bob", *map(approved, ACTIONS), signer="bob's demo", demo=True)
    trust = trust_file(person("ada", "reviewer", "releaser"), both_keys)
    assert checks(bundle([signed]), trust) == ["demo"]
    assert checks(bundle([signed, approval("bob", *ACTIONS)]), trust) == []


def test_files_without_the_mark_keep_their_digests():
    """What was signed and remembered before there was a mark stays what it was."""
    assert b"demo" not in trust_file().to_json()
    assert b"demo" not in statement([], of=policy(ACTIONS[0])).to_json()
