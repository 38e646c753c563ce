"""Texts of the review screen's queue and verdict: what each verb does, and what each number counts."""

from __future__ import annotations

TEXTS_OF_REVIEW: dict[str, dict[str, str]] = {
    # The three lines
    "lines_again": {"en": "As in my last approval"},
    "lines_again_hint": {"en": "Fills the lines that are still empty: “{why}” · “{accuracy}” · “{fallback}”"},
    "lines_again_none": {"en": "You have not justified an approval of this policy yet: write the three lines once."},
    # A closer look that somebody asked for
    "question_asked": {"en": "{who} asks {whom} for a closer look:"},
    "question_open": {"en": "{who} asks for a closer look:"},
    "question_then": {"en": "An approval with three lines answers it. {who} can also take it back."},
    "question_mine": {"en": "You asked this. An approval with three lines answers it; you can also take it back."},
    "form_answer": {"en": "Approve, and so answer {who}"},
    "said_answer": {"en": "Approved. That also answers the closer look that {who} asked for."},
    "key_approve_again": {"en": "Approve as last time"},
}
