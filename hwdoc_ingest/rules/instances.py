"""Which core, memory, rail or block a value belongs to, in the document's own words."""

from __future__ import annotations

import re

from hwdoc_ingest.rules.rule import Tagged, clause

CORE = re.compile(
    r"Cortex®?[- ]?[AMRX]-?\d{1,3}(?:AE|F|C|\+)?|\bA\d{2} (?:big|little) cores?\b|"
    r"\b(?:big|little)\s+(?:cluster|core)s?|\bHiFi\s?\d\w*|\bXuanTie\s+\w+|"
    r"\b[CER]9\d\d[A-Z]*\b|\b(?:E|S|U|P)\d\d\b"
    r"|\bLX\d\b|\bFabric Controller\b|\bFC\b|\b(?:[A-Z]\d{1,3} )?[Cc]luster\b(?: ?\d{1,2}\b)?"
    r"|\bA\d{2}(?=\s*:| cores?\b| complex)"
    r"|\bhost(?= (?:core|CPU|processor)|\s*\()|\bcogs?\b|\bULP[- ]\w+(?:-\w+)?|\bNeoverse[- ]\w+|"
    r"\bMali-\w+",
    re.IGNORECASE,
)
ADJECTIVE_OF_CORE = re.compile(
    r"[\s-]{1,2}(?:(?:[Ss]ingle|[Dd]ual|[Tt]riple|[Qq]uad|[Hh]exa|[Oo]cta|[1-8])[- ]?[Cc]ore\s)?"
    r"(?:(?:Arm|ARM|RISC-V|[A-Z]\w{2,10})®?\s){0,2}"
)
"""What stands between a number and the core whose adjective it is: `a 240 MHz Arm Cortex-M33`, with their count."""
BOUND_WORD = re.compile(r"\b(?:min|max|typ|nom)(?:imum|ical|inal)?\b", re.IGNORECASE)
"""What is beside a value with one of these is another bound of it, no condition."""
SAID_ANEW = re.compile(r"±|\d ?V? ?(?:to|[-–~]) ?\d+(?:\.\d+)? ?V")
"""A range of voltages beside a voltage is the same said in another way."""
IDENTIFIER = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|\b(?!RV\d\d)[A-Z]{2,}[A-Za-z]*\d+[A-Z]*\b")
PART = re.compile(r"\b[A-Z]{0,5}\d{2,6}[A-Z]{0,3}\d*(?:-[A-Z0-9]{1,6})?\b")
CONTROLLER = re.compile(r"\b\w*(?:DMAC?|GDMA)\w*(?:-\d)?\b", re.IGNORECASE)
AT_CONDITION = re.compile(
    r"^\s?(?:[A-Za-z]+\s)?(per [a-z]\w*|(?:in )?total)\b|^\W{0,2}(?:@|at|when)\s*([-\d.]+\s?(?:MHz|GHz|V|°C))"
    r"|^(?!\s*(?:and|or|plus|with)\b)[^,;()]{0,28}\(\s*((?:@\s*)?[^()]{1,24})\)",
    re.IGNORECASE,
)


MEMORY_NAME = re.compile(
    r"\b(?:[ID]-?ram|(?:instruction|data|[ID])[ -]TCM|[ID]TCM|[ID]CCM|[ID]TIM|TCDM|L1|L2|RTC \w+"
    r"|(?!(?:[KMG]i?B|[KMG]?bytes?|of|the|and|or|chip|on|in|with"
    r"|to|up|an|additional)\b)[A-Za-z]\w*[_ -]SRAM"
    r"|(?:data|code|program|instruction|backup|retention|standby|extended|expansion|dual-port) RAM"
    r"|(?:(?!of\b|and\b)[A-Za-z]{2,6} )?(?-i:(?!SD|PS|NV|MR|TCM)[A-Z]{2,6}RAM\d?)"
    r"|on-?chip RAM|(?:global|local|main|shared?|system|internal|boot)\s*(?:S?RAM|ROM|memory))\b",
    re.IGNORECASE,
)


def core(tagged: Tagged, start: int, end: int) -> str | None:
    """The processor core or cluster: beside the value, else named in the sentence, else in the headings."""
    label = None if tagged.statement.is_row else LABEL.match(tagged.text)
    if label and label.end() <= start:
        return label[1]
    own = _own_name(tagged, start)
    if own:
        return own
    named = list(CORE.finditer(tagged.text))
    if named:
        after = [m for m in named if m.start() >= end]
        if after and ADJECTIVE_OF_CORE.fullmatch(tagged.text[end : after[0].start()]):
            return after[0].group()
        before = [m for m in named if m.end() <= start + 1]
        if len(before) > 1 and not tagged.text[before[-2].end() : before[-1].start()].strip(" ®™"):
            return tagged.text[before[-2].start() : before[-1].end()]  # `Cortex-A73 big cores`
        distinct = {m.group().lower() for m in named}
        called = CALLED.search(tagged.text, before[-1].end(), start) if before else None
        if called:
            return called.group().strip()
        if len(distinct) == 1:
            return named[0].group()
        if re.search(r"\bshared?\b", clause(tagged.text, start, end), re.IGNORECASE):
            return None  # it belongs to all of them
        near_after = next(
            (m for m in after if re.search(r"\b(?:for|of|in)\b[^,;]*$", tagged.text[end : m.start()])), None
        )
        if (
            near_after
            and near_after.start() - end < 60
            and not re.search(r"[,;]", tagged.text[end : near_after.start()])
        ):
            return near_after.group()
        if before:
            return before[-1].group()
        return near_after.group() if near_after else None
    told = _called(tagged, start, end) or _subject(tagged.text[:start]) or _subject(tagged.statement.earlier)
    told = told or _last_own_name(tagged, tagged.statement.earlier)
    return told or from_path(tagged, CORE) or from_path(tagged, NUMBERED) or from_path(tagged, CALLED)


def _own_name(tagged: Tagged, start: int) -> str | None:
    """The core whose own short name stands last before a place; in a row, in the header or the first cell."""
    cells = tagged.statement.cells
    said = " ".join([*(c.header for c in cells if c.start <= start < c.end + 1), tagged.text[:start]])
    return _last_own_name(tagged, said)


def _last_own_name(tagged: Tagged, said: str) -> str | None:
    if not tagged.statement.cores:
        return None
    named = re.findall(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tagged.statement.cores))})(?![\w-])", said)
    return named[-1] if named else None


LABEL = re.compile(r"^\W*([A-Z]{1,2}\d{1,3}|(?:CPU|[Cc]ore|[Hh]art) ?\d{1,2})\s?[:：]")
"""A core's short name before what is said of it: `M0: 32 KB instruction cache`."""
SUBJECT = re.compile(
    r"(?<![\w-])(?!L\d|DDR|USB|PCI)([A-Z]{1,2}\d{1,2})(?= (?:core |CPU |processor )?"
    r"(?:is|has|uses|features|contains|includes|implements|supports?|runs|integrat\w+)\b)"
)
"""A core's short name as the subject of a sentence: `D0 is a 64-bit RISC-V CPU`."""


def _subject(said: str) -> str | None:
    """The core that sentences about a processor tell of, if it is just one."""
    if not re.search(r"\b(?:CPUs?|processor|cores?|RISC)\b", said):
        return None
    named = {match[1] for match in SUBJECT.finditer(said)}
    return named.pop() if len(named) == 1 else None


CALLED = re.compile(
    r"(?:[\u4e00-\u9fff]{2,4} ?"
    r"|(?<![-\w])(?!CPU|GPU|NPU|DSP|SoC|RISC|RV\d|MIPS|SPARC|ARM|Arm|MCU|FPU|IP|AXI|AHB|DMA|ISP|The|Each|This|An?\b)"
    r"[A-Z][A-Z\d]{0,5} )(?:[\u4e00-\u9fff]{1,4} ?)?(?:core|processor|subsystem)\b(?! (?:power|supply|voltage|logic|V))"
    r"|\b(?:core|processor|coprocessor) [A-Z]\w{0,4}\d\b"
    r"|\b(?:application|main|control|slave|real-time|low-power|wireless|network|sensor|safety|host) (?:core|CPU"
    r"|(?:co)?processor)\b"
)
"""A core by a name of its own: `M0 core`, `application core`, `应用 core`; an instruction set is no name."""


_REFERRED = re.compile(
    r"\b(?:cores?|CPUs?|processors?|clusters?)\b[^.;,]{0,24}?\b(?:called|named|referred to as|known as|dubbed) "
    r"(?:the )?([A-Z][\w-]+(?: (?:[A-Z][\w-]*|\d\w*)){0,2})"
)
"""`The two large cores are called Falcon Gold`."""
NUMBERED = re.compile(r"\b(?:CPU|core|cluster|hart|processor)[ _]?\d{1,2}\b(?! ?(?:cores|[x×.]|[MG]Hz))", re.IGNORECASE)
"""A unit by its number, in the heading or the item above what it has: `CPU0 subsystem`, `Cluster 1`."""


def _called(tagged: Tagged, start: int, end: int) -> str | None:
    """The core that the sentence calls by a name of its own, the last before a place."""
    before = [*_REFERRED.finditer(tagged.text, 0, start)]
    if before:
        return before[-1][1]
    before = [*CALLED.finditer(tagged.text, 0, start)]
    return before[-1].group().strip() if before else None


def from_path(tagged: Tagged, pattern: re.Pattern[str]) -> str | None:
    """The innermost heading or parent item that names something of a pattern."""
    for part in reversed(tagged.statement.path):
        found = pattern.search(part)
        if found:
            return found.group()
    return None


CORE_LABEL = re.compile(
    r"^\W*((?!NPU|GPU|DSP|neural|graphics|video)(?:[A-Za-z][\w -]{0,30}?)??"
    r"\b(?:core|CPU|processor|MCU|microcontroller))(?:\s*[:：]|\s+[-–—]\s)",
    re.IGNORECASE,
)
"""How an item of a list begins that tells of one core: `Management core: RV32IMAC, 300 MHz`."""


RISC_V = re.compile(r"\bRISC-V(?= (?:(?:co)?processor|core|CPU|MCU|subsystem|up to)\b| ?@)", re.IGNORECASE)
"""A core that is told from others by its instruction set alone: `RISC-V core up to 700 MHz`."""


_POWER = re.compile(r"\b(?:power|clock|memory|voltage|security|interrupt)\b", re.IGNORECASE)
SUBSYSTEM = re.compile(r"^\W*((?:[A-Za-z][\w-]+ ){1,3}(?:sub-?system|domain|island))\W*$", re.IGNORECASE)
"""The item or heading right above that tells two cores of one kind apart: `Sense compute subsystem:`."""


def clocked_core(tagged: Tagged, start: int, end: int) -> str | None:
    """A core together with the variant, supply or temperature that its clock is given for."""
    label = None if tagged.statement.is_row else CORE_LABEL.match(tagged.text)
    named = label[1].strip() if label and label.end() <= start else ""
    plain = RISC_V.search(tagged.text[:start])
    within = SUBSYSTEM.match(tagged.parent)
    parts = [
        within[1] if within and not _POWER.search(within[1]) else "",
        named,
        core(tagged, start, end) or (plain.group() if plain else ""),
        beside(tagged, start, end) or "",
        row_label(tagged, start),
    ]
    return " ".join(dict.fromkeys(part for part in parts if part)) or None


def beside(tagged: Tagged, start: int, end: int) -> str | None:
    """What stands right after a value as its condition: `(8085A)`, `@ 1.2V`, `at 25 MHz`."""
    found = AT_CONDITION.match(tagged.text[end:])
    told = next(part for part in found.groups() if part).strip() if found else None
    return None if told and (BOUND_WORD.search(told) or SAID_ANEW.search(told)) else told


_NO_LABEL = re.compile(
    r"(?:units?|单位|param\w*|参数|feature\w*|item|characteristics?|notes?|remarks?|comments?|备注)\b", re.IGNORECASE
)
"""Headers of cells that name the parameter or its unit, or say more about it."""
_UNIT_CELL = re.compile(
    r"[\W\d]*|[μµmkMG]?(?:[AVWCFsBΩ]|Hz)|°C(?:/W)?|[A-Z]{1,2}[a-z]?|[a-zA-Z]|ns|ps|nm|um|pF|dB\w?"
    r"|[Yy]es|[Nn]o|N/?A|(?:不)?支持|[是否有无]"  # whether a part has something names nothing
)


_SIZE_CELL = re.compile(r"\d[\d.,]*[ -]?(?:[KMG]i?[ -]?)?(?:bits?|bytes?|B)", re.IGNORECASE)
"""A size is what another column tells of the same thing."""


def row_label(tagged: Tagged, start: int = -1) -> str:
    """In a table row, what is neither number, unit nor the parameter's name: variants, rails, conditions.

    The cell that holds the value at `start` among other words labels nothing.
    """
    parts = []
    for cell in tagged.statement.cells:
        holds = cell.start <= start < cell.end
        if cell.bound is None and not holds and not _NO_LABEL.match(cell.header):
            text = tagged.statement.cell_text(cell)
            if not _UNIT_CELL.fullmatch(text) and not _SIZE_CELL.fullmatch(text):
                parts.append(text)
    return " ".join(parts)[:80]


_OF_CHIP = re.compile(r"^[\w-]+['’]s (?:internal|on-?chip|embedded|own) memor", re.IGNORECASE)
"""`The X1-S's internal memory includes`: what follows is the chip's, and the chip's name tells it from nothing."""
_DOMAIN = re.compile(
    r"(?:(?!\d+[ -]?[KM])[^,;+()]){0,44}?\bin (?:the )?((?:[A-Z]\w+|backup|always-on|standby|low-power|main) domain)\b"
)
"""After a size, the part of the chip that the memory is in: `8 Kbytes of SRAM in the Backup domain`."""
_OF_MEMORIES = re.compile(
    r"(?:chapter\s)?[\d.\s]*(?:\w+ (?:and|&) )?(?:on-?chip |internal |embedded |system )*memor(?:y|ies)"
    r"(?: (?:sub-?systems?|systems?|organi[sz]ation"
    r"|architecture|maps?|features?|resources?|and\b.*))?[\s:]*$|(?:table|figure)\b",
    re.IGNORECASE,
)
"""A heading over memories, which is the name of none."""


def memory(tagged: Tagged, start: int, end: int) -> str | None:
    """The name of a memory: the words before a colon, identifiers, or the heading it stands under."""
    text = tagged.text
    label = re.match(r"^\W*([A-Za-z][\w /&()-]{2,40}?)\s*[:：]", text)
    parts: list[str] = []
    if label and re.search(r"mem|ram|sram|rom|tcm", label[1], re.IGNORECASE):
        parts.append(label[1])
    parts += [m.group() for m in IDENTIFIER.finditer(text)]
    if not parts:
        holder = core(tagged, start, end)
        parts = [holder] if holder else []
    item_end = next((at for at in range(end, min(end + 30, len(text))) if text[at] in ",;"), end + 30)
    before = [*MEMORY_NAME.finditer(text, max(0, start - 40), start)]
    name = MEMORY_NAME.search(text, end, item_end)
    domain = _DOMAIN.match(text, end)
    if before and not domain and (name is None or re.search(r"\b(?:and|while|whereas)\b", text[end : name.start()])):
        name = before[-1]
    if name:
        parts.append(name.group())
        short = re.match(r"\s?\(([A-Z][A-Z\d]{2,7})\)", text[name.end() :])
        parts += [short[1]] if short and not re.fullmatch(r"S?RAM|ROM|ECC|TCM", short[1]) else []
    within = re.match(r"\s?(?:S?RAM|memory) in (?:the )?([A-Z]{2,6}|always-on)\b", text[end:])
    parts += [within[1]] if within else [domain[1]] if domain else []
    if not parts and tagged.statement.path and not _OF_CHIP.search(tagged.statement.path[-1]):
        parts = [m.group() for m in IDENTIFIER.finditer(tagged.statement.path[-1])]
        above = tagged.statement.path[-1]
        if not parts and re.search(r"ram|rom|mem", above, re.IGNORECASE) and not _OF_MEMORIES.match(above):
            parts = [tagged.statement.path[-1][:40]]
    return " ".join(dict.fromkeys(parts)) or None


def controller(tagged: Tagged, start: int, end: int) -> str | None:
    """A DMA controller by name, in the sentence or above it."""
    beside = re.match(rf"[\s-]*(?:\w+\s)?({CONTROLLER.pattern})", tagged.text[end : end + 24], re.IGNORECASE)
    plain = beside and re.fullmatch(r"DMAC?", beside[1], re.IGNORECASE)
    if beside and not plain:
        return beside[1]
    owner = re.match(
        rf"[\s-]*(?:channels?|streams?)\s+(?:for|of|in|on|are (?:for|in))\s+(?:the )?({CONTROLLER.pattern})",
        tagged.text[end:],
        re.IGNORECASE,
    )
    if owner and not re.fullmatch(r"DMAC?", owner[1], re.IGNORECASE):
        return owner[1]
    before = list(CONTROLLER.finditer(tagged.text[: start + 1]))
    of_each = re.match(r"[\s-]*(?:channels?|streams?) each\b", tagged.text[end:], re.IGNORECASE)
    if of_each and len({m.group().lower() for m in before} - {"dma", "dmac", "dmas"}) > 1:
        return None
    if not before:
        before = list(CONTROLLER.finditer(tagged.text))
        if len({m.group().lower() for m in before} - {"dma", "dmac"}) > 1:
            return None  # it belongs to all of those that are told of after it
    named = [m.group() for m in before if m.group().lower() != "dma"]
    if named and not plain:
        return named[-1]
    for part in reversed(tagged.statement.path):
        found = CONTROLLER.search(part)
        if found:
            return found.group()
    return None


def label_of_row(tagged: Tagged, start: int, end: int) -> str | None:
    """In a table row its variant or rail, in a sentence the condition beside the value."""
    if tagged.statement.is_row:
        group = next((c.group for c in tagged.statement.cells if c.group and c.start <= start < c.end + 1), "")
        return " ".join(part for part in (row_label(tagged, start), _variant(tagged), group) if part) or None
    return (
        beside(tagged, start, end)
        or _grade_behind(tagged, end)
        or grade_before(tagged, start, end)
        or _leading_parenthesis(tagged, start)
    )


_GRADE = re.compile(
    r"\b(?:extended |standard )?(?:commercial|industrial|automotive|military|consumer|extended)(?: temp\w*| grade)?\b"
    r"|\b(?:suffix|grade) \w+\b",
    re.IGNORECASE,
)


def _grade_behind(tagged: Tagged, end: int) -> str | None:
    """The temperature grade that a range is said to be for: `-40 to 85 °C for industrial devices`."""
    found = re.match(rf"\s*(?:for|in) (?:the )?({_GRADE.pattern})", tagged.text[end:], re.IGNORECASE)
    return found[1] if found else None


def grade_before(tagged: Tagged, start: int, end: int) -> str | None:
    """The temperature grade whose range stands in parentheses after it: `Commercial (0 to 70 °C)`."""
    found = re.search(rf"({_GRADE.pattern})\s?[(:]\s*$", tagged.text[:start], re.IGNORECASE)
    return found[1].strip() if found else None


def grade(tagged: Tagged, start: int, end: int) -> str | None:
    """The temperature grade that a row or a sentence names."""
    found = _GRADE.search(tagged.text)
    return found.group() if found else None


def named_row(tagged: Tagged, start: int, end: int) -> str | None:
    """All that a row says besides its numbers: its rail, mode or variant stands in any of the cells before them."""
    first = min((cell.start for cell in tagged.statement.cells if cell.bound), default=0)
    before = " ".join(dict.fromkeys(tagged.text[:first].replace(" | ", " ").split()))
    return " ".join(part for part in (before[:80], label_of_row(tagged, start, end)) if part) or None


_MODE = re.compile(
    r"\b(?:TX|RX|transmit\w*|receiv\w*|(?:deep|light|modem)[- ]?sleep|sleep|standby|stop|shutdown|hibernat\w*"
    r"|idle|active|run"
    r"|suspend|doze|nap|halt|system (?:on|off)|power[- ]?(?:down|off))\b(?: mode)?",
    re.IGNORECASE,
)


def mode(tagged: Tagged, start: int, end: int) -> str | None:
    """The state of the chip that a current is taken in: the row's label, or the mode that the sentence names."""
    told = label_of_row(tagged, start, end)
    if tagged.statement.is_row:
        bounded = any(cell.bound for cell in tagged.statement.cells)
        labels = [tagged.statement.cell_text(cell) for cell in tagged.statement.cells if cell.bound is None]
        named = next((found for label in labels for found in [_MODE.search(label)] if found), None) if bounded else None
        if told and named and named.group() not in told:
            return f"{told} {named.group()}"
        return told or (named_row(tagged, start, end) if bounded else None)
    before = [*_MODE.finditer(tagged.text, 0, start)]
    after = re.match(r"\s*(?:in|during|for|at)\s+(?:the\s+)?", tagged.text[end:])
    behind = _MODE.match(tagged.text, end + after.end()) if after else None
    named = behind or before[-1] if before else behind or _MODE.search(tagged.text) or _MODE.search(tagged.parent)
    return " ".join(part for part in (named and named.group(), told) if part) or None


_RAIL = (
    r"(core|I/?O|internal logic|external interface|internal|external|analog|digital|VDD\w*|VCC\w*|PVCC|DVDD\w*|VBAT)"
)


ROW_OF_RAIL = re.compile(
    r"\W*(?P<rail>core|I/?O|internal(?: logic)?|external|logic|digital|analog)(?: (?:power|DC))*"
    r"[ -](?:supply|voltage)s?(?: voltage)?(?: \(V\w+\))?(?:, V\w+)?\s*\|",
    re.IGNORECASE,
)
"""How a row begins that gives one rail: `Core power supply | 2.5 V`."""


def rail(tagged: Tagged, start: int, end: int) -> str | None:
    """The supply that a voltage is of: the row's label, the condition beside it, or the word right beside it."""
    told = label_of_row(tagged, start, end)
    if told or tagged.statement.is_row:
        of_row = None if told else ROW_OF_RAIL.match(tagged.text)
        return of_row["rail"] if of_row else told
    after = re.match(rf"[-\s]*{_RAIL}\b", tagged.text[end:], re.IGNORECASE)
    before = re.search(
        rf"\b{_RAIL}(?: (?:power|supply|voltage))*\s*(?:[:=]|is|of)?\s*$", tagged.text[:start], re.IGNORECASE
    )
    return after[1] if after else before[1] if before else None


def _variant(tagged: Tagged) -> str:
    """Part numbers and conditions in the name of a row's parameter (`ESP32-S3 Ambient temperature`, `16 MHz`)."""
    first = next(
        (
            c
            for c in tagged.statement.cells
            if c.bound is None and re.match(r"param|feature|item|charact|rating", c.header, re.IGNORECASE)
        ),
        None,
    )
    if first is None:
        return ""
    text = tagged.statement.cell_text(first)
    found = re.findall(
        r"\b[A-Z]+\d[\w-]*\b|\bsuffix \w+\b|\b\d+ ?[MG]Hz\b|\b(?:ceramic|plastic|cerdip|PGA|PQFP|BGA|QFN)\b",
        text,
        re.IGNORECASE,
    )
    return " ".join(found)


def _leading_parenthesis(tagged: Tagged, start: int) -> str | None:
    found = re.search(r"\(([^()]{1,24})\)\s*(?:[:=…]\s*)*$", tagged.text[:start])
    first = found or re.match(r"^(?:[\w-]+\s?)?\(([^()]{1,24})\)", tagged.text)
    label = re.fullmatch(r"([A-Z][\w -]{1,20}):", tagged.parent)
    parts = [part for part in (label and label[1], first and first[1]) if part]
    return " ".join(parts) or None
