"""The specs in reach, the workspace's and the library's: how old, what the validator finds, who uses them."""

from __future__ import annotations

import datetime
import functools
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from metainfer_core.codegen.package import SIZE_LIMIT_BYTES, read_package
from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes
from metainfer_core.pipeline.compatibility import Compatibility, Proof, built_for, compatibility, proof_of
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.spec_use import affected as reached_by
from metainfer_core.spec.checking.validate import validate
from metainfer_core.spec.findings import Finding
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import default_folder, entries, load
from metainfer_core.spec.revising.diff import Change, leaves
from metainfer_core.spec.revising.record import STALE_AFTER_DAYS
from review_store.review.workspace import read_policy
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.workspace import files_of, workspace_folder


@dataclass(frozen=True)
class Shelved:
    """One spec file."""

    reference: str
    """How the address bar names it: a path in the workspace, or `name@version` of the library."""
    path: Path
    spec: HardwareSpec = field(repr=False)
    digest: str
    """Of its values."""
    values: int

    @property
    def label(self) -> str:
        """Name and version."""
        return f"{self.spec.name} {self.spec.version}"


@dataclass(frozen=True)
class Field:
    """One value of a spec with where it comes from."""

    path: str
    value: str
    source: str
    """Document and page, or the reason why it is assumed; empty where neither is told."""
    is_assumed: bool
    confidence: float | None
    accepted_by: str


def shelf(workspace: Path | None = None) -> tuple[Shelved, ...]:
    """The specs of the workspace, then those of the library, by name and version; what is no spec is left out."""
    root = workspace or workspace_folder()
    places = [(path.relative_to(root).as_posix(), path) for path in files_of("spec", workspace)]
    own = {path.resolve() for _, path in places}
    library = [(f"{each.name}@{each.version}", each.path) for each in entries(default_folder())]
    places += [(reference, path) for reference, path in library if path.resolve() not in own]
    found = []
    for reference, path in places:
        try:
            found.append(Shelved(reference, path, *_read(path)))
        except MetaInferError:
            continue
    return tuple(sorted(found, key=lambda each: (each.spec.name, _order(each.spec.version), each.reference)))


def unreadable(workspace: Path | None = None) -> tuple[MetaInferError, ...]:
    """Why files of the workspace that look like specs are none, one error a file."""
    found = []
    for path in files_of("spec", workspace):
        try:
            _read(path)
        except MetaInferError as error:
            found.append(error)
    return tuple(found)


def findings(shelved: Shelved, today: datetime.date) -> tuple[Finding, ...]:
    """What the validator says about the file."""
    return _findings(shelved.path, file_digest(shelved.path), today)


def age_days(spec: HardwareSpec, today: datetime.date) -> int | None:
    """Days since the values were last checked; None where that is not told."""
    try:
        return (today - datetime.date.fromisoformat(spec.last_verified_date or "")).days
    except ValueError:
        return None


def is_stale(spec: HardwareSpec, today: datetime.date) -> bool:
    """Whether its last check is too long ago, or not told."""
    age = age_days(spec, today)
    return age is None or age > STALE_AFTER_DAYS


def fields(spec: HardwareSpec) -> tuple[Field, ...]:
    """Every single value of a spec, in the order of their paths."""
    found = []
    for path, value in leaves(spec).items():
        place = next((spec.provenance[each] for each in _upward(path) if each in spec.provenance), None)
        reason = next((spec.assumed[each] for each in _upward(path) if each in spec.assumed), None)
        source = reason or ""
        if reason is None and place is not None:
            document = spec.sources.get(place.source)
            source = (document.title if document else place.source) + (f", {_page(place.page)}" if place.page else "")
        confidence = place.confidence if place and reason is None else None
        by = (place.accepted_by or "") if place and reason is None else ""
        found.append(Field(path, value, source, reason is not None, confidence, by))
    return tuple(found)


def policies_of(workspace: Path | None = None) -> tuple[tuple[str, Policy], ...]:
    """The policies of the workspace by their paths in it."""
    root = workspace or workspace_folder()
    found = []
    for path in files_of("policy", workspace):
        try:
            found.append((path.relative_to(root).as_posix(), _policy(path)))
        except MetaInferError:
            continue
    return tuple(found)


def uses(policies: Iterable[tuple[str, Policy]], digest: str) -> tuple[str, ...]:
    """The policies that are made for a spec with this digest of its values."""
    return tuple(name for name, policy in policies if policy.spec_digest == digest)


def affected(
    changes: Iterable[Change], policies: Iterable[tuple[str, Policy]], digests: Iterable[str]
) -> Mapping[str, tuple[str, ...]]:
    """Path of each change to the policies, made for one of the two specs, that give that value as a reason."""
    known, changes = set(digests), tuple(changes)
    reached = [
        each for name, policy in policies if policy.spec_digest in known for each in reached_by(name, policy, changes)
    ]
    return {change.path: tuple(each.policy for each in reached if each.path == change.path) for change in changes}


def matrix(spec: HardwareSpec, workspace: Path | None = None) -> tuple[Compatibility, ...]:
    """What works, fails or hurts on the chip, with what the packages of the workspace prove of it."""
    root = workspace or workspace_folder()
    proofs = []
    for path in files_of("package", workspace):
        try:
            proofs.append((path.relative_to(root).as_posix(), _proof(path)))
        except MetaInferError:
            continue
    return compatibility(spec, built_for(spec, proofs))


def counted(found: Iterable[Finding]) -> Counter[str]:
    """How many findings of each severity."""
    return Counter(finding.severity for finding in found)


def _upward(path: str) -> list[str]:
    """The path, and those above it, the nearest first."""
    parts = path.split(".")
    return [".".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _page(page: int | str) -> str:
    return f"page {page}" if isinstance(page, int) else page


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))


@kept_by_file
def _read(path: Path) -> tuple[HardwareSpec, str, int]:
    spec = load(str(path))
    return spec, spec.values_digest, len(leaves(spec))


@functools.lru_cache(maxsize=256)
def _findings(path: Path, _digest: str, today: datetime.date) -> tuple[Finding, ...]:
    return validate(path.read_bytes(), str(path), today)


@kept_by_file
def _proof(path: Path) -> Proof:
    return proof_of(read_package(read_bytes(path, "package", SIZE_LIMIT_BYTES), path.name), path.name)


@kept_by_file
def _policy(path: Path) -> Policy:
    return read_policy(path)
