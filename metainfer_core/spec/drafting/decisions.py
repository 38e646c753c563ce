"""Decisions: what a person accepts, rejects, edits or leaves unknown in a draft."""

from __future__ import annotations

from metainfer_core.values import FrozenMap, JsonMap, Value


class Decisions(Value):
    """What a person decided about a draft."""

    everything: bool = False
    """Accept every candidate that nothing contradicts."""
    fields: tuple[str, ...] = ()
    """Accept these document fields (or spec paths)."""
    above: float | None = None
    """Accept candidates of at least this confidence."""
    choose: tuple[int, ...] = ()
    """Accept these candidates by index, whatever contradicts them."""
    apart: tuple[int, ...] = ()
    """Accept these candidates in `other`, each under its instance: the spec has one place, the documents name several
    (supply rails, DMA controllers)."""
    reject: tuple[int, ...] = ()
    """Leave these candidates out, and let them contradict nothing."""
    unknown: tuple[str, ...] = ()
    """Leave these fields or paths unknown; what the spec built on says there is taken out."""
    edits: JsonMap = {}
    """Spec path to the value that a person gives instead; kept as assumed, with the person as its source."""
    edits_from: str = ""
    """Where the person has these values from; empty where that is not said."""
    bindings: FrozenMap[str] = {}
    """A document's instance ("big cluster"), or the index of one candidate, to the name of a compute unit, memory or
    block of the spec."""
    accepted_by: str | None = None
    name: str | None = None
    """Name of the spec; else that of the spec built on, or the draft's chip."""
    version: str | None = None
    """Version of the spec; else that of the spec built on, or 1.0.0."""
    reason: str | None = None
    """Why, for the change log."""
