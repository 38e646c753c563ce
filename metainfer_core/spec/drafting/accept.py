"""From what documents seem to say to what people accept: a draft and decisions give a spec, and what is still open.

Nothing is averaged and nothing chosen silently: candidates that disagree about one value are listed as a conflict
until someone chooses one by its index.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from metainfer_core.errors import InputError
from metainfer_core.spec.drafting.binding import bind, core_units, instance_of, kinds_by_name
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.drafting.spec_values import NotRepresentable, same, spec_value
from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.files.spec_reader import value_at
from metainfer_core.spec.files.yaml_writer import shown
from metainfer_core.spec.hardware_spec import HardwareSpec, Provenance, SourceDocument
from metainfer_core.spec.revising.change_log import with_log_entry
from metainfer_core.values import Value


class Conflict(Value):
    """Candidates that disagree about one value; choosing one by index decides it."""

    path: str
    indexes: tuple[int, ...]
    values: tuple[str, ...]
    """What each of them says, with document and page."""


class Acceptance(Value):
    """The spec that came out, and what is still open."""

    spec: HardwareSpec
    accepted: tuple[int, ...]
    """Indexes of the candidates whose value stands in the spec."""
    conflicts: tuple[Conflict, ...] = ()
    without_place: tuple[int, ...] = ()
    """Indexes of accepted candidates that no path fits; they stand in the spec's `other`."""


class _Entry(Value):
    """One accepted candidate at its path."""

    index: int
    path: str
    value: Any


def accept(draft: SpecDraft, decisions: Decisions, onto: HardwareSpec | None = None) -> Acceptance:
    """The spec that a draft becomes under the decisions, built on `onto` where given. Pure.

    Raises:
        InputError: A decision names a candidate, field or path that does not exist.
    """
    _check(draft, decisions)
    wanted = [index for index in range(len(draft.candidates)) if _is_wanted(draft, decisions, index)]
    apart = set(decisions.apart) - set(decisions.choose)
    # All that the documents speak of: what a bare "512 KB L2" is about must not depend on what else is accepted yet.
    spoken_of = [index for index in range(len(draft.candidates)) if index not in decisions.reject]
    units = core_units(draft, spoken_of, decisions.bindings, onto)
    entries: dict[str, list[_Entry]] = {}
    other: dict[str, list[_Entry]] = {}
    kinds: dict[str, str] = {}
    for index in (index for index in wanted if index not in apart):
        candidate = draft.candidates[index]
        binding = bind(draft, index, wanted, units, decisions)
        if binding is not None:
            try:
                for path, value in spec_value(candidate, binding.path):
                    entries.setdefault(path, []).append(_Entry(index=index, path=path, value=value))
            except NotRepresentable:
                binding = None
        if binding is None:
            _keep_apart(other, candidate, index)
        else:
            kinds |= binding.kinds
    for index in decisions.apart:
        _keep_apart(other, draft.candidates[index], index)
    return _assembled(
        draft, decisions, onto, entries, other, kinds | _kinds_of_edited(draft, spoken_of, units, decisions)
    )


def _kinds_of_edited(
    draft: SpecDraft, spoken_of: list[int], units: tuple[str, ...], decisions: Decisions
) -> dict[str, str]:
    """What kind of unit or memory an edit is about: other candidates of the draft tell, or the path's own name."""
    owners = {path.rpartition(".")[0] for path in decisions.edits}
    found: dict[str, str] = {}
    for index in spoken_of if owners else ():
        binding = bind(draft, index, spoken_of, units, decisions)
        for path, kind in (binding.kinds if binding else {}).items():
            if any(owner.startswith(path.removesuffix(".kind")) for owner in owners):
                found.setdefault(path, kind)
    return kinds_by_name(decisions.edits) | found


def apart_key(candidate: Candidate) -> str:
    """Where `other` keeps a candidate: its field, and its instance where the document names one."""
    return candidate.field + (f"[{candidate.instance}]" if candidate.instance else "")


def _keep_apart(other: dict[str, list[_Entry]], candidate: Candidate, index: int) -> None:
    key = apart_key(candidate)
    other.setdefault(key, []).append(_Entry(index=index, path=f"other.{key}", value=plain_candidate(candidate)))


def _check(draft: SpecDraft, decisions: Decisions) -> None:
    for index in (*decisions.choose, *decisions.apart, *decisions.reject):
        if not 0 <= index < len(draft.candidates):
            raise InputError(
                f"There is no candidate {index}.",
                f"The draft has {len(draft.candidates)}, counted from 0.",
                "Give an index that stands beside a candidate in the draft.",
            )
    if both := sorted({*decisions.choose, *decisions.apart} & set(decisions.reject)):
        raise InputError(
            f"Candidate {both[0]} is both chosen and rejected.",
            "Only one of the two can hold.",
            "Take one of them back.",
        )
    known = {candidate.field for candidate in draft.candidates}
    for field in decisions.fields:
        if field not in known and shape_at(field) is None:
            raise InputError(
                f"Nothing in the draft is called {field!r}.",
                f"It has candidates for: {', '.join(sorted(known)) or 'nothing'}.",
                "Give one of these fields.",
            )
    instances = {instance for candidate in draft.candidates if (instance := instance_of(candidate))}
    for words in decisions.bindings:
        if words not in instances and not (words.isdecimal() and int(words) < len(draft.candidates)):
            raise InputError(
                f"No candidate of the draft is about {words!r}.",
                f"They are about: {', '.join(sorted(instances)) or 'nothing named'}.",
                "Give the words that stand at `instance:` in the draft, or the index of a candidate.",
            )


def _is_wanted(draft: SpecDraft, decisions: Decisions, index: int) -> bool:
    candidate = draft.candidates[index]
    if index in decisions.choose:
        return True
    if index in decisions.reject or candidate.field in decisions.unknown:
        return False
    if candidate.value is None and candidate.min is None and candidate.typ is None and candidate.max is None:
        return False
    sure = decisions.above is not None and candidate.confidence >= decisions.above
    return decisions.everything or candidate.field in decisions.fields or sure


def _assembled(
    draft: SpecDraft,
    decisions: Decisions,
    onto: HardwareSpec | None,
    entries: dict[str, list[_Entry]],
    other: dict[str, list[_Entry]],
    kinds: dict[str, str],
) -> Acceptance:
    tree: dict[str, Any] = onto.plain() if onto else {"name": draft.chip, "version": "1.0.0"}
    tree |= {key: value for key in ("name", "version") if (value := getattr(decisions, key)) is not None}
    assumed: dict[str, str] = dict(onto.assumed) if onto else {}
    provenance: dict[str, Any] = dict(tree.pop("provenance", {}))
    accepted: set[int] = set()
    conflicts: list[Conflict] = []
    for path, kind in sorted(kinds.items()):
        if value_in(tree, path) is None:
            _put(tree, path, kind)
    for path in decisions.unknown:
        if _take_out(tree, path):
            assumed.pop(path, None)
            provenance.pop(path, None)
    for path in sorted(entries):
        if path in decisions.unknown or path in decisions.edits:
            continue
        chosen = [entry for entry in entries[path] if entry.index in decisions.choose]
        group = _agreeing(chosen or entries[path])
        standing = None if chosen or path in assumed or onto is None else value_in(tree, path)
        if group is None or (standing is not None and not same(standing, group.value)):
            conflicts.append(_conflict(draft, path, entries[path], standing))
            continue
        _put(tree, path, group.value)
        assumed.pop(path, None)
        candidate = draft.candidates[group.index]
        provenance[path] = _provenance(candidate, decisions).plain()
        accepted |= {entry.index for entry in (chosen or entries[path])}
    extra: dict[str, Any] = dict(tree.get("other", {}))
    for key in sorted(other):
        group = _agreeing(other[key])
        if group is None:
            conflicts.append(_conflict(draft, f"other.{key}", other[key], None))
        else:
            extra[key] = group.value
            provenance[f"other.{key}"] = _provenance(draft.candidates[group.index], decisions).plain()
            accepted |= {entry.index for entry in other[key]}
    tree["other"] = extra
    for path, given in decisions.plain()["edits"].items():
        _put(tree, path, value_at(path, given))
        assumed[path] = _given(decisions)
        provenance.pop(path, None)
    used = {entry["source"] for entry in provenance.values()}
    tree |= {"assumed": assumed, "provenance": provenance}
    tree["sources"] = _sources(draft, onto, used)
    without_place = sorted(entry.index for group in other.values() for entry in group if entry.index in accepted)
    spec = HardwareSpec.from_plain(tree, f"the spec of {draft.chip}")
    return Acceptance(
        spec=with_log_entry(onto, spec, decisions.reason),
        accepted=tuple(sorted(accepted)),
        conflicts=tuple(conflicts),
        without_place=tuple(without_place),
    )


def _given(decisions: Decisions) -> str:
    by = decisions.accepted_by or "the person who accepted the draft"
    return f"Given by {by}: {decisions.edits_from.rstrip('. ')}." if decisions.edits_from else f"Given by {by}."


def _sources(draft: SpecDraft, onto: HardwareSpec | None, used: set[str]) -> dict[str, Any]:
    """The documents that values come from; what the spec already says about one of them stays."""
    found = {key: source.plain() for key, source in onto.sources.items()} if onto else {}
    for key, source in draft.sources.items():
        known = found.get(key)
        if known and known["document_digest"] != source.document_digest:
            raise InputError(
                f"The source {key!r} of the draft is another document than that of the spec.",
                f"The spec has {known['document_digest']}, the draft {source.document_digest}.",
                "Rename the key in one of the two files.",
            )
        if key in used and not known:
            document = SourceDocument(
                title=source.title, document_digest=source.document_digest, file_name=source.file_name
            )
            found[key] = document.plain()
    return found


def _agreeing(entries: list[_Entry]) -> _Entry | None:
    """The entry that all others agree with and that says the most, or None where they disagree."""
    fullest = max(entries, key=lambda entry: (len(entry.value) if isinstance(entry.value, dict) else 0, -entry.index))
    return fullest if all(same(entry.value, fullest.value) for entry in entries) else None


def _conflict(draft: SpecDraft, path: str, entries: list[_Entry], standing: Any) -> Conflict:
    said = [f"{shown(path, standing)} (in the spec)"] if standing is not None else []
    for entry in entries:
        candidate = draft.candidates[entry.index]
        about = [candidate.source, f"p. {candidate.page}" if candidate.page is not None else ""]
        about += [candidate.instance or "", candidate.condition or ""]
        said.append(f"{shown(path, entry.value)} ({', '.join(part for part in about if part)})")
    return Conflict(path=path, indexes=tuple(entry.index for entry in entries), values=tuple(said))


def _provenance(candidate: Candidate, decisions: Decisions) -> Provenance:
    return Provenance(
        source=candidate.source,
        page=candidate.page,
        box=candidate.box,
        text=candidate.text[:160],
        condition=candidate.condition,
        confidence=candidate.confidence,
        accepted_by=decisions.accepted_by,
    )


def plain_candidate(candidate: Candidate) -> Any:
    """What `other` holds of a candidate: its value alone, or with what else is said of it."""
    keys = ("value", "min", "typ", "max", "unit", "condition")
    plain = candidate.plain()
    said = {key: plain[key] for key in keys if key in plain}
    if {"min", "typ", "max"} & set(said):
        said.pop("value", None)
    return said["value"] if set(said) == {"value"} else said


def value_in(tree: Mapping[str, Any], path: str) -> Any:
    """The plain value at a field path of a spec, or None."""
    found: Any = tree
    for part in _parts(path):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _put(tree: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = _parts(path)
    place = tree
    for part in parents:
        place = place.setdefault(part, {})
    place[last] = value


def _take_out(tree: dict[str, Any], path: str) -> bool:
    """Removes the value at a path; whether there was one."""
    *parents, last = _parts(path)
    place: Any = tree
    for part in parents:
        place = place.get(part) if isinstance(place, dict) else None
    return isinstance(place, dict) and place.pop(last, None) is not None


def _parts(path: str) -> list[str]:
    """The keys on the way to a value; in `other` a document's field name, dots and all, is one key."""
    return path.split(".", 1) if path.startswith("other.") else path.split(".")
