"""The Chinese texts of the review screen's queue and verdict."""

from __future__ import annotations

TEXTS_ZH_OF_REVIEW: dict[str, str] = {
    # The three lines
    "lines_again": "同我上次批准",
    "lines_again_hint": "填入尚空的各行：“{why}” · “{accuracy}” · “{fallback}”",
    "lines_again_none": "您尚未为此策略的批准写过理由：请先写一次这三行。",
    "key_approve_again": "同上次一样批准",
}
