"""Moments as people read them, in UTC; the exact one shows when one points at it, or stands there to the second."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from metainfer_core.bundle.trust import Time
from studio.words.texts import text

_STAMP = re.compile(r"(?<![\w.:-])\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ(?![\w-])")
"""A moment as the core and the record write it; one within a name is part of the name."""


def moment(at: Time) -> str:
    """`2026-11-30T09:15:07Z` to the minute, as people write it."""
    return text("told_moment", day=at[:10], minute=at[11:16])


def exact_moment(at: Time) -> str:
    """The same to the second, for where nothing can be pointed at."""
    return text("told_moment", day=at[:10], minute=at[11:19])


def with_exact_moments(words: str) -> str:
    """Words in which each moment is as people write it, to the second."""
    return _STAMP.sub(lambda found: exact_moment(found[0]), words)


def moments_markup(words: str) -> Markup:
    """Words as HTML, in which each moment stands to the minute and shows exactly when one points at it."""
    return Markup(_STAMP.sub(lambda found: moment_markup(found[0]), str(escape(words))))


def moment_markup(at: Time) -> Markup:
    """One moment as HTML."""
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at, at, moment(at))
