"""Sign: what comes next on top (approve, sign, compile), what is done folded below; beside it what is signed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

import streamlit as st

from metainfer_core.bundle.envelope import ENVELOPE_LIMIT_BYTES
from metainfer_core.errors import MetaInferError
from metainfer_core.files import MEBIBYTE
from studio.files.policies import Review, Subject, reviewed
from studio.files.workspace import folder_for, workspace_folder
from studio.manuals.uploads import keep_beside
from studio.review.buildable import Checked, asked, draw_checked
from studio.review.other_rules import draw_other_rules, is_of_other_rules
from studio.review.override_effect import effect_words
from studio.review.policy_choice import choose_subject, say_if_searched
from studio.session.choices import review_or_why_not
from studio.session.demo_mode import demo_mode
from studio.session.given_files import given_files
from studio.session.session import person
from studio.sign.dropped_file import what_it_is
from studio.sign.sign_bundles import (
    SignedFile,
    checked_bundles,
    compiling,
    draw_bundle,
    draw_compile,
    draw_report_link,
)
from studio.sign.sign_demo import draw_demo, signs_here
from studio.sign.signing_view import (
    approvals_by_person,
    approved_before,
    blocking,
    bundle_to_write,
    inspect,
    key_commands,
    releasers,
    sign_command,
    signer_of,
    with_keys,
    written_elsewhere,
)
from studio.words.action_words import kind_words
from studio.words.markup import draw, draw_style, next_step
from studio.words.moments import moment
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

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
    say_if_searched(found)
    is_demo = signs_here(review.trust)
    bundles = checked_bundles(found, review)
    is_open = bool(blocking(review.state))
    digest = reviewed(review).digest
    current = None if is_open else next((each for each in bundles if each.holds(digest)), None)
    left, right = st.columns([6, 5], gap="large")
    with left:
        if current is None:
            _to_be_signed(found, review, bundles, is_demo)
        else:
            _signed(found, review, current, bundles, is_demo)
    with right:
        _what(found, review)
    _watch(found, review)


def _watch(found: Subject, review: Review) -> None:
    """Draws the screen anew when a command in a terminal has written something that it shows."""
    before = written_elsewhere(found, review)

    @st.fragment(run_every=LOOKS_EVERY_SECONDS)
    def look() -> None:
        if written_elsewhere(found, review) != before:
            st.rerun()

    look()


def _to_be_signed(found: Subject, review: Review, bundles: Sequence[SignedFile], is_demo: bool) -> None:
    """Nothing holds what is reviewed now: what blocks signing, else how it is done."""
    checked = asked(found, review, person())
    groups = blocking(review.state)
    total = len(review.state.actions)
    other_rules = is_of_other_rules(found)
    if groups:
        sentence = text("sign_blocked", count=sum(len(group.ids) for group in groups), total=total)
    else:
        ready = checked.word == "can" and not other_rules
        sentence = text("sign_ready" if ready else "sign_approved", total=total)
    _steps(sentence, 0 if groups else 1)
    _say_if_renewed(found, review)
    if other_rules:
        draw_other_rules(found)
    elif groups:
        with next_step():
            st.page_link(
                "pages/review.py", label=text("sign_to_review"), icon=":material/rate_review:",
                query_params={"policy": _name(found.path)},
            )  # fmt: skip
    if groups:
        draw("sign_state", groups=groups)
    draw_checked(found, review, checked, person())
    if bundles and bundles[0].fault is None and not _is_trusted(bundles[0]):  # what the command wrote a moment ago
        with st.container(border=True):
            draw_bundle(found, bundles[0])
        bundles = bundles[1:]
    if is_demo:
        draw_demo(found, review, checked)
    is_later = bool(groups) or other_rules or is_demo
    folded = st.expander(text("demo_real" if is_demo else "sign_later")) if is_later else nullcontext()
    with folded:
        _how(found, review, checked)
        _take_in(found, review)
    _others(found, bundles)


def _signed(found: Subject, review: Review, current: SignedFile, bundles: Sequence[SignedFile], is_demo: bool) -> None:
    """A bundle holds exactly what is reviewed now: it is compiled, and signing is folded away."""
    job = compiling(current)
    busy = job is not None and job.is_open
    is_built = current.package.is_file() and not busy and (job is None or job.state == "done")
    _steps(
        text("sign_next_report" if is_built else "compile_busy" if busy else "sign_next_compile"), 3 if is_built else 2
    )
    if is_built:
        draw_report_link(current)
        with st.expander(text("compile_again")):
            draw_compile(found, current, is_next=False)
    else:
        draw_compile(found, current)
    with st.container(border=True):
        draw_bundle(found, current)
    with st.expander(text("sign_again"), expanded=st.session_state.get("dropped") is not None):
        if is_demo:
            draw_demo(found, review, asked(found, review, person()))
        _how(found, review, Checked("can"))
        _take_in(found, review)
    _others(found, [each for each in bundles if each is not current])


def _say_if_renewed(found: Subject, review: Review) -> None:
    """That the policy was made anew since people approved it, and of how many actions they have to approve again."""
    last = approved_before(found, review)
    if last is None:
        return
    outdated = sum(each.word == "outdated" for each in review.state.actions)
    words = [text("sign_renewed", person=plain_words(last.actor), at=moment(last.at))]
    words += [text("sign_renewed_open", count=outdated)] if outdated else []
    st.info(" ".join(words), icon=":material/update:")


def _steps(sentence: str, now: int) -> None:
    """Approve, sign, compile: how many are done, and what comes next in a sentence."""
    names = (text("stage_approve"), text("stage_sign"), text("stage_compile"))
    draw("sign_steps", stages=[(name, index < now) for index, name in enumerate(names)], now=now, next=sentence)


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
        moment=moment,
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
        if others[0] not in with_keys(review.trust):
            st.warning(text("sign_other_key", person=plain_words(others[0])), icon=":material/key:")
            for command in key_commands(others[0], ("reviewer",)):
                st.code(command, language=None, wrap_lines=True)
        st.code(sign_command(found, others[0], None), language=None, wrap_lines=True)
    if checked.word == "cannot":
        st.warning(text("sign_refuses"), icon=":material/block:")
    st.markdown(text("sign_run"))
    st.code(sign_command(found, signer, bundle_to_write(found, review.state)), language=None, wrap_lines=True)
    st.caption(text("sign_elsewhere"))


def _take_in(found: Subject, review: Review) -> None:
    given = given_files(text("sign_drop"), "dropped", ENVELOPE_LIMIT_BYTES // MEBIBYTE, ())
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


def _others(found: Subject, bundles: Sequence[SignedFile]) -> None:
    """Bundles of other decisions, and those that are not trusted."""
    if not bundles:
        return
    with st.expander(text("sign_other_bundles", count=len(bundles))):
        for each in bundles:
            with st.container(border=True):
                draw_bundle(found, each)
                draw_compile(found, each, is_next=False)
                if each.package.is_file():
                    draw_report_link(each)


def _is_trusted(signed: SignedFile) -> bool:
    return signed.inspection is not None and signed.inspection.verified is not None


def _name(path: Path) -> str:
    return path.relative_to(workspace_folder()).as_posix()


main()
