"""Reads CMSIS-SVD, the register description of a microcontroller, into candidates (CMSIS-SVD schema 1.3)."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hwdoc_ingest.fields import FIELDS, address
from hwdoc_ingest.page.plain_text import decode
from hwdoc_ingest.reading import LIMIT_BYTES, Progress, Reading
from hwdoc_ingest.registers.xml_lines import Element, parse_xml
from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes
from metainfer_core.spec.drafting.draft import Candidate, DraftSource
from metainfer_core.values import sha256

MAX_CANDIDATES = 400_000
MAX_CLUSTER_DEPTH = 8
_MAX_EXPANDED_PERIPHERALS = 256
_NUMBER = re.compile(r"\+?(0[xX][0-9a-fA-F][0-9a-fA-F_]*|0[bB][01]+|#[01]+|\d+)\s*([kKmMgGtT]?)")
_SCALE = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_BIT_RANGE = re.compile(r"\[?\s*(\d+)\s*(?::\s*(\d+)\s*)?\]?")
_INDEX_RANGE = re.compile(r"\s*(?:(\d+)\s*-\s*(\d+)|([A-Z])\s*-\s*([A-Z]))\s*")


def read_svd(path: Path, key: str, progress: Progress) -> Reading:
    """The candidates of an SVD file; `page` is the line, for what is inherited the line that it is inherited from."""
    data = read_bytes(path, "SVD file", LIMIT_BYTES["svd"])
    progress("parsing the SVD file", 0, 0)
    device = parse_xml(data, path)
    if device.tag != "device":
        raise InputError(
            f"{path}: this is no CMSIS-SVD.", f"Its outermost element is <{device.tag}>.", "Give an .svd file."
        )
    lines = decode(data, path).split("\n")
    peripherals = _by_name(_below(device, "peripherals", "peripheral"))
    reader = _Reader(key, lines, device, _paths(peripherals))
    candidates: list[Candidate] = [*reader.device(device)]
    for index, peripheral in enumerate(peripherals.values()):
        progress(f"peripheral {peripheral.words('name')}", index, len(peripherals))
        candidates.extend(reader.peripheral(peripheral, peripherals))
        if len(candidates) > MAX_CANDIDATES:
            reader.notes.append(f"Read up to {peripheral.words('name')}: more than {MAX_CANDIDATES:,} values.")
            break
    title = " ".join(part for part in ("CMSIS-SVD", device.words("vendor"), device.words("name")) if part)
    source = DraftSource(
        title=title[:200], document_digest=sha256(data), file_name=path.name, pages=len(lines) - (not lines[-1])
    )
    return Reading(key=key, source=source, candidates=tuple(candidates), notes=tuple(reader.notes))


def number(words: str) -> int | None:
    """A number as SVD writes it: `0x1F`, `#0101`, `0b11`, `12`, `4k`; None for anything else."""
    match = _NUMBER.fullmatch(words.strip())
    if not match or len(match[1]) > 70:
        return None
    digits = match[1].lower().replace("_", "")
    value = int(digits[1:], 2) if digits[0] == "#" else int(digits, 0 if digits[:2] in ("0x", "0b") else 10)
    return value * _SCALE[match[2].lower()]


def bits(field: Element, among: Mapping[str, Element] | None = None) -> tuple[int, int] | None:
    """Lowest bit and width of a field, from whichever of the three notations it or its origin in `among` uses."""

    def words(tag: str) -> str:
        found = _inherited(field, tag, among or {})
        return found.element.text if found else ""

    between = _BIT_RANGE.fullmatch(words("bitRange"))
    if between:
        high, low = int(between[1]), int(between[2] or between[1])
        return (low, high - low + 1) if high >= low else None
    low_bit, high_bit = number(words("lsb")), number(words("msb"))
    if low_bit is not None and high_bit is not None:
        return (low_bit, high_bit - low_bit + 1) if high_bit >= low_bit else None
    offset, width = number(words("bitOffset")), number(words("bitWidth") or "1")
    return (offset, width) if offset is not None and width else None


def _by_name(elements: Iterator[Element]) -> Mapping[str, Element]:
    return {element.words("name"): element for element in elements if element.words("name")}


def _below(element: Element, group: str, *tags: str) -> Iterator[Element]:
    found = element.child(group)
    return found.all(*tags) if found else iter(())


@dataclass(frozen=True)
class _Inherited:
    """Where a value stands: in the element itself, or in one that it is derived from."""

    element: Element
    from_name: str


def _inherited(element: Element, tag: str, among: Mapping[str, Element]) -> _Inherited | None:
    """The child `tag` of an element, or of what it is derived from; circles end."""
    seen: set[int] = set()
    name = ""
    while id(element) not in seen:
        seen.add(id(element))
        found = element.child(tag)
        if found is not None:
            return _Inherited(found, name)
        name, origin = _origin(element, among)
        if origin is None:
            return None
        element = origin
    return None


def _origin(element: Element, among: Mapping[str, Element]) -> tuple[str, Element | None]:
    """What an element is derived from, by its path (`UART0.CTRL`) or by its name among its neighbours."""
    path = element.attributes.get("derivedFrom", "").strip()
    name = path.rpartition(".")[2]
    return name, among.get(path) or among.get(name)


def _paths(peripherals: Mapping[str, Element]) -> dict[str, Element]:
    """All registers, clusters and fields by their path from the peripheral on."""
    found: dict[str, Element] = {}

    def add(prefix: str, group: Element | None, depth: int) -> None:
        for element in group.all("register", "cluster") if group else ():
            path = f"{prefix}.{element.words('name')}"
            found.setdefault(path, element)
            if element.tag == "cluster" and depth < MAX_CLUSTER_DEPTH:
                add(path, element, depth + 1)
            for field in _below(element, "fields", "field"):
                found.setdefault(f"{path}.{field.words('name')}", field)

    for name, peripheral in peripherals.items():
        add(name, peripheral.child("registers"), 0)
    return found


@dataclass(frozen=True)
class _Size:
    """The width that a register has where it names none."""

    element: Element
    owner: str


def _size(element: Element, among: Mapping[str, Element], owner: str, outer: _Size | None) -> _Size | None:
    own = _inherited(element, "size", among)
    return _Size(own.element, owner) if own and number(own.element.text) else outer


class _Reader:
    """Turns elements into candidates of one document."""

    def __init__(self, key: str, lines: list[str], device: Element, paths: dict[str, Element]) -> None:
        self.key = key
        self.lines = lines
        self.size = _size(device, {}, "the device", None)
        self.paths = paths
        self.notes: list[str] = []

    def said(
        self,
        field: str,
        value: int | str | tuple[int, int],
        where: Element,
        instance: str | None = None,
        condition: str = "",
        confidence: float = 0.99,
    ) -> Candidate:
        unit = FIELDS[field].unit
        return Candidate(
            field=field,
            value=address(value) if unit == "addr" and isinstance(value, int) else value,
            unit=unit,
            instance=instance,
            condition=condition or None,
            source=self.key,
            page=where.line,
            text=self.lines[min(where.line, len(self.lines)) - 1].strip()[:300],
            confidence=confidence,
            method="svd",
        )

    def device(self, device: Element) -> Iterator[Candidate]:
        name, width, cpu = device.child("name"), device.child("width"), device.child("cpu")
        if name and name.text:
            yield self.said("chip.name", name.text, name)
        if width and number(width.text):
            yield self.said("cpu.word_bits", number(width.text) or 0, width, condition="widest bus access")
        if cpu:
            yield from self.cpu(cpu)
        group = device.child("peripherals")
        count = sum(1 for _ in group.all("peripheral")) if group else 0
        if group and count:
            yield self.said("peripherals.count", count, group, condition="counted")

    def cpu(self, cpu: Element) -> Iterator[Candidate]:
        name, priority_bits = cpu.child("name"), cpu.child("nvicPrioBits")
        interrupts = cpu.child("deviceNumInterrupts")
        if name and name.text and name.text.lower() != "other":
            yield self.said("cpu.core_type", name.text, name)
        levels = number(priority_bits.text) if priority_bits else None
        if priority_bits and levels and levels <= 8:
            condition = f"derived: 2^{levels}"
            yield self.said(
                "interrupts.priority_levels", 1 << levels, priority_bits, condition=condition, confidence=0.9
            )
        if interrupts and number(interrupts.text):
            yield self.said("interrupts.count", number(interrupts.text) or 0, interrupts)

    def peripheral(self, peripheral: Element, among: Mapping[str, Element]) -> Iterator[Candidate]:
        base = _inherited(peripheral, "baseAddress", among)
        start = number(base.element.text) if base else None
        if base is None or start is None:
            place = f"line {peripheral.line}"
            self.notes.append(f"{place}: {peripheral.words('name')} has no base address that can be read.")
            return
        block = _inherited(peripheral, "addressBlock", among)
        size = number(block.element.words("size")) if block else None
        condition = f"block of {size:#x} bytes" if size else ""
        for name, further in _expanded(peripheral):
            yield self.said("mmio.base", start + further, base.element, name, condition)
        title = peripheral.words("name")
        for interrupt in peripheral.all("interrupt"):
            value = interrupt.child("value")
            line = number(value.text) if value else None
            if value and line is not None:
                yield self.said("interrupts.irq", line, value, f"{title}:{interrupt.words('name') or title}")
        own = peripheral.child("registers")
        width = _size(peripheral, among, title, self.size)
        if own:
            yield from self.registers(own, title, 0, "", 0, width)
        name, origin = _origin(peripheral, among)
        registers = _inherited(origin, "registers", among) if origin else None
        if registers:
            kept = {element.words("name") for element in own.children} if own else set()
            told = f"inherited from {registers.from_name or name}"
            yield from self.registers(registers.element, title, 0, told, 0, width, frozenset(kept))

    def registers(
        self,
        group: Element,
        prefix: str,
        start: int,
        origin: str,
        depth: int,
        width: _Size | None,
        without: frozenset[str] = frozenset(),
    ) -> Iterator[Candidate]:
        """The registers and clusters of one group, but those of the names `without`.

        `start` is the group's own offset in its peripheral.
        """
        siblings = ChainMap(dict(_by_name(group.all("register", "cluster"))), self.paths)
        for element in group.all("register", "cluster"):
            if element.words("name") in without:
                continue
            offset = _inherited(element, "addressOffset", siblings)
            within = number(offset.element.text) if offset else None
            title = f"{prefix}.{element.words('name')}"
            if offset is None or within is None:
                self.notes.append(f"line {element.line}: {title} has no offset that can be read.")
                continue
            if element.tag == "cluster":
                source = _with_registers(element, siblings)
                if depth < MAX_CLUSTER_DEPTH:
                    inner = _size(element, siblings, title, width)
                    yield from self.registers(source, title, start + within, origin, depth + 1, inner)
                continue
            condition = "; ".join(part for part in (_array(element, siblings), origin) if part)
            yield self.said("register.offset", start + within, offset.element, title, condition)
            yield from self.details(element, title, siblings, origin, width)

    def details(
        self, register: Element, title: str, siblings: Mapping[str, Element], origin: str, width: _Size | None
    ) -> Iterator[Candidate]:
        size = _inherited(register, "size", siblings)
        if size and number(size.element.text) is not None:
            yield self.said("register.width_bits", number(size.element.text) or 0, size.element, title, origin)
        elif width:
            condition = "; ".join(part for part in (f"default of {width.owner}", origin) if part)
            value = number(width.element.text) or 0
            yield self.said("register.width_bits", value, width.element, title, condition, 0.9)
        reset = _inherited(register, "resetValue", siblings)
        start = number(reset.element.text) if reset else None
        if reset and start is not None:
            yield self.said("register.reset", address(start), reset.element, title, origin)
        group = _inherited(register, "fields", siblings)
        if group is None:
            return
        neighbours = ChainMap(dict(_by_name(group.element.all("field"))), self.paths)
        for field_element in group.element.all("field"):
            place = bits(field_element, neighbours)
            name = field_element.words("name")
            found = (_inherited(field_element, tag, neighbours) for tag in ("bitRange", "lsb", "bitOffset"))
            where = next((each.element for each in found if each), None)
            if place and where:
                condition = "; ".join(part for part in (_array(field_element, {}), origin) if part)
                yield self.said("register.field", place, where, f"{title}.{name}", condition)
            else:
                self.notes.append(f"line {field_element.line}: the bits of {title}.{name} cannot be read.")


def _with_registers(element: Element, siblings: Mapping[str, Element]) -> Element:
    """The element, or what it is derived from where it has no registers of its own."""
    if element.child("register") or element.child("cluster"):
        return element
    return _origin(element, siblings)[1] or element


def _array(element: Element, siblings: Mapping[str, Element]) -> str:
    """What an element with `dim` stands for."""
    dim, step = _inherited(element, "dim", siblings), _inherited(element, "dimIncrement", siblings)
    count = number(dim.element.text) if dim else None
    if not count or step is None or "%s" not in element.words("name"):
        return ""
    unit = "bits" if element.tag == "field" else "bytes"
    return f"array of {count}, every {step.element.text} {unit}"


def _expanded(peripheral: Element) -> Iterator[tuple[str, int]]:
    """Name and further offset of each peripheral that an array stands for; of a plain one itself."""
    name = peripheral.words("name")
    count, step = number(peripheral.words("dim")), number(peripheral.words("dimIncrement"))
    if not count or step is None or "%s" not in name or count > _MAX_EXPANDED_PERIPHERALS:
        yield name, 0
        return
    listed = _indices(peripheral.words("dimIndex"))
    names = listed if len(listed) == count else [str(index) for index in range(count)]
    for index, part in enumerate(names):
        yield name.replace("[%s]", part).replace("%s", part), index * step


def _indices(words: str) -> list[str]:
    """What `dimIndex` lists: `A,B,C`, `3-6` or `A-D`."""
    between = _INDEX_RANGE.fullmatch(words)
    if not between:
        return [part.strip() for part in words.split(",")]
    if between[1]:
        return [str(index) for index in range(int(between[1]), min(int(between[2]), int(between[1]) + 4096) + 1)]
    return [chr(letter) for letter in range(ord(between[3]), ord(between[4]) + 1)]
