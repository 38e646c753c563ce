"""What is said of a GPU, an NPU or a DSP in the breath that names it: `3D GPU, up to 750 MHz`, `a 1 GHz NPU`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import CPU_NAME, Found, Tagged
from hwdoc_ingest.statements.number_phrases import Amount

_GPU_HEAD = re.compile(
    r"^\W*(?:\w+ ){0,2}(?:GPU\b|graphics (?:processor|engine|core|accelerator)|Mali\b|PowerVR)", re.IGNORECASE
)
_NPU = r"(?:(?-i:(?:AI|[NKBT])PUs?|(?:NV)?DLAs?|MMAs?)|neural (?:network )?(?:engine|processor|processing unit|core)s?)"
_NPU_BEHIND = re.compile(rf"[ -](?:[A-Z][\w-]* )?{_NPU}\b(?! cores? (?:count|number))", re.IGNORECASE)
"""Right after a clock, the accelerator that runs at it: `an 800 MHz NPU`."""
_NPU_BEFORE = re.compile(
    rf"\b{_NPU}\s*(?:\([^()]{{1,40}}\)\s*)?"
    r"(?:@|,? (?:(?:running|clocked|operating) )?(?:at|up to))\s*(?P<most>up to )?\s*$",
    re.IGNORECASE,
)
_RATE_BEFORE = re.compile(r"\bG?FLOPS\b[^.;,]{0,16}?(?:\bat|@|\bwhen clocked at)\s*$", re.IGNORECASE)
"""`25 GFLOPS at 800 MHz`: the clock that the rate is given for."""
_UP_TO = re.compile(r"\b(?:up to|max(?:imum)?\.?)\s*$", re.IGNORECASE)
_GPU_NEAR = re.compile(r"\bGPU\b|\bgraphics\b", re.IGNORECASE)
_QUALIFIED_TOPS = re.compile(
    r"(?<![\w.])(?P<rate>\d{1,4}(?:\.\d+)?) ?(?P<kind>(?:sparse|dense|u?int ?\d{1,2}|(?:8|16|4)[- ]?bits?)"
    r"(?: (?:sparse|dense|u?int ?\d{1,2}))?) (?:AI )?TOPS\b(?! ?/ ?W| per)",
    re.IGNORECASE,
)
"""`8 dense TOPS`, `40 sparse INT8 TOPS`."""
_DSP = re.compile(r"\bHiFi\s?\d\w*|\bC[67][1-9x]x?\b|\bVision [PQ]\d\b|\bCEVA[- ][\w-]+", re.IGNORECASE)
_OF_CPU = ("cpu.clock_hz", "cpu.cores")


def find(tagged: Tagged) -> Iterator[Found]:
    """The clocks and rates that stand with an accelerator's name."""
    text, parent = tagged.text, tagged.parent
    for match in _QUALIFIED_TOPS.finditer(text):
        most = _UP_TO.search(text[: match.start()])
        rate = float(match["rate"])
        value, highest = (None, rate) if most else (rate, None)
        yield Found("npu.tops", *match.span(), value, max=highest, condition=match["kind"], sureness=0.75)
    if tagged.statement.is_row or tagged.describes_register:
        return
    singles = [amount for amount in tagged.amounts if amount.form == "single"]
    clocks = [amount for amount in singles if amount.dimension == "frequency" and 1e7 <= amount.values[0] <= 5e9]
    if _GPU_HEAD.match(text) and not CPU_NAME.search(text):
        yield from _at(text, "gpu.clock_hz", clocks[0], 0.72) if len(clocks) == 1 else ()
        for amount in singles:
            if amount.dimension == "operation rate" and 1e8 <= amount.values[0] <= 1e15:
                yield Found("gpu.gflops", amount.start, amount.end, amount.values[0] / 1e9, sureness=0.72)
    for amount in clocks:
        before = text[: amount.start]
        if _NPU_BEHIND.match(text, amount.end) or _NPU_BEFORE.search(before):
            yield from _at(text, "npu.clock_hz", amount, 0.75)
        elif _RATE_BEFORE.search(before) and _GPU_NEAR.search(f"{before} {parent}"):
            yield from _at(text, "gpu.clock_hz", amount, 0.72)


def _at(text: str, field: str, amount: Amount, sureness: float) -> Iterator[Found]:
    most = _UP_TO.search(text[: amount.start])
    value, highest = (None, amount.values[0]) if most else (amount.values[0], None)
    yield Found(field, amount.start, amount.end, value, max=highest, sureness=sureness)


def is_of_dsp(found: Found) -> bool:
    """Whether a clock or a count of cores is that of a signal processor, which is no CPU of the chip."""
    named = found.instance or ""
    return found.field in _OF_CPU and bool(_DSP.search(named)) and not CPU_NAME.search(named)
