"""The Chinese texts of the review screen's queue and verdict."""

from __future__ import annotations

TEXTS_ZH_OF_REVIEW: dict[str, str] = {
    # The three lines
    "lines_again": "同我上次批准",
    "lines_again_hint": "填入尚空的各行：“{why}” · “{accuracy}” · “{fallback}”",
    "lines_again_none": "您尚未为此策略的批准写过理由：请先写一次这三行。",
    # A closer look that somebody asked for
    "question_asked": "{who} 请 {whom} 复查：",
    "question_open": "{who} 要求复查：",
    "question_then": "以三行理由批准即为答复。{who} 也可以将其撤回。",
    "question_mine": "这是您提出的复查。以三行理由批准即为答复；您也可以将其撤回。",
    "form_answer": "批准，并以此答复 {who}",
    "said_answer": "已批准。这同时答复了 {who} 要求的复查。",
    "key_approve_again": "同上次一样批准",
}
