"""Buses inside the chip and at its edge: how wide they are, how fast, how long a burst."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, clause, words

_BUS = r"(?:AXI\d?|AHB\d?|APB\d?|ASB|AMBA|TileLink|Wishbone|OCP|PLB|OPB|XBAR)"
_NAMED = re.compile(rf"\b{_BUS}\b(?:[- ]?(?:Lite|Stream))?|\b[HP]CLK\d?\b", re.IGNORECASE)
_ROLE = r"(?:bus(?: (?:matrix|matrices|fabric|system))?|matrix|matrices|crossbar|interconnect|fabric|network|NoC)"


def _named_in(beside: re.Match[str] | None) -> str | None:
    named = _NAMED.search(beside.group()) if beside else None
    return named.group() if named else None


def bus_name(tagged: Tagged, start: int, end: int) -> str | None:
    """The bus that is named nearest before a place, else right after it."""
    before = [*_NAMED.finditer(tagged.text, 0, start)]
    after = _NAMED.search(tagged.text, end, end + 24)
    return before[-1].group() if before else after.group() if after else None


def _inside(tagged: Tagged, _start: int, end: int) -> str | None:
    """Which bus a lone `internal data bus` is: the one inside the core, not the chip's."""
    beside = re.match(r"[- ]*(?:bits?[- ]*)?(internal(?: \w+)? bus)\b", tagged.text[end:], re.IGNORECASE)
    return beside[1] if beside else None


RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "bus.width_bits",
        "bits",
        words(r"\bdata bus\b|\b(?:system |external )?bus(?: width)?\b(?! clock)"),
        context=words(r"features?|overview|introduction|highlights|summary|\bdata bus\b|functional description"),
        low=8,
        high=1024,
        gap_words=2,
        sureness=0.72,
        after=False,
        instance=_inside,
        not_beside=words(r"\0[- ](?:\w+ )?address\b(?!/data)"),
        forbids=words(r"(?<!A)DDR|DRAM|eMMC|SD|peripheral|DMA|APB|wide data types|inline ECC"),
        forbids_path=words(r"DDR|DRAM|external memory|DMA"),
    ),
    QuantityRule(
        "bus.width_bits",
        "bits",
        words(
            r"\b(?:system |main |multi-?layer |advanced )*(?:AXI\d?|AHB|AMBA)(?:[- ]?Lite)? "
            r"(?:crossbar|interconnect|fabric|system bus|(?:bus )?matrix)\b"
        ),
        low=8,
        high=1024,
        gap_words=1,
        sureness=0.7,
        after=False,
        forbids=words(r"address|peripheral"),
    ),
    QuantityRule(  # the header of a column, in a table of buses
        "bus.width_bits",
        "bits",
        words(r"^(?:data )?width$"),
        context=words(
            r"^(?!.*(?:DMA|DDR|DRAM|SPI|UART|flash|\bSD|USB|display|camera|LCD|register|counter|timer))"
            r".*\b(?:AXI\w*|AHB\w*|TileLink|Wishbone|bus(?:es)?)\b"
        ),
        low=8,
        high=1024,
        sureness=0.72,
    ),
    QuantityRule(
        "bus.width_bits",
        "count",
        words(r"\b(?:bidirectional )?data (?:bus )?lines\b"),
        low=8,
        high=256,
        gap_words=1,
        sureness=0.7,
        after=False,
        forbids=words(r"SPI|I2C|UART|LCD|camera|cache"),
    ),
    QuantityRule(
        "bus.max_burst_bytes",
        "bytes",
        words(r"\b(?:transferred )?per burst\b"),
        low=4,
        high=4096,
        gap_words=2,
        sureness=0.8,
        after=False,
    ),
)

_WIDTH = re.compile(
    rf"\b(?P<bus>{_BUS})(?:[- ]?(?:Lite|Stream))?(?: {_ROLE})?(?: (?:of|in) [\w ,]{{2,30}}?)?"
    r"(?:\s*[:(]\s*|,? (?:is|are|has|have|uses?|with)(?: an?)?(?: data (?:path|width|bus)(?: of| is)?)? )"
    r"(?P<width>\d{1,4})[- ]bits?\b(?! (?:address|counter|timer))",
    re.IGNORECASE,
)
"""`the AXI bus matrix is 64 bits wide`, `AHB: 32-bit`, `the AHB matrices have 32-bit data paths`."""
_DATA_WIDTH = re.compile(
    rf"\b(?P<bus>{_BUS})(?:[- ]?(?:Lite|Stream))?(?: {_ROLE})?\b[^.;,]{{0,20}}\bdata (?:width|bus|path)s?"
    r" (?:of|is|are)(?: up to)? (?P<width>\d{1,4})[- ]bits?\b",
    re.IGNORECASE,
)
"""`the main AXI bus has a data width of 128 bits`."""
_OF_PORT = re.compile(
    rf"\b(?P<bus>{_BUS})-(?P<width>32|64|128|256|512)\b"
    rf"|\b(?P<wide>32|64|128|256|512|1024)[- ]bit (?:wide )?"
    rf"(?P<beside>(?:(?!address|and\b|or\b)[a-z]+ )?{_BUS})(?:[- ]?Lite)?"
    r"(?: (?:system |data )?bus\b| or )",
    re.IGNORECASE,
)
"""`AXI4-128 master`, `a 512-bit AXI bus`, `64-bit AXI4 or AHB-Lite`."""
_CLOCKED = re.compile(
    rf"\b(?:{_BUS}(?:[- ]?Lite)?|[HP]CLK\d?|(?<!RAM )(?<!flash )(?<!memory )(?:system |main )?bus)\b"
    rf"(?: {_ROLE})?(?: (?:domain|max(?:imum|\.)?|clock|frequency|speed))*"
    r"(?:\s*[:=(]|\s+(?:is|are|of|at|up|to|runs?|running|operat\w+|clocked|limited|max(?:imum)?\.?|has|can|be|may"
    r"|than|no|more|a|most))*\s*$",
    re.IGNORECASE,
)
"""What leads from a bus to its clock: `AHB clock of up to`, `the AXI interconnect is clocked at`."""
_OF_DOMAIN = re.compile(
    r"\bmax(?:imum|\.)? (?:allowed |operating |clock )*frequency (?:of|for) (?:the )?(?P<of>[^.;]{2,60}?)"
    r" (?:domains?|bus(?:es)?|clocks?)? ?(?:is|are|=|:) (?P<at>[\d.]+ ?MHz)",
    re.IGNORECASE,
)
"""`The maximum frequency of the AHB and the high-speed APB domains is 72 MHz`."""
_CONDITION = re.compile(r"(?:@|\b(?:with|at|when|if|for)(?: an?)?)\s*$", re.IGNORECASE)
_NO_CLOCK = words(r"divid|ratio|UART|SPI|I2C|USB|timer|PWM|ADC|(?<!A)DDR|SD(?:IO|MMC)|eMMC|DMA|register|when\b|\bif\b")
_MOST = re.compile(r"\b(?:up to|max(?:imum)?\.?|limited to|at most|no more than|not exceed)\s*$", re.IGNORECASE)
_OTHER_BUS = words(r"\bUSB|I2C|SPI|CAN\b|PCI|register|DMA|address bus|external")


_NAMED_BESIDE = re.compile(
    rf"\s*(?:{_BUS}|system bus|bus) (?:clock|frequency|speed)\b|\s*(?:AHB|APB|AXI)\d?(?=\s*(?:[,;)]|$))", re.IGNORECASE
)
"""After a frequency: `103 MHz bus clock`."""


def find(tagged: Tagged) -> Iterator[Found]:
    """The width and the clock of a bus that is called by its name."""
    text = tagged.text
    for pattern in (_WIDTH, _DATA_WIDTH):
        for match in pattern.finditer(text):
            width = float(match["width"])
            if width in (16, 32, 64, 128, 256, 512, 1024) and not _OTHER_BUS.search(clause(text, *match.span())):
                yield Found("bus.width_bits", *match.span(), width, instance=match["bus"], sureness=0.72)
    for match in _OF_PORT.finditer(text):
        if not re.search(r"\bUSB|I2C|SPI|PCI|register", clause(text, *match.span()), re.IGNORECASE):
            width, named = float(match["width"] or match["wide"]), match["bus"] or match["beside"]
            yield Found("bus.width_bits", *match.span(), width, instance=named, sureness=0.7)
    if tagged.statement.is_row:
        return
    domain = _OF_DOMAIN.search(text)
    at = next((each for each in tagged.amounts if domain and each.start == domain.start("at")), None)
    if domain and at:
        for bus in _NAMED.finditer(domain["of"]):
            yield Found("bus.clock_hz", *domain.span(), max=at.values[0], instance=bus.group(), sureness=0.76)
    for amount in tagged.amounts:
        if (
            amount is at
            or amount.dimension != "frequency"
            or amount.form != "single"
            or not 1e6 <= amount.values[0] <= 4e9
        ):
            continue
        beside = None if _CONDITION.search(text[: amount.start]) else _NAMED_BESIDE.match(text, amount.end)
        told = beside or _CLOCKED.search(text[: amount.start])
        if told and not _NO_CLOCK.search(clause(text, min(told.start(), amount.start), amount.end)):
            named_most = not beside and re.search(r"\bmax(?:imum|\b)", told.group(), re.IGNORECASE)
            most = bool(named_most or _MOST.search(text[: amount.start]))
            yield Found(
                "bus.clock_hz",
                min(told.start(), amount.start),
                max(told.end(), amount.end),
                None if most else amount.values[0],
                max=amount.values[0] if most else None,
                instance=_named_in(beside) or bus_name(tagged, amount.start, amount.end),
                sureness=0.72,
            )
