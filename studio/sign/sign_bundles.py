"""The bundles of a policy on the sign screen: what each proves, compiling it, and the way to its report."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from metainfer_core.bundle.envelope import ENVELOPE_LIMIT_BYTES
from metainfer_core.bundle.signed_bundle import Inspection
from metainfer_core.codegen.catalog import backends
from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes
from studio.background.job_view import job_list
from studio.background.jobs import Job, Order, Title, jobs, start
from studio.files.policies import Review, Subject
from studio.files.workspace import folder_for, workspace_folder
from studio.model.model_data import choose_data, say_what_feeds_others
from studio.session.demo_mode import demo_mode
from studio.session.session import person
from studio.sign.signing_view import bundles_of, compile_arguments, inspect
from studio.words.core_words import core_term
from studio.words.markup import draw, next_step
from studio.words.plain_words import error_words
from studio.words.texts import text


@dataclass(frozen=True)
class SignedFile:
    """A bundle of the workspace as it was just checked."""

    path: Path
    data: bytes
    inspection: Inspection | None
    """None where it is no bundle at all."""
    fault: MetaInferError | None

    @property
    def name(self) -> str:
        """Where it lies in the workspace."""
        return self.path.relative_to(workspace_folder()).as_posix()

    @property
    def package(self) -> Path:
        """Where its package is built."""
        return folder_for("package") / f"{self.path.stem}.bin"

    def holds(self, digest: str) -> bool:
        """Whether it is trusted, and holds the reviewed policy with this digest."""
        found = self.inspection.verified if self.inspection else None
        return found is not None and found.policy.digest == digest


def checked_bundles(found: Subject, review: Review) -> tuple[SignedFile, ...]:
    """All bundles of a policy, the newest first."""
    return tuple(_checked(found, review, path) for path in reversed(bundles_of(found)))


def draw_bundle(found: Subject, signed: SignedFile) -> None:
    """What it proves, and a download."""
    if signed.fault is not None or signed.inspection is None:
        if signed.fault is not None:
            st.error(error_words(signed.fault))
        return
    verified, reasons = signed.inspection.verified, signed.inspection.reasons
    draw("bundle", name=signed.name, bytes=len(signed.data), verified=verified, reasons=reasons)
    st.download_button(
        text("bundle_save"), signed.data, signed.path.name, key=f"save_{signed.name}", icon=":material/download:",
        on_click="ignore",
    )  # fmt: skip


def draw_compile(found: Subject, signed: SignedFile, is_next: bool = True) -> None:
    """The form that compiles a trusted bundle, and how far that is; nothing where it is not trusted."""
    verified = signed.inspection.verified if signed.inspection else None
    if verified is None or found.model is None or found.spec is None:
        return
    targets = [each.name for each in backends()]
    left, right = st.columns(2)
    target = left.selectbox(text("compile_target"), targets, key=f"target_{signed.name}", format_func=core_term)
    with right:
        data = choose_data(
            text("compile_data"), found.model, ("eval", ""), f"data_{signed.name}", text("compile_data_help")
        )
    if is_next:
        say_what_feeds_others(found.model)
    newest = compiling(signed)
    busy = newest is not None and newest.is_open
    with next_step(f"compile_{signed.path.stem}") if is_next else nullcontext():
        pressed = st.button(
            text("compile_start"), type="primary" if is_next else "secondary", key=f"compile_{signed.name}",
            disabled=busy,
        )  # fmt: skip
    if pressed:
        arguments = compile_arguments(found, signed.path, target, data, signed.package, verified.is_demo)
        title = Title(words="compile_title", values={"bundle": signed.path.name, "target": target})
        start(Order(kind="compile", title=title, arguments=arguments, subject=signed.name, actor=person()))
        st.rerun()
    if newest is not None and newest.state != "done":
        job_list(("compile",), (signed.name,), limit=1)


def draw_report_link(signed: SignedFile) -> None:
    """The way to the report of what was built from it."""
    with next_step(signed.path.stem):
        st.page_link(
            "pages/report.py", label=text("bundle_report"), icon=":material/inventory_2:",
            query_params={"package": signed.package.relative_to(workspace_folder()).as_posix()},
        )  # fmt: skip


def compiling(signed: SignedFile) -> Job | None:
    """The newest job that compiles it."""
    return next((job for job in jobs() if job.order.kind == "compile" and job.order.subject == signed.name), None)


def _checked(found: Subject, review: Review, path: Path) -> SignedFile:
    name = path.relative_to(workspace_folder()).as_posix()
    data = b""
    try:
        data = read_bytes(path, "bundle", ENVELOPE_LIMIT_BYTES)
        return SignedFile(path, data, inspect(data, found, review.trust, name, demo_mode()), None)
    except MetaInferError as error:
        return SignedFile(path, data, None, error)
