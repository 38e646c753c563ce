"""A trust file that root keys sign, keys in devices, and revocation by place in the record."""

import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from review_maker import AT, MODEL, POLICY, RULES, SPEC, TRUST, UNTIL, approve_all, private_key, trust_file
from securesystemslib.signer import SIGNER_FOR_URI_SCHEME, Signature, Signer

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.seen import seen_file
from metainfer_core.bundle.signed_bundle import inspect_bundle, open_bundle
from metainfer_core.bundle.trust import Person, TrustFile
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import InputError, NotTrustedError, UnsupportedError
from review_store.signing.external_keys import ExternalKey, check_uri, public_key_of_pem
from review_store.signing.keys import PublicKeyFile, public_key_file
from review_store.signing.signing import release, sign_approvals
from review_store.signing.trust_edit import (
    editable_trust,
    pending_path,
    revoke,
    sign_trust,
    with_key,
    with_root,
    write_trust,
)

EXPECTED = Expected(MODEL, SPEC, RULES)


def pub(name):
    return public_key_file(name, private_key(name))


@pytest.fixture
def path(tmp_path):
    """A trust file whose changes two of three root keys sign."""
    found = tmp_path / "trust.json"
    first = with_root(TrustFile(), [pub("ruth"), pub("rolf"), pub("rita")], 2)
    assert write_trust(found, first).missing == 2
    assert sign_trust(found, private_key("ruth")).missing == 1
    assert not found.exists()
    assert sign_trust(found, private_key("ruth")).missing == 1  # once more by the same key is once
    assert sign_trust(found, private_key("rita")).missing == 0
    return found


def test_a_change_waits_until_enough_root_keys_signed_it(path):
    assert read_trust(path).version == 2
    written = write_trust(path, with_key(editable_trust(path), pub("ada"), ("releaser",), chips=("rk3588",)))
    assert (written.path, written.missing) == (pending_path(path), 2)
    write_trust(path, with_key(editable_trust(path), pub("bob"), ("reviewer",), max_risk="medium"))
    assert read_trust(path).people == ()
    sign_trust(path, private_key("rolf"))
    assert sign_trust(path, private_key("ruth")).path == path
    now = read_trust(path)
    assert now.version == 3
    assert [(each.id, each.chips, each.max_risk) for each in now.people] == [
        ("ada", ("rk3588",), "high"),
        ("bob", (), "medium"),
    ]
    assert not pending_path(path).exists()


def test_strangers_sign_nothing_and_nothing_waits_twice(path):
    with pytest.raises(InputError, match="waits to be signed"):
        sign_trust(path, private_key("ruth"))
    write_trust(path, with_key(editable_trust(path), pub("ada"), ("releaser",)))
    with pytest.raises(NotTrustedError, match="no root key"):
        sign_trust(path, private_key("ada"))


def test_edited_by_hand_it_is_refused(path):
    plain = json.loads(path.read_bytes())
    path.write_bytes(json.dumps(plain | {"signatures": plain["signatures"][:1]}).encode())
    with pytest.raises(NotTrustedError) as refusal:
        read_trust(path)
    assert (refusal.value.check, refusal.value.why) == (
        "trust_root",
        "1 of the root keys that this machine knows signed it; 2 must.",
    )
    seen_file(path).unlink()
    seen_file(path).with_suffix(".key").unlink()
    with pytest.raises(NotTrustedError, match="1 of its own root keys signed it; 2 must"):  # by its own word alone
        read_trust(path)


def test_where_root_keys_took_effect_others_and_older_versions_are_refused_from_then_on(path):
    old = path.read_bytes()
    write_trust(path, with_root(editable_trust(path), [pub("nina"), pub("nora")], 2))
    sign_trust(path, private_key("nina"))
    sign_trust(path, private_key("nora"))
    put_in_place = pending_path(path).read_bytes()
    path.write_bytes(put_in_place)  # signed by its new keys alone
    with pytest.raises(NotTrustedError) as refusal:
        read_trust(path)
    assert refusal.value.check == "trust_root"
    path.write_bytes(old)
    sign_trust(path, private_key("ruth"))
    assert sign_trust(path, private_key("rita")).missing == 0
    assert read_trust(path).version == 3
    write_trust(path, with_key(editable_trust(path), pub("ada"), ("releaser",)))
    before = path.read_bytes()
    sign_trust(path, private_key("nina"))
    assert sign_trust(path, private_key("nora")).missing == 0
    path.write_bytes(before)  # its root keys signed it, once
    with pytest.raises(NotTrustedError) as refusal:
        read_trust(path)
    assert (refusal.value.check, refusal.value.why) == ("downgrade", "It has version 3; version 4 was used before.")


def test_thresholds_that_nobody_reaches_are_refused():
    for threshold in (0, 3):
        with pytest.raises(InputError, match="can never sign"):
            with_root(TrustFile(), [pub("ruth"), pub("rolf")], threshold)
    with pytest.raises(InputError, match="twice"):
        with_root(TrustFile(), [pub("ruth"), pub("ruth")], 2)


def test_what_was_signed_before_the_theft_still_counts_and_nothing_else(log):
    """The thief claims an earlier time; the record tells which bytes were there before."""
    approve_all(log, POLICY, "ada")
    good = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL).bundle
    stolen_from = log.head().seq + 1
    forged = release(log, POLICY, TRUST, private_key("ada"), "2026-11-01T00:00:00Z", UNTIL).bundle
    gone, keys = revoke(TRUST, "ada", AT, "stolen", log.records(), stolen_from)
    assert keys == (private_key("ada").id,)
    assert open_bundle(good, gone, AT, EXPECTED).reviewers.keys() == {each.id for each in POLICY.actions}
    assert [each.check for each in inspect_bundle(forged, gone, AT, EXPECTED).reasons] == ["revoked_key"]
    all_gone, _ = revoke(TRUST, "ada", AT, "stolen")
    assert [each.check for each in inspect_bundle(good, all_gone, AT, EXPECTED).reasons] == ["revoked_key"]


def test_a_reviewers_signature_before_the_theft_counts_too(log):
    approve_all(log, POLICY, "bob")
    sign_approvals(log, POLICY, TRUST, private_key("bob"), AT)
    made = release(log, POLICY, TRUST, private_key("ada"), AT, UNTIL).bundle
    kept, _ = revoke(TRUST, "bob", AT, "left", log.records(), log.head().seq)
    assert open_bundle(made, kept, AT, EXPECTED)
    lost, _ = revoke(TRUST, "bob", AT, "left", log.records(), 2)
    assert [each.check for each in inspect_bundle(made, lost, AT, EXPECTED).reasons] == ["revoked_key"]


class Device(Signer):
    """A signer with the interface of securesystemslib's; its key is made anew for each test and lies in memory."""

    key = ec.generate_private_key(ec.SECP256R1())
    pin = "1234"

    def __init__(self, public_key):
        self.public = public_key

    @property
    def public_key(self):
        return self.public

    @classmethod
    def from_priv_key_uri(cls, uri, public_key, secrets_handler=None):
        assert uri == "device:2?label=ada"
        if secrets_handler("PIN") != cls.pin:
            raise OSError("the PIN is wrong")
        return cls(public_key)

    def sign(self, payload):
        return Signature(self.public.keyid, self.key.sign(payload, ec.ECDSA(SHA256())).hex())


@pytest.fixture
def device(monkeypatch):
    monkeypatch.setitem(SIGNER_FOR_URI_SCHEME, "device", Device)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    pem = Device.key.public_key().public_bytes(serialization.Encoding.PEM, form)
    return public_key_of_pem(pem, "ada.pem")


def test_a_key_in_a_device_signs_approvals_and_bundles(log, device):
    assert device.algorithm == "ecdsa-p256"
    people = (Person(id="ada", roles=("reviewer", "releaser"), keys=(device,)),)
    trust = trust_file(*people)
    key = ExternalKey("device:2?label=ada", device, lambda what: {"PIN": "1234"}[what])
    approve_all(log, POLICY, "ada", trust=trust)
    made = release(log, POLICY, trust, key, AT, UNTIL)
    assert open_bundle(made.bundle, trust, AT, EXPECTED).releasers == ("ada",)
    assert PublicKeyFile(person="ada", key=device, signer=key.uri).plain()["signer"] == "device:2?label=ada"


def test_a_device_that_does_not_answer_is_said_in_one_message(device):
    with pytest.raises(UnsupportedError, match="cannot sign here") as refusal:
        ExternalKey("device:2?label=ada", device, lambda _: "0000").sign(b"data")
    assert refusal.value.why == "OSError: the PIN is wrong."
    with pytest.raises(UnsupportedError, match="securesystemslib"):
        ExternalKey("hsm:2", device, lambda _: "0000").sign(b"data")  # nothing is plugged in here


@pytest.mark.parametrize("uri", ["file2:/home/ada/key.pem", "file:key.pem", "envvar:KEY"])
def test_keys_in_plain_text_are_refused(uri, device):
    with pytest.raises(InputError, match="plain text"):
        check_uri(uri)
    with pytest.raises(InputError, match="plain text"):
        ExternalKey(uri, device, str).sign(b"data")


def test_unknown_signers_and_other_kinds_of_keys_are_refused():
    with pytest.raises(InputError, match="nothing signs"):
        check_uri("nothing:1")
    other = ec.generate_private_key(ec.SECP384R1()).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    with pytest.raises(InputError, match="kind of key"):
        public_key_of_pem(other.public_bytes(serialization.Encoding.PEM, form), "ada.pem")
    with pytest.raises(InputError, match="not a public key"):
        public_key_of_pem(b"junk", "ada.pem")


def test_a_revoked_key_is_not_trusted_again():
    gone, _ = revoke(TRUST, "ada", AT, "stolen")
    with pytest.raises(InputError, match="was revoked and is not trusted again"):
        with_key(gone, pub("ada"), ("reviewer",))


def test_one_key_under_two_names_and_one_name_for_two_people():
    copied = PublicKeyFile(person="carl", key=pub("ada").key)
    with pytest.raises(InputError, match="carl: this is the key of ada"):
        with_key(TRUST, copied, ("reviewer",))
    named = with_key(TRUST, pub("ada"), ("reviewer",), "Ada L.")
    with pytest.raises(InputError, match="ada has this name already"):
        with_key(named, pub("eve"), ("reviewer",), "ＡDA  l.")
    assert with_key(named, pub("ada"), ("reviewer",), "ada l.").people[0].name == "ada l."


def test_root_keys_are_given_once_and_chips_have_names():
    with pytest.raises(InputError, match="ruth: this root key is given twice"):
        with_root(TRUST, [pub("ruth"), pub("rolf"), pub("ruth")], 2)
    with pytest.raises(InputError, match="the chip has no name"):
        with_key(TRUST, pub("eve"), ("reviewer",), chips=("",))


def test_a_revocation_names_an_event_that_the_record_has(log):
    events = log.records()
    assert revoke(TRUST, "ada", AT, "stolen", events, len(events) + 1)[1]
    for wrong in (len(events) + 2, 0, -5):
        with pytest.raises(InputError, match=f"--since {wrong}: the record has no such event"):
            revoke(TRUST, "ada", AT, "stolen", events, wrong)
