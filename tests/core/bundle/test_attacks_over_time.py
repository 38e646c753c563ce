"""Attacks 31 to 38: old bundles, clocks, revoked keys, trust files and what was remembered of them."""

import json
from base64 import b64decode

import pytest
from attack_rig import TRUST, checks
from bundle_maker import (
    ACTIONS,
    NOW,
    approval,
    bundle,
    person,
    policy,
    private_key,
    public_key,
    trust_file,
    trusted_key,
)
from command_rig import COMPILE, VERIFY, command, lay_out, signed

from metainfer_core.bundle.envelope import Envelope, Signature, key_id, pre_authentication_encoding
from metainfer_core.bundle.seen import Seen, read_seen, seen_file, seen_name
from metainfer_core.bundle.signed_bundle import open_bundle
from metainfer_core.bundle.trust import Revocation, TrustRoot
from metainfer_core.bundle.trust_root import TRUST_TYPE, open_trust, read_trust
from metainfer_core.bundle.verified import remember
from metainfer_core.errors import NotTrustedError
from metainfer_core.values import sha256

LATER = "2026-12-24T12:00:00Z"


def after(*bundles, trust=TRUST, seen=None):
    """What is remembered after these were built in turn."""
    seen = seen or Seen()
    for data in bundles:
        made = open_bundle(data, trust, NOW, seen=seen)
        serial = made.statement.predicate.serial
        seen = seen.with_bundle(made.name, serial, made.payload_digest, trust, made.key_ids, made.at)
    return seen


def rooted(*names, threshold=2, version=2, **more):
    """A trust file with these root keys."""
    root = TrustRoot(keys=tuple(trusted_key(name) for name in names), threshold=threshold)
    return trust_file(version=version, root=root, **more)


def signed_trust(trust, *names):
    """The file of a trust file that these keys signed."""
    payload = trust.to_json()
    covered = pre_authentication_encoding(TRUST_TYPE, payload)
    signatures = tuple(Signature(key_id(public_key(name)), private_key(name).sign(covered)) for name in names)
    return Envelope(TRUST_TYPE, payload, signatures).to_json()


def refused_trust(data, seen):
    with pytest.raises(NotTrustedError) as refusal:
        open_trust(data, "trust.json", seen)
    assert refusal.value.exit_status == 3
    return refusal.value.check


def test_attack_31_older_bundle_replayed():
    seen = after(bundle(), bundle(serial=2))
    assert checks(bundle(), seen=seen) == ["downgrade"]
    assert checks(bundle(serial=2), seen=seen) == []
    assert checks(bundle(serial=2, chip="chip"), seen=seen) == ["downgrade"]  # another one under the same number
    assert checks(bundle(serial=3), seen=seen) == []


def test_attack_31_older_bundle_given_to_the_compiler_after_a_newer_one(tmp_path, monkeypatch, capsys):
    """The command itself remembers what it built, beside the trust file; `verify` looks there too."""
    lay_out(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trust.json").write_bytes(TRUST.to_json())
    first, second = (signed(tmp_path, serial=serial) for serial in (1, 2))

    def given(data, *words):
        (tmp_path / "net.bundle").write_bytes(data)
        return command(monkeypatch, capsys, *words, "--trust", "trust.json", "--json")

    assert given(first, *VERIFY)[0] == 0
    assert given(second, *COMPILE)[0] == 0
    (tmp_path / "net.bin").unlink()
    status, answer = given(first, *COMPILE)
    assert (status, answer["error"]["check"]) == (3, "downgrade")
    assert not (tmp_path / "net.bin").exists()
    status, answer = given(first, *VERIFY)
    assert (status, [each["check"] for each in answer["reasons"]]) == (3, ["downgrade"])
    assert given(second, *VERIFY)[0] == 0
    (tmp_path / "trust.seen.json").unlink()
    status, answer = given(first, *COMPILE)
    assert (status, answer["error"]["check"]) == (3, "downgrade")


def test_attack_32_highest_number_there_is_then_recovery():
    """Who stole a key locks out all that follow, until the key is revoked; an older bundle stays refused."""
    people = (person("ada", "releaser"), person("bob"), person("eve", "releaser"))
    trust = trust_file(*people)
    forward = bundle(serial=2**53 - 1, signers=("eve",))
    seen = after(bundle(serial=4), bundle(serial=5), forward, trust=trust)
    assert checks(bundle(serial=6), trust, seen=seen) == ["downgrade"]
    gone = person("eve", "releaser", revoked=Revocation(at=NOW, reason="stolen"))
    mended = trust_file(people[0], people[1], gone, version=2)
    assert checks(forward, mended, seen=seen) == ["revoked_key"]
    assert checks(bundle(serial=6), mended, seen=seen) == []
    assert checks(bundle(serial=4), mended, seen=seen) == ["downgrade"]


def test_attack_33_expired_not_yet_valid_or_clock_set_back():
    assert checks(bundle(), now="2027-11-29T12:00:01Z") == ["expired"]
    assert checks(bundle(), now="2026-11-29T11:59:59Z") == ["expired"]
    seen = Seen(latest=LATER)
    assert checks(bundle(), now="2026-12-22T12:00:00Z", seen=seen) == ["expired"]
    assert checks(bundle(), now="2026-12-24T11:00:00Z", seen=seen) == []  # clocks are set right by hours
    assert checks(bundle(), trust_file(expires="2026-12-01T00:00:00Z"), now="2026-12-01T00:00:00Z") == []
    assert checks(bundle(), trust_file(expires="2026-12-01T00:00:00Z"), now="2026-12-01T00:00:01Z") == ["expired"]


@pytest.mark.parametrize("role", ["releaser", "reviewer"])
def test_attack_34_key_revoked_before_and_after_its_signature(role):
    """What the record held before the theft is kept by its digest; a claimed time changes nothing."""
    data = bundle()
    bytes_signed = {
        "releaser": json.loads(data)["payload"],
        "reviewer": approval("bob", *ACTIONS)["payload"],
    }[role]
    kept = sha256(b64decode(bytes_signed))
    names = {"releaser": "ada", "reviewer": "bob"}

    def trust(**more):
        lost = Revocation(at="2026-12-01T00:00:00Z", reason="stolen", **more)
        others = {"ada": person("ada", "releaser"), "bob": person("bob")}
        return trust_file(*(others | {names[role]: person(names[role], role, revoked=lost)}).values())

    assert checks(data, trust()) == ["revoked_key"]
    assert checks(data, trust(event=9, kept=(kept,))) == []
    assert checks(data, trust(event=9, kept=(sha256(b"another"),))) == ["revoked_key"]
    backdated = (
        bundle(created="2026-01-01T00:00:00Z")
        if role == "releaser"
        else bundle([approval("bob", *ACTIONS, at="2026-01-01T00:00:00Z")])
    )
    assert checks(backdated, trust(event=9, kept=(kept,))) == ["revoked_key"]


def test_attack_35_older_trust_file_or_one_signed_by_its_new_keys_alone():
    old = rooted("ruth", "rolf", "rita")
    assert open_trust(signed_trust(old, "ruth", "rita"), "trust.json", Seen()) == old
    seen = Seen(trust_version=2, trust_digest=old.digest, root=old.root)
    new = rooted("mallory", "mallory's phone", version=3)
    assert refused_trust(signed_trust(new, "mallory", "mallory's phone"), seen) == "trust_root"
    assert refused_trust(signed_trust(new, "mallory", "ruth"), seen) == "trust_root"
    assert refused_trust(signed_trust(new, "ruth", "rolf"), seen) == "trust_root"  # its new keys must sign too
    both = signed_trust(new, "mallory", "mallory's phone", "ruth", "rolf")
    assert open_trust(both, "trust.json", seen) == new
    assert refused_trust(signed_trust(old, "ruth", "ruth"), Seen()) == "trust_root"
    assert refused_trust(trust_file(version=9).to_json(), seen) == "trust_root"  # not signed at all any more
    assert refused_trust(old.to_json(), Seen()) == "trust_root"
    assert checks(bundle(), rooted("ruth", threshold=1, version=1), seen=seen) == ["downgrade"]
    assert checks(bundle(), rooted("ruth", threshold=1, version=2), seen=seen) == ["downgrade"]  # changed, same version


def test_attack_35_signed_bundle_passed_off_as_a_trust_file():
    with pytest.raises(NotTrustedError) as refusal:
        open_trust(bundle(), "trust.json", Seen())
    assert refusal.value.check == "wrong_type"


def test_attack_36_parts_of_two_valid_bundles_mixed():
    one, two = json.loads(bundle()), json.loads(bundle(serial=2))
    assert checks(json.dumps(one | {"signatures": two["signatures"]}).encode()) == ["tampered"]
    assert checks(json.dumps(one | {"payload": two["payload"]}).encode()) == ["tampered"]
    first, second = policy(ACTIONS[0]), policy(ACTIONS[1])
    assert checks(bundle([approval("bob", *first.actions)], of=second)) == ["missing_approval"]


@pytest.mark.parametrize("harm", ["state deleted", "key deleted", "cut", "emptied", "edited", "put back", "other key"])
def test_attack_37_record_of_what_was_seen_deleted_cut_or_edited(tmp_path, harm):
    state = seen_file(tmp_path / "trust.json")
    remember(state, open_bundle(bundle(serial=1), TRUST, NOW))
    earlier, key = state.read_bytes(), state.with_suffix(".key")
    assert key.stat().st_mode & 0o777 == 0o600
    remember(state, open_bundle(bundle(serial=7), TRUST, NOW))
    later = state.read_bytes()
    if harm == "state deleted":
        state.unlink()
    elif harm == "key deleted":
        key.unlink()
    elif harm == "other key":
        key.write_text("00" * 32 + " 2")
    else:
        state.write_bytes(
            {
                "cut": later[: len(later) // 2],
                "emptied": b"",
                "edited": later.replace(b'"serial":7', b'"serial":2'),
                "put back": earlier,
            }[harm]
        )
    with pytest.raises(NotTrustedError) as refusal:
        read_seen(state)
    assert (refusal.value.check, refusal.value.exit_status) == ("downgrade", 3)
    assert "trust.seen.key" in refusal.value.fix
    (tmp_path / "trust.json").write_bytes(TRUST.to_json())
    with pytest.raises(NotTrustedError):  # nor is any trust file read beside it
        read_trust(tmp_path / "trust.json")


def test_attack_37_stopped_while_it_was_written_is_no_attack(tmp_path):
    """The record is written before the number of its change."""
    state = seen_file(tmp_path / "trust.json")
    remember(state, open_bundle(bundle(serial=1), TRUST, NOW))
    key = state.with_suffix(".key").read_bytes()
    remember(state, open_bundle(bundle(serial=2), TRUST, NOW))
    state.with_suffix(".key").write_bytes(key)
    assert [each.serial for each in read_seen(state).bundles[seen_name(policy())]] == [2]
    state.unlink()
    state.with_suffix(".key").write_bytes(key.split()[0] + b" 0\n")
    assert read_seen(state) == Seen()


def test_attack_37_both_files_deleted_is_said():
    """This cannot be told from the first time; so the first time is always said."""
    first = open_bundle(bundle(), TRUST, NOW, seen=Seen())
    sentence = "Nothing of this name was built here before, so an older bundle would not be noticed."
    assert sentence in first.sentences
    assert sentence not in open_bundle(bundle(serial=2), TRUST, NOW, seen=after(bundle())).sentences


def test_attack_38_bundle_made_for_others():
    mine = trust_file(audience="line 4")
    assert checks(bundle(audience=("line 5",)), mine) == ["audience"]
    assert checks(bundle(audience=("line 4", "line 5")), mine) == []
    assert checks(bundle(audience=("line 5",))) == ["audience"]  # here is nobody in particular
    assert checks(bundle(), mine) == []  # made for everybody


def test_trust_file_without_root_keys_is_said_to_be_unsigned():
    sentence = "The trust file is not signed: whoever can write it decides what is trusted."
    assert sentence in open_bundle(bundle(), TRUST, NOW).sentences
    assert sentence not in open_bundle(bundle(), rooted("ruth", threshold=1), NOW).sentences
