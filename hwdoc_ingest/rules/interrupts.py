"""Interrupts: how many sources, priorities and vectors."""

from __future__ import annotations

from hwdoc_ingest.rules.rule import QuantityRule, words

_GIC = words(r"interrupt")

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "interrupts.spi_count",
        "count",
        words(r"\bSPI interrupts?(?: sources?)?\b|\bSPIs\b|\bshared peripheral interrupts?\b"),
        context=_GIC,
        low=1,
        high=2048,
        gap_words=0,
        after=False,
    ),
    QuantityRule(
        "interrupts.ppi_count",
        "count",
        words(r"\bPPI interrupts?(?: sources?)?\b|\bPPIs\b|\bprivate peripheral interrupts?\b"),
        context=_GIC,
        low=1,
        high=64,
        gap_words=0,
        after=False,
    ),
    QuantityRule(
        "interrupts.external_count",
        "count",
        words(r"\bexternal interrupts?(?: sources?| lines?| inputs?| pins?)?\b|外部中断"),
        low=1,
        high=4096,
        gap_words=0,
        after=False,
        sureness=0.82,
        forbids=words(
            r"\bpins? (?:can|may|are|is|has|have|of|per)\b|\bper pin|\bGPIO (?:pins? )?(?:interrupt|can|may)"
        ),
    ),
    QuantityRule(
        "interrupts.external_count",
        "count",
        words(r"\bexternal interrupts?\s*[:=]"),
        low=2,
        high=4096,
        gap_words=0,
        before=False,
        sureness=0.78,
    ),
    QuantityRule(
        "interrupts.count",
        "count",
        words(r"\b(?:peripheral|maskable)(?: function)? interrupts?(?: sources?| channels?)?\s*[:=]"),
        low=2,
        high=4096,
        gap_words=0,
        before=False,
        sureness=0.78,
    ),
    QuantityRule(
        "interrupts.count",
        "count",
        words(
            r"\bperipheral interrupt sources\b|\bperipheral interrupts\b|\binterrupt sources\b|中断源|\binterrupts\b"
            r"|\b(?:maskable )?interrupt (?:channels|lines|inputs|requests|nodes)\b"
        ),
        low=2,
        high=4096,
        gap_words=0,
        after=False,
        sureness=0.8,
        forbids=words(
            r"SPI|PPI|GPIO|timer|external interrupt|shared|private|\bDMA\b|DMAC|software|\bnon-maskable"
            r"|per core|\beach\b(?! of the \d)|UART|internal"
            r"|\binterrupts to (?:the )?(?:CPU|core|processor)|beyond|expansion|expand"
        ),
    ),
    QuantityRule(
        "interrupts.count",
        "count",
        words(r"\b(?:peripheral|interrupting) sources\b"),
        context=_GIC,
        low=2,
        high=4096,
        gap_words=0,
        after=False,
        sureness=0.72,
        forbids=words(r"DMA|\beach of\b"),
    ),
    QuantityRule(
        "interrupts.per_core_count",
        "count",
        words(r"\binterrupts at\b"),
        low=2,
        high=1024,
        gap_words=0,
        after=False,
        sureness=0.7,
    ),
    QuantityRule(
        "interrupts.priority_levels",
        "count",
        words(
            r"\b(?:programmable |configurable |selectable |user-selectable |different |interrupt )*"
            r"priorit(?:y levels?|ies)\b"
            r"|\blevels (?:[a-z]+ ){0,2}(?:of|for) (?:the )?(?:order of )?(?:\w+ )?priority\b"
            r"|-levels? priority\b|优先级"
        ),
        low=2,
        high=1024,
        gap_words=1,
        after=False,
        sureness=0.8,
        context=_GIC,
        not_beside=words(r"\b(?:the|these|of) \0"),
        forbids=words(r"\b(?:is|being) (?:the )?(?:lowest|highest)\b|^\W*\d+\s?\.\."),
    ),
    QuantityRule(
        "interrupts.vectors_count",
        "count",
        words(r"\bvectors\b"),
        context=_GIC,
        low=2,
        high=4096,
        gap_words=0,
        after=False,
        sureness=0.8,
    ),
    QuantityRule(
        "latency.interrupt_s",
        "time",
        words(r"\blatency\b"),
        context=_GIC,
        low=1e-9,
        high=1e-2,
        gap_words=1,
        after=False,
        sureness=0.8,
    ),
    QuantityRule(
        "gpio.count",
        "count",
        words(
            r"\b(?:fast |programmable |multiplexed |bidirectional |digital )*I/?Os?(?: pins| ports"
            r"| lines)?(?= with| \(|,| and|\.|;|$)"
            r"|\bI/?O 口|\b(?:general[- ]purpose )?I/?O (?:pins|ports|lines)\b|\bGPIOs?(?: pins| ports| lines)?\b"
            r"|\bfast I/O ports\b"
            r"|\bgeneral[- ]purpose I/Os?\b|\bprogrammable I/Os?\b"
            r"|\bgeneral[- ]purpose (?:input/?[- ]?outputs?|inputs? and outputs?|input and output|pins)"
            r"(?:\s*\((?:GPIO|I/O)s?\))?(?: pins| ports| lines)?\b"
        ),
        low=4,
        high=512,
        gap_words=1,
        after=False,
        sureness=0.75,
        forbids=words(
            r"\bof which\b|per bank|group|\bmore\b|additional|occup|interface\b|VGA|video|\bTV\b|each|\buses\b"
            r"|connector|\b(?:RTC|ULP|LP|low[- ]power|always[- ]on|analog|touch)[- ]?(?:GPIO|I/?O)"
        ),
    ),
)
