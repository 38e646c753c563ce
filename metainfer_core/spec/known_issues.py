"""What is known to fail or to hurt on a chip, beyond what its operator tables say: errata, and what people ran into."""

from __future__ import annotations

from typing import Literal

import pydantic

from metainfer_core.spec.operators import Condition
from metainfer_core.values import Value


class KnownIssue(Value):
    """A structure, or a way to change it, that does not do on this chip, and what to do in its place."""

    verdict: Literal["fails", "hurts"]
    """`fails`: it is refused. `hurts`: it is allowed, as a risk that is shown."""
    operators: tuple[str, ...]
    """The ONNX operator, or a chain in which each reads the one before it."""
    action: str | None = None
    """The kind of action that fails or hurts there, such as `fuse`; unset: any that gives the operators to `unit`."""
    unit: str | None = None
    """Name of the compute unit; unset: all of them."""
    when: tuple[Condition, ...] = ()
    """What the first operator must be like; unset: all of them."""
    evidence: str
    """What was seen, where and when, or what the document says: one sentence."""
    workaround: str | None = None
    """What helps, such as `reset the unit between runs`."""
    substitute: tuple[str, ...] = ()
    """Operators to use in their place, such as LayerNormalization for GroupNormalization."""

    @pydantic.model_validator(mode="after")
    def _is_about_something(self) -> KnownIssue:
        if not self.operators:
            raise ValueError("an issue needs the operators that it is about")
        return self

    @property
    def advice(self) -> str:
        """What to do in its place, as a sentence; empty where nothing is known."""
        parts = []
        if self.substitute:
            parts.append(f"use {' and '.join(self.substitute)} in its place")
        if self.workaround:
            parts.append(self.workaround.rstrip("."))
        said = "; or ".join(parts)
        return f"{said[0].upper()}{said[1:]}." if said else ""
