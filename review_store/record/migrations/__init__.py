"""How the store's tables came about, in order; and the guards that they end up with."""

from __future__ import annotations

from importlib import import_module


def guards() -> dict[str, str]:
    """Name and text of every trigger that a store has, with single spaces."""
    texts = (" ".join(text.split()) for text in import_module(f"{__name__}.versions.0001_event_log").TRIGGERS)
    return {text.split()[2]: text for text in texts}
