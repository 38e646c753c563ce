"""What a workspace folder holds of a review, and who sits at the keyboard."""

from __future__ import annotations

import getpass
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pydantic

from metainfer_core.bundle.approvals import Binding
from metainfer_core.bundle.envelope import is_envelope
from metainfer_core.bundle.trust import PersonId, Time, time_text
from metainfer_core.errors import InputError, NotTrustedError
from metainfer_core.files import read_bytes
from metainfer_core.policy.plain import parse_policy
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.values import read_json
from review_store.review.state import bound_policy

DEFAULT_WORKSPACE = Path("workspace")
_PERSON: pydantic.TypeAdapter[str] = pydantic.TypeAdapter(PersonId)


def trust_path(workspace: Path) -> Path:
    """Where the trust file of a workspace stands."""
    return workspace / "trust.json"


def read_policy(path: Path, model_digest: str | None = None, spec_digest: str | None = None) -> Policy:
    """The policy in a file, bound to the rules of this program, and to a model and a spec where they are given.

    Raises NotTrustedError if it was made for another model or spec.
    """
    data = read_bytes(path, "policy")
    if is_envelope(read_json(data, str(path))):
        raise InputError(
            f"{path}: this is a signed bundle, not a policy.",
            "A bundle is reviewed already.",
            "Give the policy that it was made from; `meta-infer verify` tells what is in the bundle.",
        )
    policy = bound_policy(parse_policy(data, str(path)), Binding(model_digest, spec_digest, ruleset_digest()))
    for what, check, given, bound in (
        ("model", "wrong_model", model_digest, policy.model_digest),
        ("hardware spec", "wrong_spec", spec_digest, policy.spec_digest),
    ):
        if given is not None and given != bound:
            raise NotTrustedError(
                f"{path}: this policy was made for another {what}.",
                f"It names {bound}; the {what} given is {given}.",
                f"Give the {what} that it was made for, or make a policy for this one.",
                check,
            )
    return policy


def person_id(text: str) -> str:
    """A person's id, checked."""
    try:
        return _PERSON.validate_python(text)
    except pydantic.ValidationError as error:
        raise InputError(
            f"{text!r}: this cannot be a person's id.",
            "An id has small letters a to z, digits and `._@+-`, and begins with a letter or digit, so that no two "
            "ids look alike.",
            "Give one such as `ada` or `ada@example.org`.",
        ) from error


def default_person() -> str:
    """Who decides when nobody is named: git's user, else the user of this machine; raises InputError if neither is."""
    for name in (_git("metainfer.person"), _git("user.email"), _login()):
        candidate = re.sub(r"[^a-z0-9._@+-]+", "-", name.strip().lower()).strip("-._@+")[:100]
        if candidate:
            return person_id(candidate)
    raise InputError(
        "It is not known who you are.", "Neither git nor this machine names a user.", "Say so with --as PERSON."
    )


def now() -> Time:
    """The time by this machine's clock."""
    return time_text(datetime.now(UTC))


def _git(key: str) -> str:
    try:
        found = subprocess.run(["git", "config", "--get", key], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return found.stdout if found.returncode == 0 else ""


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return ""
