"""DMA: controllers, channels, requests, bursts, transfer sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_DMA = words(r"DMA")
_HEADING_DMA = re.compile(r"DMA", re.IGNORECASE)
_OTHER = words(
    r"(?<!A)DDR|audio|I2S|video|ADC|MIPI|ISP|\bLCD|interrupt controller|S/?PDIF|UART|\bSPI|PWM|timer|\bDAC|camera"
    r"|stereo|ethernet"
)
_OF_INTERFACE = words(
    r"\b[EGX]?MACs?\b|\bethernet\b|\bUSB|\bSD/?(?:IO|MMC|HCI?)?\b|\bSMHC\b|\be?MMC\b|\bUFS\b|\bPCI(?:e|-X)?\b|\bSATA\b"
    r"|\bNAND\b|\bcrypto|以太网"
)
"""The heading of an interface that has a DMA of its own, which is not the chip's DMA controller."""
_NO_ALIGNMENT = words(
    r"\bpage|\bcross|\bwrap|\bun-?aligned (?:access|transfers?) (?:is|are) supported|not aligned|misaligned"
)
"""What a DMA must not cross is no alignment of its addresses."""
_BOTH_WAYS = re.compile(
    rf"\b(\d{{1,2}}|{'|'.join(w for w in NUMBER_WORDS if w.isascii())})\s+(?:independent\s+)?"
    r"(?:(?:transmit|TX|receive|RX|read|write)\s+channels|channels for (?:transmitting|receiving|transmit"
    r"|receive|TX|RX))"
    rf"\s*(?:,|and|/)\s*(?:and\s+)?(?:another\s+)?(\d{{1,2}}|{'|'.join(w for w in NUMBER_WORDS if w.isascii())})\s+"
    r"(?:independent\s+)?(?:(?:transmit|TX|receive|RX|read|write)\s+channels|channels for (?:transmitting"
    r"|receiving|transmit|receive|TX|RX))",
    re.IGNORECASE,
)

_OF_CHANNELS = re.compile(
    r"\b(two|three|four|dual|[2-8])(?:\b\s*(?:general[- ]purpose )?|\s?[x×]\s?)(\d{1,2})[- ](?:channels?|ch"
    r"|streams?)\s+(?:[\w-]+\s+){0,3}?(?:G?P?DMA\w*)\s*(?:controllers?|units?|engines?|(?=[(,;]|$))",
    re.IGNORECASE,
)
"""`Two 8-channel DMA controllers`: how many there are, and what each has."""

_SO_MANY = re.compile(
    r"\b(two|three|four|five|six|[2-8]) (?!\d)(?:(?!channels?|streams?|requests?|each|with\b)[A-Za-z][\w-]*,? ){0,4}?"
    r"(?:\w{0,3}DMAs|\w{0,3}DMA (?:controllers|units|engines|instances|modules|blocks)|DMA(?= with\b))\b",
    re.IGNORECASE,
)
"""`two general-purpose dual-port DMAs`."""
_GROUPS = re.compile(
    r"\b(one|two|three|four|\d) (?:groups?|sets?|units?) of (\d{1,2})[- ](?:channels?|ch|streams?)\b[^.;]{0,30}\bDMA",
    re.IGNORECASE,
)
"""`2 groups of 6-channel general-purpose DMA controllers`."""
_NAMED_BURST = re.compile(r"\b(?:INCR|WRAP)(\d{1,3})\b")
"""A burst of AMBA by its length: `INCR16`."""
_TIMES = re.compile(r"^\W*([1-8]) ?[x×] (?:\w+ )?G?P?DMA\w*\b(?! channels?| requests?)", re.IGNORECASE)
"""`2 x DMA with 8 channels`."""

_EACH_HAS = re.compile(
    r"\b(\w*DMA\w*-?\d)(?:\s*(?:,|and|&|/)\s*(?:and )?(\w*DMA\w*-?\d))?,?\s+(?:each |both )?"
    r"(?:has|have|with)\s+(\d{1,3})(?=\s*(?:channels?\b|[,;)]|and\b|$))",
    re.IGNORECASE,
)
"""`DMA0 and DMA2 each have 8 channels, DMA1 has 4`."""

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "dma.channels",
        "count",
        words(r"-?\s*(?:ch|channels?|streams?)\b|\b(?:peripheral )?DMA controller(?: \(\w+\))? channels\b|通道"),
        context=_DMA,
        low=1,
        high=128,
        gap_words=2,
        after=False,
        instance=instances.controller,
        not_beside=words(r"\0\s*channels? (?:may be |can be |are )?(?:active|at once)|\0\s*channel per\b"),
        forbids=words(
            _OTHER.pattern + r"|at the same time|\bFIFO\b|per channel|transfer size|linked (?:to|items?)|more than one"
            r"|\bevents?\b[^.;]{0,40}\b(?:any|each|every|all|which)\b|\binterrupts from\b"
            r"|channels? \\d+ to|^\W*each (?:stream|channel)\b|channels?(?: \(\w+\))? (?:per|for each) stream"
            r"|\bmultiplexer|" + _BOTH_WAYS.pattern
        ),
        sureness=0.85,
    ),
    QuantityRule(
        "dma.channels",
        "count",
        words(r"\bnumber of (?:DMA |logical |independent )*channels\b"),
        context=_DMA,
        low=1,
        high=128,
        gap_words=4,
        before=False,
        instance=instances.controller,
        forbids=_OTHER,
        sureness=0.78,
    ),
    QuantityRule(
        "dma.concurrent_channels",
        "count",
        words(
            r"\bchannels?(?: (?:may|can|be|are|active|enabled|running|served)){0,3} (?:at the same time|at once"
            r"|simultaneously|concurrently)\b"
        ),
        context=_DMA,
        low=1,
        high=128,
        gap_words=0,
        after=False,
        sureness=0.85,
    ),
    QuantityRule(
        "dma.requests",
        "count",
        words(
            r"\b(?:hardware |peripheral |DMA )*requests?\b|\b(?:DMA )?events(?=, each|\W+which| that| can)"
            r"|\bDMA events\b"
            r"|\bhandshak(?:e|ing) (?:interfaces?|signals|lines)\b"
        ),
        context=_DMA,
        low=2,
        high=512,
        gap_words=1,
        after=False,
        instance=instances.controller,
        forbids_path=words(r"\bevents? (?:units?|controllers?|generators?|routers?)\b"),
        forbids=words(r"outstanding|in flight|pending|\(requests\)|\bper (?:stream|channel)\b"),
        sureness=0.87,
    ),
    QuantityRule(
        "dma.controllers",
        "count",
        words(
            r"\b[eGS]?DMA controllers?\b|\be?DMA engines\b|\bDMAs\b|\bDMA(?=\s*:)|\bDMAC blocks?\b"
            r"|\bDMACs?\b(?! supports)|\bDirect Memory Access \(DMA\) (?:tops|controllers?)\b|DMA\s*控制器"
        ),
        low=1,
        high=16,
        gap_words=2,
        after=False,
        sureness=0.85,
        not_beside=words(r"\0[^,;.]{0,24}\bDMA controller(?: \(\w+\))? ch|\0[ -]*(?:channels?|ch|streams?)\b"),
        forbids=words(r"each DMAC features|\bone\b[^.]*\bcontroller\b[^.]*\bfor\b"),
    ),
    QuantityRule(
        "dma.max_burst_beats",
        "count",
        words(r"\bbursts?(?: lengths?| sizes?)?\b"),
        context=_DMA,
        low=1,
        high=1024,
        gap_words=2,
        lists=True,
        sureness=0.75,
        forbids=words(r"programmable(?! burst)|bytes|bus cycles|\bset(?:s|ting)?\b"),
    ),
    QuantityRule(
        "dma.max_burst_beats",
        "beats",
        words(r"\bbursts?(?: lengths?| sizes?)?\b"),
        context=_DMA,
        low=1,
        high=1024,
        gap_words=3,
        lists=True,
        sureness=0.85,
        forbids=words(r"\bset(?:s|ting)?\b|\bwrit(?:e|es|ing)\b"),
    ),
    QuantityRule(
        "dma.data_width_bits",
        "bits",
        words(
            r"\bdata (?:size|width)s?\b|\b(?:AXI|AHB) (?:master )?(?:data )?(?:bus|interface|port)\b"
            r"|\bwidth of transfers\b|(?:wide )?\bDMA (?:engine|unit)\b|\bdata path\b"
            r"|\b(?:source|destination|transfer|item) (?:and destination )?(?:data )?widths?\b"
            r"|\b(?:master |AHB |AXI |bus )+ports?\b|\bdata bus\b"
        ),
        context=_DMA,
        low=8,
        high=1024,
        gap_words=6,
        lists=True,
        sureness=0.8,
        forbids_path=words(r"register"),
    ),
    QuantityRule(
        "dma.fifo_depth",
        "count",
        words(r"\bM?FIFO depth\b"),
        context=_DMA,
        low=1,
        high=4096,
        gap_words=0,
        sureness=0.85,
    ),
    QuantityRule(
        "dma.irq_outputs",
        "count",
        words(r"\binterrupt outputs?\b"),
        context=_DMA,
        low=1,
        high=256,
        gap_words=0,
        after=False,
        sureness=0.85,
        instance=instances.controller,
    ),
    QuantityRule(
        "dma.max_transfer_bytes",
        "bytes",
        words(
            r"\b(?:can be )?transferred during a single transaction\b"
            r"|\b(?:one|a|each|single) (?:DMA )?transfer (?:covers|moves|carries|is limited to)"
            r"|\b(?:max(?:imum|\.)?|largest"
            r"|longest) (?:DMA |block |single )?(?:transfer|block)(?: size| length)?\b"
            r"|\btransfer (?:size|length) limit\b|\btransfer block size(?= (?:is|of) up to\b)|"
            r"\bper (?:transfer|descriptor)\b"
            r"|(?:data )?transfers? in (?:a|one) single (?:block )?transfer\b"
            r"|\bsingle (?:DMA |block )?transfers?"
            r"(?= (?:of |is |are |can |may |be |limited to )*(?:at most|up to|no more))"
            r"|\bdescriptors? (?:can |may )?(?:moves?|describes?|transfers?|covers?)"
        ),
        context=_DMA,
        forbids_path=_OF_INTERFACE,
        low=16,
        high=1 << 34,
        gap_words=4,
        instance=instances.controller,
        sureness=0.85,
    ),
    QuantityRule(
        "dma.alignment_bytes",
        "bytes",
        words(
            r"\baligned\b|\balignment\b|\b(?:address )?boundar(?:y|ies)\b"
            r"|\b(?:address(?:es)?|pointers?)\b[\w ]{0,20}\bmultiples? of\b"
        ),
        context=_DMA,
        low=1,
        high=4096,
        gap_words=1,
        sureness=0.75,
        forbids=_NO_ALIGNMENT,
    ),
    QuantityRule(
        "dma.alignment_bytes",
        "bits",
        words(r"\baligned\b"),
        context=words(r"\bDMA"),
        low=1,
        high=4096,
        scale=8,
        gap_words=0,
        lists=True,
        after=False,
        sureness=0.8,
        forbids=_NO_ALIGNMENT,
    ),
    QuantityRule(
        "dma.max_outstanding",
        "count",
        words(
            r"\boutstanding (?:transactions?|requests?|transfers?|reads?|writes?)\b"
            r"|\b(?:transactions?|requests?|transfers?)(?: (?:may|can|are|be|allowed|kept))* "
            r"(?:outstanding|in flight)\b"
        ),
        context=_DMA,
        low=1,
        high=256,
        gap_words=1,
        after=False,
        sureness=0.75,
    ),
    QuantityRule(
        "latency.dma_access_cycles",
        "cycles",
        words(r"\bDMA access to the [ID]CCM\b"),
        low=0,
        high=1000,
        gap_words=6,
        before=False,
        sureness=0.8,
        instance=lambda t, a, b: next(iter(re.findall(r"[ID]CCM", t.text)), None),
    ),
)


def find(tagged: Tagged) -> Iterator[Found]:
    """Channels that are counted for each direction: `5 transmit channels and 5 receive channels` are 10."""
    text = tagged.text
    times = _TIMES.search(text)
    if times:
        yield Found("dma.controllers", *times.span(), float(times[1]), sureness=0.75)
    for has in _EACH_HAS.finditer(text) if re.search(r"\bchannels?\b", text) else ():
        for name in filter(None, has.groups()[:2]):
            yield Found("dma.channels", *has.span(), float(has[3]), instance=name, sureness=0.82)
    named = [float(length[1]) for length in _NAMED_BURST.finditer(text)]
    if named and re.search(r"\bbursts?\b", text, re.IGNORECASE) and _DMA.search(f"{text} {tagged.path_text}"):
        whole = next(_NAMED_BURST.finditer(text)).start(), max(m.end() for m in _NAMED_BURST.finditer(text))
        yield Found("dma.max_burst_beats", *whole, max(named), sureness=0.75)
    each = _OF_CHANNELS.search(text) or _GROUPS.search(text)
    many = None if each or times else _SO_MANY.search(text)
    if many and not _OTHER.search(many.group()):
        count = float(NUMBER_WORDS.get(many[1].lower()) or many[1])
        yield Found("dma.controllers", *many.span(), count, sureness=0.78)
    if each:
        counts = [float(NUMBER_WORDS.get(part.lower()) or part) for part in each.groups()]
        yield Found("dma.controllers", each.start(), each.end(), counts[0], sureness=0.82)
        if not any(amount.start <= each.start(2) < amount.end for amount in tagged.amounts):  # `2x8-stream DMA`
            yield Found("dma.channels", each.start(), each.end(), counts[1], sureness=0.78)
    both = _BOTH_WAYS.search(text)
    if both and _DMA.search(f"{text} {tagged.path_text}"):
        total = sum(NUMBER_WORDS.get(part.lower()) or int(part) for part in both.groups())
        instance = instances.controller(tagged, both.start(), both.end())
        yield Found("dma.channels", both.start(), both.end(), float(total), instance=instance, sureness=0.9)
