"""Commands `meta-infer keys ...` and `meta-infer sign`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.bundle.envelope import envelope_from_plain, read_signed_file
from metainfer_core.bundle.trust import Role, TrustedKey, time_text
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit
from metainfer_core.errors import InputError
from metainfer_core.files import alone, check_outputs, read_bytes, write_bytes
from metainfer_core.policy.ruleset import ruleset_digest
from review_store.keys import (
    PrivateKey,
    keyring_passphrase,
    new_key,
    passphrase_from_descriptor,
    public_key_file,
    read_key,
    read_public_key,
    write_key,
)
from review_store.legality import buildable_on
from review_store.log import EventLog
from review_store.review_commands import Workspace, digests
from review_store.signing import release, sign_approvals
from review_store.trust_edit import revoke, with_key
from review_store.workspace import (
    DEFAULT_WORKSPACE,
    default_person,
    now,
    person_id,
    read_policy,
    trust_path,
    write_trust,
)

KeyFolder = Annotated[
    Path | None, typer.Option("--keys", help="Folder of private keys (default: meta-infer/keys in your configuration).")
]
PassphraseDescriptor = Annotated[
    int | None, typer.Option("--passphrase-fd", help="Read the passphrase from this open file descriptor.")
]
Keyring = Annotated[bool, typer.Option("--keyring", help="Keep the passphrase in the system's key store.")]


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    keys = typer.Typer(help="Keys, and whose signature counts.", no_args_is_help=True, rich_markup_mode=None)
    keys.command("new", epilog="Example: meta-infer keys new ada")(new)
    keys.command("list", epilog="Example: meta-infer keys list")(list_keys)
    keys.command("trust", epilog="Example: meta-infer keys trust ada.pub --role reviewer --role releaser")(trust_key)
    keys.command("revoke", epilog='Example: meta-infer keys revoke ada --reason "laptop stolen"')(revoke_key)
    app.add_typer(keys, name="keys")
    app.command(
        "sign",
        epilog="Example: meta-infer sign model.policy --model model.onnx --hw-spec rk3588 --key ada "
        "--output model.bundle",
    )(sign)


def new(
    person: Annotated[str | None, typer.Argument(help="Whose key it is (default: git's user).")] = None,
    keys: KeyFolder = None,
    passphrase_fd: PassphraseDescriptor = None,
    keyring: Keyring = False,
    as_json: Json = False,
) -> None:
    """Makes a key pair: the private key encrypted, the public key to hand out."""
    who = default_person() if person is None else person_id(person)
    folder = _folder(keys)
    private, public = folder / f"{who}.key", folder / f"{who}.pub"
    if keyring:
        keyring_passphrase(who)  # whether there is a key store at all, before anything is made
    passphrase = _passphrase(f"New passphrase for {who}", passphrase_fd, confirm=True)
    key = new_key()
    write_key(private, key, passphrase)
    write_bytes(public, public_key_file(who, key).to_json() + b"\n", "public key")
    if keyring:
        keyring_passphrase(who, store=passphrase)
    data = {"person": who, "private_key": str(private), "public_key": str(public), "key_id": key.id}
    text = f"{private}: your private key, encrypted. Keep it.\n{public}: your public key. Hand it out.\n{key.id}"
    emit(as_json, data, text)


def list_keys(keys: KeyFolder = None, workspace: Workspace = DEFAULT_WORKSPACE, as_json: Json = False) -> None:
    """Lists your own keys, and the people whom the workspace trusts."""
    folder, trust = _folder(keys), read_trust(trust_path(workspace))
    own = [(path, read_public_key(path)) for path in sorted(folder.glob("*.pub"))]
    lines = [f"Yours in {folder}:", *(f"  {each.person}  {each.key.id}" for _, each in own)]
    lines.append(f"Trusted by {trust_path(workspace)} (version {trust.version}):")
    for person in trust.people:
        lines.append(f"  {person.id}  {', '.join(person.roles)}")
        lines += [f"    {key.id}{_fault(key)}" for key in person.keys]
    quorum = trust.quorum
    lines.append(
        f"Reviewers needed by risk: low {quorum.low}, medium {quorum.medium}, high {quorum.high}; "
        f"releasers: {quorum.release}. Authors {'may' if trust.authors_may_approve else 'may not'} approve."
    )
    data: dict[str, Any] = {
        "own": [{"person": each.person, "key_id": each.key.id, "public_key": str(path)} for path, each in own],
        "trust": trust.plain(),
    }
    emit(as_json, data, "\n".join(lines))


def trust_key(
    public_key: Annotated[Path, typer.Argument(metavar="PUBLIC_KEY", help="The .pub file that the person gave you.")],
    role: Annotated[
        list[str] | None, typer.Option("--role", help="reviewer or releaser; several times (default: reviewer).")
    ] = None,
    name: Annotated[str, typer.Option("--name", help="The person's full name.")] = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Adds a person's public key to the trust file of the workspace."""
    file = read_public_key(public_key)
    path = trust_path(workspace)
    roles_given = tuple(_role(each) for each in role or ["reviewer"])
    with alone(path):
        trust = with_key(read_trust(path), file, roles_given, name)
        write_trust(path, trust)
    person = trust.person(file.person)
    roles = person.roles if person else ()
    data = {"person": file.person, "key_id": file.key.id, "roles": list(roles), "version": trust.version}
    emit(as_json, data, f"{path}: trusts {file.person} as {', '.join(roles)}.\n{file.key.id}")


def revoke_key(
    which: Annotated[str, typer.Argument(metavar="KEY", help="A key's id, or a person: then all their keys.")],
    reason: Annotated[str, typer.Option("--reason", help="Why.")],
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Revokes keys: nothing that they signed, or ever sign, counts any more."""
    path = trust_path(workspace)
    with alone(path):
        trust, revoked = revoke(read_trust(path), which, now(), reason)
        write_trust(path, trust)
    text = f"{path}: revoked {len(revoked)} keys. What they signed must be signed again.\n" + "\n".join(revoked)
    emit(as_json, {"revoked": list(revoked), "version": trust.version}, text)


def sign(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, as it was reviewed.")],
    model: Annotated[Path, typer.Option("--model", help="The ONNX model that it is for.")],
    hw_spec: Annotated[str, typer.Option("--hw-spec", help="The hardware spec: a file, or a name in the library.")],
    key: Annotated[str, typer.Option("--key", help="Your private key: its file, or your name.")],
    output: Annotated[Path | None, typer.Option("--output", help="The bundle, or your approval, to write.")] = None,
    approve_only: Annotated[
        bool, typer.Option("--approve-only", help="Sign your own approvals only; a releaser signs the whole later.")
    ] = False,
    approval: Annotated[
        list[Path] | None, typer.Option("--approval", help="A reviewer's signed approval; several times.")
    ] = None,
    audience: Annotated[
        list[str] | None, typer.Option("--audience", help="For whom it is, as their trust file says; several times.")
    ] = None,
    valid_days: Annotated[int, typer.Option("--valid-days", min=1, max=3650, help="How long the bundle holds.")] = 365,
    keys: KeyFolder = None,
    passphrase_fd: PassphraseDescriptor = None,
    keyring: Keyring = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Signs a reviewed policy for one model and one hardware spec; refuses what is not wholly reviewed."""
    if output is None and not approve_only:
        raise InputError("It is not said where the bundle goes.", fix="Add --output BUNDLE.")
    if output is not None:
        private_key, trust_file = _key_path(key, keys), trust_path(workspace)
        inputs = [policy, model, hw_spec, private_key, trust_file, *(approval or ())]
        check_outputs([output], "signed approval" if approve_only else "bundle", inputs)
    model_digest, spec_digest, spec = digests(model, hw_spec)
    assert spec is not None
    bound = read_policy(policy, model_digest, spec_digest)
    trust = read_trust(trust_path(workspace))
    private = _unlock(key, keys, passphrase_fd, keyring)
    log = EventLog(workspace)
    if approve_only:
        envelope = sign_approvals(log, bound, trust, private, now())
        if output is not None:
            write_bytes(output, envelope.to_json(), "signed approval")
        where = f"{output} and in the record" if output else "the record"
        emit(as_json, {"approval": None if output is None else str(output)}, f"Signed: your approvals, in {where}.")
        return
    assert output is not None
    expires = time_text(datetime.now(UTC) + timedelta(days=valid_days))
    given = [
        envelope_from_plain(read_signed_file(read_bytes(path, "signed approval"), str(path)), str(path)).plain()
        for path in approval or ()
    ]
    made = release(
        log,
        bound,
        trust,
        private,
        now(),
        expires,
        given,
        ruleset_digest(),
        buildable_on(model, spec),
        chip=spec.name,
        audience=audience or (),
    )
    write_bytes(output, made.bundle, "bundle")
    signed = made.verified.sentences
    serial = made.verified.statement.predicate.serial
    emit(as_json, {"bundle": str(output), "serial": serial, "signed": list(signed)}, "\n".join((str(output), *signed)))


def _folder(keys: Path | None) -> Path:
    if keys is not None:
        return keys
    configuration = os.environ.get("XDG_CONFIG_HOME")
    return (Path(configuration) if configuration else Path.home() / ".config") / "meta-infer" / "keys"


def _unlock(key: str, keys: Path | None, passphrase_fd: int | None, keyring: bool) -> PrivateKey:
    path = _key_path(key, keys)
    if not path.exists():
        raise InputError(
            f"{key}: there is no such private key.", f"Looked for {path}.", "Make one: meta-infer keys new."
        )
    passphrase = keyring_passphrase(path.stem) if keyring else None
    return read_key(path, passphrase or _passphrase(f"Passphrase of {path}", passphrase_fd, confirm=False))


def _key_path(key: str, keys: Path | None) -> Path:
    """The file that is named, or that of the person who is named."""
    path = Path(key)
    return path if path.exists() else _folder(keys) / f"{person_id(key)}.key"


def _passphrase(prompt: str, descriptor: int | None, confirm: bool) -> str:
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


def _role(text: str) -> Role:
    roles: dict[str, Role] = {"reviewer": "reviewer", "releaser": "releaser"}
    if text not in roles:
        raise InputError(f"--role {text}: there is no such role.", fix="Give reviewer or releaser.")
    return roles[text]


def _fault(key: TrustedKey) -> str:
    fault = key.fault(now())
    return "" if fault is None else f"  {fault}"
