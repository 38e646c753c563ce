"""Texts of the screens from the model to the package: review, adapt, sign, report, model. Part of the one table."""

from __future__ import annotations

TEXTS_OF_POLICIES: dict[str, dict[str, str]] = {
    # Words that several of these screens share
    "channel_at": {"en": "no. {channel}: {ratio}"},
    "dead_channels": {"en": "dead channels"},
    "flips": {"en": "arg-max flips"},
    "largest_error": {"en": "largest error"},
    "measured": {"en": "measured"},
    "n_of_m": {"en": "{n} of {m}"},
    "none": {"en": "none"},
    "output": {"en": "output"},
    "predicted": {"en": "predicted"},
    "signal_to_noise": {"en": "signal-to-noise"},
    "worst_channel": {"en": "worst channel"},
    # Choosing what a screen is about
    "choose_policy": {"en": "Policy"},
    "choose_model": {"en": "Model"},
    "choose_spec": {"en": "Chip"},
    "policy_none": {
        "en": "No policy is here yet. A policy lists what shall be done to fit a model to a chip: propose one first."
    },
    "policy_to_adapt": {"en": "Propose a policy"},
    "policy_unbound": {
        "en": "This policy does not name its model or its chip, or they are not in the workspace. Say which they are: "
        "every decision holds for exactly one model and one spec."
    },
    "policy_without_model": {
        "en": "The model that this policy was made for is not in the workspace, so overrides cannot be checked."
    },
    "unknown": {"en": "unknown"},
    # Adapt
    "adapt_alone": {"en": "Measure each action alone too"},
    "adapt_alone_help": {"en": "Tells which action costs how much accuracy. It takes several times as long."},
    "adapt_budget": {"en": "How far may the outputs move?"},
    "adapt_budget_words": {
        "en": "The noise may have at most 1/{share} of an output's power: about {amplitude} of its size."
    },
    "adapt_calibration": {"en": "Calibration data"},
    "adapt_calibration_help": {
        "en": "Typical inputs: they tell which values each tensor takes. A .npz, one array an input."
    },
    "adapt_candidates": {"en": "Candidates, best first"},
    "adapt_chosen": {"en": "chosen"},
    "adapt_empty_1": {
        "en": "Every action that the chip's spec suggests is tried: folding, fusing, INT8, padding, placing in memory."
    },
    "adapt_empty_2": {"en": "What breaks a law of the chip or your budget is refused, with the reason."},
    "adapt_empty_3": {
        "en": "What is left becomes a policy. Nothing is built before people have reviewed and signed it."
    },
    "adapt_empty_lead": {
        "en": "Nothing is proposed yet for this model on this chip. Say what you can accept, and propose."
    },
    "adapt_evaluation": {"en": "Evaluation data"},
    "adapt_evaluation_help": {"en": "Inputs that effects are measured on: others than those for calibration."},
    "adapt_goal": {"en": "Goal for the time of one inference (ms)"},
    "adapt_goal_help": {"en": "Held against the time predicted on the chip. Not reached, the policy says so."},
    "adapt_goal_none": {"en": "as fast as it gets"},
    "adapt_integers": {"en": "May compute in INT8"},
    "adapt_measured_accuracy": {"en": "measured accuracy, size, budget"},
    "adapt_mode": {"en": "What counts most?"},
    "adapt_no_data": {"en": "none: random inputs"},
    "adapt_no_model": {"en": "No model is in the workspace. Bring one in first."},
    "adapt_no_spec": {
        "en": "No chip is known yet. Confirm what its manual says, or put a spec file into the workspace."
    },
    "adapt_predicted_time": {"en": "predicted time"},
    "adapt_proposed": {"en": "Proposed {count}"},
    "adapt_random": {
        "en": "Without data, ranges come from random inputs: every INT8 action is then of high risk, and labelled so."
    },
    "adapt_refused": {"en": "Refused {count}"},
    "adapt_refused_none": {"en": "Nothing was refused."},
    "adapt_review": {"en": "Review these {count} actions"},
    "adapt_shapes": {"en": "Input shapes, where the model leaves them open"},
    "adapt_shapes_help": {
        "en": "Such as x=[1,3,224,224]; several with spaces between. Filled in from the data's shape."
    },
    "adapt_start": {"en": "Propose a policy"},
    "adapt_title": {"en": "Fitting {model} to {chip}"},
    "column_action": {"en": "Action"},
    "column_kind": {"en": "Kind"},
    "column_node": {"en": "Node"},
    "column_nodes": {"en": "Nodes"},
    "column_reason": {"en": "Why it was refused"},
    "column_risk": {"en": "Risk"},
    "column_sentence": {"en": "What it changes"},
    "column_time": {"en": "Predicted time"},
    "mode_balanced": {"en": "balanced"},
    "mode_energy": {"en": "few bytes moved"},
    "mode_latency": {"en": "time"},
    # Review: the queue
    "chips_kinds": {"en": "Kind"},
    "chips_risks": {"en": "Risk"},
    "chips_words": {"en": "State"},
    "key_approve": {"en": "Approve"},
    "key_comment": {"en": "Comment"},
    "key_help": {"en": "Show or hide these keys"},
    "key_next": {"en": "Next action"},
    "key_override": {"en": "Override"},
    "key_previous": {"en": "Previous action"},
    "key_search": {"en": "Search"},
    "key_tag": {"en": "Closer look"},
    "key_undo": {"en": "Undo mine"},
    "queue_help_title": {"en": "Keys (they rest while you type)"},
    "queue_keys": {"en": "? keys"},
    "queue_none": {"en": "No action matches. Take a filter away."},
    "review_search": {"en": "Search"},
    "review_search_hint": {"en": "node, kind or words"},
    # Review: the card
    "card_alone": {"en": "this action alone"},
    "card_alternatives": {"en": "Rejected alternatives"},
    "card_bytes": {"en": "bytes moved {bytes}"},
    "card_calibration": {"en": "Calibrated on {data}"},
    "card_constraint": {"en": "Constraint that it keeps:"},
    "card_effect": {"en": "Effect on the outputs, and on the chip"},
    "card_no_risk": {"en": "Nothing assessed the risk, so it counts as high."},
    "card_nodes": {"en": "Nodes:"},
    "card_not_measured": {"en": "Its effect on the outputs was not measured."},
    "card_not_predicted": {"en": "Nothing is predicted: the spec lacks what it takes, or the action changes no time."},
    "card_override": {"en": "overridden"},
    "card_params": {"en": "Parameters"},
    "card_proposed": {"en": "proposed"},
    "card_risk": {"en": "{level} risk"},
    "card_time": {"en": "time on the chip {low} to {high}"},
    "card_together": {"en": "with all other actions"},
    "card_why": {"en": "Why"},
    "history_none": {"en": "Nobody has said anything about it yet."},
    "name": {"en": "Name"},
    "neighbours": {"en": "Neighbours in the graph"},
    # Review: the verdict
    "bulk_confirm": {"en": "Approve these {count}"},
    "bulk_hint": {"en": "Only what is open and of low risk, exactly these {count}:"},
    "bulk_open": {"en": "Approve all {count} of low risk"},
    "conflict_title": {"en": "Someone else was faster. Nothing of yours was written, and your text is kept:"},
    "conflict_then": {"en": "Look at it, and decide again if you still mean it."},
    "form_accuracy_effect": {"en": "What it costs in accuracy"},
    "form_approve": {"en": "Approve with these three lines"},
    "form_cancel": {"en": "Close"},
    "form_comment": {"en": "Write the comment"},
    "form_fallback": {"en": "What is done if it proves wrong"},
    "form_legal": {"en": "Legal on this model and chip."},
    "form_no_check": {"en": "It cannot be checked here: model or spec is not in reach."},
    "form_no_params": {"en": "This kind has no parameters to override here. It can be switched off."},
    "form_off": {"en": "Switch it off"},
    "form_other": {"en": "Other parameters"},
    "form_override": {"en": "Write the override"},
    "form_reason": {"en": "Reason, for those who come after you"},
    "form_reject": {"en": "Reject it as it is"},
    "form_same": {"en": "Nothing is different from the proposal yet."},
    "form_tag": {"en": "Ask for a closer look"},
    "form_undo_override": {"en": "As proposed"},
    "form_what_instead": {"en": "What instead"},
    "form_why_allowed": {"en": "Why it may stand"},
    "person_needed": {"en": "Say who you are first: at the left, below the screens."},
    "progress_blocking": {"en": "{count} actions still block signing."},
    "progress_done": {"en": "Every action is approved. Next: sign."},
    "progress_of_risk": {"en": "{level}: {done} of {total} approved"},
    "progress_to_sign": {"en": "Sign"},
    "said_approve": {"en": "Approved."},
    "said_comment": {"en": "Written."},
    "said_override": {"en": "Overridden. Whoever approved it before has to look again."},
    "said_reject": {"en": "Rejected."},
    "said_tag": {"en": "Marked for a closer look."},
    "said_undo": {"en": "Undone. The record keeps both."},
    "said_withdraw": {"en": "Taken back."},
    "verdict_history": {"en": "History"},
    "verdict_more": {"en": "More"},
    "verdict_reject": {"en": "Reject"},
    "verdict_stands": {"en": "{have} of {need} people stand behind it"},
    "verdict_who": {"en": "Approved by {people}"},
    "verdict_withdraw": {"en": "Take back what I said"},
    "word_approved": {"en": "Enough people stand behind it."},
    "word_outdated": {"en": "It was approved before it, the model, the spec or the rule set changed."},
    "word_pending": {"en": "It needs approval."},
    "word_rejected": {"en": "Someone forbids it as it is: override it, or have the rejection taken back."},
    "word_required": {
        "en": "It needs approval with three lines: why it may stand, what it costs, what if it proves wrong."
    },
}
