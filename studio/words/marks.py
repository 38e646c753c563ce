"""The shape and the word that go with a colour: colour alone tells nothing to some of us."""

from __future__ import annotations

from studio.words.texts import text

RISK_SHAPES = {"high": "▲", "medium": "◆", "low": "●"}
STATE_SHAPES = {"rejected": "✕", "required": "!", "outdated": "↻", "pending": "○", "approved": "✓"}
"""States of a review, the most pressing first."""


def risk_mark(level: str) -> tuple[str, str]:
    """Shape and word of a level of risk."""
    return RISK_SHAPES[level], text(f"risk_{level}")


def state_mark(state: str) -> tuple[str, str]:
    """Shape and words of a state of a review."""
    return STATE_SHAPES[state], text(f"mark_{state}")
