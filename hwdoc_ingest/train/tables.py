"""Rows of made-up tables: ratings, features, registers, pins, orders and memory maps."""

from __future__ import annotations

import random
from collections.abc import Sequence

from hwdoc_ingest.bert.labels import NO_FIELD
from hwdoc_ingest.train.example import Example, row
from hwdoc_ingest.train.phrases import FieldPhrases
from hwdoc_ingest.train.style import Style, restyle

_HEADERS = {
    "name": ("Parameter", "Characteristic", "Item", "Description", "Rating", "参数", "Parameters", ""),
    "symbol": ("Symbol", "Sym.", "符号"),
    "condition": ("Conditions", "Test conditions", "Condition", "条件", "Notes"),
    "min": ("Min", "Min.", "Minimum", "MIN", "最小值"),
    "typ": ("Typ", "Typ.", "Typical", "Nom", "TYP", "典型值"),
    "max": ("Max", "Max.", "Maximum", "MAX", "最大值"),
    "unit": ("Unit", "Units", "UNIT", "单位"),
}
_CONDITIONS = (
    "VDD = 3.3 V",
    "TA = 25 °C",
    "f = 25 MHz",
    "Deep-sleep mode",
    "VCC = max",
    "Note 1",
    "Active, all peripherals on",
    "",
)

_MEANINGS = (
    "Burst length, 0 = [- 1], 3 = [- 16] beats",
    "Cache size: 0: [- 8 KB], 1: [- 16 KB]",
    "Number of channels minus one: [- 7]",
    "Clock divider, [- 1] to [- 16]",
    "Line size [- 32] bytes if set",
    "FIFO depth [- 16]",
    "选择时钟 [- 24 MHz] 或 [- 32 kHz]",
)


def rating(each: FieldPhrases, paths: Sequence[tuple[str, ...]], manner: Style, rng: random.Random) -> Example:
    """A row of Min, Typ and Max; an invented one if `each` is of no field."""
    language = manner.language if manner.language in each.names else "en"
    low, usual, high = (f"[v {n}]" if n else rng.choice(("", "", "-", "NA")) for n in rng.choice(each.numbers))
    name = f"[p {_cased(rng.choice(each.names[language]), rng)}]"
    condition = rng.choice(_CONDITIONS)
    header = {key: rng.choice(words) for key, words in _HEADERS.items()}
    cells = [(header["name"], name)]
    if rng.random() < 0.7 and each.symbols:
        cells.insert(rng.choice((0, 1)), (header["symbol"], rng.choice(each.symbols)))
    if condition and rng.random() < 0.4:
        cells.append((header["condition"], f"[c {condition}]"))
    cells += [(header["min"], low), (header["typ"], usual), (header["max"], high)]
    unit = each.unit if rng.random() < 0.8 else each.unit.replace("°C", "℃")
    cells.insert(len(cells) if rng.random() < 0.85 else 1, (header["unit"], unit))
    return row(cells, each.field, "rating", rng.choice(paths))


def _cased(name: str, rng: random.Random) -> str:
    return rng.choice((name, name.capitalize(), name.title()))


def key_value(each: FieldPhrases, manner: Style, rng: random.Random) -> Example:
    """A row of a feature table: the name in one cell, the value in the next."""
    names = each.names.get(manner.language) or each.names["en"]
    value = restyle(rng.choice(each.values), manner, rng)
    headers = rng.choice(
        (("Feature", "Value"), ("Item", "Specification"), ("Function", manner.chip), ("", ""), ("参数", "规格"))
    )
    cells = [(headers[0], f"[p {_cased(rng.choice(names).lstrip('-'), rng)}]"), (headers[1], f"[v {value}]")]
    if rng.random() < 0.3:
        cells.append(("Remark", rng.choice(("per core", "shared", "optional", "see note 2", "with ECC"))))
    return row(
        cells, each.field, "feature", rng.choice((("Feature summary",), ("Overview",), ("Device comparison",), ()))
    )


def register(manner: Style, rng: random.Random) -> Example:
    """A row of a register's fields."""
    high = rng.randrange(1, 32)
    name = rng.choice(("BURST", "SIZE", "CH_NUM", "MODE", "WAYS", "CLKDIV", "DEPTH", "IRQ_EN"))
    meaning = rng.choice(_MEANINGS)
    cells = [
        ("Bits", f"{high}:{rng.randrange(0, high)}"),
        ("Name", name),
        ("Reset", f"[- 0x{rng.randrange(256):x}]"),
        ("Description", meaning),
    ]
    return row(cells, NO_FIELD, "register", (rng.choice(("DMA_CTRL", "Register description", "9.4.2 CACHE_CFG")),))


def pin(manner: Style, rng: random.Random) -> Example:
    """A row of a pin table."""
    cells = [
        ("Pin", f"[- {rng.randrange(1, 200)}]"),
        ("Name", rng.choice(("GPIO12", "VDD33", "XTAL_IN", "DDR_A3", "UART0_TX"))),
        ("Type", rng.choice(("I/O", "Power", "I", "O"))),
        (
            "Description",
            rng.choice(("[- 3.3 V] I/O supply", "[- 8 mA] output", "Crystal input, [- 24 MHz]", "Address bit [- 3]")),
        ),
    ]
    return row(cells, NO_FIELD, "pin", (rng.choice(("Pin description", "Signals", "管脚定义")),))


def order(manner: Style, rng: random.Random) -> Example:
    """A row of an ordering table."""
    cells = [
        ("Part number", f"{manner.chip}-{rng.choice('ABCQ')}{rng.randrange(10)}"),
        ("Package", rng.choice(("QFN[- 56]", "LQFP[- 100]", "BGA[- 256]"))),
        ("Flash", rng.choice(("", "[- 512 KB]", "[- 2 MB]"))),
        ("Speed", rng.choice(("", "[- 25 MHz]", "[- 33MHz]"))),
        ("Temperature", rng.choice(("[- -40 to 85 °C]", "[- 0~70]", ""))),
    ]
    return row(cells, NO_FIELD, "ordering", (rng.choice(("Ordering information", "Device selection", "订购信息")),))


def region(manner: Style, rng: random.Random) -> Example:
    """A row of a memory map."""
    start = rng.randrange(1, 4096) << 16
    size = rng.choice((0x1000, 0x10000, 0x100000))
    cells = [
        ("Start", f"[- 0x{start:08X}]"),
        ("End", f"[- 0x{start + size - 1:08X}]"),
        ("Size", f"[v {restyle(f'{size // 1024} KB', manner, rng)}]"),
        ("Block", rng.choice(("UART0", "SRAM", "ROM", "DMAC", "GPIO", "Reserved", "SPI flash"))),
    ]
    return row(cells, "memory.region.size_bytes", "map", (rng.choice(("Memory map", "Address map", "地址映射")),))
