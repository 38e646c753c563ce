"""Command `meta-infer verify`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.reason import reason_of
from metainfer_core.bundle.seen import read_seen, seen_file
from metainfer_core.bundle.signed_bundle import Inspection, inspect_bundle
from metainfer_core.bundle.trust import time_text
from metainfer_core.bundle.trust_root import missing_trust, read_trust
from metainfer_core.cli.console import Json, emit, progress
from metainfer_core.errors import NotTrustedError
from metainfer_core.files import read_bytes
from metainfer_core.graph.files.load import load_model
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.spec.library import load as load_spec

AllowDemo = Annotated[
    bool,
    typer.Option("--allow-demo", help="Take a demo for what it is: a studio signed it for whoever sat there."),
]


def commands(app: typer.Typer) -> None:
    """Adds the commands to `app`."""
    app.command("verify", epilog="Example: meta-infer verify model.bundle --trust workspace/trust.json")(verify)


def verify(
    bundle: Annotated[Path, typer.Argument(metavar="BUNDLE", help="The signed bundle.")],
    trust: Annotated[Path, typer.Option("--trust", help="Whose signatures count.")] = Path("workspace/trust.json"),
    model: Annotated[Path | None, typer.Option("--model", help="Compare with this ONNX model.")] = None,
    hw_spec: Annotated[str | None, typer.Option("--hw-spec", help="Compare with this spec: file or name.")] = None,
    demo_allowed: AllowDemo = False,
    as_json: Json = False,
) -> None:
    """Says who signed what in a bundle, or why it cannot be trusted and what to do about it."""
    data = read_bytes(bundle, "bundle")
    with progress("Verifying") as report:
        report("model and spec", 0, 0)
        spec = None if hw_spec is None else load_spec(hw_spec)
        expected = Expected(
            model_digest=None if model is None else load_model(model).digest,
            spec_digest=None if spec is None else spec.values_digest,
            ruleset_digest=ruleset_digest(),
            chip=None if spec is None else spec.name,
        )
    inspection = _inspect(data, trust, expected, str(bundle), demo_allowed)
    verified = inspection.verified
    trusted = verified is not None and not verified.is_demo
    answer: dict[str, Any] = {"trusted": trusted, "reasons": [each.plain() for each in inspection.reasons]}
    if verified is None:
        lines = [f"{bundle}: NOT TRUSTED"]
        for reason in inspection.reasons:
            lines += [f"- {reason.check}: {reason.what}", *(f"  {part}" for part in (reason.why, reason.fix) if part)]
        emit(as_json, answer, "\n".join(lines))
        raise typer.Exit(NotTrustedError.exit_status)
    made = verified.statement.predicate
    answer |= {
        "demo": verified.is_demo,
        "signed": list(verified.sentences),
        "releasers": list(verified.releasers),
        "reviewers": {action: list(people) for action, people in verified.reviewers.items()},
        "serial": made.serial,
        "expires": made.expires,
        "payload_digest": verified.payload_digest,
        "subjects": {each.name: each.sha256 for each in verified.statement.subject},
    }
    emit(
        as_json,
        answer,
        "\n".join((f"{bundle}: {'holds, as a demo' if verified.is_demo else 'trusted'}", *verified.sentences)),
    )


def _inspect(data: bytes, trust: Path, expected: Expected, source: str, demo_allowed: bool) -> Inspection:
    """All checks; a trust file that cannot be used is a reason too, and not an error of the command."""
    try:
        if (missing := missing_trust(trust)) is not None:
            raise missing
        trusted, seen = read_trust(trust), read_seen(seen_file(trust))
    except NotTrustedError as error:
        return Inspection(None, (reason_of(error),))
    return inspect_bundle(data, trusted, time_text(datetime.now(UTC)), expected, seen, source, demo_allowed)
