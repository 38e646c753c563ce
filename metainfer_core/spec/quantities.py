"""Quantities as data sheets print them: one closed table of units, ranges that stay ranges, exact conversion.

The dialect keeps case where it carries meaning (`B` is a byte, `b` a bit) and forgives it where it does not. Sizes of
memory are binary (KB = KiB = 1024 B); rates and clocks are decimal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from metainfer_core.spec.hardware_spec import Quantity

Fault = Literal["no_number", "missing_unit", "unknown_unit", "wrong_dimension", "ambiguous_unit", "broken_range"]
TEXT_LIMIT = 200


class QuantityError(ValueError):
    """A text that is not a quantity of the asked dimension.

    Args:
        fault: Which kind of fault it is.
        message: What is wrong, as a sentence.
        fix: What to write instead.
    """

    def __init__(self, fault: Fault, message: str, fix: str = "") -> None:
        self.fault, self.message, self.fix = fault, message, fix
        super().__init__(message)


@dataclass(frozen=True)
class Unit:
    """A unit of measure: `factor` times the base unit of its dimension."""

    name: str
    dimension: str
    factor: Fraction
    offset: Fraction = Fraction(0)
    doubt: str = ""
    """Why readers may take it for another unit; empty where they cannot."""


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}

    def add(dimension: str, factor: Fraction | int | str, *spellings: str, doubt: str = "") -> None:
        for spelling in spellings:
            units[spelling] = Unit(spellings[0], dimension, Fraction(factor), doubt=doubt)

    for power, letter in enumerate(("", "K", "M", "G", "T")):
        size = 1024**power
        lower = {"K": "k"}.get(letter, letter)
        if letter:
            doubt = f"{letter}B is read as {letter}iB ({size:,} B) here, but as {1000**power:,} B elsewhere"
            add("information", size, f"{letter}iB", f"{lower}iB")
            add("information", size, *_spelled(letter, lower, "B", "byte", "Byte", "bytes", "Bytes"), doubt=doubt)
            bare_doubt = f"{letter} alone is read as {letter}iB"
            add("information", size, *_spelled(letter, lower, ""), doubt=bare_doubt)
            bit_doubt = f"{letter}b is bits, but often stands where {letter}B (bytes, 8 times more) was meant"
            add("information", Fraction(size, 8), *_spelled(letter, lower, "b"), doubt=bit_doubt)
            add("information", Fraction(size, 8), *_spelled(letter, lower, "bit", "bits", "Bit", "Bits"))
            add("information", Fraction(size, 8), f"{letter}ibit", f"{letter}ib")
        rate = 1000**power
        add("bandwidth", rate, *_spelled(letter, lower, "B/s", "byte/s", "bytes/s", "Bytes/s", "B/sec", "Byte/s"))
        add("bandwidth", Fraction(rate, 8), *_spelled(letter, lower, "bit/s", "bits/s", "Bit/s"))
        bps_doubt = f"{letter}b/s is bits a second, but often stands where {letter}B/s (8 times more) was meant"
        add("bandwidth", Fraction(rate, 8), *_spelled(letter, lower, "b/s", "bps"), doubt=bps_doubt)
        case_doubt = f"{letter}Bps is read as {letter}B/s"
        add("bandwidth", rate, *_spelled(letter, lower, "Bps"), doubt=case_doubt)
        if letter:
            add("bandwidth", size, f"{letter}iB/s")
        add("frequency", rate, *_spelled(letter, lower, "Hz", "hz", "HZ"))
        add("transfer rate", rate, *_spelled(letter, lower, "T/s", "Tps", "TPS"))
        add("operation rate", rate, *_spelled(letter, lower, "OPS", "OPs", "Ops", "ops", "OP/s", "FLOPS", "FLOPs"))
    add("information", 1, "B", "byte", "bytes", "Byte", "Bytes")
    add("information", Fraction(1, 8), "bit", "bits", "Bit", "Bits", "b")
    for letter, factor in (("", "1"), ("m", "1/1000"), ("u", "1/1000000"), ("n", "1/1000000000")):
        for micro in ("u", "µ", "μ") if letter == "u" else (letter,):
            add("time", factor, f"{micro}s", f"{micro}sec")
            add("voltage", factor, f"{micro}V")
            add("current", factor, f"{micro}A")
            add("power", factor, f"{micro}W")
    add("voltage", 1000, "kV")
    add("length", "1/1000000000", "nm")
    add("length", "1/1000000", "um", "µm", "μm")
    add("length", "1/1000", "mm")
    add("length", 1, "m")
    add("temperature", 1, "degC", "°C", "℃", "oC", "C")
    add("thermal resistance", 1, "degC/W", "°C/W", "℃/W", "K/W", "C/W")
    add("cycles", 1, "cycles", "cycle", "clocks", "clock cycles", "clock cycle", "clk", "CLK")
    add("beats", 1, "beats", "beat")
    add("ratio", "1/100", "%", "percent")
    add("MAC rate", 1, "MAC/cycle", "MACs/cycle")
    # Fahrenheit is printed beside Celsius in old data sheets: known, so that it is never taken for an unknown unit.
    units["degF"] = units["°F"] = Unit("degF", "temperature", Fraction(5, 9), Fraction(-160, 9))
    return units


def _spelled(letter: str, lower: str, *stems: str) -> list[str]:
    return [first + stem for stem in stems for first in dict.fromkeys((letter, lower))]


UNITS = _table()
"""Spelling to unit. `s` of time and `S` do not mix; `m` is milli and `M` is mega."""

KEY_UNITS: dict[str, str] = {
    "bytes": "B",
    "bits": "bit",
    "hz": "Hz",
    "cycles": "cycles",
    "gbps": "GB/s",
    "mtps": "MT/s",
    "us": "us",
    "ms": "ms",
    "ns": "ns",
    "nm": "nm",
    "tops": "TOPS",
}
"""How a key's name ends, and the unit that its value is kept in."""

_ENDINGS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("macs",), "_per_cycle", "MAC/cycle"),
    (("power",), "_w", "W"),
    (("supply", "voltage"), "_v", "V"),
    (("current",), "_a", "A"),
    (("ambient", "case", "junction", "storage"), "_c", "degC"),
)
"""Endings that tell a unit only after certain beginnings: `kernel_w` is a width, `power_max_w` a power."""


def unit(spelling: str) -> Unit | None:
    """The unit that a spelling stands for, or None where the table does not have it."""
    spelling = " ".join(spelling.split())
    found = UNITS.get(spelling) or UNITS.get(spelling.replace(" ", ""))
    if found or not spelling:
        return found
    return UNITS.get(spelling.rstrip("."))


def key_unit(key: str) -> Unit | None:
    """The base unit of a key (`size_bytes` → B), or None where its name carries no unit."""
    for beginnings, ending, spelling in _ENDINGS:
        if key.endswith(ending):
            return UNITS[spelling] if key.startswith(beginnings) else None
    name = KEY_UNITS.get(key.rsplit("_", 1)[-1])
    return UNITS[name] if name else None


_NUMBER = (
    r"[-+−–]?(?:0[xX][0-9a-fA-F][0-9a-fA-F_]*|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d{1,2})?|\.\d+)"
)
_UNIT = r"[^\d\s±~∼+–—−-][^\d±~∼]*?"
_BOUND = r"up to|at most|max(?:imum)?\.?|typ(?:ical)?\.?|min(?:imum)?\.?|at least|<=|>=|≤|≥|<|>|about|~|≈"
_BETWEEN = r"±|\+/-|\+-|-|–|—|−|~|∼|\.\.\.?|…|to|and|至"
_QUANTITY = re.compile(
    rf"^(?:from\s+|between\s+)?(?P<bound>{_BOUND})?\s*"
    rf"(?P<first>{_NUMBER})(?:\s*-(?=[A-Za-z])|\s*)(?P<unit1>{_UNIT})??"
    rf"(?:\s*(?P<between>{_BETWEEN})\s*(?P<second>{_NUMBER})\s*(?P<unit2>{_UNIT})?)?"
    rf"(?:\s*\((?P<note>[^()]*)\))?$",
    re.IGNORECASE,
)
_AT_MOST = ("up to", "at most", "max", "<=", "≤", "<")
_AT_LEAST = ("at least", "min", ">=", "≥", ">")


def number(text: str) -> Fraction:
    """A printed number, exactly: `1,920`, `0x8000`, `0x0004_0000`, `1.8`, `−40`, `1e9`."""
    plain = text.strip().replace("−", "-").replace("–", "-").replace(",", "")
    if "0x" in plain.lower():
        sign = -1 if plain.startswith("-") else 1
        return Fraction(sign * int(plain.lstrip("+-").replace("_", ""), 16))
    return Fraction(plain)


def parse_quantity(text: str, base: Unit | None) -> Quantity:
    """The quantity in a text, in the unit `base`; a range stays a range, `12±1` is a typical value with both bounds.

    Args:
        text: What a person or a data sheet wrote: "512 KiB", "2.2-2.4 GHz", "12±1 cycles", "up to 240 MHz".
        base: Unit of the result; None where the value has no unit.

    Raises:
        QuantityError: No number, no unit or one of another dimension, or a range upside down.
    """
    if len(text) > TEXT_LIMIT:
        raise QuantityError("no_number", f"A text of {len(text):,} characters is no quantity.", "Write a number.")
    match = _QUANTITY.match(text.strip())
    if not match:
        example = f"512 {base.name}" if base else "512"
        raise QuantityError("no_number", f"{text!r} is not a number with a unit.", f'Write it like "{example}".')
    bound = (match["bound"] or "").lower().rstrip(".").replace("imum", "").replace("ical", "")
    first, second = number(match["first"]), number(match["second"]) if match["second"] else None
    unit1, unit2 = (match["unit1"] or "").strip(), (match["unit2"] or "").strip()
    if match["between"] in ("±", "+/-", "+-") and second is not None:
        return _with_tolerance(text, first, second, unit1, unit2, base)
    low = _convert(text, first, unit1 or unit2, base)
    if second is None:
        if bound in _AT_MOST:
            return Quantity(max=low)
        return Quantity(min=low) if bound in _AT_LEAST else Quantity(typ=low)
    high = _convert(text, second, unit2 or unit1, base)
    if low > high:
        raise QuantityError("broken_range", f"{text!r} runs downwards.", "Write the smaller end first.")
    return Quantity(min=low, max=high)


def _with_tolerance(
    text: str, middle: Fraction, width: Fraction, unit1: str, unit2: str, base: Unit | None
) -> Quantity:
    """`12±1 cycles` and `3.3 V ± 5 %`: a typical value between bounds."""
    if width < 0:
        raise QuantityError("broken_range", f"{text!r} has a negative tolerance.", "Write it as a positive number.")
    if unit2 in ("%", "percent") and (base is None or base.dimension != "ratio"):
        width, unit2 = abs(middle) * width / 100, unit1
    ends = [_convert(text, value, unit1 or unit2, base) for value in (middle - width, middle, middle + width)]
    return Quantity(min=ends[0], typ=ends[1], max=ends[2])


def _convert(text: str, value: Fraction, spelling: str, base: Unit | None) -> float:
    if base is None:
        if spelling:
            raise QuantityError(
                "wrong_dimension", f"{text!r} has a unit, but this value has none.", f"Write {float(value):g}."
            )
        return float(value)
    if not spelling:
        fix = f"Write {_plain(value)} as a bare number of {base.name}, or with its unit."
        raise QuantityError("missing_unit", f"{text!r} has no unit.", fix)
    found = unit(spelling)
    if found is None:
        known = list(dict.fromkeys(u.name for u in UNITS.values() if u.dimension == base.dimension and not u.doubt))
        fix = f"Use one of: {', '.join(known)}."
        raise QuantityError("unknown_unit", f"{spelling!r} in {text!r} is not a known unit.", fix)
    if found.dimension != base.dimension:
        message = f"{text!r} is a {found.dimension}; a {base.dimension} in {base.name} is expected here."
        raise QuantityError("wrong_dimension", message, f"Give the value in {base.name}.")
    return float((value * found.factor + found.offset - base.offset) / base.factor)


def ambiguity(text: str) -> str:
    """Why the unit in a text may be misread (`KB`, `Kb`, `Gbps`), or an empty text."""
    match = _QUANTITY.match(text.strip())
    for spelling in (match["unit1"], match["unit2"]) if match else ():
        found = unit(spelling or "")
        if found and found.doubt:
            return found.doubt
    return ""


_SIZES = {UNITS[name].factor: name for name in ("KiB", "MiB", "GiB", "TiB")}


def unambiguous(text: str) -> str:
    """The same quantity in units that nobody takes for others (`512 KB` → `512 KiB`), or an empty text.

    Bits that may have been meant as bytes have none: only people know.
    """
    match = _QUANTITY.match(text.strip())
    clear = text.strip()
    for name in ("unit2", "unit1"):
        found = unit(match[name] or "") if match else None
        if match is None or found is None or not found.doubt:
            continue
        if found.dimension == "information" and found.factor in _SIZES:
            spelling = _SIZES[found.factor]
        elif found.dimension == "bandwidth" and found.name.endswith("Bps"):
            spelling = found.name.replace("Bps", "B/s")
        else:
            return ""
        blank = "" if clear[match.start(name) - 1 : match.start(name)].isspace() else " "
        clear = clear[: match.start(name)] + blank + spelling + clear[match.end(name) :]
    return clear if clear != text.strip() else ""


def _plain(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(float(value))


_SCALES: dict[str, tuple[str, ...]] = {
    "B": ("GiB", "MiB", "KiB"),
    "Hz": ("GHz", "MHz", "kHz"),
}


def format_quantity(value: float, base: Unit | None) -> str | int | float:
    """How a value is written in a file: "512 KiB", "1.8 GHz", else a bare number of `base`; read back exactly."""
    for name in _SCALES.get(base.name if base else "", ()):
        scaled = Fraction(value) / UNITS[name].factor
        # Only what reads well: 1.8 GHz and 1152 KiB, but 65535 as a bare number of bytes.
        digits = 1000 if name.endswith("Hz") else 2
        if scaled >= 1 and (scaled * digits).denominator == 1:
            return f"{_plain(scaled)} {name}"
    return int(value) if value == int(value) and abs(value) < 2**53 else value
