"""Commands `meta-infer keys ...`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.bundle.trust import RISK_LEVELS, Person, RiskLevel, Role, TrustedKey
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit
from metainfer_core.errors import InputError
from metainfer_core.files import alone, check_outputs, read_bytes, write_bytes
from review_store.commands.review_options import Workspace
from review_store.record.log import EventLog
from review_store.review.workspace import DEFAULT_WORKSPACE, default_person, now, person_id, trust_path
from review_store.signing.external_keys import check_uri, public_key_of_pem
from review_store.signing.keys import (
    KEY_LIMIT_BYTES,
    PublicKeyFile,
    keyring_passphrase,
    new_key,
    public_key_file,
    read_public_key,
    write_key,
)
from review_store.signing.own_keys import (
    KeyFolder,
    Keyring,
    PassphraseDescriptor,
    asked_passphrase,
    key_folder,
    unlocked,
)
from review_store.signing.trust_edit import (
    Written,
    editable_trust,
    pending_path,
    revoke,
    sign_trust,
    with_key,
    with_root,
    write_trust,
)


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    keys = typer.Typer(help="Keys, and whose signature counts.", no_args_is_help=True, rich_markup_mode=None)
    keys.command("new", epilog="Example: meta-infer keys new ada")(new)
    keys.command("list", epilog="Example: meta-infer keys list")(list_keys)
    keys.command("trust", epilog="Example: meta-infer keys trust ada.pub --role reviewer --role releaser")(trust_key)
    keys.command("revoke", epilog='Example: meta-infer keys revoke ada --reason "laptop stolen"')(revoke_key)
    keys.command("root", epilog="Example: meta-infer keys root ada.pub bob.pub eve.pub --threshold 2")(root)
    keys.command("sign-trust", epilog="Example: meta-infer keys sign-trust --key ada")(sign_trust_file)
    app.add_typer(keys, name="keys")


def new(
    person: Annotated[str | None, typer.Argument(help="Whose key it is (default: git's user).")] = None,
    keys: KeyFolder = None,
    passphrase_fd: PassphraseDescriptor = None,
    keyring: Keyring = False,
    signer: Annotated[
        str | None,
        typer.Option("--signer", metavar="URI", help="The key is in a device or service, such as `hsm:2?label=ada`."),
    ] = None,
    public_pem: Annotated[
        Path | None, typer.Option("--public-pem", help="With --signer: its public key, as the device exports it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Makes a key pair: the private key encrypted, the public key to hand out."""
    who = default_person() if person is None else person_id(person)
    folder = key_folder(keys)
    private, public = folder / f"{who}.key", folder / f"{who}.pub"
    if signer is not None:
        _register(who, signer, public_pem, private, public, as_json)
        return
    _refuse_taken(private, public)
    if keyring:
        keyring_passphrase(who)  # whether there is a key store at all, before anything is made
    passphrase = asked_passphrase(f"New passphrase for {who}", passphrase_fd, confirm=True)
    key = new_key()
    write_key(private, key, passphrase)
    write_bytes(public, public_key_file(who, key).to_json() + b"\n", "public key")
    if keyring:
        keyring_passphrase(who, store=passphrase)
    data = {"person": who, "private_key": str(private), "public_key": str(public), "key_id": key.id}
    text = f"{private}: your private key, encrypted. Keep it.\n{public}: your public key. Hand it out.\n{key.id}"
    emit(as_json, data, text)


def _register(who: str, signer: str, pem: Path | None, private: Path, public: Path, as_json: bool) -> None:
    check_uri(signer)
    if pem is None:
        raise InputError(
            "--signer needs the public key of the device or service.",
            "Only the private key stays there.",
            "Export it as PEM and give it with --public-pem.",
        )
    check_outputs([public], "public key", [pem])
    _refuse_taken(private, public)
    key = public_key_of_pem(read_bytes(pem, "public key", KEY_LIMIT_BYTES), str(pem))
    file = PublicKeyFile(person=who, key=key, signer=signer)
    write_bytes(public, file.to_json() + b"\n", "public key")
    data = {"person": who, "private_key": signer, "public_key": str(public), "key_id": key.id}
    emit(as_json, data, f"{signer}: holds your private key.\n{public}: your public key. Hand it out.\n{key.id}")


def _refuse_taken(*paths: Path) -> None:
    for path in paths:
        if path.exists():
            raise InputError(
                f"{path}: there is a key already.",
                "What was signed with it needs it.",
                "Choose another name, or move the old key away.",
            )


def list_keys(keys: KeyFolder = None, workspace: Workspace = DEFAULT_WORKSPACE, as_json: Json = False) -> None:
    """Lists your own keys, and the people whom the workspace trusts."""
    folder, trust = key_folder(keys), read_trust(trust_path(workspace))
    own = [(path, read_public_key(path)) for path in sorted(folder.glob("*.pub"))]
    lines = [f"Yours in {folder}:", *(f"  {each.person}  {each.key.id}" for _, each in own)]
    lines.append(f"Trusted by {trust_path(workspace)} (version {trust.version}):")
    for person in trust.people:
        lines.append(f"  {person.id}  {', '.join(person.roles)}{_scope(person)}")
        lines += [f"    {key.id}{_fault(key)}" for key in person.keys]
    quorum = trust.quorum
    lines.append(
        f"Reviewers needed by risk: low {quorum.low}, medium {quorum.medium}, high {quorum.high}; "
        f"releasers: {quorum.release}. Authors {'may' if trust.authors_may_approve else 'may not'} approve."
    )
    if trust.root is not None:
        lines.append(f"Changes are signed by {trust.root.threshold} of these root keys:")
        lines += [f"  {key.id}" for key in trust.root.keys]
    if pending_path(trust_path(workspace)).exists():
        lines.append(f"A new version waits for signatures: {pending_path(trust_path(workspace))}")
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
    chip: Annotated[
        list[str] | None, typer.Option("--chip", help="Counts for this chip only; several times (default: all).")
    ] = None,
    max_risk: Annotated[
        str | None, typer.Option("--max-risk", help="Counts as a reviewer up to this risk: low, medium or high.")
    ] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Adds a person's public key to the trust file of the workspace."""
    file = read_public_key(public_key)
    path = trust_path(workspace)
    roles_given = tuple(_role(each) for each in role or ["reviewer"])
    with alone(path):
        trust = with_key(editable_trust(path), file, roles_given, name, tuple(chip or ()), _risk(max_risk))
        written = write_trust(path, trust)
    person = trust.person(file.person)
    roles = person.roles if person else ()
    data = {"person": file.person, "key_id": file.key.id, "roles": list(roles), "version": trust.version}
    emit(as_json, data, f"{path}: trusts {file.person} as {', '.join(roles)}.\n{file.key.id}{_waits(written)}")


def revoke_key(
    which: Annotated[str, typer.Argument(metavar="KEY", help="A key's id, or a person: then all their keys.")],
    reason: Annotated[str, typer.Option("--reason", help="Why.")],
    since: Annotated[
        int | None,
        typer.Option("--since", metavar="EVENT", help="What they signed before this event of the record still counts."),
    ] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Revokes keys: nothing that they signed, or ever sign, counts any more."""
    path = trust_path(workspace)
    records = () if since is None else EventLog(workspace).records()
    with alone(path):
        trust, revoked = revoke(editable_trust(path), which, now(), reason, records, since)
        written = write_trust(path, trust)
    what = "must be signed again" if since is None else f"counts where it stands before event {since} of the record"
    text = "\n".join((f"{path}: revoked {len(revoked)} keys. What they signed {what}.", *revoked)) + _waits(written)
    emit(as_json, {"revoked": list(revoked), "version": trust.version}, text)


def root(
    public_key: Annotated[list[Path], typer.Argument(metavar="PUBLIC_KEY...", help="The .pub files of the root keys.")],
    threshold: Annotated[int, typer.Option("--threshold", min=1, help="How many of them sign every change.")],
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Names the root keys: from now on the trust file holds only if enough of them signed it."""
    path = trust_path(workspace)
    with alone(path):
        trust = with_root(editable_trust(path), [read_public_key(each) for each in public_key], threshold)
        written = write_trust(path, trust)
    data = {"root": [read_public_key(each).key.id for each in public_key], "missing": written.missing}
    emit(as_json, data, f"{path}: {threshold} of {len(public_key)} root keys will sign its changes.{_waits(written)}")


def sign_trust_file(
    key: Annotated[str, typer.Option("--key", help="Your private root key: its file, or your name.")],
    keys: KeyFolder = None,
    passphrase_fd: PassphraseDescriptor = None,
    keyring: Keyring = False,
    workspace: Workspace = DEFAULT_WORKSPACE,
    as_json: Json = False,
) -> None:
    """Signs the change of the trust file that waits; it takes effect once enough root keys have signed."""
    path = trust_path(workspace)
    private = unlocked(key, keys, passphrase_fd, keyring)  # before others have to wait
    with alone(path):
        written = sign_trust(path, private)
    done = f"{path}: signed, and in effect." if not written.missing else f"Signed.{_waits(written)}"
    emit(as_json, {"trust": str(written.path), "missing": written.missing}, done)


def _waits(written: Written) -> str:
    if not written.missing:
        return ""
    return (
        f"\n{written.path}: waits for {written.missing} more root keys. Each of their owners runs "
        "`meta-infer keys sign-trust --key NAME`; until then the trust file is as it was."
    )


def _scope(person: Person) -> str:
    chips = f"  for {', '.join(person.chips)}" if person.chips else ""
    return chips + (f"  up to {person.max_risk} risk" if person.max_risk != "high" else "")


def _risk(text: str | None) -> RiskLevel | None:
    found = next((each for each in RISK_LEVELS if each == text), None)
    if text is not None and found is None:
        raise InputError(f"--max-risk {text}: there is no such risk.", fix="Give low, medium or high.")
    return found


def _role(text: str) -> Role:
    roles: dict[str, Role] = {"reviewer": "reviewer", "releaser": "releaser"}
    if text not in roles:
        raise InputError(f"--role {text}: there is no such role.", fix="Give reviewer or releaser.")
    return roles[text]


def _fault(key: TrustedKey) -> str:
    fault = key.fault(now())
    return ("  of a demo" if key.demo else "") + ("" if fault is None else f"  {fault}")
