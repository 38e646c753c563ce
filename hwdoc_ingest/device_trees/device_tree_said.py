"""Makes candidates out of device tree properties, with the line that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hwdoc_ingest.device_trees.device_tree_nodes import Cell, DeviceTree, Property
from hwdoc_ingest.fields import FIELDS, address
from metainfer_core.spec.drafting.draft import Candidate


@dataclass(frozen=True)
class Said:
    """Call it with a field, its value and the property that says so."""

    tree: DeviceTree
    key: str
    """The document's key."""

    def __call__(
        self,
        field: str,
        value: int | str | None,
        found: Property,
        *,
        cell: Cell | None = None,
        instance: str | None = None,
        condition: str | None = None,
        sharing: Literal["shared", "per_core"] | None = None,
        maximum: float | None = None,
        confidence: float = 0.9,
    ) -> Candidate:
        """The candidate. `cell` is the cell of `found` that holds the value, when it is not on the property's line."""
        unit = FIELDS[field].unit
        line = (cell or found).line
        return Candidate(
            field=field,
            value=address(value) if unit == "addr" and isinstance(value, int) else value,
            unit=unit,
            max=maximum,
            instance=instance,
            condition=condition or None,
            sharing=sharing,
            source=self.key,
            page=line if line is not None else found.path,
            text=self.tree.words_at(cell or found, found)[:300],
            confidence=confidence,
            method="device-tree",
        )
