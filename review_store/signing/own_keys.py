"""Finding and unlocking the key of whoever sits here: an encrypted file, or a device or service that is named."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.errors import InputError
from review_store.review.workspace import person_id
from review_store.signing.external_keys import ExternalKey, SigningKey
from review_store.signing.keys import keyring_passphrase, passphrase_from_descriptor, read_key, read_public_key

KeyFolder = Annotated[
    Path | None, typer.Option("--keys", help="Folder of private keys (default: meta-infer/keys in your configuration).")
]
PassphraseDescriptor = Annotated[
    int | None, typer.Option("--passphrase-fd", help="Read the passphrase from this open file descriptor.")
]
Keyring = Annotated[bool, typer.Option("--keyring", help="Keep the passphrase in the system's key store.")]


def key_folder(keys: Path | None) -> Path:
    """Where private keys lie."""
    if keys is not None:
        return keys
    configuration = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configuration) if configuration else Path.home() / ".config") / "meta-infer" / "keys"


def unlocked(key: str, keys: Path | None, passphrase_fd: int | None, keyring: bool) -> SigningKey:
    """The key that is named, ready to sign."""
    path = key_path(key, keys)
    if path.exists():
        passphrase = keyring_passphrase(path.stem) if keyring else None
        return read_key(path, passphrase or asked_passphrase(f"Passphrase of {path}", passphrase_fd, confirm=False))
    public = path.with_suffix(".pub")
    if public.exists() and (file := read_public_key(public)).signer:
        return ExternalKey(file.signer, file.key, lambda what: asked_passphrase(what, passphrase_fd, confirm=False))
    raise InputError(f"{key}: there is no such private key.", f"Looked for {path}.", "Make one: meta-infer keys new.")


def key_path(key: str, keys: Path | None) -> Path:
    """The file that is named, or that of the person who is named."""
    path = Path(key)
    return path if path.exists() else key_folder(keys) / f"{person_id(key)}.key"


def asked_passphrase(prompt: str, descriptor: int | None, confirm: bool) -> str:
    """What a person types, or what stands in the open file."""
    if descriptor is not None:
        return passphrase_from_descriptor(descriptor)
    if not sys.stdin.isatty():
        raise InputError(
            "The passphrase cannot be asked for: there is no terminal.",
            "It is never taken from the command line, where others can see it.",
            "Give it with --passphrase-fd, as in `--passphrase-fd 3 3<passphrase.txt`.",
        )
    answer: str = typer.prompt(prompt, hide_input=True, confirmation_prompt=confirm, err=True)
    return answer
