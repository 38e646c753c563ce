"""What differs between two specs, value by value, whatever the files look like."""

from __future__ import annotations

from typing import Any, Literal

from metainfer_core.spec.field_shapes import SPEC, Shape
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

_APART = ("format", "provenance", "sources", "assumed")


class Change(Value):
    """One value that differs."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: str | None = None
    """As a spec file would say it, with its unit."""
    after: str | None = None
    assumed_before: bool = False
    assumed_after: bool = False

    @property
    def sentence(self) -> str:
        """The change in one line, such as `l2_cache.latency_cycles: 12 → 13.5`."""
        before = (self.before or "unknown") + (" (assumed)" if self.assumed_before else "")
        after = (self.after or "unknown") + (" (assumed)" if self.assumed_after else "")
        return f"{self.path}: {before} → {after}"


def diff(before: HardwareSpec, after: HardwareSpec) -> tuple[Change, ...]:
    """The values that differ, by path; also those that only turned from assumed into known, or back.

    Provenance and sources are not compared.
    """
    old, new = leaves(before), leaves(after)
    changes = []
    for path in sorted({*old, *new}):
        was_assumed, is_assumed = _assumed(before, path), _assumed(after, path)
        if old.get(path) == new.get(path) and was_assumed == is_assumed:
            continue
        kind: Literal["added", "removed", "changed"] = (
            "added" if path not in old else "removed" if path not in new else "changed"
        )
        changes.append(
            Change(
                path=path,
                kind=kind,
                before=old.get(path),
                after=new.get(path),
                assumed_before=was_assumed,
                assumed_after=is_assumed,
            )
        )
    return tuple(changes)


def leaves(spec: HardwareSpec) -> dict[str, str]:
    """Path to value as text, for every single value of a spec."""
    plain = spec.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    found: dict[str, str] = {}
    for key, shape in SPEC.fields().items():
        if key in plain and key not in _APART:
            _collect(plain[key], shape, key, key, found)
    return found


def _collect(value: Any, shape: Shape, path: str, key: str, found: dict[str, str]) -> None:
    if isinstance(value, dict) and (shape.kind in ("record", "named") or path == "other"):
        fields = shape.fields()
        for inner, item in value.items():
            _collect(item, fields.get(inner) or shape.item or Shape("any"), f"{path}.{inner}", inner, found)
    else:
        found[path] = shown(path, value)


def _assumed(spec: HardwareSpec, path: str) -> bool:
    return any(path == known or path.startswith(known + ".") for known in spec.assumed)
