"""Policies of the workspace with the model and the spec that they are for, found by digest, and their review."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from pathlib import Path

import onnx_ir as ir
import streamlit as st

from metainfer_core.bundle.review_rules import lineage
from metainfer_core.bundle.trust import Time, TrustFile
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.errors import MetaInferError
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import default_folder, entries, load, named_by_path
from metainfer_core.values import sha256
from review_store.record.log import EventLog, Record
from review_store.review.decide import Legality
from review_store.review.legality import legality_of, prepared_for
from review_store.review.state import ReviewState, fold, reviewed_policy
from review_store.review.workspace import read_policy, trust_path
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.workspace import files_of, workspace_folder


@dataclass(frozen=True)
class Subject:
    """A policy, and what it is for where that is in reach."""

    path: Path
    policy: Policy = field(repr=False)
    digest: str
    """Of the policy, bound as it is."""
    model: Path | None
    spec: SpecChoice | None


@dataclass(frozen=True)
class About:
    """What tells which policy it is, without the policy itself."""

    model_digest: str | None
    spec_digest: str | None
    lineage: str


@dataclass(frozen=True)
class SpecChoice:
    """A spec that can be chosen: one of the workspace, or one of the library."""

    reference: str
    """What `--hw-spec` takes."""
    spec: HardwareSpec = field(repr=False)
    digest: str
    """Of its values."""


@dataclass(frozen=True)
class Reviewed:
    """The policy as people left it, with overrides and tags: what is signed and built."""

    policy: Policy = field(repr=False)
    body: bytes = field(repr=False)
    """Its canonical text."""
    digest: str


@dataclass(frozen=True)
class Review:
    """The state of a review with the events behind it."""

    log: EventLog = field(repr=False)
    records: tuple[Record, ...] = field(repr=False)
    state: ReviewState = field(repr=False)
    trust: TrustFile = field(repr=False)
    key: tuple[str, str, str, str] = field(repr=False)
    """What all of it hangs on: workspace, policy, end of the log, trust file."""

    def history(self, action_id: str) -> tuple[Record, ...]:
        """Every event about one action, the newest first."""
        return tuple(record for record in reversed(self.records) if record.event.subject == action_id)


def subject(path: Path) -> Subject:
    """The policy in a file with its model and spec; raises InputError where it is no policy."""
    status = path.stat()
    policy, digest = _policy(path, status.st_mtime_ns, status.st_size, None, None)
    model = model_with(policy.model_digest) if policy.model_digest else None
    spec = spec_with(policy.spec_digest) if policy.spec_digest else None
    return Subject(path, policy, digest, model, spec)


def bound(found: Subject, model: Path, spec: SpecChoice) -> Subject:
    """A policy that names no model or spec, bound to the ones that a person chose."""
    status = found.path.stat()
    given = found.policy.model_digest or file_digest(model), spec.digest
    policy, digest = _policy(found.path, status.st_mtime_ns, status.st_size, *given)
    return Subject(found.path, policy, digest, model, spec)


def spec_choices() -> tuple[SpecChoice, ...]:
    """Specs of the workspace, of each chip the newest first, then those of the library; what is no spec is left out."""
    places = [(str(path), path) for path in sorted(files_of("spec"), key=_newest_version_first)]
    places += [(f"{each.name}@{each.version}", each.path) for each in entries(default_folder())]
    found = []
    for reference, path in places:
        with contextlib.suppress(MetaInferError, OSError):
            found.append(SpecChoice(reference, *_spec(path)))
    return tuple(found)


def _newest_version_first(path: Path) -> tuple[str, tuple[int, ...]]:
    name, version = named_by_path(path) or (path.name, "")
    return name, tuple(-int(part) for part in version.split(".") if part)


def bound_shapes(policy: Policy) -> tuple[str, ...]:
    """The input shapes that a policy was made for, as `--input-shape` takes them."""
    return tuple(f"{name}=[{','.join(map(str, shape))}]" for name, shape in policy.bound_shapes.items())


def model_with(digest: str) -> Path | None:
    """The model of the workspace with this digest."""
    return next((path for path in files_of("model") if file_digest(path) == digest), None)


def spec_with(values_digest: str) -> SpecChoice | None:
    """The spec with this digest of its values."""
    return next((each for each in spec_choices() if each.digest == values_digest), None)


def review_of(found: Subject) -> Review:
    """What people have decided about a policy so far."""
    folder = workspace_folder()
    log, trust = _log(str(folder)), read_trust(trust_path(folder))
    key = str(folder), found.digest, log.head().hash, trust.digest
    records, state = _state(*key, log, found.policy, trust)
    return Review(log, records, state, trust, key)


@kept_by_file
def about_policy(path: Path) -> About:
    """What a policy says that it is for; raises InputError where it is none.

    Kept for every policy of a workspace: a list of them is not read again at each look at it.
    """
    policy = read_policy(path, None, None)
    return About(policy.model_digest, policy.spec_digest, lineage(policy))


def last_written(about: About) -> Time | None:
    """When anybody last wrote something about a policy, or an earlier revision of it; None where nobody did."""
    records = _log(str(workspace_folder())).records(about.lineage)
    return records[-1].event.at if records else None


def reviewed(review: Review) -> Reviewed:
    """The policy as people left it."""
    return _reviewed(*review.key, review.state)


def legality(found: Subject, review: Review) -> Legality | None:
    """The check of overrides, with all others in force; None where the model or the spec is not in reach."""
    if found.model is None or found.spec is None:
        return None
    prepared = _prepared(found.model, found.model.stat().st_mtime_ns, found.digest, found.policy)
    return legality_of(prepared, found.spec.spec, reviewed(review).policy)


@st.cache_resource(max_entries=16, show_spinner=False)
def _policy(
    path: Path, changed: int, size: int, model_digest: str | None, spec_digest: str | None
) -> tuple[Policy, str]:
    policy = read_policy(path, model_digest, spec_digest)
    return policy, policy.digest


@kept_by_file
def _spec(path: Path) -> tuple[HardwareSpec, str]:
    spec = load(str(path))
    return spec, spec.values_digest


@st.cache_resource(max_entries=8, show_spinner=False)
def _log(folder: str) -> EventLog:
    return EventLog(Path(folder))


@st.cache_resource(max_entries=8, show_spinner=False)
def _state(
    folder: str, policy_digest: str, head: str, trust_digest: str, _log: EventLog, _policy: Policy, _trust: TrustFile
) -> tuple[tuple[Record, ...], ReviewState]:
    records = _log.records(lineage(_policy))
    return records, fold(_policy, records, _trust)


@st.cache_resource(max_entries=4, show_spinner=False)
def _prepared(path: Path, changed: int, policy_digest: str, _policy: Policy) -> ir.Model:
    return prepared_for(path, _policy)


@st.cache_resource(max_entries=4, show_spinner=False)
def _reviewed(folder: str, policy_digest: str, head: str, trust_digest: str, _state: ReviewState) -> Reviewed:
    policy = reviewed_policy(_state)
    body = policy.to_json()
    return Reviewed(policy, body, sha256(body))
