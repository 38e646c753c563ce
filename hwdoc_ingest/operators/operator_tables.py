"""Operator tables of a document as candidates: which operators a unit runs, which as one, and under which rules.

Two forms are read: an outline with a heading for each operator (operator_outline.py), and tables with a row for each
(operator_grid.py). Where headings or columns name chips, each candidate says for which chips it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hwdoc_ingest.operators.operator_grid import grid_rules
from hwdoc_ingest.operators.operator_names import Operator
from hwdoc_ingest.operators.operator_outline import Item, OperatorSection, operator_sections
from hwdoc_ingest.operators.operator_rules import TableRule, is_unavailable, rule_name, section_rules
from hwdoc_ingest.page.pages import Box, Page
from metainfer_core.spec.drafting.draft import Candidate
from metainfer_core.spec.operators import Condition, OperatorRule

UNDERSTOOD, WORDS_ONLY = 0.9, 0.3
"""Confidence of a rule, and of words that no pattern uses up."""
METHOD = "operator-table"
MIN_NAMES = 3
_TELLING = """
averagepool batchnormalization conv conv2d conv_2d convolution convtranspose deconvolution depthwise flatten
fullyconnected gelu gemm globalaveragepool leakyrelu lstm matmul maxpool maxpool2d pooling prelu relu relu6 reshape
sigmoid softmax softplus tanh transpose
"""
TELLING_NAMES = frozenset(_TELLING.split())
"""Words of which a few stand in every operator table, and hardly one in another manual."""
_IS_DEPTHWISE = Condition(of=("depthwise",), one_of=("1",))
_IS_NOT_DEPTHWISE = Condition(of=("depthwise",), one_of=("0",))


@dataclass(frozen=True)
class OperatorTables:
    """What the operator tables of a document say, and the pages that hold nothing else."""

    candidates: tuple[Candidate, ...] = ()
    pages: frozenset[int] = frozenset()


def read_operator_tables(pages: Sequence[Page], key: str) -> OperatorTables:
    """The candidates of all operator tables; none for a document without such.

    Args:
        pages: All pages of the document.
        key: Key of the document in the draft's sources.
    """
    if not _may_list_operators(pages):
        return OperatorTables()
    sections = operator_sections(pages)
    covered = {item.page for section in sections for item in section.items} | {section.page for section in sections}
    others = [page for page in pages if page.number not in covered]
    rules = [*_outline_rules(sections), *_parted(list(grid_rules(others)))]
    return OperatorTables(tuple(_candidates(rules, key)), frozenset(covered))


def _may_list_operators(pages: Sequence[Page]) -> bool:
    """Whether enough words name operators; a look at every line is for such documents only."""
    found: set[str] = set()
    for page in pages:
        found |= TELLING_NAMES & {word.text.lower() for word in page.words}
        if len(found) >= MIN_NAMES:
            return True
    return False


def _parted(rules: Sequence[TableRule]) -> Iterator[TableRule]:
    """Rules of a table that has rows of its own for depthwise convolutions: the other rows do not speak of these."""
    has_depthwise = {(rule.families, rule.operator.key) for rule in rules if rule.operator.depthwise}
    for rule in rules:
        own = rule.operator.depthwise or (rule.families, rule.operator.key) not in has_depthwise
        if own or rule.rule is None:
            yield rule
        else:
            typed = OperatorRule(**{**rule.rule.__dict__, "when": (*rule.rule.when, _IS_NOT_DEPTHWISE)})
            yield replace(rule, rule=typed)


def _outline_rules(sections: Sequence[OperatorSection]) -> Iterator[TableRule]:
    has_depthwise = {
        (section.families, operator.key) for section in sections for operator in section.operators if operator.depthwise
    }
    for section in sections:
        unavailable = is_unavailable(section)
        for operator in section.operators:
            if unavailable is not None:
                yield _table_rule(section, operator, None, unavailable, runs=False)
                continue
            yield TableRule(operator, None, section.page, section.box, section.title, section.families)
            if operator.is_fused:
                continue
            when: tuple[Condition, ...] = ()
            if (section.families, operator.key) in has_depthwise:
                when = (_IS_DEPTHWISE if operator.depthwise else _IS_NOT_DEPTHWISE,)
            for found in section_rules(section, when):
                yield _table_rule(section, operator, found.rule, found.item, found.note)


def _table_rule(
    section: OperatorSection,
    operator: Operator,
    rule: OperatorRule | None,
    item: Item,
    note: str = "",
    runs: bool = True,
) -> TableRule:
    return TableRule(operator, rule, item.page, item.box, item.text, section.families, note, runs)


def _candidates(rules: Sequence[TableRule], key: str) -> Iterator[Candidate]:
    """The rules of each family of chips, each under a name of its own; lists of what is run and what is not."""
    for families in dict.fromkeys(rule.families for rule in rules):
        own = [rule for rule in rules if rule.families == families]
        yield from _lists(own, key)
        seen: dict[str, set[bytes]] = {}
        names: dict[str, int] = {}
        for found in own:
            if found.rule is None:
                continue
            said = found.rule.to_json()
            if said in seen.setdefault(found.operator.key, set()):
                continue
            seen[found.operator.key].add(said)
            name = f"{found.operator.key}.{rule_name(found.rule)}"
            names[name] = names.get(name, 0) + 1
            yield _rule_candidate(found, name if names[name] == 1 else f"{name}_{names[name]}", key)


def _rule_candidate(found: TableRule, name: str, key: str) -> Candidate:
    assert found.rule is not None
    return Candidate(
        field="npu.operator_rule",
        value=_short(found.text),
        instance=name,
        rule=found.rule,
        chips=found.families or None,
        strength=found.rule.strength,
        condition=_short(", ".join(part for part in ("/".join(found.families), found.note) if part)) or None,
        source=key,
        page=found.page,
        box=_rounded(found.box),
        text=_short(found.text),
        confidence=UNDERSTOOD if found.rule.understood else WORDS_ONLY,
        method=METHOD,
    )


def _lists(rules: Sequence[TableRule], key: str) -> Iterator[Candidate]:
    """Operators that are run, those that are not, and those that are run as one."""
    runs = [rule for rule in rules if rule.runs]
    supported = list(dict.fromkeys(name for rule in runs for name in rule.operator.supports))
    refused = [rule for rule in rules if not rule.runs and rule.operator.supports]
    unavailable = sorted({name for rule in refused for name in rule.operator.supports} - set(supported))
    chains = list(dict.fromkeys("+".join(rule.operator.chain) for rule in runs if rule.operator.is_fused))
    first_chain = next((rule for rule in runs if rule.operator.is_fused), None)
    first = next((rule for rule in runs if rule.operator.supports), None)
    for field, values, place in (
        ("npu.operators", sorted(supported), first),
        ("npu.unavailable_operators", unavailable, refused[0] if refused else None),
        ("npu.operator_fusions", chains, first_chain),
    ):
        if values and place is not None:
            more = f"{len(values)} names of operators, from here on"
            yield Candidate(
                field=field,
                value=tuple(values),
                chips=place.families or None,
                condition=", ".join(part for part in ("/".join(place.families), more) if part),
                source=key,
                page=place.page,
                box=_rounded(place.box),
                text=_short(place.text),
                confidence=UNDERSTOOD,
                method=METHOD,
            )


def _short(text: str) -> str:
    return text if len(text) <= 160 else text[:157] + "..."


def _rounded(box: Box) -> Box:
    left, top, right, bottom = box
    return round(left, 2), round(top, 2), round(right, 2), round(bottom, 2)
