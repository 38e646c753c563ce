"""The six stations of each model on each chip: how far it is on the way to a package, and what blocks it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from metainfer_core.codegen.package import Manifest, read_package
from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.policy.plain import read_policy
from metainfer_core.policy.policy import Policy
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.library import default_folder, entries, load
from studio.background.jobs import Job, jobs
from studio.drafts.draft_summary import chip_of, summary
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.workspace import WorkspaceFile, workspace_files, workspace_folder
from studio.home.release_stations import Release, release_of, release_stations
from studio.home.station import OPEN, Station
from studio.words.texts import text

T = TypeVar("T")
PACKAGE_LIMIT = 1024 * MEBIBYTE
COUNTED_BYTES = MEBIBYTE // 2


@dataclass(frozen=True)
class Row:
    """One model on one chip; either may still be missing."""

    model: str
    chip: str
    stations: tuple[Station, ...]

    @property
    def done(self) -> int:
        """How many stations are passed."""
        return sum(station.state == "done" for station in self.stations)

    @property
    def next(self) -> Station | None:
        """The station that can be worked on now."""
        return next((station for station in self.stations if station.state in OPEN), None)


def rows(workspace: Path | None = None) -> tuple[Row, ...]:
    """Every model of the workspace on every chip of it, the furthest first."""
    root = workspace or workspace_folder()
    files = workspace_files(root)
    drafts: dict[str, WorkspaceFile] = {}
    for file in files:
        if file.kind == "draft":
            drafts[chip_of(file.path)] = file
    policies = tuple(_read(files, "policy", _policy))
    specs: dict[str, list[tuple[str, HardwareSpec]]] = {}
    for file, spec in _read(files, "spec", _spec):
        specs.setdefault(spec.name, []).append((file.name, spec))
    for reference, spec in _of_library({policy.spec_digest for _, policy in policies}):
        if all(spec.values_digest != each.values_digest for _, each in specs.get(spec.name, ())):
            specs.setdefault(spec.name, []).append((reference, spec))
    newest_jobs = {(each.order.kind, each.order.subject): each for each in reversed(jobs(root))}
    known = _Known(
        root,
        drafts,
        {name: sorted(found, key=lambda each: _order(each[1].version)) for name, found in specs.items()},
        policies,
        release_of(
            root,
            [(file, file.path) for file in files if file.kind == "bundle"],
            tuple(_read(files, "package", _manifest)),
            newest_jobs,
        ),
        newest_jobs,
    )
    models: list[WorkspaceFile | None] = [file for file in files if file.kind == "model"]
    chips = sorted({*drafts, *specs})
    if not models and not chips:
        return ()
    found = [known.row(model, chip) for chip in chips or [""] for model in models or [None]]
    return tuple(sorted(found, key=lambda row: (-row.done, row.chip, row.model)))


@dataclass(frozen=True)
class _Known:
    root: Path
    drafts: Mapping[str, WorkspaceFile]
    specs: Mapping[str, list[tuple[str, HardwareSpec]]]
    policies: tuple[tuple[WorkspaceFile, Policy], ...]
    release: Release
    jobs: Mapping[tuple[str, str], Job]

    def row(self, model: WorkspaceFile | None, chip: str) -> Row:
        versions = self.specs.get(chip, [])
        digests = {spec.values_digest for _, spec in versions}
        model_digest = file_digest(model.path) if model else ""
        policies = [
            (file, policy)
            for file, policy in self.policies
            if policy.model_digest == model_digest and policy.spec_digest in digests
        ]
        newest = max(policies, key=lambda each: each[0].path.stat().st_mtime_ns, default=None)
        stations = [self._manual(chip, bool(versions)), self._spec(chip, versions)]
        stations.append(self._policy(model, versions, newest))
        made_from = {"model": model.name} if model else {}
        on = [name for name, spec in versions if newest and spec.values_digest == newest[1].spec_digest]
        made_from |= {"spec": on[-1]} if on else {}
        file, policy = newest or (None, None)
        stations += release_stations(self.release, file, policy, made_from)
        return Row(model.name if model else "", chip, tuple(stations))

    def _manual(self, chip: str, has_spec: bool) -> Station:
        draft = self.drafts.get(chip)
        if draft:
            return Station("manual", "done", text("station_manual_done", draft=draft.name), "manuals")
        if has_spec:
            return Station("manual", "done", text("station_manual_spec"), "manuals")
        missing = {key: job for key, job in self.jobs.items() if not (self.root / key[1]).exists()}
        ingests = [job for (kind, _), job in missing.items() if kind == "ingest"]
        if any(job.is_open for job in ingests):
            return Station("manual", "running", text("station_manual_running"), "manuals")
        if ingests and (error := max(ingests, key=lambda job: job.id).error) is not None:
            return Station("manual", "failed", text("station_failed", why=error.what), "manuals")
        return Station("manual", "next", text("station_manual_next"), "manuals")

    def _spec(self, chip: str, versions: list[tuple[str, HardwareSpec]]) -> Station:
        draft = self.drafts.get(chip)
        parameters = {"draft": draft.name} if draft else {}
        if versions:
            return Station(
                "spec", "done", text("station_spec_done", version=versions[-1][1].version), "confirm", parameters
            )
        if draft:
            return Station("spec", "next", _left_to_decide(draft, self.root), "confirm", parameters)
        return Station("spec", "blocked", text("station_spec_blocked"), "confirm")

    def _policy(
        self,
        model: WorkspaceFile | None,
        versions: list[tuple[str, HardwareSpec]],
        newest: tuple[WorkspaceFile, Policy] | None,
    ) -> Station:
        parameters = {"model": model.name} if model else {}
        if versions:
            parameters["spec"] = versions[-1][0]
        job = self.jobs.get(("adapt", model.name)) if model and versions else None
        if job is not None and job.is_open:
            return Station("policy", "running", text("station_policy_running"), "adapt", parameters)
        if newest:
            count = len(newest[1].actions)
            return Station("policy", "done", text("station_policy_done", count=count), "adapt", parameters)
        if model is None:
            return Station("policy", "blocked", text("station_policy_no_model"), "adapt", parameters)
        if not versions:
            return Station("policy", "blocked", text("station_policy_no_spec"), "adapt", parameters)
        if job is not None and job.error is not None:
            return Station("policy", "failed", text("station_failed", why=job.error.what), "adapt", parameters)
        return Station("policy", "next", text("station_policy_next"), "adapt", parameters)


def _read(files: Iterable[WorkspaceFile], kind: str, read: Callable[[Path], T]) -> Iterator[tuple[WorkspaceFile, T]]:
    """The files of a kind with what they hold; one that cannot be read has a screen that says why."""
    for file in files:
        if file.kind == kind:
            try:
                yield file, read(file.path)
            except (MetaInferError, OSError):
                continue


def _of_library(digests: AbstractSet[str | None]) -> Iterator[tuple[str, HardwareSpec]]:
    """Specs of the library that policies of the workspace are for: the reference of each, and the spec."""
    for entry in entries(default_folder()) if digests - {None} else ():
        with contextlib.suppress(MetaInferError, OSError):
            spec = _spec(entry.path)
            if spec.values_digest in digests:
                yield f"{entry.name}@{entry.version}", spec


def _left_to_decide(draft: WorkspaceFile, root: Path) -> str:
    """How far people are with a draft; of a very large one only that it waits, because reading it takes seconds."""
    if draft.size_bytes > COUNTED_BYTES:
        return text("station_spec_next")
    try:
        told = summary(draft.path, root)
    except MetaInferError as error:
        return error.what
    return text("station_spec_count", decided=told.decided, places=told.places, conflicts=told.conflicts)


@kept_by_file
def _spec(path: Path) -> HardwareSpec:
    return load(str(path))


@kept_by_file
def _policy(path: Path) -> Policy:
    return read_policy(path)


@kept_by_file
def _manifest(path: Path) -> Manifest:
    return read_package(read_bytes(path, "package", PACKAGE_LIMIT), path.name).manifest


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdigit() else 0 for part in version.split("."))
