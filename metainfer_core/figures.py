"""Two figures that were compared, written so that a reader sees which one is larger."""

from __future__ import annotations

MOST_DIGITS = 17
"""As many as tell any two floats apart."""


def told_apart(found: float, limit: float, style: str = ".3g", limit_style: str = "") -> tuple[str, str]:
    """Both as text: in their styles where these show which is larger, else in as many digits as that takes.

    `20.0` against a budget of `20` says nothing; `19.98` does.

    Args:
        found: What was measured or computed.
        limit: What it was held against.
        style: Format of `found` with its digits, such as `.1f`, `,.6g` or `.2%`.
        limit_style: Format of `limit`; empty: the same.
    """
    styles = (style, limit_style or style)
    shown = _shown(found, limit, styles)
    more = 0
    while not _is_told(shown, found, limit) and more < MOST_DIGITS:
        more += 1
        shown = _shown(found, limit, (_finer(styles[0], more), _finer(styles[1], more)))
    return shown


def _shown(found: float, limit: float, styles: tuple[str, str]) -> tuple[str, str]:
    return format(found, styles[0]), format(limit, styles[1])


def _finer(style: str, more: int) -> str:
    """The style with more digits; `g` alone has six."""
    before, point, rest = style.partition(".")
    digits, kind = (rest[:-1], rest[-1]) if point else ("6", style[-1])
    return f"{before if point else style[:-1]}.{int(digits) + more}{kind}"


def _is_told(shown: tuple[str, str], found: float, limit: float) -> bool:
    read = [float(each.replace(",", "").removesuffix("%")) for each in shown]
    return (read[0] < read[1], read[0] > read[1]) == (found < limit, found > limit)
