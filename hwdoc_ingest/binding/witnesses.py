"""Who bears a reading out besides the rule that made it: the encoder, and the fallback reader."""

from __future__ import annotations

from collections.abc import Sequence

from hwdoc_ingest.bert.encoder import shipped as encoder
from hwdoc_ingest.bert.second_opinion import amounts_with, confirmed, numbers_of
from hwdoc_ingest.binding.fallback import read_left_over
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.sureness.calibration import Evidence, gather
from hwdoc_ingest.sureness.confidence import Weighed
from metainfer_core.spec.drafting.draft import Candidate


def evidence(weighed: Sequence[Weighed], origins: Sequence[Tagged]) -> list[Evidence]:
    """The evidence for each reading of one document; `origins` are the statements that they were read in."""
    candidates = [each.candidate for each in weighed]
    borne_out = confirmed(encoder(), candidates, [origin.statement for origin in origins])
    agreed = [reads_the_same(origin, each) for origin, each in zip(origins, candidates, strict=True)]
    return gather(weighed, borne_out, agreed)


def reads_the_same(tagged: Tagged, candidate: Candidate) -> bool:
    """Whether the fallback reader, which knows words and no phrases, gives a candidate's number the same field."""
    amounts = amounts_with(numbers_of(candidate), find_amounts(tagged.text))
    return bool(amounts) and any(
        found.field == candidate.field and any(found.start < a.end and found.end > a.start for a in amounts)
        for found in read_left_over(tagged, ())
    )
