"""Texts about decisions: what was decided, said in sentences, and until when. Part of the one table."""

from __future__ import annotations

TEXTS_OF_DECISIONS: dict[str, dict[str, str]] = {
    "told_answered": {"en": "{who} answered {whom}"},
    "told_approved": {"en": "{who} approved it"},
    "told_as_proposed": {"en": "{who} took the override back: it is as proposed again"},
    "told_asked": {"en": "{who} asked {whom} for a closer look"},
    "told_commented": {"en": "{who} commented"},
    "told_moment": {"en": "{day} {minute} UTC"},
    "told_off": {"en": "{who} switched it off"},
    "told_overridden": {"en": "{who} changed {what}"},
    "told_parameter": {"en": "{name} to {value}"},
    "told_reason": {"en": "Reason: {reason}"},
    "told_registered": {"en": "{who} brought this version of the policy under review"},
    "told_rejected": {"en": "{who} rejected it"},
    "told_released": {"en": "{who} signed the whole policy as number {serial}"},
    "told_released_demo": {"en": "the demo signed the whole policy for {who} as number {serial}"},
    "told_resolved": {"en": "{who} resolved the comment of {whom}"},
    "told_signed": {"en": "{who} signed their approvals"},
    "told_signed_demo": {"en": "the demo signed the approvals of {who}"},
    "told_tagged": {"en": "{who} asked for a closer look"},
    "told_undone": {"en": "{who} undid this: {what}, {at}"},
    "told_until": {"en": "It holds until {at}."},
    "told_withdrawn": {"en": "{who} took their verdict back"},
    # The forms
    "form_expires": {"en": "Until when it holds"},
    "form_expires_help": {
        "en": "To the end of that day (UTC). Nothing is built from the override later. Without an end it holds as long "
        "as the bundle."
    },
    "form_expires_day": {"en": "Its last day"},
    "form_expires_never": {"en": "without an end"},
    "form_expires_in": {"en": "{days} days, to {day}"},
    "form_expires_half_year": {"en": "half a year, to {day}"},
    "form_expires_other": {"en": "to another date"},
    "form_lines_empty": {"en": "Still empty: {fields}. Nothing was written."},
    "form_not_given": {"en": "no value of its own"},
    "form_off_legal": {"en": "It can be switched off on this model and chip."},
    "form_as_proposed_legal": {"en": "As proposed, it is legal on this model and chip."},
    "form_not_yet": {"en": "Not written yet: see below. As soon as it can be, the cursor is here; then press Enter."},
    "form_not_yet_measured": {
        "en": "Not written yet: what it does is still being measured. When that is done, the cursor is here: press "
        "Enter, and it is written."
    },
    "form_wait": {"en": "Change a field first: then this button can be pressed."},
    "card_is_off": {"en": "Switched off. What follows speaks of the action as it was proposed."},
    "card_is_changed": {
        "en": "Overridden, see the parameters. The sentence and the effects below are those of the action as proposed."
    },
    "form_wait_illegal": {
        "en": "It cannot be written while this is so: choose something else here, or override first what it names."
    },
    # The effect of an override
    "effect_absent": {
        "en": "What it does cannot be measured: the model or the hardware spec is not in the workspace. "
        "The record will say so."
    },
    "effect_again": {"en": "Measure it again"},
    "effect_alone": {"en": "by itself {before} → {after}; "},
    "effect_failed": {"en": "What it does could not be measured."},
    "effect_figures": {"en": "signal to noise: {figures}"},
    "effect_forecast": {"en": "time {time_before} → {time_after}, bytes moved {bytes_before} → {bytes_after}"},
    "effect_measured_on": {"en": "Measured on {data}, signal to noise: {figures}."},
    "effect_measuring": {"en": "Being measured: what it does to the outputs"},
    "effect_none": {"en": "none ({why})"},
    "effect_nothing": {"en": "Nothing is done in another way than now, so there is nothing to measure."},
    "effect_over": {"en": "Over the accuracy budget: {why}"},
    "effect_predicted": {"en": "Predicted: {figures}."},
    "effect_title": {"en": "Measure the override of {action}"},
    "effect_together": {"en": "the whole policy {before} → {after}"},
    "effect_unmeasured": {"en": "Its effect was not measured: {why}"},
    "effect_wait": {"en": "It can be written when its effect is measured, or with a reason why it is not."},
    "effect_why_not": {"en": "Why its effect is not measured"},
    "effect_without": {"en": "Write it without its measured effect"},
}
