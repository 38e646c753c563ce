"""Addresses: memory maps, register offsets, reset and interrupt vectors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.fields import address
from hwdoc_ingest.rules import address_tables
from hwdoc_ingest.rules.rule import Found, Tagged

_SPACED = r"0x[\dA-Fa-f]{4} [\dA-Fa-f]{4}(?!\w|\.\d)|H'[\dA-Fa-f]{4} [\dA-Fa-f]{4}\b"
HEX = rf"(?:{_SPACED}|0x[\dA-Fa-f]{{1,4}}(?:_?[\dA-Fa-f]{{4}}){{0,3}}|H'[\dA-Fa-f]{{4,8}}|\b[\dA-Fa-f]{{2,8}}h\b)"
_HEX = re.compile(HEX)
_LONG_HEX = (
    rf"(?:{_SPACED}|0x[\dA-Fa-f]{{4}}(?:_?[\dA-Fa-f]{{4}}){{0,3}}|0x[\dA-Fa-f]{{5,16}}|H'[\dA-Fa-f]{{4,8}}"
    r"|\b[\dA-Fa-f]{4,8}h\b)"
)
_BASED = r"(?=[\dA-F]{0,3}[A-F])[\dA-F]{4}16\b"
"""FFFE with a small 16 below it, whose size was lost."""
_RANGE = re.compile(
    rf"^(?:0x[\dA-Fa-f]{{1,3}}\s*\|)?\s*(?P<name>[A-Za-z\u4e00-\u9fff][^|]*?)?\s*\|"
    rf"?\s*(?P<start>{_LONG_HEX})\s*(?:-|~|to|\||"
    rf"至)\s*(?P<end>{_LONG_HEX})\s*\|?\s*(?P<after>.*)$"
)
_MEMORY = re.compile(
    r"\b(?:S?D?RAM|SRAM|ROM|(?:LP)?DDR\w*|DRAM|flash|memory|TCM|[ID]CCM|TCDM|cache RAM)\b", re.IGNORECASE
)
_RESERVED = re.compile(r"\breserved\b|保留|\balias", re.IGNORECASE)
_RESET = re.compile(
    rf"\b(?:(?:reset|boot)(?: exception)? (?:vectors?|address)|program counter|PC)\b"
    rf"[^.;|]{{0,60}}?(?P<at>{HEX}|\bto zero\b)",
    re.IGNORECASE,
)
_PROSE = re.compile(
    r"^(?:the|this|these|an?|in|from|for|when|if|addresses|values?|\w+ing an?)\b|\b(?:from|at|to|addresses|is|are|of"
    r"|between)$|=",
    re.IGNORECASE,
)
"""A range of addresses inside a sentence has no name of its own."""
_GOES_ON = re.compile(
    r"\b(?:is|are|was|will|can|may|must|shall|should|causes?|starts?|begins?|comprises?|(?:in|when|if|for) \w+ mode)\b",
    re.IGNORECASE,
)
"""Behind a range: a sentence about it, whose words before the range are no name."""
_OF_ROW = re.compile(
    r"(?:(?:base|start|physical|virtual|memory|mapped) )?(?:address(?:es)?|ranges?|areas?|locations?|space)"
    r"(?: ranges?)?"
    r"|地址(?:范围|空间)?",
    re.IGNORECASE,
)
"""What a row says of a thing, not the thing's name: `Addresses`."""
_BEGINS = re.compile(
    rf"\b(?:execut\w+|boot\w*|(?:processor|core|CPU)) (?:always )?(?:starts?|begins?)(?: \w+){{0,3}}? (?:at|from)"
    rf"(?: the)?(?: address)? (?P<at>{HEX})(?=[^.;]*\breset\b)",
    re.IGNORECASE,
)
"""`execution starts at address 0x0000 0000 after reset`."""
_STARTS = re.compile(
    rf"\b(?:reset|power-?(?:up|on)|powered (?:up|on))\b"
    rf"(?:(?!\bstack\b|\bMSP\b).){{0,60}}\b(?:starts?|begins?|boots?|fetch\w*|jumps?|execut\w+)\b(?:(?!\bstack\b|\bMSP\b)[^.;|]){{0,50}}\b(?:from|at"
    rf"|to)\b[^.;|]{{0,24}}?(?P<at>{HEX})",
    re.IGNORECASE,
)
_LIES_AT = re.compile(
    r"\b(?P<name>(?:(?:internal|on-?chip|external|main|boot|system|embedded|code|data)\s)?"
    r"(?:S?RAM\d?|ROM|flash|(?:LP)?DDR\w*|DRAM|SDRAM|[ID]?TCM|[ID]?CCM|peripherals?))"
    r"(?: \([\w -]{3,32} memory\))?"
    r"(?:\s(?:memory|region|area|space|bank|registers))?\s+(?:(?:is|are)\s+)?"
    r"(?:mapped|located|start(?:s|ing)?(?: address)?|begin(?:s|ning)?|base address|at)"
    rf"(?:\s+(?:at|to|from|address|is|of))*\s+(?P<at>{_LONG_HEX})(?!\w)(?!\s*(?:-|~|to\b))",
    re.IGNORECASE,
)
"""`the SRAM is mapped at 0x2000_0000`."""
_AT = r"(?:mapped |located |starting |based )?(?:at|from)(?: (?:the )?(?:address|base address))?"
_SIZED_AT = re.compile(
    rf"\b\d{{1,4}} ?[KM](?:i?B|[ -]?bytes?) {_AT} (?P<at>{_LONG_HEX}) \((?P<named>[A-Z][\w-]{{2,15}})\)"
    rf"|\b(?P<name>[A-Z][\w-]{{2,15}}) \(\d{{1,4}} ?[KM](?:i?B|[ -]?bytes?),? {_AT} (?P<to>{_LONG_HEX})\)"
)
"""`64 Kbytes at 0x2000 0000 (SRAM0)`, `SRAM1 (128 Kbytes, mapped at 0x2000 0000)`."""
_VECTOR = re.compile(r"^(?P<name>[A-Z][A-Z0-9 .]{1,12}?)\s*\|?\s*(?P<at>[\dA-F]{2,4}H)\b")
_SIZE = re.compile(r"\(?(\d[\d.,]*)\s?(?:[kMG](?:i?B|[ -]?bytes?|bits?)?|bytes?|B)\)?", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z\u4e00-\u9fff]{2}")
_TELLS_ADDRESS = re.compile(
    r"address|memory|\bmap\b|\bregions?\b|\bspaces?\b|\bbase\b|\bstart|\bbegin|\bfrom\b|地址|区域|起始|空间",
    re.IGNORECASE,
)
_NO_ADDRESS = re.compile(
    r"precision|floating[- ]?point|\bformats?\b|\bencod|\bopcodes?\b|\bcodes?\b|\bpatterns?\b|\bmasks?\b|\bvalues?\b"
    r"|\bdata types?\b|浮点|编码|格式|操作码|数值",
    re.IGNORECASE,
)
"""The header or caption of bits that are no address: `Single precision`."""
_SHORT = re.compile(r"\w \(([A-Z][A-Z\d_]{1,24}[a-z]?\d*)\)\s*$")
"""A register's short name after its long one: `Channel Interrupts (INTR)`."""
_NAME_HEADER = re.compile(
    r"\b(?:blocks?|modules?|names?|peripherals?|devices?|regions? name|memory type|ip|function|target|slave)\b"
    r"|模块|名称|外设",
    re.IGNORECASE,
)


def hex_number(text: str) -> int:
    """The number that a printed hexadecimal address stands for: `0x0004_0000`, `H'A000 0000`, `24H`."""
    return int(re.sub(r"^0x|^H'|h$|[_ ]", "", text.strip(), flags=re.IGNORECASE), 16)


def find(tagged: Tagged) -> Iterator[Found]:
    """Regions and blocks of a memory map, register offsets, vectors."""
    rows = list(address_tables.find(tagged))
    yield from rows
    if not rows:
        yield from _map_row(tagged)
    yield from _offsets(tagged)
    if not rows and not tagged.statement.is_row:
        for spot in _SIZED_AT.finditer(tagged.text):
            at, name = address(hex_number(spot["at"] or spot["to"])), spot["named"] or spot["name"]
            yield Found("memory.region.base", spot.start(), spot.end(), at, instance=name, sureness=0.75)
        for lies in _LIES_AT.finditer(tagged.text):
            at, name = address(hex_number(lies["at"])), lies["name"]
            yield Found("memory.region.base", lies.start(), lies.end(), at, instance=name, sureness=0.78)
    yield from _reset(tagged)
    text, match = tagged.text, _VECTOR.match(tagged.text)
    if (
        match
        and not rows
        and re.search(
            r"interrupt|vector|restart|priority|address",
            tagged.path_text + " ".join(c.header for c in tagged.statement.cells),
            re.IGNORECASE,
        )
    ):
        name = match["name"].strip()
        if re.search(r"[A-Z]{3}", name):
            yield Found(
                "interrupts.vector",
                match.start("at"),
                match.end("at"),
                address(hex_number(text[match.start("at") : match.end("at")])),
                instance=name,
                sureness=0.85,
            )


def _map_row(tagged: Tagged) -> Iterator[Found]:
    match = _RANGE.match(tagged.text)
    if not match:
        return
    start, end = hex_number(match["start"]), hex_number(match["end"])
    name = _block_name(tagged, match)
    if (
        end <= start
        or end - start < 15
        or not name
        or len(name) > 70
        or _RESERVED.search(name)
        or start % 4
        or _holds_numbers(tagged)
        or re.search(r"\balias", tagged.path_text, re.IGNORECASE)
        or _OF_ROW.fullmatch(name)
        or (
            not tagged.statement.is_row
            and (
                len(_HEX.findall(tagged.text)) > 3
                or _PROSE.search(name)
                or (match["name"] and _GOES_ON.search(match["after"]))
            )
        )
    ):
        return
    label = re.sub(r"\s*\((?=[^()]*\d\s?[kKMG]i?B|[^()]*[:,]).*\)\s*$", "", name.split("|")[0]).strip()
    if not re.search(r"[A-Za-z\u4e00-\u9fff]{2}", label):
        return
    at, stop = match.start("start"), match.end("start")
    device = re.search(r"\b(?:unit|controller|registers?|interface|port|control)$", label, re.IGNORECASE)
    if not device and (_MEMORY.search(label) or re.fullmatch(r"[ID]CCM", label)):
        yield Found("memory.region.base", at, stop, address(start), instance=label, sureness=0.88)
        size = float(end - start + 1)
        if address_tables.sizes_agree(name, size):
            yield Found("memory.region.size_bytes", at, match.end("end"), size, instance=label, sureness=0.75)
    else:
        yield Found("mmio.base", at, stop, address(start), instance=label, sureness=0.85)


def _holds_numbers(tagged: Tagged) -> bool:
    """Whether a row is of a table of numbers, by its headers and captions, rather than of addresses."""
    headers = " ".join(cell.header for cell in tagged.statement.cells)
    told = f"{headers} {' '.join(tagged.statement.path[-2:])}"
    return tagged.statement.is_row and bool(_NO_ADDRESS.search(told)) and not _TELLS_ADDRESS.search(told)


def _block_name(tagged: Tagged, match: re.Match[str]) -> str:
    """What stands at the addresses: the cell under a header that says so, else the first words that are no number."""
    for cell in tagged.statement.cells:
        text = tagged.statement.cell_text(cell)
        if _NAME_HEADER.search(cell.header) and _WORDS.search(text) and not _SIZE.fullmatch(text):
            return text
    parts = [part.strip(" |:") for part in (match["name"] or match["after"]).split("|")]
    parts = [re.sub(r"^\([^()]*\)\s*:?\s*(?:corresponds to\s+)?", "", part, flags=re.IGNORECASE) for part in parts]
    return next((p for p in parts if _WORDS.search(p) and not _SIZE.fullmatch(p) and not _HEX.fullmatch(p)), "")


def _offsets(tagged: Tagged) -> Iterator[Found]:
    cells = tagged.statement.cells
    offset = next((c for c in cells if re.search(r"\boffset\b|偏移", c.header, re.IGNORECASE)), None)
    named = next(
        (c for c in cells if re.search(r"\b(?:name|register|symbol)\b|名称|寄存器", c.header, re.IGNORECASE)), None
    )
    if offset is None or named is None or named is offset:
        return
    text, called = tagged.statement.cell_text(offset), tagged.statement.cell_text(named)
    short = _SHORT.search(called)
    name = short[1] if short else re.sub(r"\s+", "", called)
    found = re.fullmatch(rf"\s*(?:{HEX}|[\dA-Fa-f]{{2,4}}|[\dA-Fa-f]{{1,4}}h)\s*", text)
    if found and re.fullmatch(r"[A-Za-z]\w{1,40}", name):
        yield Found(
            "register.offset", offset.start, offset.end, address(hex_number(text)), instance=name, sureness=0.88
        )


def _reset(tagged: Tagged) -> Iterator[Found]:
    text = tagged.text
    if not re.search(r"\breset\b|\bboot address\b|复位", f"{text} {tagged.path_text}", re.IGNORECASE):
        return
    based = re.search(rf"\breset vectors?\b.{{0,40}}?\b(?P<at>{_BASED})", text, re.IGNORECASE)
    if based:
        number = int(based["at"][:-2], 16)
        yield Found("reset.vector", based.start("at"), based.end("at"), address(number), sureness=0.75)
        return
    match = (
        _RESET.search(text)
        or _STARTS.search(text)
        or _BEGINS.search(text)
        or re.search(rf"\breset vectors?\b.{{0,40}}?(?P<at>{HEX})", text, re.IGNORECASE)
    )
    if match:
        word = match["at"]
        number = 0 if "zero" in word.lower() else hex_number(word)
        yield Found("reset.vector", match.start("at"), match.end("at"), address(number), sureness=0.75)
