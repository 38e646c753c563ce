"""Numbers as people read them, with their units."""

from __future__ import annotations

from metainfer_core.explain.sizes import three_digits
from studio.words.texts import text

_THIN = "\u202f"


def whole(number: float | None) -> str:
    """A whole number in groups of three."""
    return text("unknown") if number is None else f"{number:,.0f}".replace(",", _THIN)


def decibels(ratio: float | None) -> str:
    """Signal over noise; no noise at all is said in a word."""
    return text("no_noise") if ratio is None else f"{ratio:.1f} dB"


def microseconds(time: float | None, sign: bool = False) -> str:
    """A time in µs, ms or s."""
    if time is None:
        return text("unknown")
    amount, units = abs(time), ["µs", "ms", "s"]
    while amount >= 1000 and len(units) > 1:
        amount, units = amount / 1000, units[1:]
    mark = "−" if time < 0 else "+" if sign and time > 0 else ""
    return f"{mark}{three_digits(amount)} {units[0]}"


def milliseconds(time: float | None) -> str:
    """A time given in ms."""
    return text("unknown") if time is None else microseconds(time * 1000)


def rate(amount: float | None, unit: str) -> str:
    """A large amount with a decimal prefix, such as `6.00 TOPS`."""
    if amount is None:
        return text("unknown")
    prefixes = ["", "k", "M", "G", "T", "P"]
    while amount >= 1000 and len(prefixes) > 1:
        amount, prefixes = amount / 1000, prefixes[1:]
    return f"{three_digits(amount)} {prefixes[0]}{unit}"


def plain_value(value: object) -> str:
    """A parameter as people read it: pairs of a mapping, both ends of a range, yes or no."""
    if isinstance(value, bool):
        return text("value_true" if value else "value_false")
    if isinstance(value, dict):
        return text("list_mark").join(f"{key}{text('colon')}{plain_value(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        parts = list(map(plain_value, value))
        is_span = len(parts) == 2 and any(isinstance(each, float) for each in value) and not any(map(_is_word, value))
        return " … ".join(parts) if is_span else ", ".join(parts)
    return f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)


def _is_word(value: object) -> bool:
    return not isinstance(value, int | float)
