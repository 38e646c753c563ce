"""What people have decided about a draft so far, told from the log; and the spec that this makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from metainfer_core.errors import InputError, MetaInferError
from metainfer_core.spec.drafting.decisions import Decisions
from metainfer_core.spec.drafting.draft import SpecDraft
from metainfer_core.spec.field_shapes import shape_at, unit_key
from metainfer_core.spec.files.spec_reader import value_at
from metainfer_core.spec.files.strict_yaml import read_yaml
from metainfer_core.spec.quantities import key_unit
from studio.drafts.decision_log import Decision, Recorded
from studio.drafts.draft_places import Place, missing, places

COUNTED = ("cycle", "beat", "count", "ratio")
"""Units that are not written beside a number."""


@dataclass(frozen=True)
class Standing:
    """The decision that stands for one place."""

    kind: str
    seq: int
    actor: str
    index: int | None = None
    given: str = ""


@dataclass(frozen=True)
class Counts:
    """The figures in the foot of the screen."""

    places: int
    decided: int
    conflicts: int
    """Places whose readings contradict each other and that nobody has decided."""
    not_in_manual: int


def standing(log: Iterable[Recorded]) -> dict[str, Standing]:
    """The last decision of each place that was not taken back."""
    log = tuple(log)
    undone = {each.decision.undoes for each in log if each.decision.kind == "undo"}
    found: dict[str, Standing] = {}
    for each in log:
        decision = each.decision
        if decision.kind == "undo" or each.seq in undone:
            continue
        for place in decision.places:
            found[place] = Standing(
                decision.kind, each.seq, decision.actor, decision.choices.get(place), decision.given
            )
    return found


def last_seqs(log: Iterable[Recorded]) -> dict[str, int]:
    """The number of the last event about each place, taken back or not: what a window must have seen to change it."""
    return {place: each.seq for each in log for place in each.decision.places}


def last_of(log: Iterable[Recorded], actor: str) -> Recorded | None:
    """The person's last decision that is not taken back: what undo takes back."""
    log = tuple(log)
    undone = {each.decision.undoes for each in log if each.decision.kind == "undo"}
    own = [
        each for each in log if each.decision.actor == actor and each.decision.kind != "undo" and each.seq not in undone
    ]
    return own[-1] if own else None


def counts(draft: SpecDraft, stands: Mapping[str, Standing]) -> Counts:
    """The figures of a draft."""
    found = places(draft)
    return Counts(
        places=len(found),
        decided=sum(place.key in stands for place in found),
        conflicts=sum(place.is_conflict and place.key not in stands for place in found),
        not_in_manual=len(missing(draft)),
    )


def fault(draft: SpecDraft, decision: Decision) -> str:
    """Why a decision cannot stand, as a sentence; empty where it can."""
    known = {place.key: place for place in (*places(draft), *missing(draft))}
    for key in decision.places:
        place = known.get(key)
        by_hand = decision.kind == "edit" or (decision.kind == "unknown" and shape_at(key) is not None)
        if place is None and decision.kind != "undo" and not by_hand:
            return f"The draft has no place {key}."
        if decision.kind == "accept" and (place is None or decision.choices.get(key) not in place.indexes):
            return f"{key}: this reading is not one of the draft's for this place."
    if decision.kind == "edit":
        try:
            for key in decision.places:
                given(key, decision.given)
        except MetaInferError as error:
            return " ".join(part for part in (error.what, error.why, error.fix) if part)
    return ""


def given(key: str, words: str) -> Any:
    """A value that a person typed for a place, in the place's own unit; raises InputError."""
    if not words.strip():
        raise InputError("No value is given.", fix="Give a value with its unit, such as 512 KiB.")
    data = read_yaml(words.encode(), key).data
    base, shape = key_unit(unit_key(key)), shape_at(key)
    bare = isinstance(data, int | float) and not isinstance(data, bool)
    if bare and base and base.name not in COUNTED and shape and shape.kind == "quantity":
        raise InputError(f"{words.strip()} has no unit.", fix=f"Give it, such as {words.strip()} {base.name}.")
    return value_at(key, data)


def decisions_of(
    draft: SpecDraft,
    stands: Mapping[str, Standing],
    accepted_by: str,
    name: str,
    version: str,
    reason: str,
    given_from: str = "",
) -> Decisions:
    """What stands, as the core takes it to make a spec; `given_from` is where people have what they give themselves."""
    by_key = {place.key: place for place in places(draft)}
    taken = [(key, each.index) for key, each in stands.items() if each.kind == "accept" and each.index is not None]
    in_other = sorted(index for key, index in taken if key.startswith("other."))
    chosen = sorted({index for key, index in taken if not key.startswith("other.")})
    rejected = {index for key, each in stands.items() if each.kind == "reject" for index in _indexes(by_key, key)}
    return Decisions(
        choose=tuple(chosen),
        apart=tuple(in_other),
        reject=tuple(sorted(rejected - {*chosen, *in_other})),  # right for its rail, wrong as that of the chip
        unknown=tuple(sorted(key for key, each in stands.items() if each.kind == "unknown")),
        edits={
            key: read_yaml(each.given.encode(), key).data for key, each in sorted(stands.items()) if each.kind == "edit"
        },
        edits_from=given_from,
        accepted_by=accepted_by,
        name=name,
        version=version,
        reason=reason or None,
    )


def _indexes(by_key: Mapping[str, Place], key: str) -> tuple[int, ...]:
    return by_key[key].indexes if key in by_key else ()
