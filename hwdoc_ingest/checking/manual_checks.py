"""Holds a spec against one of its documents: HW014, HW015 against the page, HW017 of `hwdoc-validator --manual`.

Two witnesses are asked about each value: the words that the spec quotes, and what the reader makes of the document.
An error is reported where the quoted words contradict it, a warning where only the reader does.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hwdoc_ingest.checking.manual_quotes import (
    FOUND_SHARE,
    at_place,
    box_holds,
    holds,
    letters,
    page_that_holds,
    tokens,
    words_in,
)
from hwdoc_ingest.checking.manual_values import agree, verdict
from hwdoc_ingest.drafting.draft import draft, source_keys
from hwdoc_ingest.intake.document_pages import DocumentPages, PageWords
from hwdoc_ingest.intake.intake import pages_safely, read_safely
from hwdoc_ingest.reading import Progress, Reading
from metainfer_core.errors import InputError
from metainfer_core.spec.checking.validate import in_order, open_spec
from metainfer_core.spec.drafting.binding import bind, core_units
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.spec.drafting.spec_values import NotRepresentable, spec_value
from metainfer_core.spec.files.aliases import FIELDS
from metainfer_core.spec.files.report import Report
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.findings import Finding
from metainfer_core.spec.hardware_spec import HardwareSpec, Provenance
from metainfer_core.spec.revising.diff import leaves
from metainfer_core.spec.revising.record import OF_PEOPLE

SURE = 0.9
"""Confidence from which on the reader alone may doubt a value."""
_CONDITION = re.compile(
    r"\d\s*(?:V|°C|℃|[MG]Hz|m?W)\b|[@≤≥<>]|\b(?:when|if|only|mode|unless|except|during|without|disabled|optional)\b"
    r"|时|仅|模式",
    re.IGNORECASE,
)
"""What limits when a value holds, and does not only describe it."""


def check_against(data: bytes, source: str, manual: Path, progress: Progress) -> tuple[Finding, ...]:
    """What a document says against a spec.

    Args:
        data: Bytes of the spec file.
        source: Its path.
        manual: The document; read in limited processes.
        progress: Called while the document is read.

    Raises:
        InputError: The document is no document, broken, locked or hostile.
    """
    (key,) = source_keys([manual.name])
    reading = read_safely(manual, key, progress)
    try:
        opened = open_spec(data, source, datetime.date.today())
    except InputError:
        return ()  # not YAML: the checks without a document say so
    if opened.spec is None:
        return ()
    before = len(opened.report.findings)
    _Comparison(opened.spec, opened.report, reading, manual, progress).run()
    return in_order(opened.report.findings[before:])


@dataclass(frozen=True)
class _Told:
    """A candidate of the reader at a place of the spec, as plain data."""

    candidate: Candidate
    value: Any


@dataclass
class _Comparison:
    """One spec beside one document."""

    spec: HardwareSpec
    report: Report
    reading: Reading
    manual: Path
    progress: Progress
    name: str = ""
    """Key of the document among the spec's sources; empty where it is none of them."""
    told: dict[str, list[_Told]] = field(default_factory=dict)

    def run(self) -> None:
        self.name = self._source()
        self.told = _told_by_path(self.reading, self.spec)
        plain, known = self.spec.plain(), leaves(self.spec)
        placed = {path: place for path, place in self.spec.provenance.items() if place.source == self.name}
        pages = self._pages(placed.values())
        for path, place in placed.items():
            value = _at(plain, path)
            if self._place(path, place, pages) and path in known and value is not None:
                self._value(path, place, value, pages)
        for path in known:
            if path not in self.spec.provenance:
                self._without_place(path, _at(plain, path))

    # The document ---------------------------------------------------------------------------------------------------

    def _source(self) -> str:
        digest = self.reading.source.document_digest
        for key, source in self.spec.sources.items():
            if source.document_digest == digest:
                return key
        for key, source in self.spec.sources.items():
            if self.manual.name in (source.file_name, key):
                self.report.add(
                    "HW015",
                    f"sources.{key}.document_digest",
                    f"{self.manual.name} is another document than the one that values were read from: the spec "
                    f"records {source.document_digest}, this file has {digest}.",
                    "Give the recorded document, or read the new revision and accept its values.",
                )
                return key
        if self.spec.sources:
            self.report.add(
                "HW015",
                "sources",
                f"{self.manual.name} ({digest}) is none of the spec's sources.",
                f"Add it to `sources`, or give one of: {', '.join(self.spec.sources)}.",
                "warning",
            )
        return ""

    def _pages(self, places: Iterable[Provenance]) -> DocumentPages:
        wanted = dict.fromkeys(place.page for place in places if place.page is not None)
        return pages_safely(self.manual, tuple(wanted), self.progress)

    # Places ---------------------------------------------------------------------------------------------------------

    def _place(self, path: str, place: Provenance, pages: DocumentPages) -> bool:
        """HW015: whether the page exists and has the quoted words; what is wrong with it is reported."""
        if place.page is None or any(_same_spot(told.candidate, place) for told in self._at(path, place)):
            return True
        page = pages.page(place.page)
        if page is None:
            if pages.kind in ("device-tree-blob", "device-tree-folder"):
                return True
            has = f"It has {pages.count:,}." if pages.count else "It has no such page."
            self._misplaced(path, f"{self.manual.name} has no page {place.page} that {path} could be from. {has}")
            return False
        if not place.text:
            return True
        if not holds(page, place.text):
            if any(at_place(candidate, place) for candidate in self.reading.candidates):
                return True
            elsewhere = self._elsewhere(pages, place.text)
            fix = f"They stand on page {elsewhere}." if elsewhere else "Quote what the page says, or mend the page."
            message = f"The words quoted for {path} do not stand on page {place.page} of {self.manual.name}."
            self._misplaced(path, message, fix)
            return False
        if place.box and page.boxes and not box_holds(page, place.box, place.text):
            there = _short(words_in(page, place.box))
            message = f"The box of {path} on page {place.page} holds {there}, not the quoted words."
            self._misplaced(path, message, f"Mark where {_short(place.text)} stands.")
        return True

    def _misplaced(self, path: str, message: str, fix: str = "Mend the page.") -> None:
        self.report.add("HW015", f"provenance.{path}", message, fix)

    def _elsewhere(self, pages: DocumentPages, text: str) -> str:
        """The page where words stand that were looked for elsewhere, or an empty text."""
        for candidate in self.reading.candidates:
            if letters(text) and letters(candidate.text) == letters(text):
                return str(candidate.page)
        if pages.kind != "pdf":
            return ""
        found = page_that_holds(self._all_pages(), text)
        return str(found.page) if found else ""

    def _all_pages(self) -> Sequence[PageWords]:
        if not hasattr(self, "_everything"):
            self._everything = pages_safely(self.manual, None, self.progress).pages
        return self._everything

    # Values ---------------------------------------------------------------------------------------------------------

    def _value(self, path: str, place: Provenance, value: Any, pages: DocumentPages) -> None:
        """HW014 and HW017 for a value with a place in this document."""
        here = self._at(path, place)
        quoted = verdict(place.text, path, value) if place.text else "does not tell"
        agreeing = [told for told in here if agree(value, told.value)]
        if agreeing or (quoted == "says it" and not _bound(here, path, self.told)):
            self._condition(path, place, agreeing, pages)
            return
        if quoted == "says another":
            message = f"{path} is {shown(path, value)}, but the words quoted for it are {_short(place.text)}."
            self._contradiction(path, message)
        elif here and max(told.candidate.confidence for told in here) >= (SURE if quoted == "says it" else 0.5):
            said = " or ".join(dict.fromkeys(shown(path, told.value) for told in here))
            message = f"{path} is {shown(path, value)}, but page {place.page} of {self.manual.name} says {said}."
            self._contradiction(path, message, only_reader=True)
        elif quoted == "does not tell" and place.text and not here and _is_numeric(path, value):
            self.report.add(
                "HW015",
                f"provenance.{path}",
                f"The words quoted for {path} do not hold its value, {shown(path, value)}: {_short(place.text)}.",
                "Quote the words that hold it.",
                "warning",
            )

    def _without_place(self, path: str, value: Any) -> None:
        """HW014 and HW015 for a value that is assumed, or that nobody traced."""
        assumed = any(path == known or path.startswith(f"{known}.") for known in self.spec.assumed)
        traced = any(path.startswith(f"{known}.") for known in self.spec.provenance)
        told = [each for each in self.told.get(path, ()) if each.candidate.confidence >= SURE]
        if told and not any(agree(value, each.value) for each in self.told[path]):
            best = max(told, key=lambda each: each.candidate.confidence)
            known_as = "assumed to be" if assumed else "given as"
            message = (
                f"{path} is {known_as} {shown(path, value)}, but page {best.candidate.page} of {self.manual.name} "
                f"says {shown(path, best.value)}: {_short(best.candidate.text)}."
            )
            self._contradiction(path, message, only_reader=True)
        elif not (told or assumed or traced or path.split(".")[0] in OF_PEOPLE or path.endswith(".kind")):
            self.report.add(
                "HW015",
                path,
                f"{path}, {shown(path, value)}, was not found in {self.manual.name}.",
                "Add the page that gives it, or move it to `assumed:` with a reason.",
                "warning",
            )

    def _contradiction(self, path: str, message: str, only_reader: bool = False) -> None:
        fix = "Look at the page, and mend the value or its provenance."
        self.report.add("HW014", path, message, fix, "warning" if only_reader else "error")

    def _condition(self, path: str, place: Provenance, agreeing: Sequence[_Told], pages: DocumentPages) -> None:
        """HW017: what the document says about when the value holds; what a person read on the page counts too."""
        said = [told.candidate.condition or "" for told in agreeing]
        limits = [condition for condition in said if _CONDITION.search(condition)]
        if not limits or len(limits) < len(said):
            return
        carried = set(tokens(place.condition or ""))
        told = (set(tokens(condition)) for condition in limits)
        if any(each <= carried or (carried and carried <= each) for each in told):
            return
        page = pages.page(place.page) if place.page is not None else None
        there = set(tokens(" ".join(page.words))) if page else set()
        if carried and len(carried & there) >= FOUND_SHARE * len(carried):
            return
        has = f"has {place.condition!r}" if place.condition else "does not say so"
        self.report.add(
            "HW017",
            f"provenance.{path}",
            f"{path} holds under a condition, {limits[0]!r} (page {place.page}); the spec {has}.",
            f"Add condition: {limits[0]!r} to its provenance.",
            "warning",
        )

    def _at(self, path: str, place: Provenance) -> list[_Told]:
        """What the reader found where a provenance points: for this path, else for any of its kind."""
        bound = [told for told in self.told.get(path, ()) if at_place(told.candidate, place)]
        if bound:
            return bound
        of_kind = [told for other, each in self.told.items() if _alike(path, other) for told in each]
        return [told for told in of_kind if at_place(told.candidate, place)]


def _told_by_path(reading: Reading, spec: HardwareSpec) -> dict[str, list[_Told]]:
    """The reader's candidates by the path of a spec that each belongs to."""
    read = draft(spec.name, [reading])
    every = range(len(read.candidates))
    units = core_units(read, every, {}, spec)
    found: dict[str, list[_Told]] = {}
    for index in every:
        binding = bind(read, index, every, units, Decisions(everything=True))
        path = binding.path if binding else FIELDS.get(read.candidates[index].field)
        if path is None:
            continue
        try:
            values = spec_value(read.candidates[index], path)
        except NotRepresentable:
            continue
        for at, value in values:
            found.setdefault(at, []).append(_Told(read.candidates[index], value))
    return found


def _bound(here: Sequence[_Told], path: str, told: dict[str, list[_Told]]) -> bool:
    """Whether what was found at a place is about this very path, not only about one of its kind."""
    return any(each in told.get(path, ()) for each in here)


def _alike(path: str, other: str) -> bool:
    """Whether two paths differ only in a name: of a compute unit, a memory, a block."""
    one, two = path.split("."), other.split(".")
    return len(one) == len(two) and one[0] == two[0] and one[0] in _NAMED and one[2:] == two[2:]


_NAMED = ("compute_units", "memories", "mmio_bases", "interrupts", "fixed_function_units", "bus_penalty_cycles")
"""Maps of a spec whose keys are names."""


def _same_spot(candidate: Candidate, place: Provenance) -> bool:
    """Whether a provenance is what the reader itself says about a candidate, box included."""
    if letters(candidate.text) != letters(place.text):
        return False
    if place.box is None or candidate.box is None:
        return place.box is None
    return all(abs(one - other) <= 2 for one, other in zip(place.box, candidate.box, strict=True))


def _at(plain: dict[str, Any], path: str) -> Any:
    """What stands at a path of a spec's plain data; names under `other` hold dots themselves."""
    parts = path.split(".", 1) if path.startswith("other.") else path.split(".")
    found: Any = plain
    for part in parts:
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _is_numeric(path: str, value: Any) -> bool:
    """Whether a value is a number, or a spread of a field that is known."""
    spread = isinstance(value, dict) and not path.startswith("other.")
    return spread or (isinstance(value, int | float) and not isinstance(value, bool))


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:97] + "...") if text else "nothing"
