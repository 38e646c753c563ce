"""The last three stations: what people approved, what they signed of it, what was built from that; stale or not."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from metainfer_core.bundle.signed_bundle import inspect_bundle
from metainfer_core.bundle.trust import TrustFile, time_text
from metainfer_core.bundle.trust_root import read_trust
from metainfer_core.bundle.verified import Verified
from metainfer_core.codegen.package import Manifest
from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes
from metainfer_core.policy.policy import Policy
from metainfer_core.policy.ruleset import ruleset_digest
from metainfer_core.values import sha256
from review_store.record.log import DATABASE, EventLog
from review_store.review.decide import current_state
from review_store.review.state import ReviewState, fold, reviewed_policy
from review_store.review.workspace import trust_path
from studio.background.jobs import Job
from studio.files.workspace import WorkspaceFile
from studio.home.station import State, Station
from studio.session.demo_mode import demo_mode
from studio.sign.signing_view import releasers
from studio.words.texts import text


@dataclass(frozen=True)
class Bundle:
    """A bundle of the workspace."""

    name: str
    digest: str
    """Of the file, as a package built from it names it."""
    verified: Verified | None
    why_not: str
    """Why it is not trusted, in a sentence."""


@dataclass(frozen=True)
class Release:
    """What the workspace holds of approvals, bundles and packages."""

    root: Path
    trust: TrustFile | None
    """None where the trust file cannot be read."""
    bundles: Sequence[Bundle]
    packages: Sequence[tuple[WorkspaceFile, Manifest]]
    jobs: Mapping[tuple[str, str], Job]
    """Kind and subject to the newest job."""


def release_of(
    root: Path,
    bundles: Sequence[tuple[WorkspaceFile, Path]],
    packages: Sequence[tuple[WorkspaceFile, Manifest]],
    jobs: Mapping[tuple[str, str], Job],
) -> Release:
    """Looks at a workspace: every bundle is verified, once."""
    try:
        trust = read_trust(trust_path(root))
    except MetaInferError:
        trust = None
    found = [_bundle(file.name, path, trust) for file, path in bundles] if trust is not None else []
    return Release(root, trust, found, packages, jobs)


def release_stations(
    release: Release, policy_file: WorkspaceFile | None, policy: Policy | None, made_from: Mapping[str, str]
) -> list[Station]:
    """Review, signed, built, of a policy; each says what is stale. `made_from` is what it is proposed anew from."""
    if policy_file is None or policy is None:
        return [
            Station("review", "blocked", text("station_review_blocked"), "review"),
            Station("signed", "blocked", text("station_signed_blocked"), "sign"),
            Station("built", "blocked", text("station_built_blocked"), "sign"),
        ]
    parameters = {"policy": policy_file.name}
    state = _state(release, policy)
    review = _review(release, policy, state, parameters, made_from)
    signed, bundle = _signed(release, policy, state, parameters)
    return [review, signed, _built(release, policy, bundle, parameters)]


def _bundle(name: str, path: Path, trust: TrustFile) -> Bundle:
    try:
        data = read_bytes(path, "bundle")
        found = inspect_bundle(data, trust, time_text(datetime.now(UTC)), source=name, demo_allowed=demo_mode())
    except MetaInferError as error:
        return Bundle(name, "", None, error.what)
    return Bundle(name, sha256(data), found.verified, found.reasons[0].what if found.reasons else "")


def _state(release: Release, policy: Policy) -> ReviewState:
    trust = release.trust or TrustFile()
    if not (release.root / DATABASE).is_file():
        return fold(policy, (), trust)
    try:
        with contextlib.closing(EventLog(release.root)) as log:
            return current_state(log, policy, trust)
    except MetaInferError:  # the screens of the policy say what is wrong with the record
        return fold(policy, (), trust)


def _review(
    release: Release, policy: Policy, state: ReviewState, parameters: Mapping[str, str], made_from: Mapping[str, str]
) -> Station:
    total, left = len(state.actions), len(state.unreviewed)
    sentence = text("station_review_count", decided=total - left, total=total)
    if release.trust is None:
        return Station("review", "next", f"{sentence} {text('station_trust_broken')}", "review", parameters)
    if policy.ruleset_digest not in (None, ruleset_digest()):
        return Station("review", "next", f"{sentence} {text('station_other_rules')}", "adapt", made_from)
    for word in ("rejected", "outdated"):
        count = sum(each.word == word for each in state.unreviewed)
        if count:
            sentence += " " + text(f"station_review_{word}", count=count)
    return Station("review", "next" if left else "done", sentence, "review", parameters)


def _signed(
    release: Release, policy: Policy, state: ReviewState, parameters: Mapping[str, str]
) -> tuple[Station, Bundle | None]:
    """The station, and the newest trusted bundle of this model and spec, if it holds exactly what is reviewed."""
    trusted = [
        each
        for each in release.bundles
        if each.verified is not None
        and each.verified.policy.model_digest == policy.model_digest
        and each.verified.policy.spec_digest == policy.spec_digest
    ]
    reviewed = reviewed_policy(state).digest if trusted else ""
    same = next((each for each in trusted if each.verified and each.verified.policy.digest == reviewed), None)
    open_now = len(state.unreviewed)

    def station(word: State, sentence: str) -> Station:
        return Station("signed", word, sentence, "sign", parameters)

    if same is not None and not open_now:
        is_demo = same.verified is not None and same.verified.is_demo
        return station("done", text("station_signed_demo" if is_demo else "station_signed_done", file=same.name)), same
    if trusted and open_now:
        return station("blocked", text("station_signed_reopened", file=trusted[-1].name, count=open_now)), None
    if open_now:
        return station("blocked", text("station_signed_blocked")), None
    if release.trust is None:
        return station("blocked", text("station_trust_broken")), None
    if trusted:
        return station("next", text("station_signed_stale", file=trusted[-1].name)), None
    if not releasers(release.trust) and not demo_mode():
        return station("next", text("station_signed_nobody")), None
    refused = [each for each in release.bundles if each.verified is None and _about(each.name, parameters["policy"])]
    if refused:
        return station("next", text("station_signed_refused", file=refused[-1].name, why=refused[-1].why_not)), None
    return station("next", text("station_signed_next")), None


def _built(release: Release, policy: Policy, bundle: Bundle | None, parameters: Mapping[str, str]) -> Station:
    packages = [
        (file, manifest)
        for file, manifest in release.packages
        if manifest.parents.get("model") == policy.model_digest and manifest.parents.get("spec") == policy.spec_digest
    ]
    signed = [each for each in packages if each[1].review == "signed"]
    if bundle is not None:
        of_it = [each for each in packages if each[1].parents.get("bundle") == bundle.digest]
        if of_it:
            file, manifest = of_it[-1]
            return Station("built", "done", text("station_built_done", target=manifest.target), "report",
                           {"package": file.name})  # fmt: skip
        job = release.jobs.get(("compile", bundle.name))
        if job is not None and job.is_open:
            return Station("built", "running", text("station_built_running"), "sign", parameters)
        if job is not None and job.error is not None:
            return Station("built", "failed", text("station_failed", why=job.error.what), "sign", parameters)
        stale = "station_built_stale" if signed else "station_built_next"
        return Station("built", "next", text(stale), "sign", parameters)
    for found, sentence in ((signed, "station_built_earlier"), (packages, "station_built_unreviewed")):
        if found:
            file, manifest = found[-1]
            return Station("built", "blocked", text(sentence, target=manifest.target), "report",
                           {"package": file.name})  # fmt: skip
    return Station("built", "blocked", text("station_built_blocked"), "sign", parameters)


def _about(bundle: str, policy: str) -> bool:
    """Whether a bundle that cannot be trusted was dropped in for a policy: its name says so."""
    return Path(bundle).name.startswith(Path(policy).stem)
