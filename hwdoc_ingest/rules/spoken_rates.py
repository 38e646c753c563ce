"""Rates of work that are written out: `1350 million floating-point operations per second`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, Tagged

_TIMES = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "tera": 1e12, "giga": 1e9, "mega": 1e6}
_RATE = re.compile(
    r"(?P<most>\bup to |\bas many as |\bmax(?:imum)?(?: of)? )?\b(?P<number>\d{1,5}(?:,\d{3})*(?:\.\d+)?)"
    r"[ -](?P<times>million|billion|trillion|tera|giga|mega)[ -]?"
    r"(?P<what>floating[- ]point operations|instructions|operations|(?:integer )?ops)"
    r"(?: \(\w[\w -]{1,24}\))? (?:per|each|every|a|in one) ?(?:second|sec)\b|"
    r"(?P<most2>\bup to )?\b(?P<number2>\d{1,5}(?:\.\d+)?) peak (?P<times2>[MGT])FLOPS?(?:/s)?\b",
    re.IGNORECASE,
)
_DELIVERS = re.compile(
    r"\b(?:deliver|achiev|provid|offer|perform)\w*\s+(?P<most>(?:up to|as much as|a peak of) )?"
    r"(?P<number>\d{1,5}(?:\.\d+)?) ?(?P<times>mega|giga|tera|[MGT])flops?\b(?!/)",
    re.IGNORECASE,
)
"""`It delivers 160 gigaflops`."""
_ACCELERATOR = re.compile(
    r"\b(?:[NKBT]PUs?|neural|AI|deep[- ]learning|machine[- ]learning|ML|inference|tensors?)\b", re.IGNORECASE
)
_GRAPHICS = re.compile(r"\bGPU\b|\bgraphics\b|\bshader", re.IGNORECASE)
_MACS = re.compile(r"multiply|\bMACs?\b", re.IGNORECASE)


def find(tagged: Tagged) -> Iterator[Found]:
    """Peak floating-point operations, million instructions, and what an accelerator does a second."""
    text = tagged.text
    if tagged.statement.is_row or _GRAPHICS.search(f"{text} {tagged.parent}"):
        return
    for match in _DELIVERS.finditer(text) if not _ACCELERATOR.search(f"{text} {tagged.parent}") else ():
        value = float(match["number"]) * {"m": 1e6, "g": 1e9, "t": 1e12}[match["times"][0].lower()]
        most = bool(match["most"])
        yield Found(
            "cpu.peak_flops", *match.span(), None if most else value, max=value if most else None, sureness=0.75
        )
    for match in _RATE.finditer(text):
        if _MACS.search(match.group()):
            continue
        number = float((match["number"] or match["number2"]).replace(",", ""))
        what = (match["what"] or "floating").lower()
        times = _TIMES.get((match["times"] or "").lower()) or {"M": 1e6, "G": 1e9, "T": 1e12}[match["times2"].upper()]
        hertz = number * times
        if what.startswith("floating"):
            field, value = "cpu.peak_flops", hertz
        elif what == "instructions":
            field, value = "cpu.mips", hertz / 1e6
        elif _ACCELERATOR.search(f"{text} {tagged.path_text}") and hertz >= 1e10:
            field, value = "npu.tops", hertz / 1e12
        else:
            continue
        most = bool(match["most"] or match["most2"])
        yield Found(field, *match.span(), None if most else value, max=value if most else None, sureness=0.8)
