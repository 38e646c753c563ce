"""What a policy holds, as the adapt screen shows it: candidates, proposed actions, refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import streamlit as st

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.explain.sizes import sized_text
from metainfer_core.policy.policy import Policy, PolicyAction
from studio.drafts.missing_values import draw_missing, told_plainly
from studio.files.policies import SpecChoice
from studio.model.training_table import draw_changes
from studio.pictures.pictures_effect import pareto_picture
from studio.pictures.pictures_tab import show
from studio.review.review_rows import RISKS, title
from studio.words.action_words import kind_words
from studio.words.core_words import core_words
from studio.words.figures import microseconds
from studio.words.long_names import short_words, shortened
from studio.words.marks import risk_mark
from studio.words.markup import draw
from studio.words.texts import text

TABLE_HEIGHT = 420


def draw_proposals(policy: Policy, on: SpecChoice) -> None:
    """Shows all of it; what the prediction lacks can be given to the spec `on`."""
    levels = Counter[str](risk_level(action) for action in policy.actions)
    draw(
        "proposals_head",
        policy=policy,
        warnings=told_plainly(policy.warnings),
        levels=[(level, levels[level]) for level in RISKS if levels[level]],
    )
    if policy.fine_tuning is not None:
        st.caption(short_words(core_words(policy.fine_tuning.words)))
    draw_missing(policy, on)
    if policy.candidates:
        draw("candidates", candidates=[dict(candidate) for candidate in policy.candidates])
    changes = policy.structure_changes or ()
    proposed, refused, training, candidates = st.tabs(
        [
            text("adapt_proposed", count=len(policy.actions)),
            text("adapt_refused", count=len(policy.refusals)),
            text("training_tab", count=len(changes)),
            text("picture_pareto"),
        ]
    )
    with candidates:
        show(pareto_picture(policy), text("picture_pareto_none"), "pareto", has_table=False)
    with training:
        draw_changes(changes, TABLE_HEIGHT)
    with proposed:
        st.dataframe(_actions(policy.actions), hide_index=True, height=TABLE_HEIGHT)
    with refused:
        if policy.refusals:
            st.dataframe(
                [
                    {
                        text("column_kind"): kind_words(each.kind),
                        text("column_nodes"): ", ".join(map(shortened, each.nodes)),
                        text("column_reason"): sized_text(core_words(each.reason)),
                    }
                    for each in policy.refusals
                ],
                hide_index=True,
                height=TABLE_HEIGHT,
            )
        else:
            st.caption(text("adapt_refused_none"))


def _actions(actions: Sequence[PolicyAction]) -> list[dict[str, Any]]:
    def row(action: PolicyAction) -> dict[str, Any]:
        shape, level = risk_mark(risk_level(action))
        time = action.evidence.predicted_time_us
        return {
            text("column_risk"): f"{shape} {level}",
            text("column_action"): title(action),
            text("column_node"): shortened(action.node_id),
            text("column_sentence"): short_words(core_words(action.sentence)),
            text("column_time"): f"{microseconds(time[0], True)} … {microseconds(time[1], True)}" if time else "",
        }

    return [row(action) for action in actions]
