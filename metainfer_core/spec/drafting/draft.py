"""SpecDraft: what documents seem to say about a chip, before people have accepted it."""

from __future__ import annotations

from typing import Literal

from metainfer_core.spec.operators import OperatorRule
from metainfer_core.values import FrozenMap, Value

Scalar = str | int | float | bool


class Candidate(Value):
    """One reading of one field in one place of one document. Numbers are in the field's base unit."""

    field: str
    """Canonical field name, such as `cpu.l2_cache.size_bytes` (see spec/files/aliases.py)."""
    value: Scalar | tuple[Scalar, ...] | None = None
    unit: str | None = None
    min: float | None = None
    typ: float | None = None
    max: float | None = None
    instance: str | None = None
    """Which core, block or mode it belongs to, in the document's words."""
    strength: Literal["must", "recommended"] | None = None
    sharing: Literal["shared", "per_core"] | None = None
    condition: str | None = None
    chips: tuple[str, ...] | None = None
    """The chips that the document says this of; None: it does not part them."""
    rule: OperatorRule | None = None
    """The row of an operator table, typed; `instance` is then the operator and the rule's name (`Conv.kernel_h`)."""
    source: str
    """Key of the document in the draft's `sources`."""
    page: int | str | None = None
    box: tuple[float, float, float, float] | None = None
    """Left, top, right, bottom in points from the page's top left corner."""
    text: str = ""
    """The words that hold the value, as the document has them."""
    confidence: float = 0.0
    """Estimated chance that the value is right, 0 to 1."""
    method: str = ""
    """What read it, such as `table-rule` or `ocr+sentence-rule`."""


class DraftSource(Value):
    """A document that was read."""

    title: str
    document_digest: str
    file_name: str
    pages: int | None = None
    pages_by_ocr: tuple[int, ...] = ()


class SpecDraft(Value):
    """All candidates for one chip. Conflicts stay side by side; nothing is averaged."""

    format: Literal["metainfer.spec_draft/1"] = "metainfer.spec_draft/1"
    chip: str
    sources: FrozenMap[DraftSource] = {}
    candidates: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be read, and why."""
