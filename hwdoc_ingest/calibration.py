"""Calibrated confidence: the chance that a reading is right, from what speaks for it.

A score adds up the evidence with few weights, none of which can count against what it should count for; steps turn it
into a chance. Both stand in calibration.yaml, which `python -m hwdoc_ingest.calibrate` writes from judged documents.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import yaml

from hwdoc_ingest.confidence import CONTRADICTED, LEXICON
from metainfer_core.spec.draft import Candidate
from metainfer_core.values import Value

UNCONFIRMED = 0.95
"""Most that a number can have which the encoder does not confirm: two readers must agree before nobody looks."""
GUESSED = 0.85
"""Most that a reading of the fallback reader can have."""
NAMED_EXACTLY = ("mmio.", "register.", "interrupts.irq", "interrupts.vector")
"""Fields of which each reading has a name of its own, so that many of them are no crowd."""


@dataclass(frozen=True)
class Evidence:
    """What speaks for one reading."""

    weighed: float
    """Sureness of the rule, the glyphs and the place, after the places of the document were held together."""
    crowd: int
    """How many readings the document gives for the field: the more, the likelier is one with the wrong thing."""
    confirmed: bool = True
    """Whether the encoder bears it out; names and addresses it is not asked about."""
    guessed: bool = False
    """Whether the fallback reader made it."""

    def parts(self) -> tuple[float, float]:
        """The evidence as numbers that count for a reading: its weight, and that there is no crowd."""
        return _log_odds(self.weighed), -math.log(self.crowd)


class Calibration(Value):
    """How evidence becomes a chance."""

    weights: tuple[float, float]
    """Of the parts of the evidence, in their order; none is negative."""
    steps: tuple[tuple[float, float], ...]
    """From which score on which chance holds, upward; the first holds for all lower scores too."""

    def score(self, evidence: Evidence) -> float:
        """The weighted sum of the evidence."""
        return sum(weight * part for weight, part in zip(self.weights, evidence.parts(), strict=True))

    def chance(self, evidence: Evidence) -> float:
        """The chance that the reading is right."""
        score = self.score(evidence)
        reached = [chance for start, chance in self.steps if score >= start]
        chance = reached[-1] if reached else self.steps[0][1]
        if evidence.weighed <= CONTRADICTED:
            return min(chance, CONTRADICTED)
        if evidence.guessed:
            return min(chance, GUESSED)
        return chance if evidence.confirmed else min(chance, UNCONFIRMED)


@lru_cache(maxsize=1)
def shipped() -> Calibration:
    """The calibration of this package."""
    text = files(__package__).joinpath("calibration.yaml").read_text("utf-8")
    return Calibration.from_plain(yaml.safe_load(text), "calibration.yaml")


def gather(candidates: Sequence[Candidate], confirmed: Sequence[bool]) -> list[Evidence]:
    """The evidence for each candidate of one document; `confirmed` is what the encoder says, in the same order."""
    readings: dict[str, set[object]] = defaultdict(set)
    for candidate in candidates:
        readings[candidate.field].add(
            (candidate.value, candidate.min, candidate.typ, candidate.max, candidate.instance)
        )
    return [
        Evidence(
            each.confidence,
            1 if each.field.startswith(NAMED_EXACTLY) else len(readings[each.field]),
            borne_out,
            each.method.endswith(LEXICON),
        )
        for each, borne_out in zip(candidates, confirmed, strict=True)
    ]


def _log_odds(chance: float) -> float:
    held = min(max(chance, 0.01), 0.995)
    return math.log(held / (1 - held))
