"""Private keys that never leave a device or a service: security modules, tokens, key services, by securesystemslib.

Such a key is named by a URI (`hsm:2?label=ada`, `awskms:...`, `gcpkms:...`, `azurekms:...`, `hv:...`), as in
securesystemslib's `Signer.from_priv_key_uri`. What signs needs the extra package that the URI's scheme names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from metainfer_core.bundle.envelope import ED25519_BYTES, encode_base64, key_id
from metainfer_core.bundle.trust import TrustedKey
from metainfer_core.errors import InputError, UnsupportedError

PLAIN_TEXT_SCHEMES = ("file2", "file", "envvar")
"""Schemes whose private key lies somewhere unencrypted."""


class SigningKey(Protocol):
    """What signs, wherever its private key lies."""

    @property
    def public_key(self) -> bytes:
        """The raw bytes of its public half."""

    @property
    def id(self) -> str:
        """What its signatures name."""

    def sign(self, data: bytes) -> bytes:
        """The signature."""


@dataclass(frozen=True, repr=False)
class ExternalKey:
    """A key in a device or a service."""

    uri: str
    public: TrustedKey
    secret: Callable[[str], str]
    """Gives the PIN that the device asks for, named by its argument."""

    @property
    def public_key(self) -> bytes:
        """The raw bytes of its public half."""
        return self.public.raw

    @property
    def id(self) -> str:
        """What its signatures name."""
        return key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The signature; raises UnsupportedError where the device cannot be reached."""
        check_uri(self.uri)
        library = _library()
        scheme = "ed25519" if self.public.algorithm == "ed25519" else "ecdsa-sha2-nistp256"
        kind = "ed25519" if self.public.algorithm == "ed25519" else "ecdsa"
        public = self.public_key.hex() if kind == "ed25519" else _pem(self.public_key)
        try:
            key = library.SSlibKey(self.id, kind, scheme, {"public": public})
            return bytes.fromhex(library.Signer.from_priv_key_uri(self.uri, key, self.secret).sign(data).signature)
        except Exception as error:  # each device and service has errors of its own
            raise UnsupportedError(
                f"{self.uri}: this key cannot sign here.",
                f"{type(error).__name__}: {error}".rstrip(".") + ".",
                "Check that the device is plugged in and its package is installed: "
                'pip install "securesystemslib[hsm]" for a security module or token.',
            ) from error


def check_uri(uri: str) -> None:
    """Refuses a URI that nothing can sign by, and one whose key lies in plain text."""
    scheme = uri.partition(":")[0]
    known = sorted(set(_library().SIGNER_FOR_URI_SCHEME) - set(PLAIN_TEXT_SCHEMES))
    if scheme in PLAIN_TEXT_SCHEMES:
        raise InputError(
            f"{uri}: this key lies in plain text.",
            "Whoever copies it can sign in your name.",
            "Keep it in an encrypted file (`meta-infer keys new`), or in a device or key service.",
        )
    if scheme not in known:
        raise InputError(f"{uri}: nothing signs by such a name.", f"Known: {', '.join(known)}.", "Give one of these.")


def public_key_of_pem(data: bytes, source: str) -> TrustedKey:
    """The public key in a PEM file, as devices and services export it."""
    try:
        key: Any = serialization.load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(
            f"{source}: this is not a public key.", f"{error}.", "Export the public key as PEM (BEGIN PUBLIC KEY)."
        ) from error
    algorithm: Literal["ed25519", "ecdsa-p256"]
    if isinstance(key, Ed25519PublicKey):
        algorithm, raw = "ed25519", key.public_bytes_raw()
    elif isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        algorithm = "ecdsa-p256"
        raw = key.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    else:
        raise InputError(
            f"{source}: this kind of key is not supported.",
            f"It is a {type(key).__name__}; Ed25519 and ECDSA on P-256 are.",
            "Make such a key on the device.",
        )
    return TrustedKey(algorithm=algorithm, public_key=encode_base64(raw))


def _library() -> Any:
    """Slow to import, and needed only where such a key is used."""
    return importlib.import_module("securesystemslib.signer")


def _pem(raw: bytes) -> str:
    assert len(raw) != ED25519_BYTES
    key = EllipticCurvePublicKey.from_encoded_point(SECP256R1(), raw)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_bytes(serialization.Encoding.PEM, form).decode()
