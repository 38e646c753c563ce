"""A quantity that stands for itself: `Up to 64 MHz` below the name of a core, `168 MHz / 210 DMIPS` in a title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import ACCELERATOR, CPU_NAME, Found, Tagged, words
from hwdoc_ingest.statements.number_phrases import Amount

_AROUND = re.compile(
    r"(?:\b(?:it|the core|the processor|device|can|may|be|runs?|running|clocked|operat\w+|works?|clock|frequency|speed"
    r"|at|of|up to|to|max(?:imum)?|typ(?:ical)?|operation|core|CPU|each|per core|is)\b|\W)*",
    re.IGNORECASE,
)
"""Words that make no other thing of a lone frequency."""
_MODEL_AT = re.compile(
    r"\W*[A-Z][\w -]{2,36}?,? (?:at|@|running at|clocked at)(?: up to)? ?|\W*[A-Z][\w -]{2,36}?, (?:up to )?"
)
"""The model that runs at it."""
_MOST = re.compile(r"\b(?:up to|max(?:imum)?\.?)\s*(?:frequency|clock|speed|of|:|\s)*$", re.IGNORECASE)
_BESIDE_SPEED = re.compile(r"\s*(?:[/,;(]|and|with|at)\s*(?:up to )?[\d.,]+ ?(?:DMIPS|CoreMark)\b", re.IGNORECASE)
"""After a frequency: what a core does at it."""
_OPERATION = words(
    r"\W*(?:operating (?:conditions?|voltages?|range|characteristics)|(?:power )?supply|supply voltages?)\W*$"
)
_INLINE = words(r"\W*(?:wide )?operating (?:ranges?|conditions?)\s*[:：]\s*")
_RANGE_LABEL = words(r"\W*(?:(?:supply |operating )?voltage(?: range)?\s*:)?\W*")
_FROM_REST = words(r"\b(?:DC|0 ?(?:[MG]?Hz)?) ?(?:to|[-–~]) ?(?=[\d.]+ ?[MG]Hz)")
"""A clock that may stand still: `DC to 80 MHz`, `0 - 16 MHz`."""
_SPEED = words(r"\bspeed|\bfrequency\b|\bclock\b|\boperating (?:conditions?|range)|\boperation\b")
_AT_SUPPLY = words(r"\s*(?:@|at\b|when\b)\s*[\d.]+ ?(?:V\b|[-–~])")
"""A speed grade: the clock is what that supply allows."""
_ABOUT_CHIP = words(r"\b(?:summary|features?|description|overview|introduction|highlights|general|product)\b(?!.*> .)")
_DOES_AT = words(r"\bMIPS\b[^.;,|]{0,24}\bat $")
"""What a core does at a clock: `Up to 20 MIPS throughput at`."""
_CHIP_RUNS = re.compile(
    r"^\W*(?:it|they|(?:the )?(?=[\w/-]*\d)(?-i:[A-Z]{2})[\w/-]{2,}"
    r"|(?:the|these|this) (?:(?!bus|interface|bridge|timer|memory|radio|[A-Z]{3,4}\b)[\w/-]+ ){0,2}?"
    r"(?:devices?|chips?|MCUs?|microcontrollers?|SoCs?|products?|family|series|parts?))"
    r" (?:can |may )?(?:runs? up to|operates? up to|runs?|operates?|works?|are clocked|is clocked)"
    r"(?: at| with| up to| a| an| the| maximum"
    r"| frequency| clock| speed| speeds| frequencies| of)* ?$",
    re.IGNORECASE,
)
"""`They operate at a frequency of up to`: what is spoken of is the chip."""
_RUNNING = re.compile(r"^\W*(?:operating|running|clocked) (?:at|with|from) (?:up to |an? )?$", re.IGNORECASE)
_THE_CHIP = re.compile(
    r"(?: (?:clock|core|CPU)(?: (?:speed|frequency|rate))?)?, (?:the|this) "
    r"(?:(?-i:[A-Z])[\w/-]*\d[\w/-]*|device|chip|MCU|SoC|processor|microprocessor|microcontroller|CPU)\b"
    r"(?! bus| interface)",
    re.IGNORECASE,
)
"""`Operating at 80 MHz, the X1200 delivers`: around a clock, whose it is."""
_GPU = words(r"\bGPU\b|graphics|Mali|PowerVR|Adreno")
_NPU = words(r"\bNPU\b|\bKPU\b|\bBPU\b|\bTPU\b|\bneural")
_NO_CORE = words(
    r"oscillator|crystal|clock (?:gener|manag|source)|\bPLL|peripheral|memory|bus\b|interface|timer|USB|radio|RF\b"
    r"|\bcaches?\b|debug|reset|\bPWMs?\b|\bADCs?\b|\bSPI\b|\bI2[CS]\b|\bU?S?ART\b|\boutput (?:frequency|clock)"
)


def find(tagged: Tagged) -> Iterator[Found]:
    """The clock of what the heading or the item above names."""
    if tagged.statement.is_row:
        return
    yield from _supply(tagged)
    yield from _of_the_chip(tagged)
    clocks = [a for a in tagged.amounts if a.dimension == "frequency" and a.form == "single"]
    if len(clocks) != 1 or not 1e6 <= clocks[0].values[0] <= 6e9:
        return
    clock, text = clocks[0], tagged.text
    if _BESIDE_SPEED.match(text, clock.end) and not ACCELERATOR.search(text[: clock.start]):
        yield _clock(tagged, "cpu.clock_hz", clock, 0.8)
        return
    rest = text[: clock.start], text[clock.end :]
    above = tagged.parent
    if not above or len(above) > 80 or not _AROUND.fullmatch(rest[1]):
        return
    if not (_AROUND.fullmatch(rest[0]) or (_MODEL_AT.fullmatch(rest[0]) and not _NO_CORE.search(rest[0]))):
        return
    if _GPU.search(above):
        yield _clock(tagged, "gpu.clock_hz", clock, 0.75)
    elif _NPU.search(above):
        yield _clock(tagged, "npu.clock_hz", clock, 0.75)
    elif not _NO_CORE.search(above) and (instances.CORE.search(above) or CPU_NAME.search(above)):
        yield _clock(tagged, "cpu.clock_hz", clock, 0.78)


def _supply(tagged: Tagged) -> Iterator[Found]:
    """The range of voltages that a line about operation begins with: `2.1 V to 3.6 V, -40 °C to +85 °C`."""
    first = tagged.amounts[0] if tagged.amounts else None
    if first is None or first.dimension != "voltage" or first.form != "range":
        return
    named = _INLINE.fullmatch(tagged.text[: first.start])
    if not named and not _OPERATION.match(tagged.parent):
        return
    label = named or _RANGE_LABEL.fullmatch(tagged.text[: first.start])
    alone = label and re.match(r"\s*(?:,|;|$)", tagged.text[first.end :])
    if alone and first.values[0] >= 0.4 and first.values[1] <= 60:
        low, high = first.values
        yield Found("power.supply_v", first.start, first.end, min=low, max=high, sureness=0.72)
        for each in tagged.amounts[1:]:
            if each.dimension == "temperature" and each.form == "range" and each.values[0] <= 0:
                low, high = each.values
                yield Found("thermal.ambient_c", each.start, each.end, min=low, max=high, sureness=0.72)


def _of_the_chip(tagged: Tagged) -> Iterator[Found]:
    """The highest clock of the chip where no core is named: from rest on, of what it does, or of a sentence on it."""
    text = tagged.text
    if tagged.describes_register or _NO_CORE.search(tagged.parent):
        return
    for amount in tagged.amounts:
        if amount.dimension != "frequency" or not 1e6 <= amount.values[-1] <= 6e9:
            continue
        before, most = text[: amount.start], amount.values[-1]
        rest = _FROM_REST.search(text, max(0, amount.start - 12), amount.end)
        near = text[max(0, amount.start - 40) : amount.end + 24]
        if rest and rest.end() <= amount.end and not _NO_CORE.search(near) and not _AT_SUPPLY.match(text, amount.end):
            if _SPEED.search(f"{near} {tagged.parent}"):
                yield Found("cpu.clock_hz", amount.start, amount.end, max=most, sureness=0.75)
        elif amount.form == "single" and _DOES_AT.search(before):
            yield Found("cpu.clock_hz", amount.start, amount.end, max=most, sureness=0.75)
        elif amount.form == "single" and _RUNNING.match(before) and _THE_CHIP.match(text, amount.end):
            yield _clock(tagged, "cpu.clock_hz", amount, 0.75)
        elif amount.form == "single" and _CHIP_RUNS.match(before) and _ABOUT_CHIP.search(tagged.path_text):
            yield _clock(tagged, "cpu.clock_hz", amount, 0.72)


def _clock(tagged: Tagged, field: str, clock: Amount, sureness: float) -> Found:
    most = bool(_MOST.search(tagged.text[: clock.start]))
    value = clock.values[0]
    instance = instances.core(tagged, clock.start, clock.end) if field.startswith("cpu") else None
    return Found(
        field,
        clock.start,
        clock.end,
        None if most else value,
        max=value if most else None,
        instance=instance,
        sureness=sureness,
    )
