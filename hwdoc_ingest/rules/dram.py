"""External DRAM: kinds, channels, widths, capacity, clock and data rate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, words

DDR = words(r"(?<![A-Za-z])(?:LP|G)?DDR|DRAM|dynamic memory|\bexternal (?:memory|off-chip)|\bEMIFs?\b")
NOT_DDR = words(r"eMMC|SD/?MMC|SDIO|flash|NAND|SPI|cache|HyperBus")
KIND = re.compile(r"(?:LP)?DDR\d?[LX]?(?:\d[LX]?)?(?![\w])|(?:LP)?DDR\d(?:X|L)?(?=-\d{3,4})", re.IGNORECASE)
_AND_SHORT = r"(?:\s?/\s?[2-5][LX]?(?![\w-]|\.\d))"
_ONE_KIND = rf"(?:{KIND.pattern}){_AND_SHORT}*(?:-\s?\d{{3,4}})?"
_ORDERLY = re.compile(
    rf"{_ONE_KIND}(?:\s*[)）]?\s*(?:[/,、]|and|or|和)\s*(?:and\s+|or\s+)?{_ONE_KIND})*", re.IGNORECASE
)
_SHORT = re.compile(rf"((?:LP)?DDR)([2-5][LX]?)({_AND_SHORT}+)", re.IGNORECASE)
"""`LPDDR4/4X`, `DDR3/3L/4`: two and three kinds."""
_LABEL = re.compile(r"\W*(?:(?:system|external|main) )?(?:memory|RAM|S?DRAM|DDR)\b[^|:]{0,12}[|:]", re.IGNORECASE)
"""How a row begins that tells of the memory outside the chip."""
_MEMORY = re.compile(r"\W*(?:(?:system|external|main) )?(?:memory|RAM|S?DRAM|DDR)\W*", re.IGNORECASE)
_SUPPORTS = re.compile(r"support|compatib|DDR\d?\w*-\d|\bECC\b|\bPHY\b|retention", re.IGNORECASE)
"""What is told of in other ways than by a list of the kinds alone."""
_OF_DRAM = words(r"^(?:[\d.]+ )?(?:S?DRAM|DDR|external (?:memory|DRAM)|dynamic memory)\b")
_WIDE = re.compile(
    r"^\W*(?:(?:up to|supports?) )?(?:(?:16|32|64|128)[- ]bit\b|(?:LP)?DDR\d\w*[^.;]{0,24}\b(?:16|32|64|128)[- ]bit\b)",
    re.IGNORECASE,
)
"""An item of a list that tells how wide the memory's interface is."""
_RATE = re.compile(r"\b((?:LP)?DDR\d[LX]?)-\s?(\d{3,4})\b", re.IGNORECASE)


BUILT_IN = words(
    r"\b(?:buil[td]?-?in|embedded|integrated|in-package|on-package|SiP|stacked|internal|co-packaged)\s+"
    r"(?:\w+ )?(?:S?DRAM|(?:LP)?DDR\w*|dynamic memory)"
)
"""A memory in the chip's own package, whose size is no limit."""


def _kind(tagged: Tagged, start: int, end: int) -> str | None:
    after = re.match(r"[^,;]{0,12}\bfor\s+(\S*DDR\S*)", tagged.text[end:], re.IGNORECASE)
    return after[1] if after else None


def rated_kind(tagged: Tagged, start: int, end: int) -> str | None:
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
        forbids=words(NOT_DDR.pattern + r"|DMA|audio|ADC|\btransfer|more than"),
        forbids_path=words(NOT_DDR.pattern + "|DMA|audio|ADC"),
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
        forbids_path=words(NOT_DDR.pattern + "|DMA"),
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
        forbids_path=NOT_DDR,
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
        forbids_path=NOT_DDR,
        sureness=0.85,
    ),
    QuantityRule(
        "memory.dram.size_bytes",
        "bytes",
        words(r"capacity|容量|^size"),
        context=BUILT_IN,
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
            BUILT_IN.pattern
            + r"|each[^;.]*(?:address|capacity)|one rank|per rank|eMMC|SD card|flash|SPI|virtual|effective|linear"
            r"|flat|logical"
            r"|processor"
        ),
        forbids_path=words(NOT_DDR.pattern + "|" + BUILT_IN.pattern),
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
        forbids=NOT_DDR,
        forbids_path=NOT_DDR,
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
        forbids=words(BUILT_IN.pattern + r"|each|per (?:rank|channel|chip)|eMMC|flash|NAND"),
        forbids_path=words("flash|eMMC|" + BUILT_IN.pattern),
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
        forbids_path=words(NOT_DDR.pattern + "|CPU|video|audio|display"),
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
        instance=rated_kind,
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
        instance=rated_kind,
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
        words(
            r"\b(?:peak |max(?:imum)?\.? |theoretical |total |memory |(?:LP)?DDR\w* |DRAM )*"
            r"(?:bandwidth|(?<=memory )BW)\b"
        ),
        context=words(DDR.pattern + r"|\bmemory controller\b"),
        low=1e8,
        high=1e13,
        gap_words=2,
        sureness=0.75,
        forbids=words(r"PCIe|USB|eMMC|SRAM|cache|\bL[123]\b|ethernet|MIPI|\beach\b|\bper\b"),
        forbids_path=NOT_DDR,
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
    if labelled and kinds and not NOT_DDR.search(text):
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
