"""Power and temperature: supplies, currents, dissipation, limits, thermal resistance."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, clause, words

_DRY_PACK = words(r"moisture|dry[- ]?pack|bake|baking|shelf|floor life|humidity|solder|reflow|MSL")
_TEMPERATURE = r"temp(?:erature|\.)?"

_OPERATED = words(r"recommended operat|operating (?:conditions?|ranges?)|推荐工作|工作条件")
"""Titles of tables whose rails all are supplies, whatever they feed."""

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "thermal.storage_c",
        "temperature",
        words(rf"\bstorage {_TEMPERATURE}(?: range)?\b|存储温度|储存温度"),
        ranged=True,
        low=-100,
        high=400,
        gap_words=6,
        spans_zero=True,
        forbids=_DRY_PACK,
        forbids_path=_DRY_PACK,
        sureness=0.93,
    ),
    QuantityRule(
        "thermal.junction_c",
        "temperature",
        words(rf"\b(?:con)?junction {_TEMPERATURE}\b|\bjunction(?=\W*$|[,;)])|\bT\s?j\b|结温"),
        ranged=True,
        low=-100,
        high=250,
        gap_words=6,
        instance=instances.grade,
        sureness=0.9,
        forbids=_DRY_PACK,
    ),
    QuantityRule(
        "thermal.case_c",
        "temperature",
        words(rf"\bcase {_TEMPERATURE}\b|\boperating {_TEMPERATURE}(?=.*\bcase\b)|\bTCASE\b"),
        ranged=True,
        low=-100,
        high=250,
        gap_words=6,
        instance=instances.label_of_row,
        sureness=0.88,
    ),
    QuantityRule(
        "thermal.ambient_c",
        "temperature",
        words(
            rf"\bambient(?: operating)? {_TEMPERATURE}(?: under bias)?(?: range)?\b|"
            rf"\boperating (?:ambient )?{_TEMPERATURE}(?: range)?\b|\bTA\b|\bambient(?=\W*$|[,;)])"
            rf"|^{_TEMPERATURE} range\b|工作温度|环境温度"
        ),
        ranged=True,
        low=-100,
        high=250,
        gap_words=6,
        instance=instances.label_of_row,
        sureness=0.87,
        forbids=words(_DRY_PACK.pattern + r"|junction|\bcase\b|Tj\b|measured|unless|test conditions?|typical values"),
    ),
    QuantityRule(
        "thermal.resistance_ja_c_per_w",
        "thermal resistance",
        words(
            r"\bjunction[- ](?:to[- ])?(?:ambient|free[- ]air)\b(?:[ -](?!is\b|of\b)[^\W\d][\w-]*)*"
            r"|\bR?[θΘ]\s?JA\b|\bthermal resistance\b|热阻"
        ),
        low=0.1,
        high=1000,
        gap_words=4,
        instance=instances.label_of_row,
        forbids=words(r"\bcase\b|\bto[- ]board|junction[- ]board|top\b|JC\b|JB\b"),
        sureness=0.9,
    ),
    QuantityRule(
        "thermal.resistance_jc_c_per_w",
        "thermal resistance",
        words(r"\bjunction[- ](?:to[- ])?case\b(?:[ -](?!is\b|of\b)[^\W\d][\w-]*)*|\bR?[θΘ]\s?JC\b"),
        low=0.01,
        high=1000,
        gap_words=4,
        instance=instances.label_of_row,
        sureness=0.9,
    ),
    QuantityRule(
        "power.supply_v",
        "voltage",
        words(
            r"\b(?:core |power |DC )*supply voltage\b|\bvoltage (?:for|applied)\b[\w ]*|"
            r"\bpower supply(?: pins?| voltage)?\b|\bVDD\w*\b|\bVCC\w*\b|\banalog power\b|"
            r"\bdigital(?: logic)? power\b|\bIO power\b|\bvolts DC\b|\bcore voltages?\b"
            r"|\boperating voltages?(?: range)?\b|\boperating range(?= of)"
            r"|\b(?:application |single |main |wide )?suppl(?:y|ies)\b(?! current| ripple| pins?)"
            r"|\b(?:powered|operat\w+|runs?|works?) (?:from|off|by)(?: an?)?(?: single)?\b"
            r"|\bsupply (?:voltage )?range\b|^power(?: requirements?)?$|电源电压|供电电压|supply for"
        ),
        forbids_path=words(
            r"absolute maximum|maximum ratings?|绝对最大"
            r"|\b(?:SDIO|SMHC|SD/?MMC|SD card|eMMC|USB|HDMI|MIPI|PCIe|GPIO|ADC|DAC)\b[\w /-]*"
            r"(?:electrical|parameters|characteristics)"
        ),
        low=0.3,
        high=60,
        gap_words=5,
        instance=instances.rail,
        sureness=0.82,
        forbids=words(
            r"input (?:low|high)|output (?:low|high)|\bV[IO][HL]\b|leakage|threshold|ripple|drop|any pin|"
            r"input voltage|output voltage|clamp|hysteresis|brownout|exceed|ground|measured"
            r"|(?<!tolerant )(?:\bI/?O\b|GPIO)|"
            r"PHY|\bUSB|PLL|HDMI|MIPI|PCIe|analog|retention|eMMC|\bADC|SDIO|(?<!A)DDR|memory|peripheral|pull-?up|"
            r"\bRTC|only\b|\breach(?:es)?\b|\bbattery\b|\bbackup\b|\bVBAT\b|\bunless\b|\botherwise\b|\boutput\b"
            r"|\btested\b|\binterface pins?\b|^\d+ V\w+ \("
        ),
    ),
    QuantityRule(
        "power.supply_v",
        "voltage",
        words(
            r"(?<![A-Za-z])[A-Z]{0,4}V(?:DD|CC|BAT|SYS|IN)\w*|\b\w+_(?:VDD|VCC|IN)\w*|\b(?:power )?suppl(?:y|ies)\b"
            r"|\bpower\b"
        ),
        context=_OPERATED,
        forbids_path=words(r"absolute maximum|maximum ratings?|绝对最大"),
        forbids=words(
            r"input (?:low|high)|output (?:low|high)|\bV[IO][HL]\b|leakage|threshold|ripple|drop|hysteresis|brownout"
            r"|exceed|measured|retention|pull-?up|slew|ramp|toleran|\bESD\b|differen|current"
            r"|peripheral|\bmemory\b|PLL"
        ),
        low=0.3,
        high=60,
        only_bounds=True,
        instance=instances.named_row,
        sureness=0.8,
    ),
    QuantityRule(
        "power.supply_v",
        "voltage",
        words(r"\b(?:low-?power )?operation\b(?! modes?)"),
        ranged=True,
        low=0.8,
        high=60,
        gap_words=0,
        after=False,
        sureness=0.75,
        forbids=words(r"flash|program|\bADC|\bDAC|USB|I/?O\b|GPIO|analog|battery|VBAT|interface|comparator"),
        forbids_path=words(r"absolute maximum|maximum ratings?|\bADC|\bDAC|USB|flash|interface"),
    ),
    QuantityRule(
        "power.max_w",
        "power",
        words(
            r"\b(?:internal )?power dissipation\b|\bpower consumption\b|\bmax(?:imum)?"
            r" (?:run |active |operating |total )?power\b|\bTDP\b|\bthermal design power\b|最大功耗"
            r"|^(?:[\d.]+ )?Power$"
        ),
        typical_field="power.typ_w",
        low=1e-3,
        high=2000,
        gap_words=8,
        instance=instances.label_of_row,
        sureness=0.85,
        forbids=words(
            r"\btyp(?:ical(?:ly)?)?\b|\baverage\b|\b(?:approximately|about|around|roughly) \d|standby|\bidle\b|sleep"
            r"|power[- ]down|\bper\b"
        ),
    ),
    QuantityRule(
        "power.typ_w",
        "power",
        words(
            r"\btypical power(?: consumption| dissipation)?\b|\bmeasured power\b|\bpower (?:consumption"
            r"|dissipation)(?= ?\(?typ)|\bpower(?: consumption| dissipation)?(?= \| ?typ)"
        ),
        low=1e-3,
        high=2000,
        gap_words=6,
        sureness=0.7,
    ),
    QuantityRule(
        "power.current_a",
        "current",
        words(
            r"\b(?:power )?supply current\b|\bpower consumption\b|\b(?:transmit|receive|shutdown|hibernate)\b"
            r"|\bsystem (?:on|off)\b|\bI(?:DD|CC)\b|\b(?:deep|light|modem)-?\s?sleep\b|\bTX\b|\bRX\b|"
            r"\bcurrent consumption\b|\blow power\b|\bICC\b|\boperating current\b|\bpower off\b"
        ),
        low=1e-9,
        high=500,
        gap_words=6,
        instance=instances.mode,
        sureness=0.78,
        forbids=words(
            r"leakage|input current|output current|sink|source current|drive|cumulative|clamp|delivered"
            r"|\b(?:each|every|per|any|one|a single) (?:[\w/-]+ )?(?:I/?Os?|GPIOs?|pins?|pads?|balls?)\b"
        ),
    ),
)


_RAIL_NAME = r"(?:cores?|I/?Os?|kernel|V(?:DD|CC|IO|BAT)\w*|digital|analog|internal logic|logic)"
_OF_RAIL = re.compile(
    rf"^\s*(?:supply )?(?:for|to|on|at)\s+(?:the\s+)?(?P<rail>{_RAIL_NAME})(?: \w+)?\b", re.IGNORECASE
)
"""`1.2 V for the core`."""
_MEASURED_AT = words(r"(?:\b(?:at|with|when|if|for)|@)\s*$")
"""Before a rail and its voltage that something else was measured at: `current at VDD = 3.0 V`."""
_RAIL_BEFORE = re.compile(
    rf"\b(?P<rail>{_RAIL_NAME})(?![\w-])(?:\s+(?:rails?|power|suppl(?:y|ies)|voltage|domain|range|rated|is|of|at|from|a|an|the"
    r"|single|to|be|runs?|operates?|works?|wants?|needs?|requires?|takes?|uses?|typical(?:ly)?|nominal(?:ly)?|has))*"
    r"\s*[:=]?\s*$",
    re.IGNORECASE,
)
"""`the core rail needs 0.8 V`."""
_TELLS_SUPPLY = words(r"\bsuppl|\bpower(?:ed)?\b|\brails?\b|\bvoltages?\b|\brated\b")
_NO_SUPPLY = words(
    r"absolute|maximum rating|threshold|toleran|\bV[IO][HL]\b|\binput (?:high|low)|output (?:high|low)|leakage|ripple"
    r"|exceed|\bADC\b|\bDAC\b|\bPHY\b|\bUSB\b|PLL|HDMI|MIPI|PCIe|battery|backup|program|\bESD\b|(?<!A)DDR|flash"
    r"|LDO|DC-?DC|converter|regulator|generat"
)


_TELLS_POWER = words(r"\bpower\b|\bconsum|\bdissipat|\bTDP\b|\bdraws?\b")
_NO_POWER = words(r"standby|idle|sleep|audio|RF\b|dBm|speaker|per\b|transmit|output power|LED|charg")
_IS_TYPICAL = words(r"^\s*\(?(?:on average|typical(?:ly)?|typ\b|average)")
_ROUGHLY = words(r"\b(?:approximately|about|around|roughly)\s*$")
_IS_MOST = words(r"^\s*\(?(?:at most|max(?:imum)?\b|at the most|worst[- ]case|peak)")


def _power(tagged: Tagged) -> Iterator[Found]:
    """`6 W on average and 9 W at most`: what a power is stands right after it."""
    if not _TELLS_POWER.search(f"{tagged.text} {tagged.parent}") or _NO_POWER.search(tagged.text):
        return
    for amount in tagged.amounts:
        after = tagged.text[amount.end :]
        if amount.dimension == "power" and amount.form == "single" and 1e-3 <= amount.values[0] <= 2000:
            if _IS_TYPICAL.match(after) or _ROUGHLY.search(tagged.text[: amount.start]):
                yield Found("power.typ_w", amount.start, amount.end, amount.values[0], sureness=0.78)
            elif _IS_MOST.match(after):
                yield Found("power.max_w", amount.start, amount.end, max=amount.values[0], sureness=0.8)


def find(tagged: Tagged) -> Iterator[Found]:
    """Supplies that a sentence gives by their rails: `1.2 V for the core and 3.3 V for the I/O`."""
    statement = tagged.statement
    if statement.is_row or tagged.describes_register or _NO_SUPPLY.search(" ".join(statement.path[-2:])):
        return
    yield from _power(tagged)
    told = _TELLS_SUPPLY.search(f"{tagged.text} {statement.earlier[-120:]} {' '.join(statement.path[-2:])}")
    for amount in tagged.amounts if told else ():
        if amount.dimension != "voltage" or amount.form == "list" or not 0.4 <= amount.values[0] <= 24:
            continue
        after = _OF_RAIL.match(tagged.text[amount.end :])
        before = _RAIL_BEFORE.search(tagged.text[: amount.start])
        named = after or before
        measured = before and _MEASURED_AT.search(tagged.text[: before.start("rail")])
        if named is None or measured or _NO_SUPPLY.search(clause(tagged.text, amount.start, amount.end)):
            continue
        rail = named["rail"]
        start = before.start() if before and not after else amount.start
        end = amount.end + (after.end() if after else 0)
        low, *_, high = (float(f"{value:.12g}") for value in (amount.values[0], *amount.values))
        said: dict[str, Any] = {"value": low} if amount.form == "single" else {"min": low, "max": high}
        if amount.form == "tolerance":
            said["typ"] = amount.values[1]
        yield Found("power.supply_v", start, end, instance=rail, sureness=0.8, **said)
