"""A value behind a label of a word or two, as lists of specifications give them: `Clock: 120 MHz`, `Cores | 4`.

Elsewhere such a word would say too little; here the heading above tells of a chip or its processor, and no other block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import CPU_NAME, Found, Tagged, words


@dataclass(frozen=True)
class _Label:
    field: str
    dimension: str
    name: re.Pattern[str]
    low: float
    high: float


_MOST = r"(?:max(?:imum|\.)? )?"
_LABELS = tuple(
    _Label(field, dimension, words(rf"\W*{name}\s*"), low, high)
    for field, dimension, name, low, high in (
        (
            "cpu.clock_hz",
            "frequency",
            rf"{_MOST}(?:clock|nominal|operating|core|CPU|main|system)? ?"
            r"(?:clocks?|frequency|frequencies|(?:clock )?(?:speed|rate)s?)(?: grades?)?(?: \(max\.?\))?",
            1e6,
            6e9,
        ),
        ("power.supply_v", "voltage", r"(?:nominal |supply |power |main )?(?:voltage|supply)(?: range)?", 0.4, 24),
        ("cpu.cores", "count", r"(?:(?:number|no\.) of )?(?:CPU |processor )?cores", 1, 1024),
        ("cpu.pipeline_stages", "count", r"pipeline (?:depth|length)", 2, 40),
        ("cpu.registers", "count", r"(?:general[- ]purpose )?registers", 4, 512),
        ("chip.transistors", "count", r"transistors?(?: count)?|number of transistors", 1e3, 1e12),
    )
)
_SPEC = words(
    r"\bspecif\w+|\bspecs?\b|\bparamet\w+|\bsummary\b|\bdata ?sheet\b|\bkey (?:data|facts|figures)\b"
    r"|\bcharacteristics\b|\bfeatures?\b|\boverview\b|\bat a glance\b"
)
_CPU = words(rf"{CPU_NAME.pattern}|\bcores?\b|\bmicroprocessor|\bmicrocontroller")
_OTHER_BLOCK = words(
    r"\b(?:GPU|NPU|DSP|ISP|VPU|timers?|ADC|DAC|SPI|I2C|I2S|UART|USB|PCIe|MIPI|HDMI|ethernet|Wi-?Fi|bluetooth|radio|RF"
    r"|audio|video|display|camera|flash|memory|memories|DRAM|SDRAM|DDR\w*|crystals?|oscillators?|PLLs?|bus|AXI|AHB|APB"
    r"|interfaces?|peripherals?|analog|power|sensors?|boards?"
    r"|modules?|charger|regulators?|I/O|GPIO|debug|trace|image|graphics|neural)\b"
)
_ENDS = re.compile(r"\s*(?:$|[,;(@|]|at \d|typ|max|stages?\b)", re.IGNORECASE)
_ISA = re.compile(
    r"^\W*(?:base )?(?:ISA|instruction[ -]sets?(?: architecture)?|architecture)\s*(?:\([^()]*\)\s*)?[:|]\s*"
    r"(?P<isa>RV(?:32|64)[A-Z][A-Za-z]*)\b",
    re.IGNORECASE,
)
_SIDES = re.compile(
    r"\b(?:die|chip) (?:size|area|dimensions?)\b[^\d.;]{0,12}(?P<a>\d+(?:\.\d+)?) ?(?:mm)? ?[x×*]"
    r" ?(?P<b>\d+(?:\.\d+)?) ?mm\b(?!2|²| ?\()",
    re.IGNORECASE,
)
"""`Die size: 12 mm x 14 mm`, where the area is not told."""
_VERSIONS = re.compile(
    r"\b(?:available|offered|sold|comes?)\b(?: [a-z]+){0,2} (?:in|at)"
    r"(?: (?:speeds?|clocks?|frequencies|clock speeds|speed grades)(?: of)?)? $",
    re.IGNORECASE,
)


def find(tagged: Tagged) -> Iterator[Found]:
    """The value of a short label, an instruction set, a die by its sides, and the speeds that a chip is sold at."""
    text = tagged.text
    if tagged.describes_register:
        return
    isa, die = _ISA.match(text), _SIDES.search(text)
    if isa:
        holder = instances.core(tagged, *isa.span("isa"))
        yield Found("cpu.isa", *isa.span("isa"), isa["isa"], instance=holder, sureness=0.8)
    if die:
        area = round(float(die["a"]) * float(die["b"]) / 100, 4)
        yield Found("chip.die_cm2", *die.span(), area, sureness=0.75)
    yield from _labelled(tagged)
    for amount in tagged.amounts if _is_about_chip(tagged.parent) and not _OTHER_BLOCK.search(text) else ():
        sold = amount.dimension == "frequency" and amount.form in ("single", "list") and amount.values[0] >= 1e6
        if sold and _VERSIONS.search(text[: amount.start]):
            value = amount.values[0] if amount.form == "single" else amount.values
            yield Found("cpu.clock_hz", amount.start, amount.end, value, sureness=0.72)


def _is_about_chip(above: str) -> bool:
    return bool(_SPEC.search(above) or _CPU.search(above)) and not _OTHER_BLOCK.search(above)


def _labelled(tagged: Tagged) -> Iterator[Found]:
    """`Clock: up to 80 MHz`, below a heading of specifications or of a processor."""
    if not tagged.amounts or not _is_about_chip(tagged.parent):
        return
    parts = re.match(
        r"(?P<label>[^:|]{3,32})(?:[:：]|\s\|)\s*(?P<most>(?:up to|max(?:imum|\.)?:?|≤|<)\s*)?", tagged.text
    )
    amount = tagged.amounts[0]
    if parts is None or parts.end() != amount.start or not _ENDS.match(tagged.text, amount.end):
        return
    bounded = any(cell.bound not in (None, "value") for cell in tagged.statement.cells)
    for label in _LABELS if not bounded else ():
        if label.dimension != amount.dimension or not label.name.fullmatch(parts["label"]):
            continue
        if all(label.low <= value <= label.high for value in amount.values):
            yield _found(tagged, label.field, bool(parts["most"]))


def _found(tagged: Tagged, field: str, most: bool) -> Found:
    amount = tagged.amounts[0]
    low, *_, high = (float(f"{value:.12g}") for value in (amount.values[0], *amount.values))
    plain = Found(field, 0, amount.end, low, sureness=0.74)
    if field == "cpu.clock_hz":
        plain = replace(plain, instance=instances.clocked_core(tagged, amount.start, amount.end))
        most |= bool(re.match(r"\W*max", tagged.text, re.IGNORECASE))
    if amount.form == "list":
        return replace(plain, value=amount.values)
    if amount.form in ("range", "tolerance"):
        middle = amount.values[1] if amount.form == "tolerance" else None
        return replace(plain, value=None, min=low, typ=middle, max=high)
    return replace(plain, value=None, max=high) if most else plain
