"""Tables of addresses, told by their headers: memory maps, base addresses, interrupt numbers and vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hwdoc_ingest.fields import address
from hwdoc_ingest.rules.rule import Found, Tagged, words
from hwdoc_ingest.statements.number_phrases import find_amounts
from hwdoc_ingest.statements.statement import Cell

ADDRESS = (
    r"(?:0[xX][\dA-Fa-f]{4}[ _.'][\dA-Fa-f]{4}(?:[ _.'][\dA-Fa-f]{4}){0,2}(?![\w.])|0[xX][\dA-Fa-f]{4,16}"
    r"|0[xX][\dA-Fa-f]{1,3}(?:[_'][\dA-Fa-f]{4}){1,3}(?![\w.])"
    r"|0[xX][\dA-Fa-f]{1,3}\b"
    r"|[Hh]'[\dA-Fa-f]{4}[ _]?[\dA-Fa-f]{0,4}|\$[\dA-Fa-f]{4,8}|[\dA-Fa-f]{4}[_: ][\dA-Fa-f]{4}[hH]?(?![\w.])"
    r"|[\dA-Fa-f]{4,8}[hH]?(?![\w.]))"
)
"""An address in a cell whose header says that it holds one; there it needs no mark of its base."""
_ONE = re.compile(rf"\s*({ADDRESS})\s*")
_RANGE = re.compile(rf"\s*({ADDRESS})\s*(?:-|~|to|至|到|…|\.\.\.?|:)\s*({ADDRESS})\s*", re.IGNORECASE)
_START = words(
    r"\b(?:start(?:ing)?|begin(?:ning)?|base|first|low(?:er)?|from)\b|起始|开始|首地址|基地?址"
    r"|^(?:physical |memory |system |boundary |hex )?address(?:es)?(?: range)?$"
    r"|\baddress (?:range|space|map)\b|\brange\b"
    r"|^地址(?:范围|空间|区间|段)?$|^(?:address|start address) range$|^memory map$"
)
_BASE = words(r"\bbase\b|基地?址")
_END = words(r"\b(?:end(?:ing)?|last|top|high(?:er)?|upper|stop|to)\b|结束|终止|末")
_OFFSET = words(r"\boffset\b|偏移|\bregister\b(?! base)|寄存器(?!.*基)|\breset (?:value|state)\b|复位值")
_RESET = words(r"(?:(?:default|reset|initial)(?: values?)?|initial state|默认值|复位值?|初始值?)(?:\s?\*\d?)*")
"""The header of what a register holds at first: its row tells of a register, at whatever address, not of a block."""
_NAMES = (
    words(r"^(?:instance|block(?: name)?|module(?: name)?|ip(?: name)?|region(?: name)?|实例|模块(?:名称?)?)\b"),
    words(r"\b(?:peripherals?|modules?|blocks?|devices?|components?|targets?|slaves?|外设)\b|对应模块|外设|设备"),
    words(
        r"\b(?:names?|regions?|memory|memories|function|space|area|section|port|use|contents?|segment)\b|名称|区域|存储"
    ),
    words(r"\bdescription\b|说明|描述|用途|备注"),
)
"""Headers over what stands at an address, the surest first."""
_ACCESS = re.compile(r"(?:R/?W?/?X?|RO|WO|RWX?|RX|--+|YES|NO|N/?A|R/W/X|[RWX ,/-]{1,7})", re.IGNORECASE)
_SIZE = re.compile(r"\(?\d[\d.,]*\s?(?:[kKMGT]?i?[Bb]?|[kKMG]?[ -]?(?:bytes?|bits?))\)?")
_WORDS = re.compile(r"[A-Za-z\u4e00-\u9fff]{2}|\b[A-Z]\d[A-Z]")
MEMORY = re.compile(
    r"\w*(?:RAM\d*|ROM|TCM|ITIM|DTIM|CCM|TCDM|SCM|SPM|flash)(?![A-Za-z])\w*|\b(?:LP)?DDR\w*|\bmemory\b|内存|存储器",
    re.IGNORECASE,
)
"""What is memory, not the registers of a block."""
_DEVICE = words(
    r"\b(?:unit|controller|registers?|interface|port|control|ctrl|config\w*|csr)$|(?:_(?:ctrl|cfg|reg|regs|con|apb)\w*)$"
    r"|控制器|寄存器|接口"
)
_RESERVED = words(r"\breserved\b|\bunused\b|\balias|保留|未用|\bvacant\b|\bnot used\b")
_BASES = words(
    r"memory (?:map|address)|address (?:map|space|allocation|assign\w*)|\bbase address|\bregister (?:boundary"
    r"|blocks?|map)\b"
    r"|peripheral(?:s| map|\b.*address)|\binstantiation\b|地址(?:映射|空间|分配|表)|基地?址|起始地址"
    r"|memory and memory map"
)
"""Titles of tables whose addresses are those of blocks."""
_EXCEPTIONS = words(r"\bIRQs?\b|exception|interrupt|\bvectors?\b|\btraps?\b|异常|中断|向量")
_VECTOR_HEADER = words(
    r"\bvector address|\bentry (?:point|address)|^address(?:es)?\b|\baddress$|^vector$|入口地址|向量地址"
    r"|^地址$|入口 address"
)
_VECTOR_NAMES = (
    words(
        r"^(?:exceptions?|interrupts?|traps?|source|vector name)(?: (?:name|type|source|event|vector"
        r"|or \w+))?$|异常|中断源|^(?:name|acronym|symbol)$|名称"
    ),
    words(r"\b(?:exception|interrupt|event|source|trap|type)\b"),
    words(r"\bdescription\b|说明|描述|function"),
)
_A_REGISTER = words(r"\bregisters?(?: \d+)?$|寄存器\d*$")
"""Names what tells of an exception, not an exception."""
_NUMBER_HEADER = words(
    r"^(?:IRQ|interrupt|int\.?|vector|exception|INTID|interrupts?)?\s*(?:#|no\.?|num(?:bers?)?\.?|id|index|号|线号)$|^IRQ$"
    r"|^(?:\w+ )?(?:IRQ|interrupt|vector) (?:number|id|no\.?|line|#)|中断号"
    r"|^编号$|^序号$|interrupts 号|^NVIC (?:interrupt|line|IRQ)$|^(?:NVIC |GIC |IRQ |vector )?pos(?:ition|\.)?$"
)
_OF_REGISTER = words(r"\bregisters?\b|寄存器|\bbits?\b|\breset (?:value|state)\b")
"""A table of registers, whose numbers are no interrupts'."""
_SOURCE_NAMES = (
    words(r"^(?:acronym|symbol|interrupt name|irq name)$|中断名称?|interrupts name"),
    words(r"^signal(?: name)?$"),
    words(r"\bsources?\b|\bperipherals?\b|\bmodules?\b|中断源|外设|来源|^instance name$|^interrupts?$|\bnames?\b|名称"),
    words(r"\bdescription\b|说明|描述|function"),
)
_INTERRUPTS = words(r"interrupt|\bIRQs?\b|中断|\bNVIC\b|\bGIC\b|\bPLIC\b")


def number(text: str) -> int:
    """The number of a printed address: `0x0004_0000`, `H'A000 0000`, `2000:0000h`, `$FFFE`."""
    return int(re.sub(r"^0[xX]|^[Hh]'|^\$|[hH]$|[_ .:']", "", text.strip()), 16)


def find(tagged: Tagged) -> Iterator[Found]:
    """What one row of such a table says."""
    cells = tagged.statement.cells
    if len(cells) < 2:
        return
    about = f"{tagged.path_text} {' '.join(cell.header for cell in cells)}"
    numbered = next((cell for cell in cells if _NUMBER_HEADER.search(cell.header.strip())), None)
    ended = any(_END.search(cell.header) for cell in cells)
    of_register = any(_OFFSET.search(cell.header) or _RESET.fullmatch(cell.header.strip()) for cell in cells)
    if numbered and _INTERRUPTS.search(about) and not (of_register and _OF_REGISTER.search(about)):
        yield from _interrupt(tagged, cells, numbered)
    if of_register:
        return
    if _EXCEPTIONS.search(about) and not ended:
        vectors = list(_vector(tagged, cells))
        yield from vectors
        based = numbered and any(_BASE.search(cell.header) for cell in cells)
        if vectors or (numbered and not based) or not (based or _BASES.search(about)):
            return
    yield from _base(tagged, cells, about)


def _base(tagged: Tagged, cells: Sequence[Cell], about: str) -> Iterator[Found]:
    """The address of a block or memory."""
    found = next(((cell, span) for cell in cells for span in [_addressed(tagged, cell)] if span), None)
    if found is None:
        return
    cell, (start, end) = found
    whole = end is not None or any(_END.search(other.header) and _said(tagged, other) for other in cells)
    if not whole and not (_BASES.search(about) or re.search(r"\bbase\b|基", cell.header, re.IGNORECASE)):
        return
    if start % 4 or (end is not None and end <= start):
        return  # the end of a range, or a misread one: what is mapped begins at a word
    name = _name(tagged, cells, cell, _NAMES)
    if not name or _RESERVED.search(f"{tagged.text} {' '.join(tagged.statement.path[-2:])}"):
        return
    label = re.sub(r"\s*\([^()]*\d\s?[kKMG]i?B[^()]*\)\s*$|\.\s+(?:See|Refer)\b.*$", "", name).strip()
    memory = MEMORY.search(label) and not _DEVICE.search(label)
    field, sureness = ("memory.region.base", 0.88) if memory else ("mmio.base", 0.85)
    at = _RANGE.match(tagged.statement.cell_text(cell)) or _ONE.match(tagged.statement.cell_text(cell))
    stop = cell.start + at.end(1) if at else cell.end
    yield Found(field, cell.start, stop, address(start), instance=label, sureness=sureness)
    last = end if end is not None else _last(tagged, cells)
    size = _sized(tagged, cells) if memory and last is None else None
    if size:
        yield Found("memory.region.size_bytes", cell.start, size[1], size[0], instance=label, sureness=0.75)
    if memory and last is not None and last > start and sizes_agree(tagged.text, last - start + 1):
        yield Found(
            "memory.region.size_bytes", cell.start, stop, float(last - start + 1), instance=label, sureness=0.75
        )


def _sized(tagged: Tagged, cells: Sequence[Cell]) -> tuple[float, int] | None:
    """The size of a row that has a cell for it, and where it ends."""
    for cell in cells:
        if re.search(r"\bsize\b|\blength\b|大小|容量", cell.header, re.IGNORECASE):
            unit = re.search(r"[(\[]\s*([KMG]i?B|bytes?|[KM]bytes?)\s*[)\]]", cell.header, re.IGNORECASE)
            text = tagged.statement.cell_text(cell)
            sizes = find_amounts(f"{text} {unit[1]}" if unit and re.fullmatch(r"[\d.,]+", text.strip()) else text)
            if len(sizes) == 1 and sizes[0].dimension == "bytes" and sizes[0].form == "single":
                return sizes[0].values[0], cell.end
    return None


def sizes_agree(text: str, size: float) -> bool:
    """Whether the size that a text gives, if any, is that of its addresses: one of the two is wrong, else."""
    said = [value for amount in find_amounts(text) if amount.dimension == "bytes" for value in amount.values]
    return not said or any(abs(value - size) < 0.03 * size for value in said)


def _last(tagged: Tagged, cells: Sequence[Cell]) -> int | None:
    """The last address of a row that has a cell for it."""
    ends = [_ONE.fullmatch(tagged.statement.cell_text(cell)) for cell in cells if _END.search(cell.header)]
    return next((number(each[1]) for each in ends if each), None)


def _addressed(tagged: Tagged, cell: Cell) -> tuple[int, int | None] | None:
    """The address, or range of addresses, of a cell that begins one."""
    if not _START.search(cell.header) or re.search(r"\bsize\b|大小", cell.header, re.IGNORECASE):
        return None
    text = tagged.statement.cell_text(cell)
    both = _RANGE.fullmatch(text)
    if both:
        return number(both[1]), number(both[2])
    one = _ONE.fullmatch(text)
    return (number(one[1]), None) if one and len(re.sub(r"^0[xX]", "", one[1])) >= 4 else None


def _said(tagged: Tagged, cell: Cell) -> bool:
    return bool(_ONE.fullmatch(tagged.statement.cell_text(cell)))


def _name(tagged: Tagged, cells: Sequence[Cell], but: Cell, ranked: Sequence[re.Pattern[str]]) -> str:
    """The words of the cell whose header tells best that it names something; else the first that is a name."""
    texts = {id(cell): tagged.statement.cell_text(cell).strip() for cell in cells if cell is not but}
    for pattern in ranked:
        for cell in cells:
            if id(cell) in texts and pattern.search(cell.header.strip()) and _is_name(texts[id(cell)]):
                return texts[id(cell)]
    return next((text for text in texts.values() if _is_name(text)), "")


def _is_name(text: str) -> bool:
    return (
        bool(_WORDS.search(text))
        and len(text) <= 70
        and not _ACCESS.fullmatch(text)
        and not _SIZE.fullmatch(text)
        and not _ONE.fullmatch(text)
    )


def _vector(tagged: Tagged, cells: Sequence[Cell]) -> Iterator[Found]:
    """The address at which an exception or interrupt is entered."""
    for cell in cells:
        if not _VECTOR_HEADER.search(cell.header.strip()) or _BASE.search(cell.header):
            continue
        one = re.fullmatch(rf"\s*({ADDRESS}|[\dA-F]{{2,4}}H)\s*", tagged.statement.cell_text(cell))
        name = _name(tagged, cells, cell, _VECTOR_NAMES)
        if one and name and not _RESERVED.search(name) and not _A_REGISTER.search(name):
            place = cell.start + one.start(1), cell.start + one.end(1)
            at = address(number(one[1]))
            yield Found("interrupts.vector", *place, at, instance=name[:60], sureness=0.85)
            if re.match(r"(?:power-?on |hard |cold )?reset\b(?!.*\b(?:soft|warm|watchdog))", name, re.IGNORECASE):
                yield Found("reset.vector", *place, at, sureness=0.72)
            return


def _interrupt(tagged: Tagged, cells: Sequence[Cell], numbered: Cell) -> Iterator[Found]:
    """The number of an interrupt."""
    text = tagged.statement.cell_text(numbered).strip()
    name = _name(tagged, cells, numbered, _SOURCE_NAMES)
    text = re.sub(r"^(?:IRQ|INT)\s*\[?(?=\d+\]?$)|\]$", "", text)
    if re.fullmatch(r"\d{1,4}", text) and name and not _RESERVED.search(name):
        yield Found("interrupts.irq", numbered.start, numbered.end, float(text), instance=name[:60], sureness=0.82)
