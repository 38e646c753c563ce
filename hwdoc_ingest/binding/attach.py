"""Which number belongs to which name: the nearest, in the same clause, with no rival between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hwdoc_ingest.binding.parts import is_of_parenthesis
from hwdoc_ingest.rules.qualities import QUALITIES
from hwdoc_ingest.rules.rule import CONTRAST, QuantityRule, Tagged, applies, clause, is_long
from hwdoc_ingest.statements.number_phrases import Amount, find_amounts

CLAUSE_END = re.compile(r"[;|。；]|\.\s")
LABELLED = re.compile(
    r"^\W*(?:(?:up to|max(?:imum)?\.?|typ(?:ical)?\.?|min(?:imum)?\.?"
    r"|approximately)\s*)?(?:\([\w ]{1,16}\)\s*)?[:：…]?\s*$",
    re.IGNORECASE,
)
"""What may stand before a value whose name is the short line above it."""
LABELLED_CELL = re.compile(r"[\w ()/,.-]{0,24} : \W*(?:up to )?", re.IGNORECASE)
"""What stands between a row's name and the number in the next cell, in whatever order the name has it in prose."""
OWN_NAME = re.compile(
    r"[ -]*(?:of )?(?:[\w-]+ ){0,2}?(?:\w*ROM|\w*RAM|OTP|e-?fuse|flash|caches?|FIFOs?|buffers?|TCM|registers?)\b",
    re.IGNORECASE,
)
"""What stands right after a size that has a name of its own: `512 bytes OTP` below `On-chip SRAM`."""
INCLUDED = re.compile(
    r"\b(?:including|of which|includes|plus|additional|with (?:an? )?(?:extra"
    r"|additional))\s*(?:the )?$",
    re.IGNORECASE,
)
OWNER = re.compile(
    r"\b(?:device|chip|SoC|MCU|it|processor|microprocessor|DSP|core|cluster|family|series)\s*$", re.IGNORECASE
)
"""What has parts that are no parts of another number: `The device includes 256 KB of L2 memory`."""
PARTS = re.compile(
    r"\b(?:(?:consist(?:ing|s)|composed|made up) of|(?:organi[sz]ed|arranged|divided|split) (?:in|into|as))\b"
    r"[^;.()]{0,120}$"
    r"|\b(?:including|of which|includes)\b[^;.()]{3,80}(?:,|\band)\s$",
    re.IGNORECASE,
)
"""After the whole come its parts: `320 KB of SRAM consisting of 32 KB on the code bus, 272 KB on the system bus`."""
OWN_USE = re.compile(r"^\s*(?:(?:is|are)\s+)?(?:for|of|used|reserved|dedicated|shared)\b", re.IGNORECASE)
"""After a number in parentheses: it tells of a share of what stands before."""
RUNS = re.compile(
    r"(?:\bCortex[\w-]*|\b(?:Mali|Adreno)[- ]\w+(?: M[CP]\d+)?|^(?:NPU|GPU|DSP|CPU)\b[^|;]{0,60}|\bcores?|\bCPUs?"
    r"|\bprocessors?|\bMCUs?|\bC9\d\d\w*|DDR\w*|\bSDRAM(?: bus| interface)?|\b(?:run|operat|clock|work|peak)\w*)"
    r"\s*\(?(?:@|at)(?: up to| a maximum of)?\s*$",
    re.IGNORECASE,
)
"""What runs at a frequency; elsewhere `at 800 MHz` is a condition."""
SERIES = re.compile(
    r"(?:.\s*for (?:the )?\w+(?: [a-z]+)?,? (?:and|or)\s+"
    r"|.\s*\([^()]{1,24}\)\s*(?:,|;|or|and|/)\s*(?:and\s+)?|.?\)\s*(?:,|and|or)\s*(?:the\s+)?[A-Za-z][\w-]{0,16}\s*\()",
    re.IGNORECASE | re.DOTALL,
)
OTHER_BOUND = re.compile(
    r"\)?\s*[,;/(]?\s*(?:and\s+|but\s+)?(?:up to|max(?:imum|\.)?|at most|peaks? at)\s*(?:of\s+|:\s*)?", re.IGNORECASE
)
"""Between two values of one name: `typical frequency 400 MHz, maximum 600 MHz`."""
PART_OF = re.compile(r"\b(?:half|quarter|part|portion|rest|remainder)\s+of\b", re.IGNORECASE)
"""A number beside it tells of a part, not of the whole."""
BARE_SIZE = re.compile(
    r"^\W*(?:total|totally|support\w*)?\s*(?:the\s+)?(?:size|capacity|容量|大小)\b"
    r"\s*(?:\([\w ]{1,30}\))?\s*(?:is|:|：|of)?\s*$",
    re.IGNORECASE,
)
ITS_SIZE = re.compile(r"[;,.] (?:and |with )?(?:its|the) (?:total )?(?:size|capacity)(?: is| of|:)? $", re.IGNORECASE)
"""After a sentence about one memory: `AXI SRAM is in domain 1; its size is 512 Kbytes`."""
AND = re.compile(r"\b(?:and|while|whereas|but)\b", re.IGNORECASE)
BROKEN = re.compile(r"\s*(?:[-–~/±+]|to|and|or|\.\.\.)\s*", re.IGNORECASE)
"""What stands between a number and the end of a line that was torn off inside a range or a list."""
GIVEN = re.compile(r"(?:\([^()]*|(?:\b(?:at|with|when|if|for)|@)\s+)\bV\w+\s*=\s*$", re.IGNORECASE)
MEASURED = re.compile(r",\s*(?:\+)?\d+ ?°C\s*\)")
"""`Current consumption (VDD = 3.3 V, 25 °C)`: what was measured at, in parentheses."""
COMPARED = re.compile(
    r"\W*(?:if|when|whenever|while)\b[^,;.]*\b(?:less|more|greater|fewer|smaller|larger|wider|higher|lower) than\s*$",
    re.IGNORECASE,
)
"""`If the access is wider than`: the number is what something is compared with."""
UNKNOWN = re.compile(r"\b(?:TBD|TBA|programmable|to be (?:determined|defined|completed))\b|待定", re.IGNORECASE)
NEXT_ITEM = re.compile(r"\s*(?:,|;|and\b|,\s*and\b|plus\b|\+)(?:\s+(?:an?|up to))?\s*$", re.IGNORECASE)
"""What stands between the items of a list, the second of which begins with its number."""
HAS_ONE = re.compile(r"\s*(?:of\s+)?(?:[a-z][\w-]*\s+){0,2}?", re.IGNORECASE)
"""What stands between a number and the name behind it."""
HAS_SIZE = re.compile(
    r"^(?: of (?:the |this )?[\w-]+)?,? (?:has|have|with|offers|provides) an? (?:[a-z]+ ){0,2}(?:capacity|size) of",
    re.IGNORECASE,
)
"""What leads from a memory to how large it is: `the data cache of the X1 has a storage capacity of 8 KB`."""
TIMES = re.compile(r"\d ?[x×] ?$", re.IGNORECASE)
"""Before the size of one of several banks: `2 x 128 KB`."""
NUMBERED = re.compile(
    r"(?:\b(?:tables?|figures?|fig\.|chapters?|sections?|appendix|step)|[表图章节])\s*(?:[A-Z\d]{1,3}[-.])*$",
    re.IGNORECASE,
)
"""Before the number of a table, a figure or a section: `Table 3 DMA controllers` counts nothing."""
NEGATED = re.compile(r"\b(?:not(?! exceed)|no(?! more than| less than)|without|except|reserved)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attached:
    """A number with the rule whose name it stands at."""

    rule: QuantityRule
    amount: Amount
    start: int
    end: int
    """Stretch of the text from name to number."""
    cost: float
    """0 where they touch; more with every word between."""
    by_heading: bool = False


def attach(tagged: Tagged, rules: Sequence[QuantityRule]) -> Iterator[Attached]:
    """For each number of a sentence the rule that fits it best, if any."""
    dimensions = {amount.dimension for amount in tagged.amounts}
    if not dimensions or tagged.describes_register:
        return
    active = [rule for rule in rules if rule.dimension in dimensions and applies(rule, tagged)]
    parameters = tagged.of("parameter")
    previous: Attached | None = None
    for amount in tagged.amounts:
        options = [
            option
            for rule in active
            if rule.dimension == amount.dimension and _plausible(rule, amount)
            for option in _options(tagged, rule, amount, parameters)
        ]
        if BROKEN.fullmatch(tagged.text[amount.end :]) or _of_one_bank(tagged, amount):
            continue
        if options and not is_condition(tagged, amount):
            best = min(options, key=lambda option: (option.cost, -(option.end - option.start), -option.rule.sureness))
            yield best
            previous = best
            yield from (
                o
                for o in options
                if o.cost <= best.cost + 1.5 and o.rule.field != best.rule.field and _joint(tagged, o, best)
            )
        elif previous and _goes_on(tagged, previous.amount, amount) and _plausible(previous.rule, amount):
            previous = Attached(previous.rule, amount, previous.start, amount.end, previous.cost + 1)
            yield previous


def _of_one_bank(tagged: Tagged, amount: Amount) -> bool:
    return tagged.statement.is_row and amount.dimension == "bytes" and bool(TIMES.search(tagged.text[: amount.start]))


def _goes_on(tagged: Tagged, first: Amount, second: Amount) -> bool:
    """Whether two values with variants in parentheses share a name: `3 MHz (A) or 5 MHz (B)`."""
    if first.dimension != second.dimension:
        return False
    between = tagged.text[first.end : second.start]
    if first.dimension in ("frequency", "current", "power") and OTHER_BOUND.fullmatch(between):
        return first.form == second.form == "single" and first.values[0] <= second.values[0]
    return bool(SERIES.fullmatch(tagged.text[first.end - 1 : first.end] + between))


def is_condition(tagged: Tagged, amount: Amount) -> bool:
    """Whether a number says under what condition something holds (`when 800 MHz`, `@ 1.2 V`), or numbers a heading."""
    before = tagged.text[: amount.start]
    if amount.dimension == "count" and tagged.statement.is_heading and not before.strip():
        return True
    if amount.dimension == "count" and NUMBERED.search(before):
        return True
    if amount.dimension == "frequency" and RUNS.search(before):
        return bool(re.match(r"\W*(?:when|if|while|as long as)\b[^,]*$", before, re.IGNORECASE))
    if re.search(r"(?:@|\bwhen|\bif)\s*$", before, re.IGNORECASE) or COMPARED.match(before):
        return True
    if amount.dimension == "voltage" and (
        GIVEN.search(before) or (before.endswith("(") and MEASURED.match(tagged.text, amount.end))
    ):
        return True
    measured = amount.dimension in ("frequency", "voltage", "temperature")
    return measured and bool(re.search(r"\bat\s*$", before, re.IGNORECASE))


def _plausible(rule: QuantityRule, amount: Amount) -> bool:
    if amount.form == "list" and not rule.lists:
        return False
    if rule.whole and amount.dimension == "count" and not all(float(v).is_integer() for v in amount.values):
        return False
    if rule.spans_zero and amount.form == "range" and amount.values[0] > 0:
        return False
    return all(rule.low <= value / rule.scale <= rule.high for value in amount.values)


def _options(tagged: Tagged, rule: QuantityRule, amount: Amount, parameters: Sequence[object]) -> Iterator[Attached]:
    text = tagged.text
    for match in rule.parameter.finditer(text):
        if not any(s.start < match.end() and s.end > match.start() for s in parameters):  # type: ignore[attr-defined]
            continue
        if match.start() < amount.end and match.end() > amount.start:
            if match.start() <= amount.start and match.end() >= amount.end:
                yield Attached(rule, amount, match.start(), match.end(), 0.0)
            continue
        cost = _cost(tagged, rule, amount, match.start(), match.end())
        if cost is not None:
            yield Attached(rule, amount, min(amount.start, match.start()), max(amount.end, match.end()), cost)
    its = ITS_SIZE.search(text[: amount.start]) if amount.dimension == "bytes" else None
    subject = rule.parameter.search(text, 0, its.start()) if its else None
    if its and subject and not find_amounts(text[: its.start()]):
        yield Attached(rule, amount, subject.start(), amount.end, 1.5)
    named = rule.parameter.search(tagged.parent)
    if named and (BARE_SIZE.match(text[: amount.start]) or _labelled_above(tagged, amount, named)):
        yield Attached(rule, amount, 0, amount.end, 1.0, by_heading=True)


def _labelled_above(tagged: Tagged, amount: Amount, named: re.Match[str]) -> bool:
    """Whether a short line above names what a short line gives: `Storage temperature`, below it `-55 to 125 °C`."""
    if amount.dimension == "count" or not LABELLED.match(tagged.text[: amount.start]):
        return False
    if amount.dimension == "bytes" and OWN_NAME.match(tagged.text, amount.end):
        return False
    label = re.sub(r"\s*(?:\([^()]*\)|…).*$", "", tagged.parent)
    return len(label.split()) <= 5 and len(tagged.text) <= 60 and named.end() - named.start() >= 0.6 * len(label)


def _cost(tagged: Tagged, rule: QuantityRule, amount: Amount, start: int, end: int) -> float | None:
    """How far name and number are apart; None where they cannot belong together."""
    text = tagged.text
    ahead = amount.end <= start
    gap = text[amount.end : start] if ahead else text[end : amount.start]
    in_row = tagged.statement.is_row and not ahead and LABELLED_CELL.fullmatch(gap)
    if (ahead and not rule.before) or (not ahead and not rule.after and not in_row):
        return None
    opened = not ahead and _opens(gap)
    if (
        ahead
        and gap.count("(") > gap.count(")")
        and any(other.dimension == amount.dimension and other.start > end for other in tagged.amounts)
    ):  # `-25 to 75 °C (junction at most 115 °C)`: the name has a number of its own
        return None
    whole = min(amount.start, start), max(amount.end, end)
    if is_long(tagged) and rule.forbids.search(_own_part(tagged, amount, *whole)):
        return None
    if (CLAUSE_END.search(gap) and not opened) or "|" in gap or NEGATED.search(gap) or CONTRAST.search(gap):
        return None
    if UNKNOWN.search(re.sub(r"\bprogrammable\b", "", gap, flags=re.IGNORECASE) if ahead else gap):
        return None
    rivals = [a for a in tagged.amounts if a is not amount and a.dimension == amount.dimension]
    if (
        not ahead
        and NEXT_ITEM.match(gap)
        and any(HAS_ONE.fullmatch(text[a.end : start]) for a in rivals if a.end <= start)
    ):
        return None  # `256 KB of L2 memory, 6 MB of on-chip memory`: the name has a number of its own
    if not opened and any(
        (amount.end <= a.start < start) if ahead else (end <= a.start < amount.start) for a in rivals
    ):
        return None
    if (
        opened
        and re.search(r"[A-Za-z]{4}", gap[gap.index("(") :])
        and any(end <= a.start < end + gap.index("(") for a in rivals)
    ):  # `operating -25 to 75 °C (junction at most 115 °C)`: what is in the parenthesis has a name of its own
        return None
    if "…" in gap and (amount.dimension == "count" or len(tagged.text) > 90):  # a leader, as in a table of contents
        return None
    if (ahead and amount.dimension == "count" and re.match(r"\s*of\b", gap)) or PART_OF.search(
        text[max(0, start - 40) : start]
    ):
        return None
    if opened and re.search(r"\(\s*(?:for|at|when|with|@)\s*$", gap, re.IGNORECASE):
        return None
    if opened and ")" not in text[amount.start : amount.end] and OWN_USE.match(text[amount.end :]):
        return None
    named_itself = ahead and rule.field == "memory.tcm.size_bytes"  # `RAM including 64 KB of ITCM`
    if amount.dimension in ("bytes", "bits", "count") and not named_itself and is_part(tagged, amount):
        return None
    compound = re.match(r"-\s?[A-Za-z]", gap) if ahead and amount.dimension == "count" else None
    if compound:  # the 16 of `16-stream DMA controller` counts streams
        return None
    if rule.not_beside.search(
        text[max(0, amount.start - 60) : amount.start] + "\0" + text[amount.end : amount.end + 20]
    ):
        return None
    plain_gap = gap[: gap.index("(") + 1] if opened else gap
    plain_gap = _bare(plain_gap, ahead)
    count = len(re.findall(r"[A-Za-z]{2,}|[\u4e00-\u9fff]", plain_gap))
    if count > (rule.gap_words if ahead else rule.gap_words + 3):
        return None
    commas = plain_gap.count(",") + plain_gap.count("，") + plain_gap.count("/")
    joins = len(re.findall(r"\b(?:and|or|with)\b|[和及]", plain_gap))
    item = commas == 1 and not joins and not rivals and len(text) <= 60  # `4 Gbyte, linear address space`
    if ahead and (commas or joins) and not item:
        return None
    plain = 0.0 if ahead else 0.3
    if not ahead and re.fullmatch(r"\s*(?:size)?\s*(?:[:：=(]|is|of|with)?\s*", gap):
        plain = -0.2
    return count + 2.5 * commas + 2 * joins + plain + (0.5 if len(gap) > 25 else 0)


def is_part(tagged: Tagged, amount: Amount) -> bool:
    """Whether a number tells of a part of what the sentence gave before."""
    before = tagged.text[: amount.start]
    whole = any(a.dimension == amount.dimension and a.end <= amount.start for a in tagged.amounts)
    parts = PARTS.search(before)
    told = parts and any(a.dimension == amount.dimension and a.end <= parts.start() for a in tagged.amounts)
    added = INCLUDED.search(before)
    if added and added.group().lower().startswith("plus") and _each_named(tagged, amount):
        added = None
    if added and OWNER.search(before[: added.start()]):
        added = None
    return bool(added) or bool(whole and told) or is_of_parenthesis(tagged, amount)


def _each_named(tagged: Tagged, amount: Amount) -> bool:
    """Whether a size and the one before it each have a name: `4 KB of backup SRAM plus 8 KB of system SRAM`."""
    before = [each for each in tagged.amounts if each.end <= amount.start]
    return bool(before) and all(OWN_NAME.match(tagged.text, each.end) for each in (before[-1], amount))


def _own_part(tagged: Tagged, amount: Amount, start: int, end: int) -> str:
    """The clause of a name and its number, without what it says after an `and` about another number of the kind."""
    said = clause(tagged.text, start, end)
    if amount.dimension == "count":
        return said
    begins = tagged.text.find(said)
    for other in tagged.amounts:
        if other is not amount and other.dimension == amount.dimension and end < other.start < begins + len(said):
            joint = AND.search(tagged.text, end, other.start)
            if joint:
                return tagged.text[begins : joint.start()]
    return said


def _bare(gap: str, ahead: bool) -> str:
    """A gap without the words, and the commas around them, that tell how the named thing is built."""
    if not ahead:
        return HAS_SIZE.sub("", gap)
    if re.match(r"\s*,\s*(?:the|an?)\b", gap, re.IGNORECASE):
        return gap
    bare = QUALITIES.sub(" ", gap)
    return re.sub(r"^\s*,", " ", bare) if bare != gap else gap


def _opens(gap: str) -> bool:
    """Whether a gap leads into a parenthesis that lists the values of one name: `core (150 MHz @ 1.0V; 250 MHz`."""
    return gap.count("(") == 1 and ")" not in gap and gap.index("(") < 48


def _joint(tagged: Tagged, other: Attached, best: Attached) -> bool:
    """Whether one number is said of two names joined by `and` (`for both instruction cache and data cache`)."""
    names = sorted([(other.start, other.end), (best.start, best.end)])
    between = tagged.text[min(names[0][1], names[1][1]) : max(names[0][1], names[1][1])]
    return bool(re.search(r"\bboth\b", tagged.text, re.IGNORECASE)) and len(between) < 40
