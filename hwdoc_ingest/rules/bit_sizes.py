"""Sizes of memories that are told in bits, as makers of memory do: `SRAM: 8 Mbit` is 1 MiB."""

from __future__ import annotations

from dataclasses import replace

from hwdoc_ingest.rules import accelerators, memories
from hwdoc_ingest.rules.rule import QuantityRule

_TOLD_IN_BITS = (
    "memory.sram.size_bytes",
    "memory.flash.size_bytes",
    "memory.rom.size_bytes",
    "memory.external.max_size_bytes",
    "npu.sram.size_bytes",
)
_LEAST = 8192.0
"""Bits; fewer are a width: a `64-bit SRAM interface`."""

RULES: tuple[QuantityRule, ...] = tuple(
    replace(rule, dimension="bits", scale=8 * rule.scale, low=max(rule.low, _LEAST / 8), sureness=rule.sureness - 0.07)
    for rule in (*memories.RULES, *accelerators.RULES)
    if rule.dimension == "bytes" and rule.field in _TOLD_IN_BITS
)
