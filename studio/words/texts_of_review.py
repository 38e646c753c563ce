"""Texts of the review screen's queue and verdict: what each verb does, and what each number counts."""

from __future__ import annotations

TEXTS_OF_REVIEW: dict[str, dict[str, str]] = {
    # The three lines
    "lines_again": {"en": "As in my last approval"},
    "lines_again_hint": {"en": "Fills the lines that are still empty: “{why}” · “{accuracy}” · “{fallback}”"},
    "lines_again_none": {"en": "You have not justified an approval of this policy yet: write the three lines once."},
    "alone_count": {
        "en": "{count} of high risk or asked about: one by one, with three lines {count:of its|of their} own."
    },
    # A closer look that somebody asked for
    "question_asked": {"en": "{who} asks {whom} for a closer look:"},
    "question_open": {"en": "{who} asks for a closer look:"},
    "question_then": {"en": "An approval with three lines answers it. {who} can also take it back."},
    "question_mine": {"en": "You asked this. An approval with three lines answers it; you can also take it back."},
    "form_answer": {"en": "Approve, and so answer {who}"},
    "said_answer": {"en": "Approved. That also answers the closer look that {who} asked for."},
    # Keys and buttons: their names, and what follows
    "key_next": {"en": "Next"},
    "hint_next": {"en": "The action below, with what you filtered."},
    "key_previous": {"en": "Previous"},
    "hint_previous": {"en": "The action above."},
    "key_next_open": {"en": "Next open"},
    "hint_next_open": {"en": "The next action that still blocks signing; after the last, from the top again."},
    "key_approve": {"en": "Approve"},
    "hint_approve": {"en": "You stand behind it as it is. What is dangerous or asked about takes three lines."},
    "key_approve_again": {"en": "Approve as last time"},
    "hint_approve_again": {"en": "Opens the three lines, filled with those of your last approval for you to look at."},
    "key_together": {"en": "Approve together"},
    "hint_together": {"en": "Opens the list of those that can be approved at once, low risk first."},
    "key_tag": {"en": "Closer look"},
    "hint_tag": {
        "en": "You ask something: earlier approvals no longer count, and an approval with three lines is the answer."
    },
    "key_override": {"en": "Override"},
    "hint_override": {"en": "It does something else, or nothing. After that it needs approval anew."},
    "key_reject": {"en": "Reject"},
    "hint_reject": {"en": "Nothing is signed with it as it is, until it is overridden or you take that back."},
    "key_comment": {"en": "Comment"},
    "hint_comment": {"en": "You say something; no approval changes."},
    "key_undo": {"en": "Undo last"},
    "hint_undo": {"en": "Undoes your last entry about it, whatever it was. The record keeps both."},
    "key_withdraw": {"en": "Take back"},
    "hint_withdraw": {"en": "Takes your approval, rejection and closer look back. Overrides and comments stay."},
    "key_search": {"en": "Search"},
    "hint_search": {"en": "By node, kind or words; Enter starts it."},
    "key_write": {"en": "Write the form"},
    "hint_write": {"en": "From any of its fields."},
    "key_leave": {"en": "Leave"},
    "hint_leave": {"en": "A field, then its form (your words are kept), or these keys."},
    "key_help": {"en": "Keys"},
    "hint_help": {
        "en": "Shows or hides this table. Tab goes on to the next field or button, Enter presses it; Alt+M goes to the "
        "main button."
    },
    "form_undo_override": {"en": "Back to the proposal"},
    "said_reject": {"en": "Rejected: it blocks signing as it is."},
    "said_tag": {"en": "A closer look is asked for. An approval with three lines is the answer."},
    "said_undo": {"en": "Your last entry is undone. The record keeps both."},
    "said_withdraw": {"en": "Taken back: your approval, rejection or closer look."},
}
