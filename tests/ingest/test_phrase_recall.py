"""How much is read of several hundred statements that were written as data sheets write them (phrases.txt)."""

from pathlib import Path

from phrase_reading import candidates, spoken
from unseen_sheets import facts_of

from hwdoc_ingest.fields import FIELDS, candidate_json
from hwdoc_ingest.judging.scoring import judge

LINES = [
    line
    for line in Path(__file__).with_name("phrases.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]


def judged(line):
    """The facts of a line, what was found of them, and what was read wrong."""
    said, _, known = line.partition(" ## ")
    path, _, text = said.partition(" :: ")
    facts = list(facts_of(known))
    return facts, judge([candidate_json(each) for each in candidates(spoken(text, *path.split(" > ")))], facts)


def test_most_of_what_statements_say_is_read_and_hardly_anything_wrong():
    every = {line: judged(line) for line in LINES}
    assert all(fact["field"] in FIELDS for facts, _ in every.values() for fact in facts)
    facts = sum(len(facts) for facts, _ in every.values())
    missed = [line for line, (facts, judgement) in every.items() if len(judgement.found) < len(facts)]
    wrong = [line for line, (_, judgement) in every.items() if judgement.wrong]
    assert facts == 470
    assert len(missed) <= 20, missed
    assert len(wrong) <= 4, wrong
