"""Several pipelines in one sentence: that of the integers is the core's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, Tagged
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_NUMBER = rf"(?:\d{{1,2}}|{'|'.join(word for word in NUMBER_WORDS if word.isascii())})"
_INTEGER = re.compile(
    rf"\b(?P<stages>{_NUMBER})[- ]stages? (?:(?:main|in-order|pipelined|superscalar),? )*integer\b(?! (?:multipl|divi))"
    rf"|\binteger (?:execution )?(?:pipelines?|units?) (?:has|have|is|with|of) (?:an? )?"
    rf"(?P<deep>{_NUMBER})[- ]stages?\b",
    re.IGNORECASE,
)
"""`a seven-stage integer pipeline`, `an integer pipeline of 8 stages`."""
_PIPELINE = re.compile(r"\bpipelin", re.IGNORECASE)


def find(tagged: Tagged) -> Iterator[Found]:
    """How deep the integer pipeline is, whatever the others are."""
    match = _INTEGER.search(tagged.text)
    if match is None or not _PIPELINE.search(tagged.text):
        return
    said = (match["stages"] or match["deep"]).lower()
    stages = NUMBER_WORDS.get(said) or int(said)
    if 2 <= stages <= 40:
        instance = instances.core(tagged, *match.span())
        yield Found("cpu.pipeline_stages", *match.span(), float(stages), instance=instance, sureness=0.85)
