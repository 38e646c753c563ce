"""One station of the way from a manual to a package: how it stands, what to do or what blocks it, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Name = Literal["manual", "spec", "policy", "review", "signed", "built"]
NAMES: tuple[Name, ...] = ("manual", "spec", "policy", "review", "signed", "built")
State = Literal["done", "next", "running", "failed", "blocked"]
OPEN: tuple[State, ...] = ("next", "failed")
"""States in which people can do something about it now."""


@dataclass(frozen=True)
class Station:
    """One step of the way."""

    name: Name
    state: State
    sentence: str
    """What is there, what to do, or what blocks it."""
    page: str
    """The screen where it is done."""
    parameters: Mapping[str, str] = field(default_factory=dict)
