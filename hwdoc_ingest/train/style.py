"""A document's own style: how it writes units, names its chip, and which language it is in."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hwdoc_ingest.train.phrases import Phrases

_SIZES: Sequence[dict[str, str]] = (
    {" KB": " KB", " MB": " MB", " GB": " GB", " B": " bytes"},
    {" KB": "KB", " MB": "MB", " GB": "GB", " B": "B"},
    {" KB": " kB", " MB": " MB", " GB": " GB", " B": "-byte"},
    {" KB": "-KByte", " MB": "-MByte", " GB": "-GByte", " B": "-Byte"},
    {" KB": " kbytes", " MB": " Mbytes", " GB": " Gbytes", " B": " bytes"},
    {" KB": " K bytes", " MB": " M bytes", " GB": " G bytes", " B": " bytes"},
    {" KB": "K", " MB": "M", " GB": "G", " B": "B"},
    {" KB": " KiB", " MB": " MiB", " GB": " GiB", " B": " bytes"},
    {" KB": "kB", " MB": "MB", " GB": "GB", " B": "-byte"},
)
_COUNTS = {"2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "8": "eight", "16": "sixteen"}
_SIZE_CHOICES = ("512 bytes", "4 KB", "16 KB", "64KB", "256 KB", "1 MB", "128 bytes", "8KB", "2 MB", "32 bytes")
_FILL: dict[str, Sequence[str]] = {
    "size": _SIZE_CHOICES,
    "count": ("2", "3", "4", "6", "8", "10", "12", "16", "24", "32", "48", "64", "100", "144", "256"),
    "freq": ("10 MHz", "20MHz", "50 MHz", "80 MHz", "100 MHz", "200MHz", "400 kHz", "1 GHz", "26 MHz", "133MHz"),
    "bits": ("8-bit", "16-bit", "32-bit", "64-bit", "10 bits", "12-bit", "24 bit"),
    "volt": ("1.2 V", "1.8V", "3.3 V", "5 V", "0.9 V"),
    "time": ("10 ns", "5 µs", "2 ms", "100 ns", "1 ms"),
    "temp": ("25 °C", "85°C", "-40 °C", "125 °C"),
    "amp": ("4 mA", "8mA", "20 mA"),
    "rate": ("480 Mbps", "1 Gbps", "5 Gbps"),
    "reg": ("DMA_CTRL", "CACHE_CFG", "CLKSEL", "CTRL1", "INTEN", "CCR0", "SYS_CONF", "L2CFG"),
}


@dataclass(frozen=True)
class Style:
    """How one made-up document writes."""

    language: str
    chip: str
    sizes: dict[str, str]
    tight: bool
    """Whether no blank stands between number and unit."""
    scanned: bool
    bits: str


def style(rng: random.Random) -> Style:
    """A style drawn at random."""
    return Style(
        language="zh" if rng.random() < 0.22 else "en",
        chip=_chip(rng),
        sizes=rng.choice(_SIZES),
        tight=rng.random() < 0.4,
        scanned=rng.random() < 0.2,
        bits=rng.choice(("-bit", " bit", " bits", "bit", "-Bit", "bits")),
    )


def _chip(rng: random.Random) -> str:
    letters = "".join(rng.choice("ABCDEGHKLMNPQRSTVXZ") for _ in range(rng.choice((1, 2, 2, 3))))
    tail = rng.choice(("", "", "", "-A", "S", "P", "-2", "x"))
    return f"{letters}{rng.choice(('', '-'))}{rng.randrange(10, 9999)}{tail}"


def restyle(value: str, manner: Style, rng: random.Random) -> str:
    """A value as a document of this style writes it."""
    for unit, written in manner.sizes.items():
        value = re.sub(rf"{unit}\b", written, value)
    if manner.language == "zh":
        value = re.sub(r" bit\b", rng.choice(("位", " 位", "bit", "-bit")), value)
    value = re.sub(r" bit\b", manner.bits, value)
    if manner.tight:
        value = re.sub(r"(?<=\d) (?=[A-Za-z°µ]+$)", "", value)
    if manner.language == "en" and value in _COUNTS and rng.random() < 0.15:
        value = _COUNTS[value]
    return value


def filler(markup: str, phrases: Phrases, manner: Style, rng: random.Random) -> str:
    """The markup with its remaining slots filled."""
    words = phrases.words
    language = "zh" if manner.language == "zh" and rng.random() < 0.9 else "en"

    def fill(match: re.Match[str]) -> str:
        slot = match[1]
        if slot == "max":
            return f"[max {rng.choice(words[f'max_{language}'])}]"
        if slot == "own":
            return rng.choice(words["own_en"]).replace("{chip}", manner.chip)
        if slot == "core":
            return rng.choice(words["core"])
        if slot in ("chip2", "part"):
            return "the " * (slot == "chip2" and rng.random() < 0.4) + _chip(rng)
        return rng.choice(_FILL[slot]) if slot in _FILL else match.group()

    return re.sub(r"\{(max|own|core|chip2|part|size|count|freq|bits|volt|time|temp|amp|rate|reg)\}", fill, markup)
