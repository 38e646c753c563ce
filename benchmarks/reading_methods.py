"""What each way of reading adds: rules alone, the encoder alone, both, and quantulum3 with the rules' names.

    python benchmarks/reading_methods.py DIR [--except NAME,...]

DIR holds PDF documents and their known facts, as for `python -m hwdoc_ingest.evaluate`. quantulum3 takes part if it is
installed. All read the same sentences and rows; only who says what a number is and what it is about differs.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from hwdoc_ingest.bert.encoder import shipped
from hwdoc_ingest.bert.second_opinion import Second, second_opinions
from hwdoc_ingest.binding.bind import bind
from hwdoc_ingest.evaluate import read_truths
from hwdoc_ingest.fields import FIELDS, candidate_json
from hwdoc_ingest.intake.pdf_reading import document_statements, read_pages
from hwdoc_ingest.judging.scoring import judge
from hwdoc_ingest.ocr.ocr_spelling import mend_names
from hwdoc_ingest.page.pages import Page, PdfFile
from hwdoc_ingest.page.text_lines import drop_furniture
from hwdoc_ingest.reading import no_progress
from hwdoc_ingest.rules import FIND_RULES, PARAMETERS, QUANTITY_RULES
from hwdoc_ingest.rules.rule import NEVER, Found, QuantityRule, Tagged
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts
from hwdoc_ingest.statements.statement import Statement
from hwdoc_ingest.statements.tagger import RuleTagger, Span
from hwdoc_ingest.sureness.confidence import weigh
from metainfer_core.spec.drafting.draft import Candidate

RULES = {rule.field: rule for rule in QUANTITY_RULES}
ANY_CELL = re.compile(r"[^|]*[^|\s]")
NUMBER = re.compile(r"\d")
FINDS_FROM = 0.97
"""How sure the encoder must be of a number's field where no rule speaks."""
QUANTULUM_ENTITIES = {
    "data storage": "bytes",
    "frequency": "frequency",
    "temperature": "temperature",
    "electric potential": "voltage",
    "current": "current",
    "power": "power",
    "dimensionless": "count",
}
Method = Callable[[Statement, Second | None], Iterator[Candidate]]


def by_rules(statement: Statement, second: Second | None) -> Iterator[Candidate]:
    tagged = Tagged(statement, RuleTagger(PARAMETERS).tag([statement])[0])
    yield from bind(tagged, "k", "rule", QUANTITY_RULES, FIND_RULES)


def by_encoder(statement: Statement, second: Second | None) -> Iterator[Candidate]:
    if second is None:
        return
    tagged = Tagged(statement, second.spans())
    bounded = [cell for cell in statement.cells if cell.bound]
    if not bounded:
        yield from bind(tagged, "k", "bert", (), (partial(finds, second),))
        return
    rule = _row_rule(second, [(cell.start, cell.end) for cell in bounded])
    if rule is not None:
        first = Span("parameter", 0, len(statement.text))
        values = [Span("value", cell.start, cell.end) for cell in bounded]
        yield from bind(Tagged(statement, (first, *values)), "k", "bert", (rule,), ())


def finds(second: Second, tagged: Tagged) -> Iterator[Found]:
    """The numbers of a sentence that the encoder is sure about, as values of their fields."""
    if tagged.statement.is_row or tagged.describes_register:
        return
    bounds = [span for span in second.spans() if span.role == "bound"]
    for amount in find_amounts(tagged.text):
        field, chance = second.likeliest(amount)
        rule = RULES.get(field)
        if rule is None or chance < FINDS_FROM or not _fits(rule, amount):
            continue
        numbers = [float(f"{value / rule.scale:.12g}") for value in amount.values]
        instance = rule.instance(tagged, amount.start, amount.end) if rule.instance else None
        parts = _parts(amount, numbers, bounds)
        yield Found(field, amount.start, amount.end, instance=instance, sureness=chance * 0.85, **parts)  # type: ignore[arg-type]


def _fits(rule: QuantityRule, amount: Amount) -> bool:
    if amount.dimension != rule.dimension or (amount.form == "list" and not rule.lists):
        return False
    if rule.whole and rule.dimension == "count" and not all(float(v).is_integer() for v in amount.values):
        return False
    return all(rule.low <= value / rule.scale <= rule.high for value in amount.values)


def _parts(amount: Amount, numbers: Sequence[float], bounds: Sequence[Span]) -> dict[str, object]:
    """Value or bounds of a number phrase; a word for a bound counts where it stands right before."""
    if amount.form == "range":
        return {"min": numbers[0], "max": numbers[1]}
    if amount.form == "tolerance":
        return {"min": numbers[0], "typ": numbers[1], "max": numbers[2]}
    if amount.form == "list":
        return {"value": tuple(numbers)}
    before = next((span.label for span in bounds if 0 <= amount.start - span.end <= 1), "value")
    return {before: numbers[0]}


def _row_rule(second: Second, places: Sequence[tuple[int, int]]) -> QuantityRule | None:
    """The rule of the field that the encoder gives to the row's numbers, made to take any name."""
    tokens = [
        at
        for at, place in enumerate(second.opinion.places)
        if place and any(place[0] < end and place[1] > start for start, end in places)
    ]
    if not tokens:
        return None
    chances = second.opinion.fields[tokens].mean(0)
    rule = RULES.get(second.encoder.fields[int(chances.argmax())])
    if rule is None or chances.max() < 0.5:
        return None
    return replace(rule, parameter=ANY_CELL, context=None, forbids=NEVER, forbids_path=NEVER)


def by_both(statement: Statement, second: Second | None) -> Iterator[Candidate]:
    known = list(by_rules(statement, second))
    yield from known
    if not known:
        yield from by_encoder(statement, second)


def by_quantulum(statement: Statement, second: Second | None) -> Iterator[Candidate]:
    """quantulum3's quantities, each with the field of the nearest name that a rule of its entity knows."""
    from quantulum3 import parser  # type: ignore[import-not-found,unused-ignore]

    try:
        quantities = parser.parse(statement.text)
    except Exception:  # it fails on some texts with whatever error
        return
    for quantity in quantities:
        dimension = QUANTULUM_ENTITIES.get(quantity.unit.entity.name)
        named = [
            (abs(match.start() - quantity.span[0]), rule)
            for rule in QUANTITY_RULES
            if rule.dimension == dimension
            for match in rule.parameter.finditer(statement.text)
        ]
        if named:
            rule = min(named, key=lambda each: each[0])[1]
            factor = {"kilo": 1e3, "kibi": 1024, "mega": 1e6, "mebi": 2**20, "giga": 1e9, "gibi": 2**30}
            scale = next((f for prefix, f in factor.items() if quantity.unit.name.startswith(prefix)), 1)
            value = float(quantity.value) * scale / rule.scale
            unit = FIELDS[rule.field].unit
            yield Candidate(
                field=rule.field,
                value=value,
                unit=unit,
                source="k",
                page=statement.page,
                text=statement.text,
                confidence=0.8,
            )


METHODS: dict[str, Method] = {
    "rules only": by_rules,
    "encoder only": by_encoder,
    "rules, then encoder": by_both,
    "quantulum3": by_quantulum,
}


def read(pages: Sequence[Page], methods: dict[str, Method]) -> dict[str, tuple[Candidate, ...]]:
    """The candidates of one document by each method."""
    statements = [each for each in document_statements(drop_furniture(mend_names(pages))) if NUMBER.search(each.text)]
    seconds = second_opinions(shipped(), statements)
    return {
        name: weigh([c for s, second in zip(statements, seconds, strict=True) for c in method(s, second)])
        for name, method in methods.items()
    }


def count(read_by: dict[str, tuple[Candidate, ...]], facts: Sequence[dict], totals: dict[str, Counter]) -> None:
    for name, candidates in read_by.items():
        judgement = judge([candidate_json(candidate) for candidate in candidates], facts)
        totals.setdefault(name, Counter()).update(
            facts=sum(fact.get("expect") != "unknown" for fact in facts),
            found=len(judgement.found),
            wrong=len(judgement.wrong),
            unjudged=len(candidates) - len(judgement.found) - len(judgement.wrong),
        )


def available() -> dict[str, Method]:
    try:
        warnings.simplefilter("ignore")
        import quantulum3  # type: ignore[import-not-found,unused-ignore]  # noqa: F401
    except ImportError:
        return {name: method for name, method in METHODS.items() if name != "quantulum3"}
    return METHODS


def table(totals: dict[str, Counter]) -> str:
    lines = [f"{'':20} {'facts':>6} {'found':>6} {'wrong':>6} {'recall':>7} {'precision':>9} {'unjudged':>8}"]
    for name, c in totals.items():
        recall, precision = c["found"] / max(1, c["facts"]), c["found"] / max(1, c["found"] + c["wrong"])
        lines.append(
            f"{name:20} {c['facts']:6} {c['found']:6} {c['wrong']:6} {recall:7.3f} {precision:9.3f} {c['unjudged']:8}"
        )
    return "\n".join(lines)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--except", dest="without", default="")
    chosen = arguments.parse_args()
    totals: dict[str, Counter] = {}
    for name, truth in read_truths(chosen.folder / "truth", "", chosen.without).items():
        path = chosen.folder / "docs" / name
        if path.suffix == ".pdf":
            with PdfFile(path.read_bytes(), name) as file:
                pages, _ = read_pages(file, no_progress)
            count(read(pages, available()), truth["facts"], totals)
    print(table(totals))


if __name__ == "__main__":
    main()
