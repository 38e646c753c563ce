"""What the sign screen says: what blocks, what will be signed in words, and the commands for the signers."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from metainfer_core.bundle.case import Expected
from metainfer_core.bundle.seen import read_seen, seen_file
from metainfer_core.bundle.signed_bundle import Inspection, inspect_bundle
from metainfer_core.bundle.trust import TrustFile
from metainfer_core.policy.ruleset import ruleset_digest
from review_store.record.events import Approved, Registered
from review_store.review.state import ReviewState, ReviewWord
from review_store.review.workspace import now, trust_path
from review_store.signing.own_keys import key_folder
from studio.files.policies import Review, Subject, bound_shapes
from studio.files.workspace import files_of, folder_for, workspace_folder


@dataclass(frozen=True)
class Blocking:
    """Actions in one state that block signing."""

    word: ReviewWord
    ids: tuple[str, ...]


def blocking(state: ReviewState) -> tuple[Blocking, ...]:
    """What is still open, the most pressing state first."""
    words: tuple[ReviewWord, ...] = ("rejected", "required", "outdated", "pending")
    groups = (Blocking(word, tuple(each.id for each in state.unreviewed if each.word == word)) for word in words)
    return tuple(group for group in groups if group.ids)


def releasers(trust: TrustFile) -> tuple[str, ...]:
    """People who may sign the whole with a key of their own."""
    return tuple(
        person.id
        for person in trust.people
        if "releaser" in person.roles and not (person.keys and all(key.demo for key in person.keys))
    )


def with_keys(trust: TrustFile) -> frozenset[str]:
    """People who have a key of their own that is trusted, whatever for."""
    return frozenset(person.id for person in trust.people if any(not (key.demo or key.revoked) for key in person.keys))


def approvals_by_person(state: ReviewState) -> Counter[str]:
    """Person to how many actions they approved as these are now."""
    return Counter(person for each in state.actions for person in each.approvals)


def approved_before(found: Subject, review: Review) -> Approved | None:
    """The last approval that was given to another revision of the policy than stands now; None where there is none."""
    revision, last = "", None
    for record in review.records:
        if isinstance(record.event, Registered):
            revision = record.event.policy_digest
        elif isinstance(record.event, Approved) and revision != found.digest:
            last = record.event
    return last


def signer_of(state: ReviewState, trust: TrustFile, person: str) -> str:
    """Who signs the whole: who sits here if they may, else a releaser, first one who approved something."""
    may = releasers(trust)
    if person in may or not may:
        return person
    return max(may, key=lambda each: approvals_by_person(state)[each])


def sign_command(found: Subject, person: str, output: Path | None) -> str:
    """The command with which someone signs on their own machine; without `output`, their own approvals only."""
    words = [*program(), "sign", str(found.path), "--model", str(found.model), "--hw-spec"]
    words += [found.spec.reference if found.spec else "", "--key", person or "YOUR_NAME"]
    words += ["--workspace", str(workspace_folder())]
    words += ["--output", str(output)] if output else ["--approve-only"]
    return _in_lines(words)


def validate_command(package: Path) -> str:
    """The command with which anyone who has the package and meta-infer checks that it does what it proved."""
    return _in_lines([*program(), "validate", str(package)])


def program() -> tuple[str, ...]:
    """How this very meta-infer is called from any folder, whether or not it is on the path."""
    beside = Path(sys.executable).with_name("meta-infer")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "metainfer_core")


def bundle_to_write(found: Subject, state: ReviewState) -> Path:
    """Where the command puts the next bundle: in the workspace, so that this screen finds it."""
    serial = max((each.serial for each in state.released), default=0) + 1
    return folder_for("bundle") / f"{found.path.stem}_{serial}.bundle"


def written_elsewhere(found: Subject, review: Review) -> tuple[object, ...]:
    """Another value whenever a command in a terminal has written something that this screen shows."""
    paths = [trust_path(workspace_folder()), *bundles_of(found)]
    return review.log.head().hash, *((str(path), path.stat().st_mtime_ns) for path in paths if path.exists())


def bundles_of(found: Subject) -> tuple[Path, ...]:
    """The bundles of the workspace that bear a policy's name, the newest last."""
    return tuple(path for path in files_of("bundle") if path.stem.startswith(found.path.stem))


def key_commands(person: str, roles: Sequence[str] = ("reviewer", "releaser")) -> tuple[str, ...]:
    """How a key is made, unless one of that name is there, and how the workspace is told to trust it."""
    who = person or "YOUR_NAME"
    public = key_folder(None) / f"{who}.pub"
    make = [] if public.exists() else [_in_lines([*program(), "keys", "new", who])]
    trust = [*program(), "keys", "trust", str(public)]
    for role in roles:
        trust += ["--role", role]
    return *make, _in_lines([*trust, "--workspace", str(workspace_folder())])


def inspect(data: bytes, found: Subject, trust: TrustFile, source: str, demo_allowed: bool) -> Inspection:
    """All checks of a bundle against this policy's model and spec; raises InputError where it is none at all."""
    chip = found.spec.spec.name if found.spec else None
    expected = Expected(found.policy.model_digest, found.policy.spec_digest, ruleset_digest(), chip=chip)
    seen = read_seen(seen_file(trust_path(workspace_folder())))
    return inspect_bundle(data, trust, now(), expected, seen, source, demo_allowed)


def compile_arguments(
    found: Subject, bundle: Path, target: str, data: Path | None, output: Path, is_demo: bool
) -> tuple[str, ...]:
    """The command that builds a package from a bundle."""
    words: list[object] = ["compile", "--model", found.model, "--policy", bundle, "--target", target]
    words += ["--hw-spec", found.spec.reference if found.spec else "", "--trust", trust_path(workspace_folder())]
    for shape in bound_shapes(found.policy):
        words += ["--input-shape", shape]
    words += ["--eval", data] if data else []
    words += ["--allow-demo"] if is_demo else []
    return tuple(str(word) for word in (*words, "--output", output))


def _in_lines(words: Sequence[str]) -> str:
    """A command, an option a line, so that it can be read before it is run."""
    return "".join(f" \\\n  {word}" if word.startswith("--") else f" {word}" for word in map(shlex.quote, words))[1:]
