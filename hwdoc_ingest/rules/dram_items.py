"""External DRAM in the words of feature lists: `dual 32-bit LPDDR5`, `up to 8 GB LPDDR4X`, `LPDDR4 x32`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.dram import BUILT_IN, DDR, KIND, NOT_DDR, rated_kind
from hwdoc_ingest.rules.rule import Found, Tagged, clause, words
from hwdoc_ingest.statements.number_phrases import find_amounts

_WIDE_EACH = re.compile(
    r"\bchannels?\b[^.;]{0,12}?\b(8|16|32|64|128)[- ]bits? (?:wide )?each\b"
    r"|\b(8|16|32|64|128)[- ]bits? (?:per|for each) channel\b",
    re.IGNORECASE,
)
"""`two LPDDR4X channels, 32 bits each`, `16 bits per channel`."""
_LANES = re.compile(
    r"(?<![\w.])[x×](8|16|32|64|128)\b(?=\s*-?(?:bit)?\s*(?:(?:LP)?DDR|channel|SDRAM|DRAM))|"
    r"(?:(?:LP)?DDR\d[LX]?\w*|SDRAM)\s*,?\s*[x×](8|16|32|64|128)\b(?!\s*\d)",
    re.IGNORECASE,
)
"""`a single x32 LPDDR4X channel`, `LPDDR4 x32`: how wide it is."""
_MOST_OF_MEMORY = re.compile(
    r"\b(?:up to|max(?:imum|\.)?(?: of)?|as much as) (\d{1,4}) ?(GB|GiB|MB|MiB) (?:of )?"
    r"(?:(?:(?:single|dual|quad|octa)-channel|\d+-bit|fast|shared) )*"
    r"(?:(?:external|main|system|off-chip) (?:memory|S?DRAM)|(?:LP)?DDR\d\w*|S?D?RAM)\b(?! (?:bus|clock|flash))",
    re.IGNORECASE,
)
"""`up to 16 GB of external memory`, `up to 8GB LPDDR4X`."""
_UP_TO_AFTER = re.compile(
    r"\b(?:LP)?DDR\d\w*(?: SDRAM| memory)?,? \(?(?:up to|max(?:imum|\.)?(?: of)?) (\d{1,4}) ?(GB|GiB|MB|MiB)\b(?! ?/)",
    re.IGNORECASE,
)
"""`LPDDR4X up to 8 GB`."""
_MOST_IN_TABLE = re.compile(
    r"^\W*(?:max(?:imum|\.)? (?:mem(?:ory)?|RAM)(?: (?:size|capacity))?)\s*[|:]?\s*(\d{1,4}) ?(GB|GiB|MB|MiB)\W*$",
    re.IGNORECASE,
)
"""`Max memory | 8 GB`, below a heading that names the memory's controller."""
_CONTROLLER = words(r"\bmemory (?:controller|interface|support|subsystem)\b|\bDRAM\b|DDR")
_BUILT_IN_KIND = re.compile(
    r"\b(?:buil[td]?-?in|integrated|embedded|in-package|on-package|SiP)(?: an?)? (?P<bits>\d{2,4} ?[MG]bits? )?"
    r"(?:\d{1,4} ?[MG]i?B (?:of )?)?(?P<kind>(?:LP)?DDR\d[LX]?)\b"
    r"(?! (?:memory )?(?:controller|interface|PHY))(?! ?[/,、] ?(?:LP)?DDR)",
    re.IGNORECASE,
)
"""`Integrated 512 Mbit DDR2`: the one memory that the package holds."""
_INTERFACE_IS = re.compile(
    r"\b(?:LP)?DDR\d?\w* (?:memory )?(?:interface|controller|bus) "
    r"(?:is|has a width of|:) (16|32|64|128|256)[- ]bits?\b",
    re.IGNORECASE,
)
_CLOCK_AND_RATE = re.compile(
    r"(?P<clock>\d{2,4})[- ]?MHz(?: clock|\s?时钟)?\s?[(（]\s?(?P<rate>\d{3,5})[- ]?(?:MHz|MT/s|Mbps)"
    r"(?: data[- ]rate|\s?数据(?:速率|传输率))\s?[)）]",
    re.IGNORECASE,
)
"""`DDR3: 400-MHz clock (800-MHz data rate)`."""
_STATIC = words(r"\bSRAMs?\b|\bcache\b")
"""A memory beside the chip that is no DRAM."""
_SPEED = re.compile(r"\bspeeds?:? (?:of |is )?(?:up to )?(\d{3,5}) ?(?:Mbps|Mb/s|MT/s|Mbit/s)(?! ?/)", re.IGNORECASE)
"""`supporting speeds up to 1600 Mbps`, of a memory's lines."""
_CLOCKED = re.compile(
    r"\b(?:SDRAM|DRAM|(?:LP)?DDR\d?\w*)\b[^.;]{0,30}?\b(?:clocked|clock(?:s)? at|run(?:s|ning)? at|operat\w+ at)"
    r"(?: at)?(?: up to)?\s*$",
    re.IGNORECASE,
)
_WIDTH_BESIDE = re.compile(
    r"(?:\b(16|32|64|128)[- ]?bit (?:(?:LP)?DDR\d)|(?:LP)?DDR\d\w*(?:/(?:LP)?DDR\d\w*)*(?:-\d{3,4})?,?"
    r" (16|32|64|128)[- ]?bit\b)"
    r"(?! ?(?:each|per|address|ECC|CPU|core|channels?))",
    re.IGNORECASE,
)
"""`32-bit LPDDR4`, `LPDDR5, 64 bit`."""
_COUNTS = {"dual": 2, "two": 2, "quad": 4, "four": 4}
_CHANNELS_OF = re.compile(
    r"\b(dual|two|quad|four|2|4)(?: ?[x×])? (?:independent )?(?:LP)?DDR\d\w* "
    r"(?:low-power )?(?:S?DRAM |memory )?channels\b",
    re.IGNORECASE,
)
"""`fed by dual LPDDR2 memory channels`."""
_INSTALLED = re.compile(
    r"\W*(?:(?:(?:system|main|on-?board) )?(?:memory|RAM|S?DRAM)\s*[:|]\s*)?"
    r"(?P<size>\d{1,4}) ?(?P<unit>[MG])i?B (?:of )?(?:\d+-bit )?(?:LP)?DDR\d\w*(?!\S*[/,] ?(?:LP)?DDR)",
    re.IGNORECASE,
)
"""How a line begins that gives a memory with its size first: `Memory: 8 GB LPDDR5`, which is one that is there."""
_NO_SIZE = re.compile(
    r"\bup to\b|\bmax|support|controller|interface|\bper\b|\beach\b|[x×] ?\d|address space|optional", re.IGNORECASE
)
_CHANNELS_BESIDE = re.compile(
    r"\b(dual|two|quad|four|2|4)(?: ?[x×])? ?(16|32|64|72)[- ]?bit (?:(?:LP)?DDR\d)", re.IGNORECASE
)
"""`dual 32-bit LPDDR5`."""
_DUAL_WIDTH = re.compile(
    rf"(?:{KIND.pattern})[^.;]{{0,12}}?\b(dual|two|quad|four|2|4)[- ]channels?,? (?:[x×] ?)?(16|32|64)[- ]bits?\b",
    re.IGNORECASE,
)
"""`LPDDR4 dual-channel 16-bit`."""


def find(tagged: Tagged) -> Iterator[Found]:
    """How wide, how large and how fast a sentence says the memory is, and that the package holds one."""
    text = tagged.text
    if NOT_DDR.search(text):
        return
    each = _WIDE_EACH.search(text)
    if each and KIND.search(text):
        yield Found("memory.dram.channel_width_bits", each.start(), each.end(), float(each[1] or each[2]), sureness=0.8)
    paired = _DUAL_WIDTH.search(text)
    if paired:
        yield Found("memory.dram.channel_width_bits", *paired.span(), float(paired[2]), sureness=0.75)
    several = _CHANNELS_BESIDE.search(text)
    if several:
        count = _COUNTS.get(several[1].lower()) or int(several[1])
        yield Found("memory.dram.channels", several.start(), several.end(), float(count), sureness=0.75)
        width = float(several[2])
        yield Found("memory.dram.channel_width_bits", several.start(), several.end(), width, sureness=0.75)
    channels = _CHANNELS_OF.search(text)
    if channels:
        count = _COUNTS.get(channels[1].lower()) or int(channels[1])
        yield Found("memory.dram.channels", *channels.span(), float(count), sureness=0.75)
    installed = _INSTALLED.match(text)
    if installed and not _NO_SIZE.search(f"{text} {tagged.parent}"):
        size = float(installed["size"]) * (1 << 30 if installed["unit"].upper() == "G" else 1 << 20)
        yield Found("memory.dram.size_bytes", *installed.span(), size, sureness=0.75)
    beside = _WIDTH_BESIDE.search(text)
    if (
        beside
        and not several
        and not re.search(
            r"channel|\beach\b|\bper\b|\d[- ]?(?:bits? )?ECC|(?<!inline )ECC (?:bits?|width|\d)|[x×] ?\d",
            text,
            re.IGNORECASE,
        )
    ):
        width = float(beside[1] or beside[2])
        yield Found("memory.dram.bus_width_bits", beside.start(), beside.end(), width, sureness=0.75)
    inside = _BUILT_IN_KIND.search(text)
    if inside:
        yield Found("memory.dram.types", *inside.span(), (inside["kind"].upper(),), sureness=0.7)
        for amount in find_amounts(inside["bits"] or ""):
            yield Found("memory.dram.size_bytes", *inside.span(), amount.values[0] / 8, sureness=0.74)
    most = _MOST_OF_MEMORY.search(text) or _UP_TO_AFTER.search(text)
    titled = _MOST_IN_TABLE.match(text) if _CONTROLLER.search(tagged.path_text) else None
    most = most or titled
    if most and not BUILT_IN.search(text) and (titled or DDR.search(text)):
        size = float(most[1]) * (1 << 30 if most[2].upper().startswith("G") else 1 << 20)
        yield Found("memory.dram.max_size_bytes", *most.span(), max=size, sureness=0.75)
    wide = _INTERFACE_IS.search(text)
    if wide:
        yield Found("memory.dram.bus_width_bits", *wide.span(), float(wide[1]), sureness=0.78)
    speed = _SPEED.search(text)
    if speed and KIND.search(text[: speed.start()]):
        yield Found(
            "memory.dram.data_rate_mtps",
            *speed.span(),
            max=float(speed[1]),
            instance=rated_kind(tagged, 0, 0),
            sureness=0.75,
        )
    for pair in _CLOCK_AND_RATE.finditer(text):
        if _STATIC.search(clause(text, *pair.span())):
            continue
        before = re.search(r"((?:LP|m)?DDR\d?\w*)\W{0,3}$", text[: pair.start()], re.IGNORECASE)
        kind = before[1] if before else None
        clock = float(pair["clock"]) * 1e6
        yield Found("memory.dram.clock_hz", *pair.span("clock"), clock, instance=kind, sureness=0.8)
        yield Found("memory.dram.data_rate_mtps", *pair.span("rate"), float(pair["rate"]), instance=kind, sureness=0.8)
    lanes = _LANES.search(text)
    if lanes:
        width = float(lanes[1] or lanes[2])
        yield Found("memory.dram.bus_width_bits", lanes.start(), lanes.end(), width, sureness=0.72)
    for amount in tagged.amounts:
        single = amount.form == "single" and amount.dimension == "frequency" and 5e7 <= amount.values[0] <= 6e9
        if single and _CLOCKED.search(text[: amount.start]):
            yield Found("memory.dram.clock_hz", amount.start, amount.end, amount.values[0], sureness=0.8)
