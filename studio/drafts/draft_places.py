"""A draft as places to decide: all readings that would fill one place of the spec stand together.

Which place a reading belongs to and which readings contradict each other is told by the core, by the rules that
accept a draft.
"""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hwdoc_ingest.drafting.decisions import rank
from metainfer_core.errors import MetaInferError
from metainfer_core.files import read_bytes, write_bytes
from metainfer_core.spec.drafting.accept import accept, apart_key
from metainfer_core.spec.drafting.binding import bind, core_units
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.drafting.draft_file import DRAFT_LIMIT, read_draft
from metainfer_core.spec.drafting.spec_values import NotRepresentable, spec_value
from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.files.aliases import FIELDS
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.quantities import UNITS, format_quantity, unit
from studio.files.documents import file_digest
from studio.files.file_cache import kept_by_file
from studio.files.workspace import hidden_folder

Group = Literal["memory", "compute", "movement", "power", "addresses", "other"]
GROUPS: tuple[Group, ...] = ("memory", "compute", "movement", "power", "addresses", "other")

_GROUP_OF: tuple[tuple[tuple[str, ...], Group], ...] = (
    (("memory.", "mmu."), "memory"),
    (("cpu.", "npu.", "gpu.", "dsp.", "isp.", "video.", "latency."), "compute"),
    (("dma.", "bus.", "usb."), "movement"),
    (("power.", "thermal.", "clock."), "power"),
    (("mmio.", "register.", "reset.", "interrupts."), "addresses"),
)

_SYMBOLS = {"degC": "°C", "degC/W": "°C/W", "cm2": "cm²"}
"""Units as people write them."""
_SEVERAL = {word: word + "s" for word in ("bit", "way", "set", "line", "stage", "cycle", "beat", "word", "MAC")} | {
    "entry": "entries"
}
"""Units as people say them of more than one."""

EXPECTED: tuple[str, ...] = (
    "cpu.clock_hz",
    "cpu.cores",
    "cpu.isa",
    "cpu.l1d_cache.size_bytes",
    "cpu.l1d_cache.line_bytes",
    "cpu.l2_cache.size_bytes",
    "cpu.vector_width_bits",
    "memory.sram.size_bytes",
    "memory.dram.size_bytes",
    "memory.dram.bandwidth_Bps",
    "npu.clock_hz",
    "npu.macs_per_cycle",
    "npu.sram.size_bytes",
    "npu.data_types",
    "npu.operators",
    "dma.channels",
    "dma.alignment_bytes",
    "dma.max_burst_beats",
    "reset.vector",
    "power.max_w",
    "thermal.junction_c",
)
"""What adapting and building ask of a spec: a draft without one of these says so."""


@dataclass(frozen=True)
class Place:
    """One place of the spec, or of its `other`, with every reading for it, the most certain first."""

    key: str
    """Its path in the spec; `other....` where no path fits."""
    field: str
    """Name of the document field."""
    instance: str
    """Which core, block or mode, in the document's words; by its name in the spec where the readings differ in them."""
    group: Group
    indexes: tuple[int, ...]
    """Of the candidates in the draft."""
    is_conflict: bool
    """Whether the readings contradict each other."""
    is_mixed: bool = False
    """Whether the readings are about several instances (supply rails), and the spec has this one place for them. Each
    instance also has a place of its own in `other`."""


@functools.lru_cache(maxsize=16)
def places(draft: SpecDraft) -> tuple[Place, ...]:
    """All places that the draft has readings for, by group, field and instance."""
    every = tuple(index for index, candidate in enumerate(draft.candidates) if says_something(candidate))
    chosen = Decisions(choose=every)
    units = core_units(draft, every, {}, None)
    found: dict[str, list[int]] = {}
    of_several: dict[str, list[int]] = {}
    for index in every:
        path = _path(draft, index, every, units, chosen)
        rival = not path.startswith("other.") and bind(draft, index, every, units, Decisions()) is None
        (of_several if rival else found).setdefault(path, []).append(index)
        if rival and draft.candidates[index].instance:
            found.setdefault(f"other.{apart_key(draft.candidates[index])}", []).append(index)
    for path in of_several.keys() & found.keys():  # two fields of one place, one of them with several instances
        of_several[path] += found.pop(path)
    apart = tuple(sorted({index for key, indexes in found.items() if key.startswith("other.") for index in indexes}))
    singly = tuple(index for indexes in of_several.values() for index in indexes)
    decided = Decisions(choose=tuple(sorted({*every} - {*apart, *singly})), apart=apart)
    conflicts = {conflict.path for conflict in accept(draft, decided).conflicts}
    made = [_place(draft, key, indexes, key in conflicts) for key, indexes in found.items()]
    made += [_place(draft, key, indexes, False, is_mixed=True) for key, indexes in of_several.items()]
    return tuple(sorted(made, key=lambda place: (GROUPS.index(place.group), place.field, place.instance, place.key)))


@functools.lru_cache(maxsize=16)
def missing(draft: SpecDraft) -> tuple[Place, ...]:
    """Places that a run asks for and the draft has no reading of; without readings, and with a path of the spec."""
    said = {candidate.field for candidate in draft.candidates if says_something(candidate)}
    filled = {FIELDS.get(field) for field in said}
    units = {part: _unit(draft, part) for part in ("cpu", "npu")}
    found = []
    for field in EXPECTED:
        kind = field.split(".")[0]
        name = units.get(kind, kind)
        if FIELDS[field] in filled or not name:
            continue
        path = FIELDS[field].replace(f"{{{kind}}}", name).replace("{sram}", "sram").replace("{type}", "int8")
        found.append(Place(path, field, "", group_of(field), (), False))
    return tuple(found)


def _unit(draft: SpecDraft, kind: str) -> str:
    """The compute unit that a bare field of this kind would be about; empty where there is none or several."""
    own = [place.key for place in places(draft) if place.field.startswith(f"{kind}.")]
    names = {key.split(".")[1] for key in own if key.startswith("compute_units.")}
    return names.pop() if len(names) == 1 else ""


def says_something(candidate: Candidate) -> bool:
    """Whether a candidate holds any value."""
    return any(part is not None for part in (candidate.value, candidate.min, candidate.typ, candidate.max))


def group_of(field: str) -> Group:
    """The group that a document field stands in."""
    if "cache" in field:
        return "memory"
    return next((group for beginnings, group in _GROUP_OF if field.startswith(beginnings)), "other")


def will_hold(candidate: Candidate, key: str) -> str:
    """What the spec will hold at a place, as its file says it; empty where the place is in `other`."""
    if key.startswith("other.") or shape_at(key) is None:
        return ""
    try:
        return "; ".join(f"{path}: {shown(path, value)}" for path, value in spec_value(candidate, key))
    except NotRepresentable:
        return ""


def amount(value: object, unit_name: str | None) -> str:
    """A reading's value as people read it: `512 KiB`, `1 GHz`, `22 nm`, `0x4000`, `INT8, INT16`."""
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join(amount(item, unit_name) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        return str(value)
    number = float(f"{float(value):.12g}")
    if unit_name == "B/s" and (rate := _rate(number)):
        return rate
    base = unit(unit_name or "")
    written = format_quantity(number, UNITS.get(base.name) if base else None)
    if isinstance(written, str):
        return written
    plain = f"{written:,}" if isinstance(written, int) and abs(written) >= 10_000 else f"{written}"
    if not unit_name or unit_name in ("count", "addr", "irq", "rel", "ratio"):
        return plain
    said = _SYMBOLS.get(unit_name, unit_name)
    return f"{plain} {_SEVERAL.get(said, said) if number != 1 else said}"


def _rate(bytes_a_second: float) -> str:
    """`3.2 GB/s`, which data sheets count in thousands; empty where it is less than one kB/s."""
    for name, factor in (("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)):
        if abs(bytes_a_second) >= factor:
            return f"{bytes_a_second / factor:.12g} {name}"
    return ""


@functools.lru_cache(maxsize=16)
def digest_of(draft: SpecDraft) -> str:
    """The draft's digest, worked out once: a draft of thousands of registers takes a while."""
    return draft.digest


@kept_by_file
def draft_in(path: Path) -> SpecDraft:
    """The draft of a file; raises InputError with the line of the first fault.

    Reading thousands of values from YAML takes seconds: a copy as JSON is kept beside people's files, by its digest.
    """
    copy = hidden_folder("drafts") / f"{file_digest(path).removeprefix('sha256:')}.json"
    with contextlib.suppress(OSError, MetaInferError):
        return SpecDraft.from_json(read_bytes(copy, "draft", DRAFT_LIMIT))
    draft = read_draft(path)
    with contextlib.suppress(MetaInferError):
        write_bytes(copy, draft.to_json(), "draft")
    return draft


def _path(draft: SpecDraft, index: int, every: tuple[int, ...], units: tuple[str, ...], decisions: Decisions) -> str:
    candidate = draft.candidates[index]
    binding = bind(draft, index, every, units, decisions)
    if binding is not None:
        try:
            spec_value(candidate, binding.path)
            return binding.path
        except NotRepresentable:
            pass
    return f"other.{apart_key(candidate)}"


def _standing(draft: SpecDraft, index: int) -> tuple[int, float, int]:
    """What corrects stands before what describes, and within documents of one rank what is surer."""
    candidate = draft.candidates[index]
    source = draft.sources.get(candidate.source)
    return rank(source) if source else 0, -candidate.confidence, index


def _place(draft: SpecDraft, key: str, indexes: list[int], is_conflict: bool, is_mixed: bool = False) -> Place:
    ordered = tuple(sorted(indexes, key=lambda index: _standing(draft, index)))
    first = draft.candidates[ordered[0]]
    instances = {draft.candidates[index].instance or "" for index in ordered}
    named = key.startswith(("compute_units.", "memories.")) and "{" in FIELDS.get(first.field, "")
    instance = instances.pop() if len(instances) == 1 else key.split(".")[1] if named and not is_mixed else ""
    return Place(key, first.field, instance, group_of(first.field), ordered, is_conflict, is_mixed)
