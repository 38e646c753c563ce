"""Which place of a spec a candidate belongs to, told by its field and by its instance in the document's words."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.drafting.spec_values import DATA_TYPES
from metainfer_core.spec.files.aliases import FIELDS
from metainfer_core.spec.hardware_spec import HardwareSpec

_CORE = re.compile(
    r"\b(?:(?P<family>cortex)[- ]?)?"
    r"(?P<model>[armx]\d{1,3}[a-z]{0,2}|lx\d+|[ce]9\d\d\w*|arm\d{1,4}\w*|neoverse[- ]?\w+)\b",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Binding:
    """A path, and the kinds of the compute unit or memory that it creates (`memories.sram.kind` to `sram`)."""

    path: str
    kinds: dict[str, str] = field(default_factory=dict)


def core_units(
    draft: SpecDraft, indexes: Sequence[int], bindings: Mapping[str, str], onto: HardwareSpec | None
) -> tuple[str, ...]:
    """Names of the CPU clusters that the documents speak of, such as `cortex_a76`."""
    found = [name for name, unit in onto.compute_units.items() if unit.kind == "cpu"] if onto else []
    for index in indexes:
        candidate = draft.candidates[index]
        instance = instance_of(candidate)
        if candidate.field.startswith("cpu.") and instance:
            name = bindings.get(str(index)) or bindings.get(instance) or core_name(instance)
            if name:
                found.append(name)
    # A short name for a core that another document names in full: "A55" is cortex_a55.
    unique = tuple(dict.fromkeys(found))
    return tuple(name for name in unique if not any(other.endswith("_" + name) for other in unique))


def instance_of(candidate: Candidate) -> str | None:
    """What a candidate is about; a core type is about itself."""
    if candidate.field == "cpu.core_type" and candidate.instance is None and isinstance(candidate.value, str):
        return candidate.value
    return candidate.instance


def core_name(instance: str) -> str:
    """`Cortex-A76` → `cortex_a76`, `quad A55 cluster` → `a55`, else an empty text."""
    match = _CORE.search(instance)
    if not match:
        return ""
    return slug(f"{match['family'] or ''} {match['model']}")


def data_type(text: str) -> str:
    """The first data type that a text names (`max 1920 Int8 MAC` → `int8`), or an empty text."""
    words = re.findall(r"[a-z]+\d+", text.lower())
    return next((DATA_TYPES[word] for word in words if word in DATA_TYPES), "")


def slug(text: str) -> str:
    """A document's words as a name: letters, digits and `_`, beginning with a letter."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:60]
    return name if not name or name[0].isalpha() else f"n{name}"


def bind(
    draft: SpecDraft, index: int, wanted: Collection[int], units: Sequence[str], decisions: Decisions
) -> Binding | None:
    """The place of a candidate, or None where no path fits or its instance leaves the place open."""
    candidate = draft.candidates[index]
    pattern = FIELDS.get(candidate.field)
    if pattern is None:
        return None
    instance = instance_of(candidate)
    placeholder = _PLACEHOLDER.search(pattern)
    if placeholder is None:
        if (
            instance in decisions.bindings
            or str(index) in decisions.bindings
            or index in decisions.choose
            or not _rivals(draft, index, wanted)
        ):
            return Binding(pattern, _kinds_of(pattern))
        return None
    given = decisions.bindings.get(str(index)) or decisions.bindings.get(instance or "")
    name = given or _name(placeholder[1], instance, units)
    if not name:
        return None
    path = pattern.replace(placeholder[0], name)
    if path.endswith("{rule}"):
        if not re.fullmatch(r"[A-Za-z][\w+-]*\.[A-Za-z]\w*", instance or ""):
            return None
        path = path.replace("{rule}", str(instance))
    if path.endswith("{type}"):
        kind_of_data = data_type(f"{candidate.condition or ''} {instance or ''}")
        if not kind_of_data:
            return None
        path = path.replace("{type}", kind_of_data)
    kind = placeholder[1]
    top = path.split(".")[0]
    return Binding(path, {f"{top}.{name}.kind": kind} if top in ("compute_units", "memories") else {})


def kinds_by_name(paths: Iterable[str]) -> dict[str, str]:
    """The kinds of the compute units and memories of paths, where their names tell: `memories.npu_sram.size_bytes`."""
    found: dict[str, str] = {}
    for path in paths:
        top, _, rest = path.partition(".")
        name = rest.split(".")[0]
        if (top, name) in _OWN_NAMES:
            found[f"{top}.{name}.kind"] = name
        else:
            found |= {place: kind for place, kind in _FIXED_KINDS.items() if place == f"{top}.{name}.kind"}
    return found


def _rivals(draft: SpecDraft, index: int, wanted: Collection[int]) -> bool:
    """Whether the field has several instances that differ, so that the spec's one place cannot hold them."""
    this = draft.candidates[index]
    others = [draft.candidates[i] for i in wanted if draft.candidates[i].field == this.field]
    return any(
        other.instance != this.instance
        and (other.value, other.min, other.typ, other.max) != (this.value, this.min, this.typ, this.max)
        for other in others
    )


def _kinds_of(path: str) -> dict[str, str]:
    parts = path.split(".")
    if parts[0] != "memories":
        return {}
    return {f"memories.{parts[1]}.kind": "dram" if parts[1] == "dram" else "sram"}


_OWN_NAMES = {
    (pattern.split(".")[0], match[1])
    for pattern in FIELDS.values()
    if pattern.startswith(("compute_units.", "memories.")) and (match := _PLACEHOLDER.search(pattern))
}
"""Units and memories that are called after their kind."""
_FIXED_KINDS = {
    place: kind for pattern in FIELDS.values() if "{" not in pattern for place, kind in _kinds_of(pattern).items()
}
"""Kinds of the memories that every spec calls by the same name."""


def _name(kind: str, instance: str | None, units: Sequence[str]) -> str:
    if kind == "cpu":
        if instance is None:
            return units[0] if len(units) == 1 else "" if units else "cpu"
        name = core_name(instance)
        full = [unit for unit in units if name and (unit == name or unit.endswith("_" + name))]
        return full[0] if len(full) == 1 else ""
    if kind == "block":
        return slug(instance or "")
    if kind in ("npu", "gpu", "dsp") or instance is None:
        return kind
    name = slug(instance)
    return name if kind in name or kind == "sram" else f"{name}_{kind}"
