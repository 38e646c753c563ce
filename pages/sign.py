"""Sign: what will be signed, what blocks it, the command for the machine with the key, and what came back."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import streamlit as st

from metainfer_core.bundle.envelope import ENVELOPE_LIMIT_BYTES
from metainfer_core.codegen.catalog import backends
from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE, read_bytes
from metainfer_core.policy.ruleset import ruleset_digest
from studio.action_words import kind_words
from studio.buildable import Checked, asked, draw_checked
from studio.choices import choose_subject, review_or_why_not
from studio.core_words import core_term
from studio.demo_mode import demo_mode
from studio.dropped_file import what_it_is
from studio.job_view import job_list
from studio.jobs import Order, jobs, start
from studio.markup import draw, draw_style
from studio.override_effect import effect_words
from studio.plain_words import error_words, plain_words
from studio.policies import Review, Subject, reviewed
from studio.session import person
from studio.sign_demo import draw_demo, signs_here
from studio.signing_view import (
    approvals_by_person,
    blocking,
    bundle_to_write,
    bundles_of,
    compile_arguments,
    inspect,
    key_commands,
    releasers,
    sign_command,
    signer_of,
    written_elsewhere,
)
from studio.texts import text
from studio.uploads import keep_beside
from studio.workspace import files_of, folder_for, workspace_folder

LOOKS_EVERY_SECONDS = 2.0


def main() -> None:
    """Draws the screen."""
    draw_style()
    st.title(text("page_sign"))
    found = choose_subject()
    if found is None:
        return
    review = review_or_why_not(found)
    if review is None:
        return
    is_demo = signs_here(review.trust)
    left, right = st.columns([1, 1], gap="large")
    with left:
        checked = asked(found, review, person())
        _state(found, review, checked)
        _what(found, review)
    with right:
        if is_demo:
            draw_demo(found, review, checked)
        with st.expander(text("demo_real")) if is_demo else contextlib.nullcontext():
            _how(found, review, checked)
        _take_in(found, review)
        _bundles(found, review)
    _watch(found, review)


def _watch(found: Subject, review: Review) -> None:
    """Draws the screen anew when a command in a terminal has written something that it shows."""
    before = written_elsewhere(found, review)

    @st.fragment(run_every=LOOKS_EVERY_SECONDS)
    def look() -> None:
        if written_elsewhere(found, review) != before:
            st.rerun()

    look()


def _state(found: Subject, review: Review, checked: Checked) -> None:
    groups = blocking(review.state)
    blocked = sum(len(group.ids) for group in groups)
    draw(
        "sign_state",
        groups=groups,
        blocked=blocked,
        total=len(review.state.actions),
        checked=checked.word,
        other_rules=found.policy.ruleset_digest != ruleset_digest(),
    )
    if groups:
        st.page_link(
            "pages/review.py", label=text("sign_to_review"), icon=":material/rate_review:",
            query_params={"policy": _name(found.path)},
        )  # fmt: skip
    draw_checked(found, review, checked, person())


def _what(found: Subject, review: Review) -> None:
    actions = review.state.actions
    signed = reviewed(review)
    draw(
        "sign_what",
        actions=actions,
        model=found.model.name if found.model else found.policy.name,
        chip=f"{found.spec.spec.name} {found.spec.spec.version}" if found.spec else text("unknown"),
        kinds=sorted(Counter(kind_words(each.action.action) for each in actions).items()),
        changed=[each for each in actions if each.override is not None],
        effect=effect_words,
        people=sorted(approvals_by_person(review.state).items()),
        policy=signed.policy,
        digest=signed.digest,
    )
    canonical = st.expander(text("sign_canonical"), on_change="rerun", key="canonical")
    if canonical.open:
        with canonical:
            st.download_button(
                text("sign_canonical_save"), signed.body, f"{found.path.stem}.reviewed.policy", on_click="ignore"
            )
            st.code(signed.body.decode(), language=None, wrap_lines=True, height=400)


def _how(found: Subject, review: Review, checked: Checked) -> None:
    """The commands: nothing secret ever comes here, so signing happens where the key lies."""
    st.subheader(text("sign_how"))
    if not releasers(review.trust):
        commands = key_commands(person())
        said = "sign_no_releaser" if len(commands) > 1 else "sign_key_untrusted"
        st.warning(text(said), icon=":material/key:")
        for command in commands:
            st.code(command, language=None, wrap_lines=True)
    elif person() not in releasers(review.trust):
        st.caption(text("sign_releasers", people=", ".join(releasers(review.trust))))
    if found.model is None or found.spec is None:
        st.error(text("sign_out_of_reach"))
        return
    signer = signer_of(review.state, review.trust, person())
    others = sorted(set(approvals_by_person(review.state)) - {signer})
    if others:
        st.markdown(text("sign_others", people=plain_words(", ".join(others))))
        st.code(sign_command(found, others[0], None), language=None, wrap_lines=True)
    if checked.word == "cannot":
        st.warning(text("sign_refuses"), icon=":material/block:")
    st.markdown(text("sign_run"))
    st.code(sign_command(found, signer, bundle_to_write(found, review.state)), language=None, wrap_lines=True)
    st.caption(text("sign_elsewhere"))


def _take_in(found: Subject, review: Review) -> None:
    given = st.file_uploader(text("sign_drop"), max_upload_size=ENVELOPE_LIMIT_BYTES // MEBIBYTE, key="dropped")
    if given is None:
        return
    data = given.getvalue()
    bundle = plain_words(bundle_to_write(found, review.state).name)
    what = what_it_is(given.name, data)
    if what is not None:
        st.error(text("dropped_other", file=plain_words(given.name), what=text(f"dropped_{what}"), bundle=bundle))
        if what == "key":
            st.warning(text("dropped_key_then"), icon=":material/key_off:")
        return
    try:
        inspection = inspect(data, found, review.trust, given.name, demo_mode())
        if inspection.verified is None:
            draw("bundle", name=given.name, bytes=len(data), verified=None, reasons=inspection.reasons)
            return
        serial = inspection.verified.statement.predicate.serial
        kept = keep_beside(folder_for("bundle") / f"{found.path.stem}_{serial}.bundle", data, "bundle")
    except MetaInferError as error:
        st.error(error_words(error))
        return
    st.success(text("sign_kept", file=plain_words(_name(kept))), icon=":material/verified:")


def _bundles(found: Subject, review: Review) -> None:
    paths = bundles_of(found)
    st.subheader(text("sign_bundles"))
    if not paths:
        st.caption(text("sign_bundles_none"))
        return
    for path in reversed(paths):
        with st.container(border=True):
            _bundle(found, review, path)


def _bundle(found: Subject, review: Review, path: Path) -> None:
    name = _name(path)
    try:
        data = read_bytes(path, "bundle", ENVELOPE_LIMIT_BYTES)
        inspection = inspect(data, found, review.trust, name, demo_mode())
    except MetaInferError as error:
        st.error(error_words(error))
        return
    draw("bundle", name=name, bytes=len(data), verified=inspection.verified, reasons=inspection.reasons)
    st.download_button(
        text("bundle_save"), data, path.name, key=f"save_{name}", icon=":material/download:", on_click="ignore"
    )
    if inspection.verified is not None and found.model is not None and found.spec is not None:
        _compile(found, path, inspection.verified.is_demo)
    job_list(("compile",), (name,), limit=1)
    package = folder_for("package") / f"{path.stem}.bin"
    if package.is_file():
        st.page_link(
            "pages/report.py", label=text("bundle_report"), icon=":material/inventory_2:",
            query_params={"package": _name(package)},
        )  # fmt: skip


def _compile(found: Subject, bundle: Path, is_demo: bool) -> None:
    name = _name(bundle)
    targets = [each.name for each in backends()]
    data_names = [_name(path) for path in files_of("data")]
    named = next((index for index, each in enumerate(data_names) if "eval" in each.lower()), 0 if data_names else None)
    left, right = st.columns(2)
    target = left.selectbox(text("compile_target"), targets, key=f"target_{name}", format_func=core_term)
    chosen = right.selectbox(
        text("compile_data"), data_names, index=named, key=f"data_{name}", help=text("compile_data_help")
    )
    busy = any(job.is_open and job.order.kind == "compile" and job.order.subject == name for job in jobs())
    pressed = st.button(text("compile_start"), type="primary", key=f"compile_{name}", disabled=busy)
    if busy:
        st.caption(text("compile_busy"))
    if pressed:
        output = folder_for("package") / f"{bundle.stem}.bin"
        data = workspace_folder() / chosen if chosen else None
        arguments = compile_arguments(found, bundle, target, data, output, is_demo)
        title = text("compile_title", bundle=bundle.name, target=target)
        start(Order(kind="compile", title=title, arguments=arguments, subject=name, actor=person()))
        st.rerun()


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


main()
