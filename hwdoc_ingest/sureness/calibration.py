"""Calibrated confidence: the chance that a reading is right, from what speaks for it and what against it.

Doubts are counted. Each count has the share of judged readings with as many doubts that were right; calibration.yaml
holds these shares, which `python -m hwdoc_ingest.calibrate` writes from judged documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import yaml

from hwdoc_ingest.sureness.confidence import CONTRADICTED, LEXICON, Weighed
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.values import Value

GUESSED = 0.85
"""Most that a reading of the fallback reader can have."""
WEAK = 0.6
"""A rule, or glyphs, that are less sure than this raise doubts of their own."""
FEW = 3
"""Things of one kind that a chip has and a person tells apart at a glance: three caches, three rails."""
NAMED_EXACTLY = ("mmio.", "register.", "interrupts.irq", "interrupts.vector")
"""Fields of which each reading has a name of its own, so that many of them are no crowd."""
OPERATION = ("power.supply_v", "thermal.ambient_c", "thermal.case_c")
"""Fields of what the chip works at: a limit beyond which it is destroyed is something else."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for one reading, and what against it."""

    sureness: float
    """Of the rule, the glyphs and the place."""
    siblings: int = 0
    """Readings of the field for other things by name: each may be the wrong thing's."""
    rivals: int = 0
    """Other readings of the field for the same thing, or where one of both names none."""
    contested: bool = False
    """Whether the document gives another value for the same thing, or a number that may be one."""
    confirmed: bool = True
    """Whether the encoder bears it out; names and addresses it is not asked about."""
    seconded: bool = False
    """Whether another place says the same, or the fallback reader gives the number the same field."""
    spelled: bool = False
    """Whether it is a name or words, which a document spells in several ways."""
    destroys: bool = False
    """Whether it is a limit of destruction, in a field of what the chip works at."""
    guessed: bool = False
    """Whether the fallback reader made it."""

    @property
    def doubts(self) -> int:
        """How much speaks against it, less its two witnesses; a reading of its own thing with one witness has none."""
        against = (
            1
            + (self.siblings > 0)
            + (self.siblings > FEW)
            + 2 * (self.rivals > 0)
            + self.contested
            + self.spelled
            + 2 * self.destroys
            + 2 * (self.sureness < WEAK)
        )
        return max(0, against - self.confirmed - self.seconded)


class Calibration(Value):
    """How doubts become a chance."""

    chances: tuple[float, ...]
    """For none, one, two ... doubts, each no more than the one before; the last holds for all higher counts too."""

    def chance(self, evidence: Evidence) -> float:
        """The chance that the reading is right."""
        chance = self.chances[min(evidence.doubts, len(self.chances) - 1)]
        if evidence.contested and evidence.rivals:
            chance = min(chance, CONTRADICTED)
        return min(chance, GUESSED) if evidence.guessed else chance


@lru_cache(maxsize=1)
def shipped() -> Calibration:
    """The calibration of this package."""
    text = files(__package__).joinpath("calibration.yaml").read_text("utf-8")
    return Calibration.from_plain(yaml.safe_load(text), "calibration.yaml")


def gather(weighed: Sequence[Weighed], confirmed: Sequence[bool], agreed: Sequence[bool]) -> list[Evidence]:
    """The evidence for each reading of one document.

    Args:
        weighed: The readings.
        confirmed: For each whether the encoder bears it out.
        agreed: For each whether the fallback reader says the same.
    """
    by_field: dict[str, set[tuple[str, object]]] = {}
    for each in weighed:
        by_field.setdefault(each.candidate.field, set()).add(_said(each.candidate))
    found = []
    for each, borne_out, same in zip(weighed, confirmed, agreed, strict=True):
        candidate = each.candidate
        thing, reading = _said(candidate)
        others = () if candidate.field.startswith(NAMED_EXACTLY) else by_field[candidate.field]
        found.append(
            Evidence(
                sureness=each.sureness,
                siblings=sum(1 for other, _ in others if not _may_be_one(thing, other)),
                rivals=sum(
                    1 for other, said in others if said != reading and (not other or other == thing or not thing)
                ),
                contested=each.contested,
                confirmed=borne_out,
                seconded=each.places > 1 or same,
                spelled=isinstance(candidate.value, str) and candidate.unit != "addr",
                destroys=candidate.strength == "must" and candidate.field in OPERATION,
                guessed=candidate.method.endswith(LEXICON),
            )
        )
    return found


def _may_be_one(thing: str, other: str) -> bool:
    return thing == other or not thing or not other


def _said(candidate: Candidate) -> tuple[str, object]:
    """The thing that a reading names, and what it says of it."""
    thing = "".join(c for c in (candidate.instance or "").lower() if c.isalnum())
    return thing, (candidate.value, candidate.min, candidate.typ, candidate.max)
