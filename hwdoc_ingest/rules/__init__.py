"""The rules, one idea a file: each names its parameters and says how a statement about them is read."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hwdoc_ingest.rules import (
    accelerator_items,
    accelerators,
    addresses,
    bit_sizes,
    both_sides,
    buses,
    cache_pairs,
    cache_tables,
    caches,
    chip,
    clocks,
    core_counts,
    core_parameters,
    dma,
    dram,
    dram_items,
    headed_sizes,
    instruction_timing,
    interrupts,
    labelled_values,
    lone_values,
    memories,
    memory_pairs,
    npu_models,
    pipelines,
    processor,
    rails,
    register_sections,
    short_labels,
    spoken_rates,
    supply,
)
from hwdoc_ingest.rules.rule import FindRule, QuantityRule

QUANTITY_RULES: tuple[QuantityRule, ...] = (
    *caches.RULES,
    *memories.RULES,
    *bit_sizes.RULES,
    *dram.RULES,
    *clocks.RULES,
    *accelerators.RULES,
    *dma.RULES,
    *interrupts.RULES,
    *processor.RULES,
    *core_counts.RULES,
    *buses.RULES,
    *supply.RULES,
    *chip.RULES,
)
"""Numbers that stand near a parameter's name."""

FIND_RULES: tuple[FindRule, ...] = (
    caches.find,
    cache_pairs.find,
    cache_tables.find,
    both_sides.find,
    dram_items.find,
    dram.find,
    dma.find,
    accelerators.find,
    npu_models.find,
    pipelines.find,
    core_counts.find,
    core_parameters.find,
    accelerator_items.find,
    processor.find,
    supply.find,
    chip.find,
    clocks.find,
    lone_values.find,
    labelled_values.find,
    short_labels.find,
    memory_pairs.find,
    headed_sizes.find,
    buses.find,
    instruction_timing.find,
    spoken_rates.find,
    rails.find,
    register_sections.find,
    addresses.find,
)
"""Lists, names and addresses."""


def _lexicon() -> Mapping[str, re.Pattern[str]]:
    by_dimension: dict[str, list[str]] = {}
    for rule in QUANTITY_RULES:
        by_dimension.setdefault(rule.dimension, []).append(f"(?:{rule.parameter.pattern})")
    return {name: re.compile("|".join(dict.fromkeys(p)), re.IGNORECASE) for name, p in by_dimension.items()}


PARAMETERS = _lexicon()
"""All names of parameters by the dimension of their values: the lexicon of the rule tagger."""
