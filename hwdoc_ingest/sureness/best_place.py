"""Which of the places that say the same is shown to a person: the section that is about the thing."""

from __future__ import annotations

import re

from hwdoc_ingest.rules.rule import Tagged
from hwdoc_ingest.sureness.standing import DIAGRAM, FEATURES

_ABOUT: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (fields, re.compile(words, re.IGNORECASE))
    for fields, words in (
        (r"\.tlb|^mmu", r"\bTLBs?\b|\bMMU\b|memory management|translation"),
        (r"cache", r"\bcaches?\b|memory (?:sub)?system|\bCPUs?\b|\bcores?\b|processors?|缓存|处理器"),
        (r"^cpu", r"\bCPUs?\b|\bcores?\b|processors?|pipeline|instruction|处理器|内核"),
        (r"^(?:npu|gpu|dsp)", r"\b(?:NPU|GPU|DSP|AI)\b|neural|graphics|accelerator|神经"),
        (r"^memory\.dram", r"\bS?DRAM\b|DDR|external memory|memory (?:interface|controller)|存储接口|内存"),
        (r"^memory", r"\bmemor(?:y|ies)\b|\bS?RAM\b|\bROM\b|\bflash\b|存储|内存"),
        (r"^dma", r"\bG?DMAC?\b"),
        (r"^bus", r"\bbus(?:es)?\b|interface|总线"),
        (r"^interrupts", r"interrupt|exception|中断"),
        (r"^(?:clock|latency)", r"clock|oscillator|timing|latenc|时钟"),
        (r"^power", r"conditions|ratings|characteristics|power|supply|electrical|条件|电气|功耗"),
        (r"^thermal", r"conditions|ratings|characteristics|temperature|thermal|条件|温度"),
        (r"^reset", r"\breset\b|exception|复位"),
        (r"^gpio", r"\bGPIO\b|\bI/O\b|\bpins?\b"),
    )
)


def told_by(tagged: Tagged, field: str) -> int:
    """How well a place suits to show a field: 3 in a section about it, 2 in a table, 1 in a list of features, else 0.

    Words of a block diagram are the last choice: those of neighbouring boxes stand there side by side.
    """
    above = tagged.statement.path[-2:]
    if any(DIAGRAM.search(part) for part in above):
        return -1
    words = next((words for fields, words in _ABOUT if re.search(fields, field)), None)
    if words and any(words.search(part) and len(part) < 60 for part in above):
        return 3
    if tagged.statement.is_row:
        return 2
    return 1 if FEATURES.search(tagged.path_text) else 0
