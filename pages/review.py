"""Review: the queue by risk, one action as a card, and the verdict. Every decision is an event in the record."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import streamlit as st

from metainfer_core.bundle.review_rules import risk_level
from review_store.review.state import ReviewState
from studio.background.job_view import job_list
from studio.files.policies import Review, Subject, bound_shapes, review_of
from studio.files.typed import read_typed
from studio.files.workspace import workspace_folder
from studio.graph.graph_tab import link_to_graph
from studio.model.model_reading import KIND, newest_job, read_model, reading
from studio.model.neighbours import draw_neighbourhood
from studio.review.action_card import draw_card
from studio.review.buildable import asked, draw_checked, known
from studio.review.bulk import draw_bulk
from studio.review.decisions import FORMS, take
from studio.review.earlier_revision import asked_revision, draw_earlier
from studio.review.other_rules import draw_other_rules, is_of_other_rules
from studio.review.policy_choice import choose_subject
from studio.review.record_view import draw_faults, draw_record
from studio.review.retrained import draw_carry
from studio.review.review_page import draw_page_button
from studio.review.review_queue import Desk, draw_queue, selected
from studio.review.review_rows import RISKS, Chosen, about, counts, next_open, queue, rows
from studio.review.verdict_panel import draw_verdict
from studio.session.address import many_from_address, many_to_address, text_from_address, text_to_address
from studio.session.choices import review_or_why_not, say_if_lost
from studio.session.session import person
from studio.words.action_words import kind_words
from studio.words.marks import STATE_SHAPES, risk_mark, state_mark
from studio.words.markup import draw, draw_style, next_step
from studio.words.texts import text


def main() -> None:
    """Draws the screen."""
    draw_style()
    heading, choice, save = st.columns([3, 6, 2], vertical_alignment="bottom")
    heading.title(text("page_review"))
    with choice:
        found = choose_subject()
    if found is None or review_or_why_not(found) is None:
        return
    if found.model is None:
        st.warning(text("policy_without_model"))
    earlier = asked_revision(found, review_of(found))
    if earlier is not None:
        draw_earlier(*earlier)
        return
    who = person()
    desk = _desk(found, who)
    take(found, desk, who)
    review = review_of(found)
    with save:
        draw_page_button(found, review)
    draw_faults(review)
    left, middle, right = st.columns([3, 5, 3], gap="medium")
    with left:
        top = st.container()
        say_if_lost(st.query_params.get("action", ""), [each.id for each in review.state.actions])
        shown = queue(review.state.actions, _chips(review, who))
        named = selected(desk) or st.query_params.get("action")
        chosen = next((each for each in shown if each.id == named), shown[0] if shown else None)
        if selected(desk) is None and chosen is not None and desk.go[1] != chosen.id:
            desk.send_to(chosen.id)
        with top:
            draw_carry(found, review, desk, who)
            draw_bulk(found, review, shown, desk, who)
            _to_sign(found, review, desk, who)
        draw_queue(rows(shown), found.digest, desk)
        _progress(review.state, {each.id for each in shown})
        draw_record(found, review)
    if chosen is None:
        desk.drawn = found.digest
        return
    text_to_address("action", chosen.id)
    with middle, st.container(key="review_card"):
        draw_card(chosen, found.spec.spec if found.spec else None, found.policy.calibration)
        _neighbours(found, chosen.action.nodes or (chosen.action.node_id,))
    with right:
        draw_verdict(found, review, chosen, desk, who, next_open(shown, chosen.id))
    desk.drawn = found.digest  # only now: a form that is sent off in this run was filled in for what stood here before


def _neighbours(found: Subject, nodes: Sequence[str]) -> None:
    """The nodes around the action, if a job has read the model; else a way to have it read."""
    if found.model is None:
        return
    job = newest_job(found.model)
    done = reading(job) if job is not None else None
    st.html(f'<div class="mi"><h3>{text("neighbours")}</h3></div>')
    if done is not None:
        draw_neighbourhood(done.summary.nodes, nodes, hops=1)
        link_to_graph(found, nodes[0])
    elif job is not None and job.is_open:
        job_list((KIND,), (job.order.subject,), limit=1)
    elif st.button(text("neighbours_read"), key="read_model", icon=":material/account_tree:"):
        read_model(found.model, bound_shapes(found.policy), person())
        st.rerun()


def _desk(found: Subject, who: str) -> Desk:
    """What this window knows of one person's review of one policy; at first, what they left half-typed."""
    key = "queue_" + hashlib.sha256(f"{found.path} {who}".encode()).hexdigest()[:10]
    desks: dict[str, Desk] = st.session_state.setdefault("desks", {})
    if key not in desks:
        typed = read_typed(key, who)
        forms = {each.action: (each.verb, each.version) for each in typed.values() if each.open and each.verb in FORMS}
        desks[key] = Desk(key, typed=typed, forms=forms)
    return desks[key]


def _chips(review: Review, who: str) -> Chosen:
    """Filters as chips with their counts, and the search. All of them stand in the address."""
    there, mine = counts(review.state.actions), about(review.state, review.records, who)
    for key, choices in (("risk", RISKS), ("state", STATE_SHAPES), ("kind", there["kinds"]), ("me", mine)):
        many_from_address(key, choices)
    text_from_address("q")

    def shown(key: str, known: Iterable[str], count: Counter[str]) -> list[str]:
        """Those that there are, and those that are chosen: a filter stays where it is when its last action goes."""
        return [each for each in known if count[each] or each in (st.session_state.get(key) or ())]

    risks = st.pills(
        text("chips_risks"), shown("risk", RISKS, there["risks"]), selection_mode="multi", key="risk",
        format_func=lambda each: f"{' '.join(risk_mark(each))} {there['risks'][each]}",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    words = st.pills(
        text("chips_words"), shown("state", STATE_SHAPES, there["words"]), selection_mode="multi", key="state",
        format_func=lambda each: f"{' '.join(state_mark(each))} {there['words'][each]}",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    count_mine = Counter({each: len(ids) for each, ids in mine.items()})
    of_me = st.pills(
        text("chips_me"), shown("me", mine, count_mine), selection_mode="multi", key="me",
        format_func=lambda each: f"{text(f'me_{each}')} {count_mine[each]}",
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    kinds = st.multiselect(
        text("chips_kinds"), sorted(there["kinds"]),
        format_func=lambda each: f"{kind_words(each)} ({there['kinds'][each]})",
        key="kind", placeholder=text("chips_kinds"), persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    search = st.text_input(
        text("review_search"), key="q", placeholder=text("review_search_hint"), persist_state="session",
        label_visibility="collapsed", icon=":material/search:",
    )  # fmt: skip
    for key, chosen in (("risk", risks), ("state", words), ("kind", kinds), ("me", of_me)):
        many_to_address(key, chosen or ())
    text_to_address("q", search or "")
    wanted = frozenset().union(*(mine[each] for each in of_me)) if of_me else None
    return Chosen(risks or (), words or (), kinds, search or "", wanted)


def _progress(state: ReviewState, shown: Collection[str]) -> None:
    """How far the review is, by risk, and what still blocks signing; how much of that the filters hide."""
    lines = []
    for level in RISKS:
        of_level = [each for each in state.actions if risk_level(each.action) == level]
        if of_level:
            done = sum(each.word == "approved" for each in of_level)
            lines.append((level, done, len(of_level), round(100 * done / len(of_level))))
    blocking = len(state.unreviewed)
    hidden = sum(each.id not in shown for each in state.unreviewed)
    draw("review_progress", lines=lines, blocking=blocking, hidden=hidden)


def _to_sign(found: Subject, review: Review, desk: Desk, who: str) -> None:
    """What comes next, where nothing blocks it; what cannot be built, as soon as that is known."""
    is_done = not review.state.unreviewed
    if is_of_other_rules(found):
        draw_other_rules(found)
        return
    checked = asked(found, review, who) if is_done else known(found, review)
    if is_done or checked.word == "cannot":
        draw_checked(found, review, checked, who, desk)
    if not is_done or checked.word not in ("can", "unknown"):
        return
    with st.container(border=True, gap="xxsmall"):
        done = text("progress_done" if checked.word == "can" else "progress_approved")
        st.markdown(f":green[:material/check_circle:] {done}")
        with next_step():
            st.page_link(
                "pages/sign.py", label=text("progress_to_sign"), icon=":material/draw:",
                query_params={"policy": found.path.relative_to(workspace_folder()).as_posix()},
            )  # fmt: skip


main()
