"""DMA: controllers, channels, requests, bursts, transfer sizes."""

from __future__ import annotations

import re

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import QuantityRule, words

_DMA = words(r"DMA")
_HEADING_DMA = re.compile(r"DMA", re.IGNORECASE)
_OTHER = words(r"DDR|audio|I2S|video|ADC|MIPI|ISP|\bLCD|thread|interrupt controller")

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "dma.channels",
        "count",
        words(r"-?\s*(?:ch|channels?)\b|通道"),
        context=_DMA,
        low=1,
        high=128,
        gap_words=2,
        after=False,
        instance=instances.controller,
        forbids=words(_OTHER.pattern + r"|at the same time|per channel|transfer size|linked"),
        sureness=0.85,
    ),
    QuantityRule(
        "dma.concurrent_channels",
        "count",
        words(r"\bchannels? at the same time\b"),
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
        words(r"\b(?:hardware |peripheral |DMA )*requests?\b"),
        context=_DMA,
        low=1,
        high=512,
        gap_words=1,
        after=False,
        instance=instances.controller,
        sureness=0.87,
    ),
    QuantityRule(
        "dma.controllers",
        "count",
        words(
            r"\bDMA controllers?\b|\bDMAC blocks?\b|\bDMACs?\b(?! supports)|"
            r"\bDirect Memory Access \(DMA\) (?:tops|controllers?)\b|DMA\s*控制器"
        ),
        low=1,
        high=16,
        gap_words=2,
        after=False,
        sureness=0.85,
        forbids=words(r"channel|each DMAC features"),
    ),
    QuantityRule(
        "dma.max_burst_beats",
        "count",
        words(r"\bburst(?: length| size)?\b"),
        context=_DMA,
        low=1,
        high=1024,
        gap_words=2,
        sureness=0.75,
        forbids=words(r"programmable|bytes|bus cycles"),
    ),
    QuantityRule(
        "dma.data_width_bits",
        "bits",
        words(r"\bdata (?:size|width)\b|\bwidth of transfers\b"),
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
            r"\b(?:can be )?transferred during a single transaction\b|\bmaximum transfer (?:size|length)\b|"
            r"\bper transfer\b"
        ),
        context=_DMA,
        low=16,
        high=1 << 34,
        gap_words=4,
        instance=instances.controller,
        sureness=0.85,
    ),
    QuantityRule(
        "dma.alignment_bytes",
        "bytes",
        words(r"\baligned\b"),
        context=_DMA,
        low=1,
        high=4096,
        gap_words=1,
        after=False,
        sureness=0.6,
    ),
    QuantityRule(
        "dma.max_outstanding",
        "count",
        words(r"\boutstanding (?:transactions?|requests?|transfers?)\b"),
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
