"""A studio in demo mode signs with keys of its own: marked, apart from people's keys, and never on the disk."""

import pytest
from review_maker import (
    ACTIONS,
    AT,
    CONV_0,
    MODEL,
    POLICY,
    RULES,
    SPEC,
    TRUST,
    UNTIL,
    approve_all,
    person,
    private_key,
    say,
    trust_file,
)

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.signed_bundle import inspect_bundle, open_bundle
from metainfer_core.bundle.trust import Person, Quorum, TrustFile, TrustRoot
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, NotTrustedError
from review_store.export.review_text import record_text
from review_store.record.events import Released, SignedApproval
from review_store.signing.demo import DemoKeys, refuse_demo, sign_demo
from review_store.signing.signing import release, sign_approvals

EXPECTED = Expected(MODEL, SPEC, RULES)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "workspace" / "trust.json"


def shown(log, path, keys=None, who="ada", **more):
    return sign_demo(log, POLICY, path, keys or DemoKeys(), who, AT, UNTIL, **more)


def bob_with(*keys):
    return Person(id="bob", roles=("reviewer",), keys=keys)


def test_first_look_ends_with_a_bundle_without_any_key_of_ones_own(log, path):
    approve_all(log, POLICY, "ada")
    made = shown(log, path)
    trust = read_trust(path)
    assert [(each.id, each.roles, [key.demo for key in each.keys]) for each in trust.people] == [
        ("ada", ("releaser", "reviewer"), [True])
    ]
    assert [each.check for each in inspect_bundle(made.bundle, trust, AT, EXPECTED).reasons] == ["demo"]
    opened = open_bundle(made.bundle, trust, AT, EXPECTED, demo_allowed=True)
    assert (opened.is_demo, opened.releasers, opened.reviewers[CONV_0]) == (True, ("ada",), ("ada",))
    assert isinstance(log.records()[-1].event, Released)


def test_the_private_keys_are_nowhere_on_the_disk(log, path):
    approve_all(log, POLICY, "ada")
    keys = DemoKeys()
    shown(log, path, keys)
    secret = keys.of("ada").key.private_bytes_raw()
    files = [each for each in path.parent.rglob("*") if each.is_file()]
    assert path in files
    for each in files:
        data = each.read_bytes()
        assert secret not in data
        assert secret.hex().encode() not in data
        assert b"PRIVATE KEY" not in data


def test_the_studio_signs_for_everybody_who_approved_on_it(log, path):
    approve_all(log, POLICY, "bob")
    approve_all(log, POLICY, "eve")
    path.write_bytes(TrustFile(quorum=Quorum(high=2)).to_json())
    opened = open_bundle(shown(log, path).bundle, read_trust(path), AT, EXPECTED, demo_allowed=True)
    assert opened.releasers == ("ada",)
    assert set(opened.reviewers.values()) == {("bob", "eve")}
    told = [record_text(each) for each in log.records()[-3:]]
    assert [each.partition(" ")[2] for each in told] == [
        f"{AT} bob signed (demo: True)",
        f"{AT} eve signed (demo: True)",
        f"{AT} ada released (demo: True)",
    ]


def test_what_is_not_reviewed_is_not_signed_in_a_demo_either(log, path):
    say(log, POLICY, "ada", CONV_0, "approve")
    with pytest.raises(NotTrustedError) as refusal:
        shown(log, path)
    assert refusal.value.check == "review_required"
    assert not [each for each in log.records() if isinstance(each.event, Released)]
    with pytest.raises(InputError, match="who sits here"):
        shown(log, path, who="")


@pytest.mark.parametrize(
    ("trust", "why"),
    [
        (TRUST, "The trust file names a key of ada."),
        (trust_file(person("ada", demo=True), person("bob")), "The trust file names a key of bob."),
    ],
)
def test_where_people_have_keys_of_their_own_the_demo_does_not_sign(log, path, trust, why):
    approve_all(log, POLICY, "ada")
    path.write_bytes(trust.to_json())
    before = path.read_bytes(), len(log.records())
    with pytest.raises(NotTrustedError) as refusal:
        shown(log, path)
    assert (refusal.value.check, refusal.value.why) == ("demo", why)
    assert "studio --demo" in refusal.value.fix
    assert (path.read_bytes(), len(log.records())) == before


def test_a_trust_file_that_root_keys_sign_takes_no_demo():
    root = TrustRoot(keys=person("ruth").keys, threshold=1)
    with pytest.raises(NotTrustedError, match="keys of their own") as refusal:
        refuse_demo(TrustFile(root=root), "trust.json")
    assert refusal.value.why == "The trust file has root keys."


def test_another_start_of_the_studio_has_other_keys_and_the_earlier_demos_still_open(log, path):
    approve_all(log, POLICY, "ada")
    first, second = shown(log, path).bundle, shown(log, path).bundle
    trust = read_trust(path)
    assert len(trust.people[0].keys) == 2
    serials = [
        open_bundle(each, trust, AT, EXPECTED, demo_allowed=True).statement.predicate.serial for each in (first, second)
    ]
    assert serials == [1, 2]


def test_one_running_studio_has_one_key_a_person(log, path):
    approve_all(log, POLICY, "ada")
    keys = DemoKeys()
    shown(log, path, keys)
    version = read_trust(path).version
    shown(log, path, keys)
    assert read_trust(path).version == version
    assert keys.of("ada").id != keys.of("bob").id


def test_people_who_sign_later_with_their_own_keys_are_not_helped_by_the_demo(log, path):
    """Bob's approval was signed by the demo. Once Bob has a key, only what that key signs counts."""
    approve_all(log, POLICY, "bob")
    shown(log, path)
    assert [each for each in log.records() if isinstance(each.event, SignedApproval)]
    demo_keys = read_trust(path).person("bob").keys
    only_demo = trust_file(person("ada", "reviewer", "releaser"), bob_with(*demo_keys))
    with pytest.raises(NotTrustedError) as refusal:
        release(log, POLICY, only_demo, private_key("ada"), AT, UNTIL)
    assert refusal.value.check == "missing_approval"
    both = trust_file(person("ada", "reviewer", "releaser"), bob_with(*person("bob").keys, *demo_keys))
    sign_approvals(log, POLICY, both, private_key("bob"), AT)
    made = release(log, POLICY, both, private_key("ada"), AT, UNTIL)
    assert not made.verified.is_demo
    assert made.verified.reviewers == {each.id: ("bob",) for each in ACTIONS}


def test_a_newer_signature_of_the_demo_takes_the_place_of_nobody_s_own(log, path):
    approve_all(log, POLICY, "bob")
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    shown(log, path)
    made = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL)
    assert made.verified.reviewers == {each.id: ("bob",) for each in ACTIONS}
