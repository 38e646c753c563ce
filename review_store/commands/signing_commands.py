"""Command `meta-infer sign`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated

import typer

from metainfer_core.bundle.envelope import envelope_from_plain, read_signed_file
from metainfer_core.bundle.trust import time_text
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.cli.console import Json, emit
from metainfer_core.errors import InputError
from metainfer_core.files import check_outputs, pending, read_bytes, write_bytes
from metainfer_core.policy.ruleset import ruleset_digest
from review_store.commands.review_options import Workspace, digests
from review_store.record.log import EventLog
from review_store.review.legality import buildable_on
from review_store.review.workspace import DEFAULT_WORKSPACE, now, read_policy, trust_path
from review_store.signing.own_keys import KeyFolder, Keyring, PassphraseDescriptor, key_path, unlocked
from review_store.signing.signing import release, sign_approvals


def commands(app: typer.Typer) -> None:
    """Adds the command to `app`."""
    app.command(
        "sign",
        epilog="Example: meta-infer sign model.policy --model model.onnx --hw-spec rk3588 --key ada "
        "--output model.bundle",
    )(sign)


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
        private_key, trust_file = key_path(key, keys), trust_path(workspace)
        inputs = [policy, model, hw_spec, private_key, trust_file, *(approval or ())]
        check_outputs([output], "signed approval" if approve_only else "bundle", inputs)
    model_digest, spec_digest, spec = digests(model, hw_spec)
    assert spec is not None
    bound = read_policy(policy, model_digest, spec_digest)
    trust = read_trust(trust_path(workspace))
    private = unlocked(key, keys, passphrase_fd, keyring)
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
    with pending(output, "bundle") as file:
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
            file=file,
        )
    signed = made.verified.sentences
    serial = made.verified.statement.predicate.serial
    emit(as_json, {"bundle": str(output), "serial": serial, "signed": list(signed)}, "\n".join((str(output), *signed)))
