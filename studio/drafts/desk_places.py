"""The places of a draft in people's words, as the desk shows them: what a draft says, whatever was decided about it."""

from __future__ import annotations

import functools
import json
import re
from typing import Any

from hwdoc_ingest.fields import FIELDS
from metainfer_core.spec.drafting.draft import Candidate, SpecDraft
from metainfer_core.spec.field_shapes import shape_at
from metainfer_core.spec.quantities import KEY_UNITS
from studio.drafts.draft_examples import example
from studio.drafts.draft_places import Place, amount, digest_of, missing, places, will_hold
from studio.words.core_words import said_in
from studio.words.language import FIRST, Language
from studio.words.texts import text

_CAPITALS = (
    "cpu npu gpu dsp dma isa isp mmu usb dram sram psram rom tcm otp tlb ecc fifo irq ppi spi pll rc fsl gpio "
    "dmips mips flops gflops l1 l2 l3"
)
_PARTS = {word: word.upper() for word in _CAPITALS.split()} | {
    "ja": "junction to ambient",
    "jc": "junction to case",
    "macs": "MACs",
    "mhz": "MHz",
    "mmio": "register",
    "tops": "peak TOPS",
    "xtal": "crystal",
}
_CACHE = re.compile(r"l([1-3])([id]?)_cache")
_UNITS = (*(ending for ending in KEY_UNITS if ending != "tops"), "Bps", "w", "v", "c", "s", "a")
_ENDINGS = {"_c_per_w": "", "_mpix_s": "", "_cm2": " area", "_mm2": " area"} | {f"_{unit}": "" for unit in _UNITS}
"""How a name tells the unit of its values, the longest first, and what a title says in its place: beside it stands the
value with its unit.
"""
_QUOTED = 600
"""Letters of the document's words that are shown."""


@functools.lru_cache(maxsize=4)
def desk_places(draft: SpecDraft, speaks: Language = FIRST) -> bytes:
    """All places as JSON, with the draft's digest; made once, fetched once by each window."""
    every = [place_data(draft, place, speaks) for place in (*places(draft), *missing(draft))]
    return json.dumps({"draft": digest_of(draft), "places": every}, separators=(",", ":")).encode()


def place_data(draft: SpecDraft, place: Place, speaks: Language = FIRST) -> dict[str, Any]:
    """One place with its readings."""
    return {
        "key": place.key,
        "title": said_in(speaks, title(place.field)),
        "instance": place.instance,
        "group": place.group,
        "conflict": place.is_conflict,
        "mixed": place.is_mixed,
        "meaning": said_in(speaks, FIELDS[place.field].meaning) if place.field in FIELDS else "",
        "readings": [_reading(draft.candidates[index], index, place.key, speaks) for index in place.indexes],
        **example(place.key, place.field),
    }


def title(field: str) -> str:
    """A document field in words: `cpu.l1d_cache.size_bytes` is `CPU L1d cache size`, `chip.die_cm2` `Chip die area`."""
    named = _CACHE.sub(r"L\1\2 cache", field)
    for ending, said in _ENDINGS.items():
        if named.endswith(ending) and named[: -len(ending)][-1:] not in (".", ""):
            named = named.removesuffix(ending) + said
            break
    words = " ".join(_PARTS.get(word, word) for word in re.split(r"[._ ]+", named))
    return words[:1].upper() + words[1:]


def _reading(candidate: Candidate, index: int, key: str, speaks: Language) -> dict[str, Any]:
    ends = [(name, getattr(candidate, name)) for name in ("min", "typ", "max")]
    said = [(said_in(speaks, name), amount_in(speaks, end, candidate.unit)) for name, end in ends if end is not None]
    spread = " · ".join(f"{name} {end}" for name, end in said)
    value = amount_in(speaks, candidate.value, candidate.unit)
    page = candidate.page
    return {
        "index": index,
        "value": value or spread,
        "typed": _to_type(candidate, key) or spread,
        "range": spread if value else "",
        "instance": candidate.instance or "",
        "strength": text(f"strength_{candidate.strength}", speaks) if candidate.strength else "",
        "sharing": text(f"sharing_{candidate.sharing}", speaks) if candidate.sharing else "",
        "condition": candidate.condition or "",
        "confidence": candidate.confidence,
        "method": said_in(speaks, candidate.method),
        "source": candidate.source,
        "page": page if isinstance(page, int) and not isinstance(page, bool) else None,
        "place": _where(candidate, speaks),
        "box": list(candidate.box) if candidate.box else None,
        "text": candidate.text[:_QUOTED],
        "holds": said_in(speaks, will_hold(candidate, key)),
    }


def _to_type(candidate: Candidate, key: str) -> str:
    """What an edit begins with: in words that are read as they are, whatever language people speak."""
    shape = shape_at(key)
    is_count = shape is not None and shape.kind == "integer" and isinstance(candidate.value, int)
    return str(candidate.value) if is_count else amount(candidate.value, candidate.unit)


def amount_in(speaks: Language, value: object, unit_name: str | None) -> str:
    """A value as people read it in a language; of several, each."""
    if isinstance(value, tuple):
        return ", ".join(amount_in(speaks, each, unit_name) for each in value)
    return said_in(speaks, amount(value, unit_name))


def _where(candidate: Candidate, speaks: Language) -> str:
    if candidate.page is None:
        return ""
    if isinstance(candidate.page, str):
        return text("place_sheet", speaks, name=candidate.page)
    return text("place_page" if candidate.box else "place_line", speaks, number=candidate.page)
