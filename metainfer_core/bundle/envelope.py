"""DSSE envelope v1: signatures over exact bytes, which are verified before anything in them is parsed.

Protocol: github.com/secure-systems-lab/dsse, protocol.md v1.0.2. The file is plain DSSE, so other tools verify it too.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256

from metainfer_core.errors import InputError
from metainfer_core.files import MEBIBYTE
from metainfer_core.values import canonical_json, read_json, sha256

PAYLOAD_TYPE = "application/vnd.in-toto+json"
ENVELOPE_LIMIT_BYTES = 64 * MEBIBYTE
SIGNATURES_LIMIT = 64
ED25519_BYTES, P256_BYTES = 32, 65


@dataclass(frozen=True)
class Signature:
    """One signature as the envelope states it. The key id is a hint only: nobody vouches for it."""

    key_id: str | None
    signature: bytes


@dataclass(frozen=True)
class Envelope:
    """Signed bytes, not yet verified: nothing may look into `payload` before `verify` named a signer."""

    payload_type: str
    payload: bytes
    signatures: tuple[Signature, ...]

    def to_json(self) -> bytes:
        """The envelope as its file holds it."""
        return canonical_json(self.plain())

    def plain(self) -> dict[str, object]:
        """The envelope as JSON data."""
        return {
            "payloadType": self.payload_type,
            "payload": encode_base64(self.payload),
            "signatures": [
                ({} if each.key_id is None else {"keyid": each.key_id}) | {"sig": encode_base64(each.signature)}
                for each in self.signatures
            ],
        }


def pre_authentication_encoding(payload_type: str, payload: bytes) -> bytes:
    """The bytes that a signature covers: the type too, so that one kind of statement never passes as another."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def load_public_key(algorithm: str, raw: bytes) -> Ed25519PublicKey | EllipticCurvePublicKey:
    """The key in its raw bytes; raises InputError if they are none of this algorithm."""
    try:
        if algorithm == "ed25519":
            return Ed25519PublicKey.from_public_bytes(raw)
        if len(raw) == P256_BYTES:
            return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), raw)
        problem = f"{P256_BYTES} bytes, not {len(raw)}"
    except ValueError as error:
        problem = f"the right bytes ({error})"
    raise InputError("This is not a public key.", f"A key for {algorithm} has {problem}.", "Export the key again.")


def key_id(public_key: bytes) -> str:
    """Name of a public key: the digest of its raw bytes, so that one key cannot have two names."""
    return sha256(public_key)


def read_signed_file(data: bytes, source: str) -> Any:
    """The JSON of a file that may be signed, of limited size; raises InputError. Verifies nothing."""
    if len(data) > ENVELOPE_LIMIT_BYTES:
        raise InputError(
            f"{source}: too large for a signed file.",
            f"It has {len(data):,} bytes; at most {ENVELOPE_LIMIT_BYTES:,} are read.",
            "Give the bundle that `meta-infer sign` wrote.",
        )
    return read_json(data, source)


def envelope_from_plain(plain: object, source: str) -> Envelope:
    """The envelope in parsed JSON data. Unknown fields are passed over, as the protocol asks; nothing reads them."""
    if not isinstance(plain, dict):
        raise _not_an_envelope(source, "it is not a JSON object")
    payload_type, signatures = plain.get("payloadType"), plain.get("signatures")
    if not isinstance(payload_type, str):
        raise _not_an_envelope(source, "`payloadType` is missing or not a text")
    if not isinstance(signatures, list | tuple) or len(signatures) > SIGNATURES_LIMIT:
        raise _not_an_envelope(source, f"`signatures` is not a list of at most {SIGNATURES_LIMIT} signatures")
    return Envelope(
        payload_type,
        decode_base64(plain.get("payload"), f"{source}: payload"),
        tuple(_signature(each, f"{source}: signatures.{index}") for index, each in enumerate(signatures)),
    )


def is_envelope(plain: object) -> bool:
    """Whether parsed JSON data claims to be signed: how a bundle is told from a plain policy."""
    return isinstance(plain, dict) and "payloadType" in plain


def verify(envelope: Envelope, public_keys: Iterable[bytes]) -> tuple[bytes | None, ...]:
    """For each signature, the raw public key that made it, or None. All of them are looked at, whatever is enough.

    A signature that names a key must be by that very key; one that names none is tried with every key.
    """
    keys = {key_id(each): each for each in public_keys}
    signed = pre_authentication_encoding(envelope.payload_type, envelope.payload)
    return tuple(_signer(each, keys, signed) for each in envelope.signatures)


def _signer(signature: Signature, keys: dict[str, bytes], signed: bytes) -> bytes | None:
    if signature.key_id is None:
        candidates = list(keys.values())
    else:
        candidates = [keys[signature.key_id]] if signature.key_id in keys else []
    return next((each for each in candidates if _fits(each, signature.signature, signed)), None)


def _fits(public_key: bytes, signature: bytes, signed: bytes) -> bool:
    """Whether the key made the signature. Its length says what it is for: the two algorithms share none."""
    algorithm = "ed25519" if len(public_key) == ED25519_BYTES else "ecdsa-p256"
    key = load_public_key(algorithm, public_key)
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, signed)
        else:
            key.verify(signature, signed, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _signature(plain: object, place: str) -> Signature:
    if not isinstance(plain, dict):
        raise _not_an_envelope(place, "it is not a JSON object")
    named = plain.get("keyid")
    if named is not None and not isinstance(named, str):
        raise _not_an_envelope(place, "`keyid` is not a text")
    return Signature(named, decode_base64(plain.get("sig"), f"{place}.sig"))


def encode_base64(data: bytes) -> str:
    """Standard base64 with padding."""
    return base64.b64encode(data).decode("ascii")


def decode_base64(text: object, place: str) -> bytes:
    """Bytes of standard base64 in its one canonical spelling: the same bytes never have two texts."""
    if not isinstance(text, str):
        raise _not_an_envelope(place, "base64 text is missing")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, ValueError) as error:
        raise _not_an_envelope(place, f"this is not standard base64 ({error})") from error
    if encode_base64(data) != text:
        raise _not_an_envelope(place, "this is not the canonical spelling of its base64")
    return data


def _not_an_envelope(place: str, why: str) -> InputError:
    return InputError(
        f"{place}: this is not a signed envelope.",
        f"In it, {why}.",
        "Give the bundle that `meta-infer sign` wrote, unchanged.",
    )
