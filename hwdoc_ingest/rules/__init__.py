"""The rules, one idea a file: each names its parameters and says how a statement about them is read."""

from __future__ import annotations

import re

from hwdoc_ingest.rules import (
    accelerators,
    addresses,
    caches,
    chip,
    clocks,
    dma,
    dram,
    interrupts,
    memories,
    processor,
    supply,
)
from hwdoc_ingest.rules.rule import FindRule, QuantityRule

QUANTITY_RULES: tuple[QuantityRule, ...] = (
    *caches.RULES,
    *memories.RULES,
    *dram.RULES,
    *clocks.RULES,
    *accelerators.RULES,
    *dma.RULES,
    *interrupts.RULES,
    *processor.RULES,
    *supply.RULES,
    *chip.RULES,
)
"""Numbers that stand near a parameter's name."""

FIND_RULES: tuple[FindRule, ...] = (
    caches.find,
    dram.find,
    accelerators.find,
    processor.find,
    chip.find,
    addresses.find,
)
"""Lists, names and addresses."""

PARAMETERS = re.compile(
    "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(rule.parameter.pattern for rule in QUANTITY_RULES)),
    re.IGNORECASE,
)
"""All names of parameters: the lexicon of the rule tagger."""
