"""The card of one action: what it changes, why, what was measured and predicted, what else could have been done."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.bundle.review_rules import risk_level
from metainfer_core.explain.explanation import Explanation, explain
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec
from review_store.record.log import Record
from review_store.review.state import ActionReview
from studio.pages.crops import Crop, crop_of
from studio.review.history_words import told
from studio.review.override_effect import effect_words
from studio.review.review_rows import title
from studio.words.action_words import parameter_words, value_words
from studio.words.markup import draw
from studio.words.texts import text

MOST_CROPS = 3


def draw_card(review: ActionReview, spec: HardwareSpec | None, calibration: str) -> None:
    """Shows an action as it would be built, with overrides in."""
    action = review.action
    explanation = explanation_of(action, spec) if spec is not None else None
    draw(
        "action_card_head",
        id=review.id,
        title=title(action),
        sentence=action.sentence or (explanation.sentence if explanation else ""),
        level=risk_level(action),
    )
    draw(
        "action_card",
        facts=action.risk.facts if action.risk else (text("card_no_risk"),),
        override=action.override,
        override_effect=effect_words(review.override) if review.override is not None else (),
        nodes=action.nodes or (action.node_id,),
        params=_params(action),
        explanation=explanation,
        why=action.why,
        crops=_crops(action, spec) if spec is not None else (),
        constraint=action.constraint,
        effects=[
            (text("card_alone"), action.evidence.alone),
            (text("card_together"), action.evidence.together),
        ],
        evidence=action.evidence,
        calibration=calibration,
        alternatives=action.alternatives,
    )


def explanation_of(action: PolicyAction, spec: HardwareSpec) -> Explanation:
    """The explanation of one action alone."""
    return explain(Policy(actions=(action,)), spec)[0]


def draw_history(records: Sequence[Record]) -> None:
    """Shows who said what about an action, the newest first."""
    draw("history", lines=told(records, records))


def _params(action: PolicyAction) -> list[tuple[str, str, str, str]]:
    """Name in words and as the command line has it, value as proposed, and value as overridden (empty where not)."""
    plain = action.plain()
    given, changed = plain.get("params", {}), plain.get("override")
    changed = changed if isinstance(changed, dict) else {}
    return [
        (
            parameter_words(name),
            name,
            value_words(name, given.get(name)),
            value_words(name, changed[name]) if name in changed else "",
        )
        for name in sorted({*given, *changed})
    ]


def _crops(action: PolicyAction, spec: HardwareSpec) -> list[Crop]:
    fields = dict.fromkeys(reason.spec_field for reason in action.why if reason.spec_field)
    found = {crop: None for crop in (crop_of(spec, each) for each in fields) if crop is not None}
    return list(found)[:MOST_CROPS]
