"""Names of action kinds and of their parameters, in the reader's language; one that nobody named is shown as it is."""

from __future__ import annotations

from studio.figures import plain_value
from studio.texts import TEXTS, text


def kind_words(kind: str) -> str:
    """A kind, such as `fold batch norm`."""
    return text(f"kind_{kind}") if f"kind_{kind}" in TEXTS else kind.replace("_", " ")


def parameter_words(name: str) -> str:
    """The name of a parameter, such as `bit width`."""
    return text(f"parameter_{name}") if f"parameter_{name}" in TEXTS else name.replace("_", " ")


def parameters_in_words(params: object) -> str:
    """Parameters with their values, in a line."""
    if not isinstance(params, dict):
        return plain_value(params)
    return "; ".join(f"{parameter_words(name)}{text('colon')}{plain_value(value)}" for name, value in params.items())
