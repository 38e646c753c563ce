"""Specs: the library, and one spec with its picture, its fields and their sources, findings, and what differs."""

from __future__ import annotations

import datetime

import pandas as pd
import streamlit as st

from metainfer_core.actions.catalog import kind
from metainfer_core.spec.revising.diff import Change, diff
from studio.manuals.spec_library import (
    Field,
    Shelved,
    affected,
    age_days,
    counted,
    fields,
    findings,
    is_stale,
    matrix,
    policies_of,
    shelf,
    unreadable,
    uses,
)
from studio.model.chip_drawing import chip_drawing
from studio.model.picture import draw_picture
from studio.pages.crops import crop_of, source_is_purged
from studio.server.frame import is_page
from studio.session.choices import remember, say_if_lost
from studio.words.action_words import kind_words
from studio.words.core_words import core_term, core_words
from studio.words.markup import draw, draw_style, next_step
from studio.words.plain_words import error_words, plain_words
from studio.words.texts import text

SEVERITY = {"error": ":material/error:", "warning": ":material/warning:", "note": ":material/info:"}
TABLE_HEIGHT = 460
VERDICTS = {"fails": "✕", "hurts": "▼", "limited": "△", "stated": "○", "works": "✓"}


def main() -> None:
    """The screen."""
    draw_style()
    known = shelf()
    asked = st.query_params.get("spec", "")
    found = next((each for each in known if each.reference == asked), None)
    if found is None:
        st.title(text("page_specs"))
        say_if_lost(asked, ())
        for error in unreadable():
            st.warning(error_words(error), icon=":material/error:")
        _library(known)
    else:
        remember("spec", asked)
        _one(found, known)


def _library(known: tuple[Shelved, ...]) -> None:
    if not known:
        st.markdown(text("spec_none"))
        return
    today = datetime.datetime.now(datetime.UTC).date()
    policies = policies_of()
    rows = []
    for each in known:
        age = age_days(each.spec, today)
        number = counted(findings(each, today))
        clean = not number["error"] and not number["warning"]
        state = text("spec_findings_counted", errors=number["error"], warnings=number["warning"])
        checked = _checked(age)
        rows.append(
            {
                text("spec_chip"): each.spec.name,
                text("spec_version"): each.spec.version,
                text("spec_values"): each.values,
                text("spec_checked"): ("△ " if is_stale(each.spec, today) else "") + checked,
                text("spec_state"): "✓ " + text("spec_findings_none") if clean else f"! {state}",
                text("spec_used"): len(uses(policies, each.digest)),
                text("spec_file"): each.reference,
            }
        )
    label = st.selectbox(  # before the table, whose tools a keyboard would have to walk through
        text("spec_open"), [each.reference for each in known], index=None, key="open", placeholder=text("page_specs")
    )
    chosen = st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        on_select="rerun",
        selection_mode="single-row",
        key="specs",
    )
    rows_chosen = chosen.selection.rows
    if rows_chosen or label:
        st.query_params["spec"] = label or known[rows_chosen[0]].reference
        st.rerun()


def _checked(age: int | None) -> str:
    if age is None:
        return text("spec_checked_never")
    return text("spec_checked_days", days=age) if age else text("spec_checked_today")


def _one(found: Shelved, known: tuple[Shelved, ...]) -> None:
    spec, today = found.spec, datetime.datetime.now(datetime.UTC).date()
    left, right = st.columns([5, 1], vertical_alignment="bottom")
    left.title(plain_words(found.label))
    if right.button(text("spec_all"), icon=":material/list:", key="all", width="stretch"):
        del st.query_params["spec"]
        st.rerun()
    number = counted(findings(found, today))
    by = sorted({place.accepted_by for place in spec.provenance.values() if place.accepted_by})
    age = age_days(spec, today)
    parts = [
        f"{text('spec_file')}{text('colon')}{found.reference}",
        f"{text('spec_values')}{text('colon')}{found.values}",
        f"{text('spec_checked')}{text('colon')}{_checked(age)}",
        f"{text('spec_people')}{text('colon')}{', '.join(by) or '–'}",
    ]
    st.caption(plain_words(" · ".join(parts)))
    if is_page("adapt"):
        with next_step():
            there = {"spec": found.reference}
            st.page_link("pages/adapt.py", label=text("saved_adapt"), icon=":material/tune:", query_params=there)
    if is_stale(spec, today):
        st.warning(text("spec_stale" if age is not None else "spec_never_checked"), icon=":material/history:")
    count = number["error"] + number["warning"]
    names = [text("spec_chip"), text("spec_fields"), text("spec_findings") + f" ({count})", text("spec_matrix")]
    chip, table, faults, works, compare = st.tabs([*names, text("spec_compare")], on_change="rerun", key="view")
    with chip:
        if chip.open:
            _picture(found)
    with table:
        if table.open:
            _fields(found)
    with faults:
        if faults.open:
            _findings(found, today)
    with works:
        if works.open:
            _matrix(found)
    with compare:
        if compare.open:
            _compare(found, [each for each in known if each.reference != found.reference])


def _picture(found: Shelved) -> None:
    drawing = chip_drawing(found.spec)
    st.caption(text("spec_picture_hint"))
    picked = draw_picture("chip", key="chip", drawing=drawing, name=found.label)
    if picked:
        st.session_state["picked_part"] = picked
    for sentence in drawing.loose:
        st.caption(plain_words(core_term(sentence)))
    part = st.session_state.get("picked_part", "")
    if part:
        rows = [each for each in fields(found.spec) if each.path.startswith(part + ".")]
        st.markdown(f"**{plain_words(part)}**")
        for each in rows:
            name = each.path.removeprefix(part + ".")
            st.caption(plain_words(f"{name}: {each.value}" + (f" · {core_term(each.source)}" if each.source else "")))


def _fields(found: Shelved) -> None:
    words = st.text_input(text("spec_find"), key="find", max_chars=80).strip().lower()
    rows = [each for each in fields(found.spec) if words in f"{each.path} {each.value} {each.source}".lower()]
    frame = pd.DataFrame(
        [
            {
                text("spec_field"): each.path,
                text("spec_value"): each.value,
                text("spec_source"): _source(each),
                text("spec_confidence"): "" if each.confidence is None else f"{each.confidence:.2f}",
                text("spec_people"): each.accepted_by,
            }
            for each in rows
        ]
    )
    chosen = st.dataframe(
        frame, hide_index=True, width="stretch", height=TABLE_HEIGHT, on_select="rerun", selection_mode="single-row",
        key=f"fields-{words}",
        column_config={
            text("spec_source"): st.column_config.TextColumn(width="large"),
            text("spec_confidence"): st.column_config.TextColumn(alignment="right", width="small"),
        },
    )  # fmt: skip
    if not chosen.selection.rows:
        st.caption(text("spec_choose_field"))
        return
    field = rows[chosen.selection.rows[0]]
    st.markdown(f"**{plain_words(field.path)}**: {plain_words(field.value)}")
    place = found.spec.provenance.get(field.path)
    if place and place.text:
        st.markdown(f"> {plain_words(place.text)}")
    crop = crop_of(found.spec, field.path)
    if crop:
        draw("crop", crop=crop)
    elif field.is_assumed:
        st.caption(plain_words(core_words(field.source)))
    else:
        st.caption(text("spec_page_purged" if source_is_purged(found.spec, field.path) else "spec_no_page"))


def _source(field: Field) -> str:
    """Document and page, or why the value is assumed."""
    words = core_term(field.source)
    return text("spec_assumed", reason=words) if field.is_assumed else words


def _findings(found: Shelved, today: datetime.date) -> None:
    every = findings(found, today)
    if not every:
        st.success(text("spec_clean"))
    for finding in every:
        with st.container(border=True):
            parts = [
                core_term(finding.severity),
                text("spec_finding_line", line=finding.line),
                plain_words(finding.path),
            ]
            st.markdown(f"{SEVERITY[finding.severity]} **{finding.code}** · {' · '.join(filter(None, parts))}")
            st.markdown(plain_words(core_words(finding.message)))
            if finding.fix:
                st.caption(plain_words(text("spec_finding_fix", fix=core_words(finding.fix))))


def _matrix(found: Shelved) -> None:
    """What works, fails or hurts, the worst first."""
    st.caption(text("spec_matrix_hint"))
    rows = sorted(matrix(found.spec), key=lambda row: list(VERDICTS).index(row.verdict))
    if not rows:
        st.info(text("spec_matrix_none"))
        return
    frame = pd.DataFrame(
        [
            {
                text("spec_verdict"): f"{VERDICTS[row.verdict]} {text(f'spec_verdict_{row.verdict}')}",
                text("spec_subject"): kind_words(row.subject) if kind(row.subject) else row.subject,
                text("spec_unit"): row.unit,
                text("spec_evidence"): f"{core_words(row.evidence)} {core_words(row.instead)}".strip(),
            }
            for row in rows
        ]
    )
    evidence = {text("spec_evidence"): st.column_config.TextColumn(width="large")}
    st.dataframe(frame, hide_index=True, width="stretch", height=TABLE_HEIGHT, key="matrix", column_config=evidence)


def _compare(found: Shelved, others: list[Shelved]) -> None:
    if not others:
        st.caption(text("spec_one_version"))
        return
    own = [each for each in others if each.spec.name == found.spec.name]
    ordered = own[::-1] + [each for each in others if each not in own]
    reference = st.selectbox(text("spec_compare_with"), [each.reference for each in ordered], key="other")
    other = next(each for each in ordered if each.reference == reference)
    changes = diff(other.spec, found.spec)
    policies = policies_of()
    for one in (other, found):
        made = uses(policies, one.digest)
        if made and other.digest != found.digest:
            st.caption(plain_words(text("spec_bound", label=one.label, names=", ".join(made))))
    if not changes:
        st.success(text("spec_no_changes"))
        return
    names = (other.label, found.label) if other.label != found.label else (other.reference, found.reference)
    used = affected(changes, policies, (other.digest, found.digest))
    frame = pd.DataFrame(
        [
            {
                text("spec_field"): change.path,
                text("spec_says", label=names[0]): _said(change, before=True),
                text("spec_says", label=names[1]): _said(change, before=False),
                text("spec_affected"): ", ".join(used[change.path]),
            }
            for change in changes
        ]
    )
    st.dataframe(frame, hide_index=True, width="stretch", height=TABLE_HEIGHT, key="changes")


def _said(change: Change, before: bool) -> str:
    value, assumed = (change.before, change.assumed_before) if before else (change.after, change.assumed_after)
    if value is None:
        return "–"
    return text("spec_value_assumed", value=value) if assumed else value


main()
