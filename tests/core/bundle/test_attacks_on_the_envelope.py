"""Attacks 01 to 16: on the bytes, the signatures and the keys."""

import json
from base64 import b64decode, b64encode

import pytest
from attack_rig import TRUST, bad_input, changed, checks, signature_changed, signed_anew
from bundle_maker import (
    ACTIONS,
    approval,
    bundle,
    person,
    private_key,
    public_key,
    sign,
    statement,
    trust_file,
)
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.hashes import SHA256

from metainfer_core.bundle.envelope import (
    PAYLOAD_TYPE,
    encode_base64,
    envelope_from_plain,
    key_id,
    pre_authentication_encoding,
    verify,
)
from metainfer_core.bundle.trust import Person, Quorum, TrustedKey, TrustFile
from metainfer_core.errors import InputError
from metainfer_core.values import canonical_json

GOOD = bundle()
PLAIN = json.loads(GOOD)
ORDER = 2**252 + 27742317777372353535851937790883648493
"""Order of Ed25519's base point (RFC 8032)."""


def test_the_bundle_that_the_attacks_start_from_is_trusted():
    assert checks(GOOD) == []


def test_attack_01_any_byte_of_payload_or_signature_flipped():
    payload, signature = b64decode(PLAIN["payload"]), b64decode(PLAIN["signatures"][0]["sig"])
    for data, place in ((payload, "payload"), (signature, "sig")):
        for offset in range(len(data)):
            flipped = encode_base64(data[:offset] + bytes([data[offset] ^ 1]) + data[offset + 1 :])
            entry = PLAIN["signatures"][0] | ({"sig": flipped} if place == "sig" else {})
            envelope = PLAIN | {"signatures": [entry]} | ({"payload": flipped} if place == "payload" else {})
            assert verify(envelope_from_plain(envelope, "x"), TRUST.public_keys) == (None,), (place, offset)
    middle = len(payload) // 2
    flipped = payload[:middle] + bytes([payload[middle] ^ 1]) + payload[middle + 1 :]
    assert checks(changed(GOOD, payload=encode_base64(flipped))) == ["tampered"]
    for bit in range(8 * len(signature)):
        flipped = bytes(each ^ (1 << bit % 8 if at == bit // 8 else 0) for at, each in enumerate(signature))
        assert checks(signature_changed(GOOD, sig=encode_base64(flipped))) == ["tampered"], bit


def test_attack_02_payload_type_changed():
    assert checks(changed(GOOD, payloadType="application/json")) == ["wrong_type"]
    assert checks(sign(statement().to_json(), "ada", payload_type="application/json").to_json()) == ["wrong_type"]
    other = sign(statement().to_json(), "ada", payload_type="application/json").plain()
    assert checks(canonical_json(other | {"payloadType": PAYLOAD_TYPE})) == ["tampered"]


def test_attack_03_right_signature_over_another_kind_of_statement():
    assert checks(canonical_json(approval("ada", *ACTIONS))) == ["wrong_type"]
    assert checks(signed_anew(lambda plain: plain.update(predicateType="https://slsa.dev/provenance/v1"))) == [
        "wrong_type"
    ]
    whole_as_approval = sign(statement().to_json(), "bob").plain()
    assert checks(bundle([whole_as_approval])) == ["missing_approval"]
    assert checks(bundle([whole_as_approval, approval("bob", *ACTIONS)])) == []


def test_attack_04_signatures_missing_empty_or_doubled():
    assert checks(changed(GOOD, signatures=[])) == ["unsigned"]
    bad_input(canonical_json({key: value for key, value in PLAIN.items() if key != "signatures"}), "signatures")
    assert checks(signature_changed(GOOD, sig="")) == ["tampered"]
    two = trust_file(person("ada", "releaser"), person("bob"), person("eve", "releaser"), quorum=Quorum(release=2))
    assert checks(changed(GOOD, signatures=PLAIN["signatures"] * 2), two) == ["quorum"]
    bad_input(changed(GOOD, signatures=PLAIN["signatures"] * 65), "at most 64")


def test_attack_05_key_id_swapped_absent_or_null():
    assert checks(signature_changed(GOOD, keyid=key_id(public_key("bob")))) == ["tampered"]
    assert checks(signature_changed(GOOD, keyid="sha256:" + 64 * "0")) == ["unknown_key"]
    assert checks(signature_changed(GOOD, keyid=None)) == []  # a hint only: who signed is found by trying
    null = json.loads(GOOD)
    null["signatures"][0]["keyid"] = None
    assert checks(canonical_json(null)) == []
    mallory = signature_changed(bundle(signers=("mallory",)), keyid=key_id(public_key("ada")))
    assert checks(mallory) == ["tampered"]


def test_attack_06_same_key_under_two_ids():
    alias = Person(id="ada2", roles=("releaser",), keys=TRUST.people[0].keys)
    with pytest.raises(InputError, match=r"public key .* twice"):
        TrustFile.from_plain({"people": [TRUST.people[0].plain(), alias.plain()]}, "trust.json")
    two = trust_file(person("ada", "releaser"), person("bob"), person("eve", "releaser"), quorum=Quorum(release=2))
    nameless = {"sig": PLAIN["signatures"][0]["sig"]}
    assert checks(changed(GOOD, signatures=[PLAIN["signatures"][0], nameless]), two) == ["quorum"]
    point = ec.generate_private_key(ec.SECP256R1()).public_key()
    form = serialization.PublicFormat
    long = point.public_bytes(serialization.Encoding.X962, form.UncompressedPoint)
    short = point.public_bytes(serialization.Encoding.X962, form.CompressedPoint)
    hybrid = bytes([6 + long[-1] % 2]) + long[1:]
    for other in (short, hybrid):  # other spellings of one point would be other ids
        with pytest.raises(InputError, match="ecdsa-p256"):
            TrustedKey.from_plain({"algorithm": "ecdsa-p256", "public_key": encode_base64(other)})
    assert TrustedKey(algorithm="ecdsa-p256", public_key=encode_base64(long)).raw == long


def test_attack_07_same_person_with_two_keys():
    keys = tuple(TrustedKey(public_key=encode_base64(public_key(name))) for name in ("ada", "ada's phone"))
    ada = Person(id="ada", roles=("releaser",), keys=keys)
    two = trust_file(ada, person("bob"), person("eve", "releaser"), quorum=Quorum(release=2))
    assert checks(bundle(signers=("ada", "ada's phone")), two) == ["quorum"]
    assert checks(bundle(signers=("ada", "eve")), two) == []
    with pytest.raises(InputError, match=r"person ada .* twice"):
        TrustFile.from_plain({"people": [ada.plain(), ada.plain() | {"keys": []}]}, "trust.json")
    phone = TrustedKey(public_key=encode_base64(public_key("bob's phone")))
    bob = Person(id="bob", roles=("reviewer",), keys=(*person("bob").keys, phone))
    high = trust_file(person("ada", "releaser"), bob, person("eve"), quorum=Quorum(high=2))
    first, again = approval("bob", *ACTIONS), approval("bob", *ACTIONS, signer="bob's phone")
    assert checks(bundle([first, again]), high) == ["quorum"]
    assert checks(bundle([again, approval("eve", *ACTIONS)]), high) == []


@pytest.mark.parametrize("threshold", [0, -1, 101])
def test_attack_08_threshold_of_nobody_or_more_than_there_are(threshold):
    for risk in ("low", "medium", "high", "release"):
        with pytest.raises(InputError, match=f"quorum.{risk}") as refusal:
            TrustFile.from_plain({"quorum": {risk: threshold}}, "trust.json")
        assert refusal.value.exit_status == 2
    root = {"keys": [{"public_key": encode_base64(public_key("ada"))}], "threshold": threshold}
    with pytest.raises(InputError, match="root"):
        TrustFile.from_plain({"root": root}, "trust.json")
    assert checks(GOOD, trust_file(quorum=Quorum(low=100))) == ["quorum"]  # more than there are: nothing passes


@pytest.mark.parametrize("place", ["payload", "sig"])
@pytest.mark.parametrize("variant", ["url-safe", "no padding", "line end", "space", "trailing bits", "not text"])
def test_attack_09_other_spellings_of_base64(variant, place):
    raw = b"\xfb\xff" + b64decode(PLAIN["signatures"][0]["sig"])[2:]
    text = b64encode(raw).decode()
    last = "BCDEFGHIJKLMNOPQ"
    spelled = {
        "url-safe": text.replace("+", "-").replace("/", "_"),
        "no padding": text.rstrip("="),
        "line end": text[:40] + "\n" + text[40:],
        "space": text + " ",
        "trailing bits": text[:-3] + chr(ord(text[-3]) + 1 if text[-3] in last else ord("B")) + "==",
        "not text": 7,
    }[variant]
    assert spelled != text
    data = changed(GOOD, payload=spelled) if place == "payload" else signature_changed(GOOD, sig=spelled)
    bad_input(data, f"(?s){place}.*base64")


def test_attack_10_key_twice_in_the_json():
    bad_input(GOOD[:-1] + b',"payload":"AAAA"}', "twice")
    double = statement().to_json()[:-1] + b',"predicateType":"urn:metainfer:release:1"}'
    assert checks(sign(double, "ada").to_json()) == ["malformed"]


def test_attack_11_unknown_fields():
    assert checks(changed(GOOD, comment="nobody reads this")) == []  # the protocol asks to pass over these
    assert checks(signature_changed(GOOD, comment="nobody reads this")) == []
    for change in (
        lambda plain: plain.update(extra=1),
        lambda plain: plain["predicate"].update(extra=1),
        lambda plain: plain["predicate"]["policy"]["actions"][0].update(extra=1),
        lambda plain: plain["predicate"]["actions"][0].update(extra=1),
    ):
        assert checks(signed_anew(change)) == ["malformed"]
    for place in (("predicate",), ("predicate", "actions", 0), ()):
        inner = whole = json.loads(b64decode(approval("bob", *ACTIONS)["payload"]))
        for step in place:
            inner = inner[step]
        inner["extra"] = 1
        assert checks(bundle([sign(canonical_json(whole), "bob").plain()])) == ["missing_approval"]


def test_attack_12_huge_and_deeply_nested_json():
    bad_input(b" " * (64 * 1024 * 1024 + 1), "too large")
    bad_input(b'{"payloadType":' + b"[" * 200_000, "nested too deeply")
    assert checks(sign(b"[" * 200_000, "ada").to_json()) == ["malformed"]
    assert checks(sign(b'{"predicateType":' + b"9" * 5000 + b"}", "ada").to_json()) == ["malformed"]


def test_attack_13_bogus_signatures_before_the_good_one():
    bogus = json.loads(bundle(signers=("mallory",)))["signatures"] * 63
    assert checks(changed(GOOD, signatures=bogus + PLAIN["signatures"])) == []
    assert checks(changed(GOOD, signatures=bogus)) == ["unknown_key"]


def test_attack_14_payload_that_is_not_canonical():
    for spelled in (
        json.dumps(json.loads(statement().to_json())).encode(),
        statement().to_json() + b"\n",
        statement().to_json().replace(b'"serial":1', b'"serial":1.0'),
        statement().to_json().replace(b"conv_0", b"\\u0063onv_0", 1),
    ):
        assert checks(sign(spelled, "ada").to_json()) == ["malformed"]


def test_attack_15_malleable_signature_and_key_of_small_order():
    raw = b64decode(PLAIN["signatures"][0]["sig"])
    scalar = int.from_bytes(raw[32:], "little") + ORDER
    assert checks(signature_changed(GOOD, sig=encode_base64(raw[:32] + scalar.to_bytes(32, "little")))) == ["tampered"]
    identity = (1).to_bytes(32, "little")
    with pytest.raises(InputError, match="small order"):
        TrustFile.from_plain(
            {"people": [{"id": "eve", "roles": ["releaser"], "keys": [{"public_key": encode_base64(identity)}]}]}
        )


def test_attack_16_key_of_one_algorithm_used_as_another():
    """The algorithm comes from the trust file and the key's own form, never from the envelope."""
    p256 = ec.generate_private_key(ec.SECP256R1())
    x962 = p256.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    rsa_key = rsa.generate_private_key(65537, 2048).public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    for algorithm, raw in (
        ("ed25519", x962),
        ("ed25519", x962[:33]),
        ("ecdsa-p256", public_key("ada")),
        ("ecdsa-p256", x962[:33]),
        ("ecdsa-p256", b"\x04" + bytes(64)),
        ("ecdsa-p256", rsa_key.public_bytes(serialization.Encoding.DER, form)),
    ):
        key = {"algorithm": algorithm, "public_key": encode_base64(raw)}
        with pytest.raises(InputError, match="has "):
            TrustFile.from_plain({"people": [{"id": "eve", "roles": ["releaser"], "keys": [key]}]})
    with pytest.raises(InputError, match="algorithm"):
        TrustFile.from_plain(
            {"people": [{"id": "eve", "roles": [], "keys": [{"algorithm": "rsa", "public_key": "AAAA"}]}]}
        )
    key = TrustedKey(algorithm="ecdsa-p256", public_key=encode_base64(x962))
    eve = Person(id="eve", roles=("releaser",), keys=(key,))
    trust = trust_file(eve, person("bob"))
    signed = pre_authentication_encoding(PAYLOAD_TYPE, statement().to_json())
    right = p256.sign(signed, ec.ECDSA(SHA256()))
    wrong = Ed25519PrivateKey.from_private_bytes(private_key("ada").private_bytes_raw()).sign(signed)
    assert checks(signature_changed(GOOD, sig=encode_base64(right), keyid=key.id), trust) == []
    assert checks(signature_changed(GOOD, sig=encode_base64(wrong), keyid=key.id), trust) == ["tampered"]
