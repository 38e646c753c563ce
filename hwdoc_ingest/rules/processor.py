"""Processor cores: which, how wide, how deep; how many there are is told by core_counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "cpu.pipeline_stages",
        "count",
        words(r"-?\s*stages?\b|级流水线"),
        context=words(
            r"pipelin|流水线|\bstages?,? (?:(?:dual|single|triple|multi)[- ]issue,? |scalar |superscalar )*"
            r"(?:in-order|out-of-order)|\b(?:in-order|out-of-order|issue|superscalar)\b[^.;]{0,20}\b[\w-]*stages?\b"
        ),
        low=2,
        high=40,
        gap_words=0,
        after=False,
        sureness=0.9,
        forbids=words(
            r"(?:floating|FPU)[^,;]*pipelin|pipelin[^,;]*(?:floating|FPU)|multiplier|each stage|synchroni[sz]er"
        ),
        not_beside=words(r"\0-?\s?stages? (?:floating|FP\b|memory|load|vector|NEON|SIMD|media)"),
        instance=instances.core,
    ),
    QuantityRule(
        "cpu.tlb.entries",
        "count",
        words(r"-?\s*(?:(?:dual|paired|joint|double) )?(?:entry|entries)\b"),
        context=words(r"TLBs?\b|\b[ID]TB\b|translation[ -]?(?:look-?aside )?buffer"),
        forbids=words(r"write buffer|store buffer|branch|BTB|\bper (?:set|way)"),
        low=2,
        high=65536,
        gap_words=0,
        after=False,
        sureness=0.85,
        not_beside=words(r"\d\s\0"),
        instance=lambda t, a, b: _tlb(t, b),
    ),
    QuantityRule(
        "cpu.write_buffer.entries",
        "count",
        words(r"-?\s*deep (?:store|write) buffer\b|-?\s*entry (?:write|store) buffer\b"),
        low=1,
        high=256,
        gap_words=0,
        after=False,
        sureness=0.85,
    ),
    QuantityRule(
        "cpu.tlb.entries",
        "count",
        words(r"\b(?:[ID]|instruction |data |micro-?|joint |main )?TLBs?\b|\b[ID]TB\b"),
        low=4,
        high=65536,
        gap_words=1,
        after=False,
        sureness=0.8,
        instance=lambda t, a, b: _tlb(t, a),
        not_beside=words(r"\0(?!-?\s?entr)"),
    ),
    QuantityRule(
        "cpu.write_buffer.entries",
        "count",
        words(r"-?\s*entr(?:y|ies)\b|-?\s*deep\b"),
        context=words(r"\b(?:write|store) buffer"),
        low=1,
        high=256,
        gap_words=0,
        after=False,
        sureness=0.82,
        forbids=words(r"TLB|FIFO|branch|queue|history|BTB"),
    ),
    QuantityRule(
        "cpu.write_buffer.entry_bytes",
        "bytes",
        words(r"\beach(?: entry)?(?: \w+){0,5}"),
        context=words(r"\b(?:write|store) buffer"),
        low=4,
        high=256,
        gap_words=1,
        before=False,
        sureness=0.78,
        forbids=words(r"TLB|cache line"),
    ),
    QuantityRule(
        "cpu.write_buffer.entry_bytes",
        "bytes",
        words(r"\b(?:in|per|for) (?:each|every|an) entry\b|\beach\b"),
        context=words(r"\b(?:write|store) buffer"),
        low=4,
        high=256,
        gap_words=0,
        after=False,
        sureness=0.75,
    ),
    QuantityRule(
        "cpu.vector_width_bits",
        "bits",
        words(
            r"\bvector[- ]process(?:ing|or)?[- ]units?\b"
            r"|\bvector (?:operations?|registers?|units?|width|length|engine|extension)\b"
            r"|\bSIMD\b|\bVLEN\b|\bRVV\b|\bNEON\b|\bAltiVec\b"
            r"|\b(?:VLIW )?vector processors?\b|\bvectors\b|\bvector(?=-\d)"
        ),
        low=32,
        high=4096,
        gap_words=1,
        sureness=0.8,
        forbids=words(r"vector table|table of vectors|interrupt|exception|\btraps?\b"),
    ),
    QuantityRule(
        "cpu.issue_width",
        "count",
        words(r"\bissue width\b|\binstructions (?:issued )?per (?:clock|cycle)\b"),
        low=1,
        high=16,
        gap_words=1,
        before=False,
        not_beside=words(r"\0 ?times\b"),
        sureness=0.8,
    ),
    QuantityRule(
        "cpu.word_bits",
        "bits",
        words(
            r"\b(?:parallel )?(?:micro)?processors?\b|\bCortex®?-[AMRX]\d+\w*|(?<=RISC-V )SoC\b"
            r"|\bRISC-V(?= SoC)|\bparallel Central Processing Unit\b|\bCPU\b|\bmicrocontroller\b"
            r"|\b(?:processor |RISC-V |RISC |CPU )?core\b|(?<=-bit )architecture\b"
            r"|\b(?:RISC|SPARC|MIPS|load/store) (?:architecture|machine)\b"
        ),
        low=4,
        high=128,
        gap_words=3,
        after=False,
        sureness=0.65,
        forbids=words(r"bus|address|timer|register|instruction set|vector|accumulat|interface|family|compatible"),
    ),
    QuantityRule(
        "cpu.registers",
        "count",
        words(
            r"\b(?:32|64|16|8)-bit (?:general[- ]purpose )?(?:working )?registers\b"
            r"|\bgeneral[- ]purpose (?:working )?registers\b"
        ),
        low=4,
        high=512,
        gap_words=0,
        after=False,
        sureness=0.75,
        instance=instances.core,
        not_beside=words(r"\beach (?:contain|hold|ha|comprise)\w* \0|\d ?[x×] ?\0"),
        forbids=words(r"global|local|control|status|floating|special"),
    ),
    QuantityRule(
        "cpu.mips",
        "count",
        words(r"\bMIPS\b(?![-/])"),
        whole=False,
        low=0.1,
        high=1e6,
        gap_words=0,
        after=False,
        sureness=0.8,
        lists=True,
        instance=instances.label_of_row,
        forbids=words(r"dhrystone|DMIPS|VAX"),
    ),
    QuantityRule(
        "cpu.dhrystone_mips",
        "count",
        words(r"\b(?:dhrystone\s*(?:2\.1)?\s*MIPS|DMIPS)\b(?!/)"),
        whole=False,
        low=0.1,
        high=1e6,
        gap_words=0,
        after=False,
        sureness=0.8,
        instance=instances.label_of_row,
    ),
    QuantityRule(
        "cpu.instructions",
        "count",
        words(r"\binstructions with unique\b|\b(?:basic|powerful) instructions\b"),
        low=10,
        high=5000,
        gap_words=0,
        after=False,
        sureness=0.75,
    ),
    QuantityRule(
        "cpu.addressing_modes",
        "count",
        words(r"\baddressing modes\b"),
        low=2,
        high=100,
        gap_words=0,
        after=False,
        sureness=0.85,
    ),
    QuantityRule(
        "latency.instruction_cycle_s",
        "time",
        words(r"\binstruction cycle\b"),
        lists=True,
        low=1e-10,
        high=1e-3,
        gap_words=1,
        sureness=0.85,
        instance=instances.label_of_row,
    ),
    QuantityRule(
        "cpu.l1d_cache.hit_latency_cycles",
        "cycles",
        words(
            r"\b(?:L1 )?(?:data |D-?)cache (?:read |load )?hits?(?: latency)?\b|\bL1 data cache latency\b"
            r"|\bload-to-use latency\b"
        ),
        low=0,
        high=50,
        gap_words=4,
        before=False,
        sureness=0.8,
        forbids=words(r"\bmiss|instruction cache|\bwrite"),
    ),
    QuantityRule(
        "latency.memory_read_cycles",
        "cycles",
        words(
            r"\b(?:LP)?DDR\d?\w* (?:read|load|access)(?: latency)?\b|\b(?:DRAM|main memory|external memory"
            r"|memory) read(?: latency)?\b"
        ),
        low=1,
        high=5000,
        gap_words=4,
        before=False,
        sureness=0.8,
        forbids=words(r"\bwrite\b|\bsetup|\bhold\b|register"),
    ),
    QuantityRule(
        "latency.branch_cycles",
        "cycles",
        words(r"\btaken branch\b|\bbranch latency\b"),
        low=1,
        high=100,
        gap_words=6,
        sureness=0.75,
        before=False,
    ),
    QuantityRule(
        "latency.multiplier_cycles",
        "cycles",
        words(r"\blatency multiplier\b|\bmultiplier latency\b|\b(?:multiplier|multiplication|multiply)s? takes?\b"),
        low=1,
        high=200,
        gap_words=1,
        sureness=0.85,
    ),
    QuantityRule(
        "latency.divider_cycles",
        "cycles",
        words(r"\blatency divider\b|\bdivider latency\b|\b(?:divider|division|divide)s? takes?\b"),
        low=1,
        high=500,
        gap_words=1,
        sureness=0.85,
    ),
    QuantityRule(
        "latency.instruction_cycles",
        "cycles",
        words(r"\binstructions take\b|\bmost instructions\b"),
        forbids=words(r"\bstages?\b"),
        low=1,
        high=100,
        gap_words=2,
        sureness=0.75,
        before=False,
    ),
    QuantityRule(
        "latency.hub_instruction_cycles",
        "cycles",
        words(r"\bhub instructions take\b"),
        low=1,
        high=1000,
        gap_words=1,
        sureness=0.85,
        before=False,
    ),
)

_CORE_TYPE = re.compile(
    r"\b(?:(?:ARM\s+)?Cortex-[AMRX]\d+(?:AE\b|F\b|\+|(?![\w+]))|XuanTie\s+[CE]\d{3}\b(?:\s+RISC-V\b)?|"
    r"Xtensa®?\s*(?:dual-core\s*)?(?:32-bit\s*)?LX\d\b)",
    re.IGNORECASE,
)
_REGISTERS = re.compile(
    r"\bregisters?\b[^.;]{0,60}\bfor a total of (\d{1,3}) registers\b"
    r"|\b(\d{1,3}) ?[x×] ?(?:8|16|32|64)(?:[- ]bit)?,? general[- ]purpose (?:working )?registers\b"
    r"|\b(?<!vector )(?<!point )(?<!FP )(?<!-)register file (?:contains|has|holds|of|consists of|with) (\d{2,3})"
    r" (?:\d+-bit )?(?:general[- ]purpose )?(?:registers|entries)\b",
    re.IGNORECASE,
)
"""`32 x 8 general purpose working registers`; two files `for a total of 64 registers`."""
_MULTIPLY_AND_DIVIDE = re.compile(
    r"\bmultipl(?:y|ication) and div(?:ide|ision)\b[^.;\d]{0,60}\b(?:latenc(?:y|ies) of|takes?|requires?) "
    r"(\d{1,3}) and (\d{1,3})(?: clock)? cycles\b",
    re.IGNORECASE,
)
"""`Integer multiply and divide have latencies of 4 and 20 cycles`."""
_TELLS_ISA = re.compile(
    r"\b(?:RISC-V|processors?|CPUs?|MCUs?)\b.*\bRV\d\d[IEG]\w|\bRV\d\d[IEG]\w+.*\b(?:RISC-V|processors?|CPUs?|MCUs?)\b"
    r"|^\W*RV\d\d(?:G|[IE]M?A)\w*\W*$",
    re.IGNORECASE,
)
_ISA = re.compile(r"\bRV(?:32|64)[A-Z][A-Za-z]*\b")
_ISSUE = re.compile(
    rf"\b(?P<per>single|dual|triple|quad|two|three|four|\d)[- ](?:way |instruction )?issue\b"
    r"|\b(?:issu|dispatch|execut|launch|decod)(?:es?|ing)? (?:and \w+ )?"
    r"(?:up to |as many as |at most |a maximum of )?(?P<count>one|two|three|four|five|six|eight|\d) (?:\d+-bit )?"
    r"instructions? (?:per|each|every|in one|in a single|in the same)\b"
    r"|\b(?:issu|dispatch)(?:es?|ing) (?:up to |as many as |at most )?(?P<together>two|three|four|five|six|eight|\d)"
    r" (?:\d+-bit )?instructions? (?:simultaneously|at (?:once|the same time|a time)|in parallel|concurrently)\b"
    r"|\b(?P<passive>two|three|four|six|eight|\d) (?:\d+-bit )?instructions? (?:are|can be|may be) "
    r"(?:issued|dispatched) (?:per|each|every|in (?:each|every|one)|in a single)\b"
    rf"|\b(?:(dual|two|four|triple|quad|\d)-?(?:way|issue)\b[\w ,-]{{0,24}}?(?:issue|superscalar)|"
    rf"parallel execution of ({'|'.join(w for w in NUMBER_WORDS if w.isascii())}) instructions)",
    re.IGNORECASE,
)


_NAMED_TLB = re.compile(
    r"\b(?:(?:instruction|data|joint|micro|main|unified|shared|[A-Z]\d?)[ -]?)?TLB\b", re.IGNORECASE
)


_HAS_ENTRIES = re.compile(
    r"\b((?:instruction|data|joint|unified|micro|[ID])[ -]?(?:(?:address )?translation (?:look-?aside )?buffer|TLB))s?"
    r"(?: \(\w+\))? (?:has|have|holds?|contains?|with|of|is|comprises)?\s*\d{1,5}(?:[ -]entr\w+)?\s*$",
    re.IGNORECASE,
)
"""`The data translation buffer has 64 entries`: whose they are stands before them."""


def _tlb(tagged: Tagged, end: int) -> str | None:
    owner = _HAS_ENTRIES.search(tagged.text[:end])
    if owner:
        return owner[1]
    near = re.match(
        r"[ -]*(?:\w+[ -]){0,4}?((?:instruction|data|I|D|L1|L2|unified|joint|micro)[ -]?TLBs?|[A-Z]TLBs?|[ID]TB"
        r"|(?:instruction|data) (?:address )?translation (?:look-?aside )?buffer"
        r"|translation look-?aside buffer (?:\(TLB\) )?for (?:data|instructions?))\b",
        tagged.text[end:],
        re.IGNORECASE,
    )
    if near:
        return near[1]
    found = re.search(r"\b[UID]TLB\b|\bL2 TLB\b|\bfor instructions and operands\b|\bfor instructions\b", tagged.text)
    if found is None:
        before = [*_NAMED_TLB.finditer(tagged.text, 0, end)]
        return before[-1].group() if before else None
    return {"for instructions and operands": "UTLB", "for instructions": "ITLB"}.get(found.group(), found.group())


_THOUSANDS = re.compile(
    r"(?P<most>\bup to )?(?<![\w.])(?P<count>\d{1,4}(?:\.\d+)?) ?[Kk] "
    r"(?:DMIPS|Dhrystone (?:MIPS|Million Instructions))\b"
)
"""`up to 24K DMIPS`."""


def find(tagged: Tagged) -> Iterator[Found]:
    """Core names, instruction set, registers and issue width."""
    text = tagged.text
    path = " ".join(tagged.statement.path[-2:])
    several = _REGISTERS.search(text)
    if several:
        number = next(part for part in several.groups() if part)
        holder = instances.core(tagged, *several.span())
        yield Found("cpu.registers", *several.span(), float(number), instance=holder, sureness=0.75)
    for rated in _THOUSANDS.finditer(text):
        value, holder = float(rated["count"]) * 1e3, instances.core(tagged, *rated.span())
        plain = Found("cpu.dhrystone_mips", *rated.span(), value, instance=holder, sureness=0.75)
        yield replace(plain, value=None, max=value) if rated["most"] else plain
    both = _MULTIPLY_AND_DIVIDE.search(text)
    if both:
        yield Found("latency.multiplier_cycles", *both.span(1), float(both[1]), sureness=0.78)
        yield Found("latency.divider_cycles", *both.span(2), float(both[2]), sureness=0.78)
    kinds = list(_CORE_TYPE.finditer(text))
    kind = kinds[0] if len(kinds) == 1 else None
    if kind and len(text) < 70 and re.search(r"\bCPU|processor|core", text + path, re.IGNORECASE):
        yield Found("cpu.core_type", kind.start(), kind.end(), kind.group(), sureness=0.7)
    first_isa = next((isa.start() for isa in _ISA.finditer(text)), 0)
    for isa in _ISA.finditer(text):
        if not (re.search(r"instruction set|compliant|ISA|core", text) or _TELLS_ISA.search(text)):
            continue
        holder = instances.core(tagged, isa.start(), isa.end())
        if holder is None and isa.start() != first_isa:
            continue  # another one that is named beside the core's own
        yield Found(
            "cpu.isa",
            isa.start(),
            isa.end(),
            isa.group(),
            instance=holder,
            sureness=0.8,
        )
    issue = _ISSUE.search(text)
    if issue and (
        issue["count"]
        or issue["together"]
        or issue["passive"]
        or re.search(r"issue|superscalar|parallel execution", text, re.IGNORECASE)
    ):
        word = next(part for part in issue.groups() if part).lower()
        number = NUMBER_WORDS.get(word) or int(word)
        yield Found("cpu.issue_width", issue.start(), issue.end(), float(number), sureness=0.85)
