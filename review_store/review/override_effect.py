"""The measured effect of an override: an override is written with it, or with why it was not measured."""

from __future__ import annotations

from collections.abc import Sequence

from metainfer_core.bundle.reason import listed
from metainfer_core.cli.console import ProgressCallback
from metainfer_core.errors import InputError
from metainfer_core.pipeline import Prepared, samples_for
from metainfer_core.pipeline.what_if import measure_overrides
from metainfer_core.policy.policy import PolicyAction
from metainfer_core.policy.what_if import WhatIf, changed_ids, content_of
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.samples import SAMPLES
from review_store.review.state import ReviewState, reviewed_policy, with_actions

CHANGES_NOTHING = "Nothing is done in another way, so there is nothing to measure."


def changes_anything(state: ReviewState, changed: Sequence[PolicyAction]) -> bool:
    """Whether anything is done in another way with these actions than it is now."""
    before = reviewed_policy(state)
    return bool(changed_ids(before, with_actions(before, changed)))


def effect_of_overrides(
    state: ReviewState,
    changed: Sequence[PolicyAction],
    prepared: Prepared,
    spec: HardwareSpec,
    calib: str | None,
    evaluation: str | None,
    samples: int = SAMPLES,
    progress: ProgressCallback = lambda step, done, total: None,
) -> WhatIf:
    """What these actions do, overridden as they are, beside all overrides that are in force.

    Args:
        state: The review.
        changed: The actions as they would be built.
        prepared: The model.
        spec: The hardware.
        calib: Calibration data, as for adapt; the evaluation data if not given.
        evaluation: Data that effects are measured on; the calibration data if not given.
        samples: How many of them are used, at most.
        progress: Called with each step.

    Raises:
        InputError: Nothing is done in another way.
    """
    before = reviewed_policy(state)
    measured_on = samples_for(prepared, evaluation or calib, samples)
    after, ranges_from = with_actions(before, changed), calib or evaluation
    return measure_overrides(before, after, prepared, spec, ranges_from, measured_on, progress)


def check_measured(
    state: ReviewState, changed: Sequence[PolicyAction], measured: WhatIf | None, unmeasured: str
) -> None:
    """Refuses an override whose effect nobody knows, unless it says why, and one that was measured on other content.

    Raises:
        InputError: It comes without its effect, or with that of something else.
    """
    ids = listed([each.id for each in changed])
    if measured is None and not unmeasured.strip():
        raise InputError(
            f"{ids}: this override comes without its measured effect.",
            "Who approves it must be able to see what it costs.",
            "Have it measured, or say why it is not.",
        )
    if measured is None:
        return
    before = reviewed_policy(state)
    contents = content_of(before), content_of(with_actions(before, changed))
    if contents != (measured.before.content, measured.after.content):
        raise InputError(
            f"{ids}: what was measured is not this override.",
            "Somebody has decided about the policy since, or the override was changed.",
            "Measure it again.",
        )
