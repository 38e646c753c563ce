"""Private keys on their owner's disk: Ed25519 in PKCS#8, always encrypted, readable by the owner alone."""

from __future__ import annotations

import importlib
import os
import secrets
from dataclasses import dataclass
from hashlib import scrypt
from pathlib import Path
from typing import Any, Literal

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import padding, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from metainfer_core.bundle.envelope import encode_base64, key_id
from metainfer_core.bundle.trust import PersonId, TrustedKey
from metainfer_core.errors import InputError, UnsupportedError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.values import Value

KEY_LIMIT_BYTES = 1 << 16
PASSPHRASE_LEAST = 8
SCRYPT_N, SCRYPT_R, SCRYPT_P = 1 << 14, 8, 5
"""As strong as N = 2^17, p = 1 (RFC 7914), within the 32 MiB that OpenSSL allows."""


class PublicKeyFile(Value):
    """What a person hands to whoever keeps the trust file."""

    format: Literal["metainfer.public_key/1"] = "metainfer.public_key/1"
    person: PersonId
    key: TrustedKey
    signer: str = ""
    """URI of the device or service that holds the private key; empty: an encrypted file does."""


@dataclass(frozen=True, repr=False)
class PrivateKey:
    """An unlocked key. It lives as long as one command and is never written anywhere as it is."""

    key: Ed25519PrivateKey

    @property
    def public_key(self) -> bytes:
        """The 32 raw bytes of its public half."""
        return self.key.public_key().public_bytes_raw()

    @property
    def id(self) -> str:
        """What its signatures name."""
        return key_id(self.public_key)

    def sign(self, data: bytes) -> bytes:
        """The 64 bytes of the signature."""
        return self.key.sign(data)


def new_key() -> PrivateKey:
    """A fresh key."""
    return PrivateKey(Ed25519PrivateKey.generate())


def public_key_file(person: str, key: PrivateKey) -> PublicKeyFile:
    """The public half, with whose it is."""
    return PublicKeyFile(person=person, key=TrustedKey(public_key=encode_base64(key.public_key)))


def write_key(path: Path, key: PrivateKey, passphrase: str) -> None:
    """Writes the key, encrypted, mode 0600; never over an existing file."""
    if len(passphrase) < PASSPHRASE_LEAST:
        raise InputError(
            "The passphrase is too short.",
            f"It has {len(passphrase)} characters; at least {PASSPHRASE_LEAST} are needed.",
            "Choose a longer one, such as a few words.",
        )
    if path.exists():
        raise InputError(
            f"{path}: there is a key already.",
            "What was signed with it needs it.",
            "Choose another name, or move the old key away.",
        )
    write_bytes(path, _encrypted_pem(key, passphrase.encode()), "key", mode=0o600)


def read_key(path: Path, passphrase: str) -> PrivateKey:
    """The key in an encrypted file; raises InputError if others can read it, or the passphrase is wrong."""
    data = read_bytes(path, "key", KEY_LIMIT_BYTES)
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise InputError(
            f"{path}: others can read this key.", f"Its mode is {mode:04o}, expected 0600.", f"Run: chmod 600 {path}"
        )
    try:
        key = serialization.load_pem_private_key(data, passphrase.encode())
    except TypeError as error:
        raise InputError(
            f"{path}: this key is not encrypted.",
            "A key in plain text can be used by whoever copies it.",
            "Make a new one with `meta-infer keys new`, and revoke this one.",
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise InputError(
            f"{path}: the key cannot be unlocked.",
            "The passphrase is wrong, or this is no encrypted key.",
            "Try again; if the passphrase is lost, make a new key and revoke this one.",
        ) from error
    if not isinstance(key, Ed25519PrivateKey):
        raise InputError(
            f"{path}: this is not an Ed25519 key.",
            f"It is a {type(key).__name__}.",
            "Make one with `meta-infer keys new`.",
        )
    return PrivateKey(key)


def read_public_key(path: Path) -> PublicKeyFile:
    """The public key file of a person."""
    return PublicKeyFile.from_json(read_bytes(path, "public key", KEY_LIMIT_BYTES), str(path))


def passphrase_from_descriptor(descriptor: int) -> str:
    """The first line that can be read from an open file descriptor."""
    try:
        data = os.read(descriptor, 4096)
        return data.split(b"\n", 1)[0].rstrip(b"\r").decode()
    except (OSError, OverflowError, ValueError) as error:
        raise InputError(
            f"--passphrase-fd {descriptor}: nothing can be read from there.",
            f"{error}.",
            "Open it for the command, as in `--passphrase-fd 3 3<passphrase.txt`.",
        ) from error


def keyring_passphrase(person: str, store: str | None = None) -> str | None:
    """The passphrase of a person's key in the key store of the operating system; `store` puts it there.

    Raises UnsupportedError where there is no such store, as on machines without a desktop. Nothing is then kept
    anywhere else instead.
    """
    try:
        keyring: Any = importlib.import_module("keyring")
        if store is not None:
            keyring.set_password("meta-infer", person, store)
            return store
        found: str | None = keyring.get_password("meta-infer", person)
    except Exception as error:  # whatever a back end raises means that there is no store to be used
        missing = isinstance(error, ModuleNotFoundError)
        cause = "The Python package `keyring` is not installed" if missing else f"{type(error).__name__}: {error}"
        raise UnsupportedError(
            "This machine has no key store that can be used.",
            f"{cause.rstrip('.')}.",
            "Leave --keyring out: the key file is encrypted, and its passphrase is asked for "
            "or read with --passphrase-fd.",
        ) from error
    return found


def _encrypted_pem(key: PrivateKey, passphrase: bytes) -> bytes:
    """EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC 8018), scrypt (RFC 7914) and AES-256-CBC.

    Written here because the `cryptography` package reads this form but writes PBKDF2 of 2048 rounds only.
    """
    salt, start = secrets.token_bytes(16), secrets.token_bytes(16)
    derived = scrypt(passphrase, salt=salt, n=SCRYPT_N, r=SCRYPT_R, p=SCRYPT_P, maxmem=1 << 26, dklen=32)
    padder = padding.PKCS7(128).padder()
    plain = key.key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    encryptor = Cipher(algorithms.AES(derived), modes.CBC(start)).encryptor()
    sealed = encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize()
    scrypt_numbers = b"".join(_der(0x02, _positive(number)) for number in (SCRYPT_N, SCRYPT_R, SCRYPT_P))
    kdf = _der(0x30, _oid("2b06010401da47040b") + _der(0x30, _der(0x04, salt) + scrypt_numbers))
    cipher = _der(0x30, _oid("60864801650304012a") + _der(0x04, start))
    scheme = _der(0x30, _oid("2a864886f70d01050d") + _der(0x30, kdf + cipher))
    text = encode_base64(_der(0x30, scheme + _der(0x04, sealed)))
    lines = "\n".join(text[at : at + 64] for at in range(0, len(text), 64))
    return f"-----BEGIN ENCRYPTED PRIVATE KEY-----\n{lines}\n-----END ENCRYPTED PRIVATE KEY-----\n".encode()


def _der(tag: int, content: bytes) -> bytes:
    """One DER element of up to 64 KiB."""
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    return bytes([tag, 0x81, size] if size < 0x100 else [tag, 0x82, size >> 8, size & 0xFF]) + content


def _oid(hex_content: str) -> bytes:
    return _der(0x06, bytes.fromhex(hex_content))


def _positive(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big")
