import json

import pytest
from bundle_maker import private_key, public_key, sign

from metainfer_core.bundle.envelope import (
    ENVELOPE_LIMIT_BYTES,
    PAYLOAD_TYPE,
    Envelope,
    Signature,
    decode_base64,
    envelope_from_plain,
    is_envelope,
    key_id,
    pre_authentication_encoding,
    read_signed_file,
    verify,
)
from metainfer_core.errors import InputError

ADA, BOB = public_key("ada"), public_key("bob")


def test_encoding_is_that_of_the_protocol_document():
    # test vector of protocol.md, v1.0.2
    encoded = pre_authentication_encoding("http://example.com/HelloWorld", b"hello world")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_length_is_counted_in_bytes():
    assert pre_authentication_encoding("é", b"") == "DSSEv1 2 é 0 ".encode()


def test_round_trip_keeps_everything():
    envelope = sign(b"payload", "ada", "bob")
    assert envelope_from_plain(json.loads(envelope.to_json()), "file") == envelope


def test_every_signature_is_looked_at_whatever_stands_before_it():
    good = sign(b"payload", "ada").signatures[0]
    bogus = Signature(key_id(ADA), bytes(64))
    envelope = Envelope(PAYLOAD_TYPE, b"payload", (bogus, Signature("nobody", b"x"), good))
    assert verify(envelope, [ADA, BOB]) == (None, None, ADA)


def test_signature_without_key_id_is_tried_with_every_key():
    envelope = sign(b"payload", "bob")
    unnamed = Envelope(PAYLOAD_TYPE, b"payload", (Signature(None, envelope.signatures[0].signature),))
    assert verify(unnamed, [ADA, BOB]) == (BOB,)
    assert verify(unnamed, [ADA]) == (None,)


def test_signature_that_names_another_key_does_not_count():
    envelope = sign(b"payload", "bob")
    misnamed = Envelope(PAYLOAD_TYPE, b"payload", (Signature(key_id(ADA), envelope.signatures[0].signature),))
    assert verify(misnamed, [ADA, BOB]) == (None,)


def test_type_is_signed_too():
    signature = private_key("ada").sign(pre_authentication_encoding("application/other", b"payload"))
    envelope = Envelope(PAYLOAD_TYPE, b"payload", (Signature(key_id(ADA), signature),))
    assert verify(envelope, [ADA]) == (None,)


def test_one_key_listed_twice_is_one_key():
    assert verify(sign(b"payload", "ada"), [ADA, ADA]) == (ADA,)


def test_malleable_signature_is_refused():
    order = 2**252 + 27742317777372353535851937790883648493  # RFC 8032: S must be below the group's order
    signature = sign(b"payload", "ada").signatures[0].signature
    larger = int.from_bytes(signature[32:], "little") + order
    other = signature[:32] + larger.to_bytes(32, "little")
    assert verify(Envelope(PAYLOAD_TYPE, b"payload", (Signature(None, other),)), [ADA]) == (None,)


@pytest.mark.parametrize("length", [0, 1, 63, 65, 1000])
def test_signature_of_wrong_length_is_refused(length):
    assert verify(Envelope(PAYLOAD_TYPE, b"payload", (Signature(None, bytes(length)),)), [ADA]) == (None,)


@pytest.mark.parametrize(
    "text",
    ["YQ", "YQ=", "YR==", "Y Q==", "YQ==\n", "_-8=", "YQ==YQ==", "é", "====", None, 7],
    ids=["no padding", "short padding", "trailing bits", "space", "newline", "url-safe", "twice", "unicode", "only =",
         "null", "number"],
)  # fmt: skip
def test_only_canonical_base64_is_read(text):
    with pytest.raises(InputError, match="not a signed envelope"):
        decode_base64(text, "file")
    assert decode_base64("YQ==", "file") == b"a"


@pytest.mark.parametrize(
    "plain",
    [
        [],
        {},
        {"payloadType": 1, "payload": "", "signatures": []},
        {"payloadType": PAYLOAD_TYPE, "payload": "", "signatures": {}},
        {"payloadType": PAYLOAD_TYPE, "payload": "", "signatures": [1]},
        {"payloadType": PAYLOAD_TYPE, "payload": "", "signatures": [{"sig": 1}]},
        {"payloadType": PAYLOAD_TYPE, "payload": "", "signatures": [{"keyid": 1, "sig": ""}]},
        {"payloadType": PAYLOAD_TYPE, "payload": "", "signatures": [{"sig": ""}] * 65},
    ],
)
def test_wrong_shapes_are_named(plain):
    with pytest.raises(InputError, match="not a signed envelope"):
        envelope_from_plain(plain, "file")


def test_unknown_fields_are_passed_over_as_the_protocol_asks():
    plain = sign(b"payload", "ada").plain()
    plain["extension"] = {"deep": [1]}
    plain["signatures"][0]["cert"] = "x"
    assert verify(envelope_from_plain(plain, "file"), [ADA]) == (ADA,)


def test_duplicate_keys_are_refused():
    data = sign(b"payload", "ada").to_json()[:-1] + b',"payload":"YQ=="}'
    with pytest.raises(InputError, match="stands twice"):
        read_signed_file(data, "file")


def test_too_large_and_too_deep_files_are_refused():
    with pytest.raises(InputError, match="too large"):
        read_signed_file(b" " * (ENVELOPE_LIMIT_BYTES + 1), "file")
    with pytest.raises(InputError, match="nested too deeply"):
        read_signed_file(b"[" * 500_000, "file")


def test_bundle_is_told_from_policy_by_content():
    assert is_envelope(sign(b"payload", "ada").plain())
    assert not is_envelope({"version": "1.2", "actions": []})
    assert not is_envelope([])
