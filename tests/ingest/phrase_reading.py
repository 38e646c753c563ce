"""What is read out of one phrase, for tests of how data sheets speak, in English or Chinese."""

from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.page.pages import PLAIN, Word
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.statements.chinese_terms import CHINESE, in_english, sentences
from hwdoc_ingest.statements.statement import sentence
from hwdoc_ingest.statements.tagger import RuleTagger
from hwdoc_ingest.sureness.confidence import LEAST

TAGGER = RuleTagger(PARAMETERS)


def spoken(text, *path):
    words = [Word(each, (10.0 * i, 0, 10.0 * i + 9, 9), 9, 9) for i, each in enumerate(text.translate(PLAIN).split())]
    return sentence(3, words, path or (("产品特性",) if CHINESE.search(text) else ("Features",)), False)


def candidates(*statements):
    """What is read out of statements, leaving out what is likelier wrong."""
    known = [in_english(part) for statement in statements for part in sentences(statement)]
    tagged = [Tagged(each, spans) for each, spans in zip(known, TAGGER.tag(known), strict=True)]
    found = [each for one in tagged for each in bind(one, "doc", "rule", QUANTITY_RULES, FIND_RULES)]
    return [candidate for candidate in found if candidate.confidence >= LEAST]


def read(text, *path):
    """The candidates of a text as (field, value or (min, typ, max), instance)."""
    found = candidates(spoken(text, *path))
    return {(c.field, c.value if c.value is not None else (c.min, c.typ, c.max), c.instance) for c in found}


def up_to(value):
    return (None, None, value)


def between(low, high):
    return (low, None, high)


def one(field, value, instance=None):
    return {(field, value, instance)}
