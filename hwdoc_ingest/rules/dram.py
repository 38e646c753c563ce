"""External DRAM: kinds, channels, widths, capacity, clock and data rate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, clause, words
from hwdoc_ingest.statements.number_phrases import find_amounts

DDR = words(r"(?<![A-Za-z])(?:LP|G)?DDR|DRAM|dynamic memory|\bexternal (?:memory|off-chip)|\bEMIFs?\b")
_NOT_DDR = words(r"eMMC|SD/?MMC|SDIO|flash|NAND|SPI|cache|HyperBus")
KIND = re.compile(r"(?:LP)?DDR\d?[LX]?(?:\d[LX]?)?(?![\w])|(?:LP)?DDR\d(?:X|L)?(?=-\d{3,4})", re.IGNORECASE)
_AND_SHORT = r"(?:\s?/\s?[2-5][LX]?(?![\w-]|\.\d))"
_ONE_KIND = rf"(?:{KIND.pattern}){_AND_SHORT}*(?:-\s?\d{{3,4}})?"
_ORDERLY = re.compile(
    rf"{_ONE_KIND}(?:\s*[)）]?\s*(?:[/,、]|and|or|和)\s*(?:and\s+|or\s+)?{_ONE_KIND})*", re.IGNORECASE
)
_SHORT = re.compile(rf"((?:LP)?DDR)([2-5][LX]?)({_AND_SHORT}+)", re.IGNORECASE)
"""`LPDDR4/4X`, `DDR3/3L/4`: two and three kinds."""
_WIDE_EACH = re.compile(r"\bchannels?\b[^.;]{0,12}?\b(8|16|32|64|128)[- ]bits? (?:wide )?each\b", re.IGNORECASE)
"""`two LPDDR4X channels, 32 bits each`."""
_LANES = re.compile(
    r"(?<![\w.])[x×](8|16|32|64|128)\b(?=\s*-?(?:bit)?\s*(?:(?:LP)?DDR|channel|SDRAM|DRAM))|"
    r"(?:(?:LP)?DDR\d[LX]?\w*|SDRAM)\s*,?\s*[x×](8|16|32|64|128)\b(?!\s*\d)",
    re.IGNORECASE,
)
"""`a single x32 LPDDR4X channel`, `LPDDR4 x32`: how wide it is."""
_MOST_OF_MEMORY = re.compile(
    r"\b(?:up to|max(?:imum|\.)?(?: of)?|as much as) (\d{1,4}) ?(GB|GiB|MB|MiB) (?:of )?"
    r"(?:(?:external|main|system|off-chip) (?:memory|S?DRAM)|(?:LP)?DDR\d\w*|S?DRAM)\b(?! (?:bus|clock|flash))",
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
_SPEED = re.compile(r"\bspeeds? (?:of )?(?:up to )?(\d{3,5}) ?(?:Mbps|Mb/s|MT/s|Mbit/s)(?! ?/)", re.IGNORECASE)
"""`supporting speeds up to 1600 Mbps`, of a memory's lines."""
_CLOCKED = re.compile(
    r"\b(?:SDRAM|DRAM|(?:LP)?DDR\d?\w*)\b[^.;]{0,30}?\b(?:clocked|clock(?:s)? at|run(?:s|ning)? at|operat\w+ at)"
    r"(?: at)?(?: up to)?\s*$",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\W*(?:(?:system|external|main) )?(?:memory|RAM|S?DRAM|DDR)\b[^|:]{0,12}[|:]", re.IGNORECASE)
"""How a row begins that tells of the memory outside the chip."""
_MEMORY = re.compile(r"\W*(?:(?:system|external|main) )?(?:memory|RAM|S?DRAM|DDR)\W*", re.IGNORECASE)
_SUPPORTS = re.compile(r"support|compatib|DDR\d?\w*-\d|\bECC\b|\bPHY\b|retention", re.IGNORECASE)
"""What is told of in other ways than by a list of the kinds alone."""
_WIDTH_BESIDE = re.compile(
    r"(?:\b(16|32|64|128)[- ]?bit (?:(?:LP)?DDR\d)|(?:LP)?DDR\d\w*(?:/(?:LP)?DDR\d\w*)*(?:-\d{3,4})?,?"
    r" (16|32|64|128)[- ]?bit\b)"
    r"(?! ?(?:each|per|address|ECC|CPU|core|channels?))",
    re.IGNORECASE,
)
"""`32-bit LPDDR4`, `LPDDR5, 64 bit`."""
_COUNTS = {"dual": 2, "two": 2, "quad": 4, "four": 4}
_CHANNELS_BESIDE = re.compile(
    r"\b(dual|two|quad|four|2|4)(?: ?[x×])? ?(16|32|64|72)[- ]?bit (?:(?:LP)?DDR\d)", re.IGNORECASE
)
"""`dual 32-bit LPDDR5`."""
_OF_DRAM = words(r"^(?:[\d.]+ )?(?:S?DRAM|DDR|external (?:memory|DRAM)|dynamic memory)\b")
_WIDE = re.compile(
    r"^\W*(?:(?:up to|supports?) )?(?:(?:16|32|64|128)[- ]bit\b|(?:LP)?DDR\d\w*[^.;]{0,24}\b(?:16|32|64|128)[- ]bit\b)",
    re.IGNORECASE,
)
"""An item of a list that tells how wide the memory's interface is."""
_RATE = re.compile(r"\b((?:LP)?DDR\d[LX]?)-\s?(\d{3,4})\b", re.IGNORECASE)


_BUILT_IN = words(
    r"\b(?:buil[td]?-?in|embedded|integrated|in-package|on-package|SiP|stacked|internal|co-packaged)\s+"
    r"(?:\w+ )?(?:S?DRAM|(?:LP)?DDR\w*|dynamic memory)"
)
"""A memory in the chip's own package, whose size is no limit."""


def _kind(tagged: Tagged, start: int, end: int) -> str | None:
    after = re.match(r"[^,;]{0,12}\bfor\s+(\S*DDR\S*)", tagged.text[end:], re.IGNORECASE)
    return after[1] if after else None


def _rated_kind(tagged: Tagged, start: int, end: int) -> str | None:
    """The kind of memory that a rate is given for, if the sentence names just one."""
    kinds = {m.group().upper() for m in KIND.finditer(tagged.text) if re.search(r"\d", m.group())}
    return kinds.pop() if len(kinds) == 1 else None


RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "memory.dram.channels",
        "count",
        words(r"channels?\b|通道"),
        context=DDR,
        low=1,
        high=16,
        gap_words=1,
        after=False,
        forbids=words(_NOT_DDR.pattern + r"|DMA|audio|ADC|\btransfer|more than"),
        forbids_path=words(_NOT_DDR.pattern + "|DMA|audio|ADC"),
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.channel_width_bits",
        "bits",
        words(r"(?<=each channel )(?:is |of )?(?:=)?|data widths?|位宽"),
        context=words(r"each channel|per channel"),
        low=4,
        high=256,
        lists=True,
        gap_words=2,
        forbids_path=words(_NOT_DDR.pattern + "|DMA"),
        forbids=words(r"ECC|DMA|ADC|I2S|SPI"),
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.bus_width_bits",
        "bits",
        words(r"data (?:bus )?widths?\b|\bDRAM bus\b|\bwide\b|\bdata bus\b|总线宽度|位宽"),
        context=DDR,
        low=8,
        high=1024,
        lists=True,
        gap_words=2,
        forbids=words(
            r"each channel|per channel|ECC (?:bits?|data|width|bus)|bits? (?:of |for )?ECC|for ECC"
            r"|eMMC|SD|SPI|nand|flash|DMA|parity only"
        ),
        forbids_path=_NOT_DDR,
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.bus_width_bits",
        "bits",
        words(
            r"(?:(?:LP)?DDR\d?[LX]?(?:\d[LX]?)?(?:[/, ]+|\b)|DRAM )+(?:memory |SDRAM |DRAM )*(?:interface"
            r"|controller|memory)\b"
        ),
        low=8,
        high=1024,
        lists=True,
        gap_words=0,
        after=False,
        forbids=words(r"each channel|per channel|ECC"),
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.bus_width_bits",
        "bits",
        words(r"\bexternal memory interface\b|\b(?:external )?SDRAM (?:interface|controller|port|bus)\b"),
        low=8,
        high=1024,
        lists=True,
        gap_words=0,
        after=False,
        forbids=words(r"each channel|per channel|ECC|flash|address"),
        sureness=0.8,
    ),
    QuantityRule(
        "memory.dram.size_bytes",
        "bytes",
        words(r"(?:LP)?DDR\d?[LX]?(?:\d[LX]?)?(?: SDRAM| DRAM| memory)?\b|\bDRAM\b"),
        context=words(
            r"\b(?:built-?in|embedded|integrat\w+|in-package|on-package|SiP|stacked|internal|co-packaged"
            r"|board|module|SoM|single[- ]board computer)\b|内封"
        ),
        low=1 << 20,
        high=1 << 40,
        gap_words=3,
        instance=None,
        not_beside=words(r"(?:可定制|可选|optional(?:ly)?|customi[sz]able(?: to)?)\W*\0"),
        sureness=0.72,
        forbids=words(
            r"external|off-chip|up to|max|support|SRAM|board|cache|address|space|flash|controller|kit|per channel|each"
        ),
        forbids_path=words(r"external|board|controller"),
    ),
    QuantityRule(
        "memory.dram.ecc_bits",
        "bits",
        words(r"\bECC\b"),
        context=DDR,
        low=4,
        high=64,
        gap_words=1,
        instance=_kind,
        forbids_path=_NOT_DDR,
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.size_bytes",
        "bytes",
        words(r"capacity|容量|^size"),
        context=_BUILT_IN,
        low=1 << 20,
        high=1 << 40,
        gap_words=2,
        sureness=0.75,
        forbids=words(r"external|off-chip|up to|max|support|SRAM|cache|address|flash|\beach\b|\bper\b"),
        forbids_path=words(r"external|board|controller"),
    ),
    QuantityRule(
        "memory.dram.max_size_bytes",
        "bytes",
        words(
            r"address(?:ing)? space|capacity|memory space|寻址|容量|external memory interface"
            r"|(?:LP)?DDR\w*(?: memory| SDRAM)?$"
        ),
        context=DDR,
        low=1 << 20,
        high=1 << 45,
        gap_words=4,
        forbids=words(
            _BUILT_IN.pattern
            + r"|each[^;.]*(?:address|capacity)|one rank|per rank|eMMC|SD card|flash|SPI|virtual|effective|linear"
            r"|flat|logical"
            r"|processor"
        ),
        forbids_path=words(_NOT_DDR.pattern + "|" + _BUILT_IN.pattern),
    ),
    QuantityRule(
        "memory.dram.max_size_bytes",
        "bytes",
        words(r"^\W*(?:(?:max(?:imum)?|total|memory) )*capacity\b|\bcapacity\W*$"),
        context=words(
            r"(?:^|> )(?:[\d.]+ )?(?:(?:external|main|system|DRAM) )?(?:memory|SDRAM|DRAM|DDR\w*)(?: interface)?:?$"
        ),
        low=1 << 26,
        high=1 << 45,
        gap_words=2,
        forbids=_NOT_DDR,
        forbids_path=_NOT_DDR,
        sureness=0.72,
    ),
    QuantityRule(
        "memory.dram.max_size_bytes",
        "bits",
        words(r"capacity|density"),
        context=words(r"(?:LP)?DDR\d"),
        low=1 << 26,
        high=1 << 40,
        scale=8,
        gap_words=2,
        before=False,
        forbids=words(_BUILT_IN.pattern + r"|each|per (?:rank|channel|chip)|eMMC|flash|NAND"),
        forbids_path=words("flash|eMMC|" + _BUILT_IN.pattern),
        sureness=0.72,
    ),
    QuantityRule(
        "memory.dram.clock_hz",
        "frequency",
        words(
            r"clock frequency|\bclock\b|\bfrequency(?= (?:is |of )?(?:max(?:imum)?|up to)\b)"
            r"|\b(?:maximum|max) (?:operating )?frequency\b|时钟频率"
            r"|(?:LP)?DDR\d[LX]?(?:\d[LX]?)?(?= (?:at|up to|@|with)| SDRAM (?:at"
            r"|up to|@))|data bus(?= at)|SDRAM (?:interface|bus)(?= (?:at|up to|@))"
        ),
        context=DDR,
        low=5e7,
        high=6e9,
        gap_words=3,
        instance=_kind,
        not_beside=words(
            r"\0\s?(?:data[- ]rate|数据(?:速率|传输率))"
            r"|\0(?: clock|\s?时钟)?\s?[(（]\s?\d{3,5}[- ]?M"
        ),
        forbids=words(r"eMMC|SDIO|SD3|SPI|USB|pixel|CPU|core"),
        forbids_path=words(_NOT_DDR.pattern + "|CPU|video|audio|display"),
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.data_rate_mtps",
        "transfer rate",
        words(r"(?:LP)?DDR\d?[LX]?(?:\d[LX]?)?|DRAM|data rates?|memory interface|\binterface\b"),
        context=DDR,
        low=100,
        high=20000,
        scale=1e6,
        gap_words=4,
        instance=_rated_kind,
        forbids=words(r"PCIe|eMMC|USB|flash|MIPI"),
        sureness=0.88,
    ),
    QuantityRule(
        "memory.dram.data_rate_mtps",
        "bandwidth",
        words(r"(?:LP)?DDR\d[LX]?(?:\d[LX]?)?|data rates?"),
        context=DDR,
        low=200,
        high=20000,
        scale=1e6 / 8,
        gap_words=3,
        before=False,
        instance=_rated_kind,
        not_beside=words(r"\0.*?(?:GB|MB|B)/s"),
        forbids=words(r"PCIe|eMMC|USB|flash|MIPI|ethernet|GB/s|MB/s|Gbit|\bGbps|bandwidth"),
        sureness=0.8,
    ),
    QuantityRule(
        "memory.bandwidth_Bps",
        "bandwidth",
        words(r"\bfor (?:main )?memory\b|\bmemory bandwidth\b"),
        low=1e6,
        high=1e13,
        gap_words=1,
        sureness=0.75,
        forbids=DDR,
        forbids_path=DDR,
    ),
    QuantityRule(
        "memory.dram.bandwidth_Bps",
        "bandwidth",
        words(r"\b(?:peak |max(?:imum)?\.? |theoretical |total |memory |(?:LP)?DDR\w* |DRAM )*bandwidth\b"),
        context=words(DDR.pattern + r"|\bmemory controller\b"),
        low=1e8,
        high=1e13,
        gap_words=2,
        sureness=0.75,
        forbids=words(r"PCIe|USB|eMMC|SRAM|cache|\bL[123]\b|ethernet|MIPI|\beach\b|\bper\b"),
        forbids_path=_NOT_DDR,
    ),
    QuantityRule(
        "cpu.l2_cache.bandwidth_Bps",
        "bandwidth",
        words(r"\bL2 cache\b"),
        low=1e6,
        high=1e13,
        gap_words=2,
        sureness=0.75,
    ),
    QuantityRule(
        "bus.burst_bandwidth_Bps", "bandwidth", words(r"\bburst\b"), low=1e6, high=1e13, gap_words=1, sureness=0.8
    ),
)


def find(tagged: Tagged) -> Iterator[Found]:
    """The list of supported kinds, and the data rate of a part number such as DDR4-3200."""
    text = tagged.text
    yield from _lanes_and_clock(tagged)
    for match in _RATE.finditer(text):
        rate = float(match[2])
        if 200 <= rate <= 12800:
            yield Found(
                "memory.dram.data_rate_mtps", match.start(), match.end(), rate, instance=match[1].upper(), sureness=0.85
            )
    kinds = _kinds(text, with_first=bool(re.search(r"\(LPDDR\)|\bLPDDR\s?[/,、]", text, re.IGNORECASE)))
    listed = len(kinds) > 1 or re.search(r"\bS?DRAM\b", text)
    below = listed and _MEMORY.fullmatch(tagged.parent) and not _SUPPORTS.search(text)
    labelled = _LABEL.match(text) or below
    if labelled and kinds and not _NOT_DDR.search(text):
        at = next(m for m in KIND.finditer(text) if re.search(r"\d", m.group()))
        yield Found("memory.dram.types", at.start(), at.end(), kinds, sureness=0.7)
    if tagged.statement.is_row or not re.search(
        r"memory|support|compatible|D?RAM|DDR[^\d]|interface|支持|summary|features",
        text + " " + tagged.path_text + " ",
        re.IGNORECASE,
    ):
        return
    for match in _ORDERLY.finditer(text):
        kinds = _kinds(match.group(), with_first=True)
        titled = (
            re.search(r"memory|compatible|support|\bS?D(?:RAM|DR)\s*[:(]", text[: match.start()], re.IGNORECASE)
            or re.search(
                r"SDRAM|memory|memories|interface|controller|DRAM", text[match.end() : match.end() + 20], re.IGNORECASE
            )
            or (len(kinds) > 1 and (_WIDE.search(text) or _OF_DRAM.search(tagged.parent)))
        )
        if (
            kinds
            and titled
            and (len(kinds) > 1 or re.search(r"compatible|interface|memory types?\b", text, re.IGNORECASE))
            and not re.search(
                r"\bfor\s*$|scrambl|retention|power|IO\b",
                text[max(0, match.start() - 12) : match.start()] + text[match.end() : match.end() + 12],
                re.IGNORECASE,
            )
        ):
            yield Found("memory.dram.types", match.start(), match.end(), kinds, sureness=0.8 if len(kinds) > 1 else 0.6)
            break


def _kinds(text: str, with_first: bool = False) -> tuple[str, ...]:
    """The kinds of memory in a list, in full; LPDDR of the first generation has no digit, and counts beside others."""
    full = _SHORT.sub(lambda m: m[1] + m[2] + "".join(f"/{m[1]}{k}" for k in re.findall(r"\w+", m[3])), text)
    named = tuple(dict.fromkeys(m.group().upper() for m in KIND.finditer(full)))
    numbered = tuple(name for name in named if re.search(r"\d", name))
    return tuple(name for name in named if name in numbered or name == "LPDDR") if with_first and numbered else numbered


_DUAL_WIDTH = re.compile(
    rf"(?:{KIND.pattern})[^.;]{{0,12}}?\b(dual|two|quad|four|2|4)[- ]channels?,? (?:[x×] ?)?(16|32|64)[- ]bits?\b",
    re.IGNORECASE,
)
"""`LPDDR4 dual-channel 16-bit`."""


def _lanes_and_clock(tagged: Tagged) -> Iterator[Found]:
    """The width that is written as lanes, and the clock that a memory is said to run at."""
    text = tagged.text
    if _NOT_DDR.search(text):
        return
    each = _WIDE_EACH.search(text)
    if each and KIND.search(text):
        yield Found("memory.dram.channel_width_bits", each.start(), each.end(), float(each[1]), sureness=0.8)
    paired = _DUAL_WIDTH.search(text)
    if paired:
        yield Found("memory.dram.channel_width_bits", *paired.span(), float(paired[2]), sureness=0.75)
    several = _CHANNELS_BESIDE.search(text)
    if several:
        count = _COUNTS.get(several[1].lower()) or int(several[1])
        yield Found("memory.dram.channels", several.start(), several.end(), float(count), sureness=0.75)
        width = float(several[2])
        yield Found("memory.dram.channel_width_bits", several.start(), several.end(), width, sureness=0.75)
    beside = _WIDTH_BESIDE.search(text)
    if (
        beside
        and not several
        and not re.search(r"channel|\beach\b|\bper\b|(?<!inline )ECC|[x×] ?\d", text, re.IGNORECASE)
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
    if most and not _BUILT_IN.search(text) and (titled or DDR.search(text)):
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
            instance=_rated_kind(tagged, 0, 0),
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
