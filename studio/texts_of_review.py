"""Texts of the review screen's queue and verdict: what each verb does, and what each number counts."""

from __future__ import annotations

TEXTS_OF_REVIEW: dict[str, dict[str, str]] = {
    # The three lines
    "lines_again": {"en": "As in my last approval"},
    "lines_again_hint": {"en": "Fills the lines that are still empty: “{why}” · “{accuracy}” · “{fallback}”"},
    "lines_again_none": {"en": "You have not justified an approval of this policy yet: write the three lines once."},
    "key_approve_again": {"en": "Approve as last time"},
}
