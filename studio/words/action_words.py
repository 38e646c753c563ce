"""Names of action kinds, of their parameters and of what these can be, in the reader's language.

One that nobody named is shown as it is.
"""

from __future__ import annotations

from studio.words.figures import plain_value
from studio.words.texts import TEXTS, text


def kind_words(kind: str) -> str:
    """A kind, such as `fold batch norm`."""
    return text(f"kind_{kind}") if f"kind_{kind}" in TEXTS else kind.replace("_", " ")


def parameter_words(name: str) -> str:
    """The name of a parameter, such as `bit width`."""
    return text(f"parameter_{name}") if f"parameter_{name}" in TEXTS else name.replace("_", " ")


def value_words(name: str, value: object) -> str:
    """What a parameter of this name is, such as `channel_wise` of `scheme`; names and numbers stay as they are."""
    is_named = isinstance(value, str) and f"value_{name}_{value}" in TEXTS
    return text(f"value_{name}_{value}") if is_named else plain_value(value)


def parameters_in_words(params: object) -> str:
    """Parameters with their values, in a line."""
    if not isinstance(params, dict):
        return plain_value(params)
    return text("list_mark").join(
        f"{parameter_words(name)}{text('colon')}{value_words(name, value)}" for name, value in params.items()
    )
