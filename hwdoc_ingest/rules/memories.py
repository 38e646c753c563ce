"""On-chip memories: SRAM, tightly coupled memory, ROM, fuses; and what can be fitted outside."""

from __future__ import annotations

import re

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import QuantityRule, Tagged, words

_OUTSIDE = words(
    r"external|off-chip|eMMC|(?<!A)DDR|flash (?:memory )?controller|SDRAM|PSRAM|buffer descriptor|trace"
    r"|comprising|\b(?:is"
    r"|are) (?:used|reserved|occupied|taken) (?:by|for|as)\b|\bstack\b|\bheap\b"
    r"|\d[ -]?[KM]i?B (?:of )?(?:S?RAM|memory) (?:data )?retention"
    r"|retention (?:of|with) \d|(?:RAM|memory) (?:is )?reserved"
    r"|\bretain|designated as"
    r"|\barea \d|cache (?:data |tag )?(?:RAM"
    r"|memory|SRAM)|caches? (?:uses?|consists?)"
)
_BUFFERS = words(
    r"NPU|KPU|BPU|neural|accelerator|FIFO|USB|UART|ethernet|endpoint|mailbox|video|display|framebuffer|palette"
)
_SRAM = words(
    r"\b(?:on-?\s?chip|internal|system|embedded|share(?:d)?|PMU|RTC \w+)?[ _]*SRAM\b|"
    r"(?<![SD-])(?<!PS)(?<!\w-)(?<!TCM )\bRAM\b(?! or)|静态存储|片上\s*RAM"
)
_NAMED_RAM = re.compile(
    r"\b(?!S?D?RAM\b|(?:PS|SG|V|NV|DP|I|D|F|MR|Fe|M)RAM\b)[A-Z]{1,6}RAM\d?\b(?!\s*(?:,|、)?\s*\d+ ?-?bit)"
)
"""A memory by a name of its own: `OCRAM`."""
_TCM = words(
    r"\b(?:[ID]?TCM(?:\w*RAM)?|[ID]CCM|TCDM|[ID]-ram|IRAM|tightly[ -]coupled(?:[ -]\w+)? (?:memory|S?RAM)|"
    r"closely[ -]coupled memory|[ID]TIM)\b|level 1 (?:memory|area)|L1 (?:RAM|memory)\b"
)
_ROM = words(r"\b(?:boot[ -]?|mask\s*|B)?ROM(?:\s*memory)?\b|启动\s*ROM")

OF_ANOTHER = words(
    r"\0[\s-]*(?:of\s+)?(?:(?!and\b|or\b|plus\b|with\b)[A-Za-z][\w-]*\s+){0,3}?(?:\w*S?RAM|ROM|EEPROM|TCM|cache|OTP|eFuse|NVM)\b"
)
"""A number right before the name of another memory is that one's size."""


def _named_ram(tagged: Tagged, start: int, end: int) -> str | None:
    """The name right beside a size: before it, else after it."""
    before = [*_NAMED_RAM.finditer(tagged.text, max(0, start - 24), start)]
    after = _NAMED_RAM.search(tagged.text, end, end + 24)
    return before[-1].group() if before else after.group() if after else None


RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "memory.l1.wait_states",
        "count",
        words(r"\bwait[- ]states?\b"),
        context=words(r"\bL1\b|level[ -]?1|tightly"),
        low=0,
        high=16,
        gap_words=0,
        after=False,
        sureness=0.8,
    ),
    QuantityRule(
        "memory.sram.size_bytes",
        "bytes",
        _SRAM,
        low=256,
        high=1 << 28,
        forbids=_OUTSIDE,
        forbids_path=_BUFFERS,
        not_beside=words(
            r"\0[\s-]*(?:of\s+)?(?:(?!and\b|or\b|plus\b|with\b|\w*RAM\b)[A-Za-z][\w-]*\s+){0,2}?(?:B?ROM|flash|cache|EEPROM|OTP)\b|\0\s*each\b"
            r"|\d ?[x×] ?\0|\0 ?increments"
            r"|\b(?:controller|co-?processor|engine|radio|modem|codec|accelerator|interface|subsystem|sensor|endpoint)\b"
            r" (?:with|has|having|including|contains) (?:an? )?(?:its )?(?:own |dedicated |additional )*\0"
        ),
        instance=instances.memory,
        gap_words=2,
        sureness=0.87,
    ),
    QuantityRule(
        "memory.sram.size_bytes",
        "bytes",
        re.compile(r"(?:\bof )?" + _NAMED_RAM.pattern),
        low=1024,
        high=1 << 28,
        forbids=words(_OUTSIDE.pattern + r"|0x[\dA-Fa-f]{4}.*0x[\dA-Fa-f]{4}"),
        forbids_path=_BUFFERS,
        not_beside=words(OF_ANOTHER.pattern.replace(r"\w*S?RAM", "S?RAM")),
        instance=lambda tagged, start, end: _named_ram(tagged, start, end),
        gap_words=0,
        sureness=0.78,
    ),
    QuantityRule(
        "memory.tcm.size_bytes",
        "bytes",
        _TCM,
        low=256,
        high=1 << 26,
        not_beside=words(
            r"\0[\s-]*(?:of\s+)(?:B?ROM|flash|OTP|EEPROM|SRAM|RAM|cache)\b|\b(?:granularity|steps|units|banks) of \0"
            r"|\d ?[x×] ?\0"
        ),
        instance=instances.memory,
        gap_words=6,
        lists=True,
    ),
    QuantityRule(
        "memory.rom.size_bytes",
        "bytes",
        _ROM,
        low=256,
        high=1 << 26,
        forbids=words(r"EPROM|EEPROM|external|flash|CD-?ROM"),
        instance=instances.memory,
        gap_words=2,
    ),
    QuantityRule(
        "memory.l2.size_bytes",
        "bytes",
        words(r"\blevel 2 memory\b|\bL2 (?:scratchpad |shared )*(?:memory(?! (?:sub-?)?system)|S?RAM|SPM)\b"),
        low=1024,
        high=1 << 28,
        gap_words=3,
    ),
    QuantityRule(
        "memory.local.size_bytes",
        "bytes",
        words(r"\blocal (?:\d+ ?[KM]?B )?(?:RAM|memory)\b|\bcog RAM\b"),
        low=64,
        high=1 << 24,
        instance=instances.memory,
        gap_words=2,
        sureness=0.8,
    ),
    QuantityRule(
        "memory.flash.size_bytes",
        "bytes",
        words(
            r"\b(?:on-?chip |embedded |internal |program |user |main |code |dual-bank "
            r"|integrated )*(?<!data )(?<!data-)(?<!auxiliary )(?<!supervisory )(?<!secondary )flash(?: memory)?\b"
        ),
        low=1024,
        high=1 << 28,
        gap_words=1,
        forbids=words(
            r"external|off-chip|N(?:OR|AND)|interface|\bcontroller|\bQ?SPI\b|serial|eMMC|support|XIP|boot|card"
            r"|mapped|(?<!\d )sector|page\b"
            r"|block|erase|flash caches?|caches? (?:of|for|lines?|hits?|miss)|SiP|in-package|protect|bank of|each"
        ),
        forbids_path=words(r"external|\bcontroller|interface|N(?:OR|AND)|\bQ?SPI\b|register|\bdata flash"),
        not_beside=words(OF_ANOTHER.pattern + r"|\0[\s-]*(?:of\s+)?(?:data|auxiliary|supervisory)[- ]flash"),
        sureness=0.8,
    ),
    QuantityRule(
        "memory.otp.size_bits",
        "bytes",
        words(r"\bOTP\b\)?|\bone[- ]time[- ]programmable(?: memory)?(?: \(OTP\))?"),
        low=128,
        high=1 << 24,
        scale=0.125,
        gap_words=2,
        forbids=words(r"\bprogram(?!mable)|\boperation|\bwords?\b|\bat a time\b|\bread\b|\bblock"),
        sureness=0.75,
    ),
    QuantityRule(
        "memory.otp.size_bits",
        "bits",
        words(r"\be-?fuses?\b|\bOTP\b|\bone[- ]time[- ]programmable(?: memory)?\b"),
        low=32,
        high=1 << 24,
        gap_words=2,
        forbids=words(
            r"\breserved for\b.*\bbits\b.*\bis\b|\bprogram(?!mable)|\boperation|\bwords?\b|\bat a time\b"
            r"|\bread (?:width|mode)|\d ?[x×*] ?\d+[- ]?bit"
        ),
    ),
    QuantityRule(
        "memory.psram.size_bytes",
        "bytes",
        words(r"\bp-?SRAM\b"),
        low=1 << 18,
        high=1 << 30,
        gap_words=2,
        lists=True,
        sureness=0.75,
        forbids=words(r"up to|mapped|external"),
    ),
    QuantityRule(
        "memory.external.max_size_bytes",
        "bytes",
        words(
            r"\bexternal (?:(?:serial|NOR|NAND|octal|quad|O?Q?SPI|XSPI|parallel)[- ]?(?:SPI )?)*"
            r"(?:flash|P?S?RAM|memory)\b|\b(?:total )?(?:addressable )?external memory (?:address )?space\b"
        ),
        low=1 << 20,
        high=1 << 40,
        gap_words=2,
        context=words(r"up to|max|\btotal\b|\bsupports?\b"),
        forbids=words(r"mapped|(?<!A)DDR|instruction space|data space|block"),
        sureness=0.8,
    ),
    QuantityRule(
        "memory.address_space_bytes",
        "bytes",
        words(r"\b(?:linear |memory )?address(?:ing)? (?:space|capability)\b|\bdirect addressing\b"),
        low=1 << 10,
        high=float(1 << 64),
        gap_words=5,
        sureness=0.8,
        forbids=words(
            r"(?<!A)DDR|DRAM|total|rank|channel|external|peripheral|region|segment|byte blocks|divided"
            r"|secure|\b(?:upper|lower|higher) \d"
        ),
        forbids_path=words(r"(?<!A)DDR|dynamic memory|external memory"),
    ),
    QuantityRule(
        "memory.region.size_bytes",
        "bytes",
        words(r"\bcontiguous\b.*\bregions?\b|\bregions?\b"),
        low=1 << 12,
        high=1 << 40,
        gap_words=1,
        after=False,
        context=words(r"address space"),
        sureness=0.75,
    ),
    QuantityRule(
        "memory.physical_address_bits",
        "bits",
        words(r"physical address"),
        low=16,
        high=64,
        gap_words=3,
        sureness=0.8,
        not_beside=words(
            r"\b(?:upper|lower|top|bottom|high(?:er|est)?|low(?:est)?|first|last|most|least|significant|remaining|order)"
            r"[ -](?:significant |order )?\0|\0\s*(?:high|low|most|least|upper|lower)"
        ),
    ),
    QuantityRule(
        "usb.fifo_bytes",
        "bytes",
        words(r"\bFIFO\b"),
        low=64,
        high=1 << 20,
        context=words(r"\bUSB\b"),
        gap_words=2,
        sureness=0.6,
    ),
)
