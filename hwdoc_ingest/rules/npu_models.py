"""Which accelerator a chip has, where a document calls it by the name of a design."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, Tagged

_DESIGN = re.compile(
    r"\b(?P<design>Ethos[™®]?[- ]?[NU]\d{2}|NVDLA|VIP(?:Nano)?-?\d{4}\w*|VIPNano-\w+|Neural-ART)\b"
    r"|(?<![\w-])(?P<named>[a-z]{1,3}[A-Z]\w*(?: [A-Z][a-z]+)?)(?= (?:microNPU|NPU)\b)"
)
"""Designs that are sold by name, and a name with a capital inside of it right before `NPU`: `eFoo Bar NPU`."""
_COMPARES = re.compile(r"\b(?:than|versus|vs|compared|similar to|like the|successor|predecessor)\b", re.IGNORECASE)


def find(tagged: Tagged) -> Iterator[Found]:
    """The one design that a statement names."""
    designs = {(match["design"] or match["named"]): match for match in _DESIGN.finditer(tagged.text)}
    if len(designs) != 1 or _COMPARES.search(tagged.text):
        return
    name, match = next(iter(designs.items()))
    plain = re.sub(r"[™®]", "", name).replace("Ethos ", "Ethos-")
    yield Found("npu.model", *match.span(), plain, sureness=0.72)
