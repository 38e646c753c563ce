"""Processor cores: how many, which, how wide, how deep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_NOT_CPU = words(r"GPU|NPU|DSP core|shader|neural|graphics|mali")

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
        not_beside=words(r"\0-?\s?stages? (?:floating|FP\b)"),
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
            r"\bvector (?:operations?|registers?|units?|width|length|engine|extension)\b"
            r"|\bSIMD\b|\bVLEN\b|\bvector(?=-\d)"
        ),
        low=32,
        high=4096,
        gap_words=1,
        sureness=0.8,
    ),
    QuantityRule(
        "cpu.issue_width",
        "count",
        words(r"\bissue width\b|\binstructions (?:issued )?per (?:clock|cycle)\b"),
        low=1,
        high=16,
        gap_words=1,
        before=False,
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
        words(r"\b(?:32|64|16|8)-bit (?:general[- ]purpose )?(?:working )?registers\b"),
        low=4,
        high=512,
        gap_words=0,
        after=False,
        sureness=0.75,
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
        words(r"\blatency multiplier\b|\bmultiplier latency\b"),
        low=1,
        high=200,
        gap_words=1,
        sureness=0.85,
    ),
    QuantityRule(
        "latency.divider_cycles",
        "cycles",
        words(r"\blatency divider\b|\bdivider latency\b"),
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

_COUNT = (
    r"(?:(\d{1,3})(?!\d)\s*(?:x\s*)?|((?:single|dual|triple|quad|hexa|octa|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|twelve)\b)[ -]*)"
)
_CORES = re.compile(
    rf"\b{_COUNT}-?\s*(?:\(\d+\)\s*)?(?:low-power\s+)?(?:identical,?\s+|"
    rf"independent\s+)*(?:core\s*(?:ARM\s*)?(?:processor\s*)?|cores?\b[^.;|]{{0,4}}|"
    rf"independent processors|(?:(?:symmetric|identical)\s+)?CPUs\b|CPU cores"
    rf"|(?:(?:\d+-bit|RISC-V|RISC|application|in-order|out-of-order"
    rf"|[\w-]+-class|identical"
    rf"|Arm®?|embedded|high-performance)\s+){{1,4}}cores\b)(?P<name>(?:Cortex[- ]?[AMRX]\d+|RISC-V|"
    rf"[\w-]*\d+-bit [\w-]+)?)",
    re.IGNORECASE,
)
_NAMED_CORES = re.compile(
    rf"\b{_COUNT}-?\s*(?:core\s+)?(?:(?:big|little|symmetric|identical|low-power|high-performance|independent"
    rf"|\d+-bit)\s+)*(?:arm®?\s+)?"
    r"(?P<name>Cortex®?[- ]?[AMRX]\d+(?:AE|F|\+)?|Neoverse[- ]\w+"
    r"|(?:XuanTie\s+)?C9\d\d\w*)(?!\S*[-/]?\s*(?:based )?clusters?)"
    r"(?:\s+(?:cores?|processors?|CPUs?|MCUs?))?",
    re.IGNORECASE,
)
_AT_MOST = re.compile(r"\b(?:up to|as many as|at most|maximum of)\s*$", re.IGNORECASE)
_CORES_AFTER = re.compile(
    r"\b(?P<name>Cortex®?[- ]?[AMRX]\d+(?:AE|F|\+)?|Neoverse[- ]\w+|(?:XuanTie\s+)?C9\d\d\w*),? ?"
    r"(?:MP(?P<mp>[2-8])\b|\(?[x×] ?(?P<times>[2-8])\b(?! ?\d)|"
    r"(?P<word>single|dual|triple|quad|hexa|octa)[- ]?core\b)",
    re.IGNORECASE,
)
"""`Cortex-A7 dual-core`, `Cortex-A7 MP2`, `Cortex-A55 x4`."""
_CORE_TYPE = re.compile(
    r"\b(?:(?:ARM\s+)?Cortex-[AMRX]\d+|XuanTie\s+[CE]\d{3}(?:\s+RISC-V)?|"
    r"Xtensa®?\s*(?:dual-core\s*)?(?:32-bit\s*)?LX\d)\b",
    re.IGNORECASE,
)
_NUMBERS_SOMETHING = re.compile(
    r"(?:\b(?:tables?|figures?|fig|chapters?|sections?|parts?|appendix|steps?|notes?|rev(?:ision)?|version|part)"
    r"|[图表第章])[\s.:]*(?:\d+[-.])*$|\d[-.]$",
    re.IGNORECASE,
)
"""What stands before the number of a section or a figure, which counts no cores: `Figure 3 Cortex-A53 platform`."""
_REGISTERS = re.compile(
    r"\b(\d{1,3}) ?[x×] ?(?:8|16|32|64)(?:[- ]bit)?,? general[- ]purpose (?:working )?registers\b", re.IGNORECASE
)
"""`32 x 8 general purpose working registers`."""
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


def find(tagged: Tagged) -> Iterator[Found]:
    """Core counts, core names, instruction set and issue width."""
    text = tagged.text
    path = " ".join(tagged.statement.path[-2:])
    if not (_NOT_CPU.search(text) or _NOT_CPU.search(path)):
        named_at: list[int] = []
        for match in _NAMED_CORES.finditer(text):
            if match[1] and _NUMBERS_SOMETHING.search(text[: match.start()]):
                continue
            named_at.append(match.start())
            number = float(match[1] or NUMBER_WORDS[match[2].lower()])
            if 1 <= number <= 256:
                name = match["name"].replace("®", "")
                plain = Found("cpu.cores", match.start(), match.end(), number, instance=name, sureness=0.9)
                most = _AT_MOST.search(text[: match.start()])
                yield replace(plain, value=None, max=number) if most else plain
        for match in _CORES_AFTER.finditer(text):
            if any(match.start("name") <= at or text[at : match.start("name")].isspace() for at in named_at):
                continue
            named_at.append(match.start("word"))
            said = match["mp"] or match["times"] or NUMBER_WORDS[match["word"].lower()]
            name = match["name"].replace("®", "")
            yield Found("cpu.cores", match.start(), match.end(), float(said), instance=name, sureness=0.88)
        for match in (m for m in _CORES.finditer(text) if m.start() not in named_at):
            number = float(match[1] or NUMBER_WORDS[match[2].lower()])
            named = match["name"] or _named_after(text, match.end())
            alone = (match[2] or "").lower() in ("single", "one") or match[1] == "1"
            if (
                1 <= number <= 256
                and not (alone and not named)
                and (
                    named
                    or re.search(r"processor|CPU|microcontroller|cog|RISC|\d-bit [^,;]*cores", text, re.IGNORECASE)
                )
            ):
                named = re.sub(r"^\d+-bit (?:processor|micro\w*|CPU|core)$", "", named, flags=re.IGNORECASE)
                instance = named or instances.core(tagged, match.start(), match.end())
                of_each = re.search(r"\beach\b", text[: match.start()], re.IGNORECASE)
                if named or not (of_each or re.search(r"\bpower domain|clusters?\. big", text, re.IGNORECASE)):
                    yield Found(
                        "cpu.cores",
                        match.start(),
                        match.end(),
                        number,
                        instance=instance,
                        sureness=0.9 if named else 0.72,
                    )
    several = _REGISTERS.search(text)
    if several:
        yield Found("cpu.registers", *several.span(), float(several[1]), sureness=0.75)
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
    if issue and (issue["count"] or re.search(r"issue|superscalar|parallel execution", text, re.IGNORECASE)):
        word = next(part for part in issue.groups() if part).lower()
        number = NUMBER_WORDS.get(word) or int(word)
        yield Found("cpu.issue_width", issue.start(), issue.end(), float(number), sureness=0.85)


def _named_after(text: str, end: int) -> str:
    near = instances.CORE.search(text, end, end + 30)
    return near.group() if near else ""
