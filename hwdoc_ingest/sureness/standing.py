"""How much a statement counts by where it stands and what it tells of: this chip as it is, or something else."""

from __future__ import annotations

import re

from hwdoc_ingest.rules.rule import Found, Tagged
from hwdoc_ingest.sureness.confidence import LISTED

FEATURES = re.compile(
    r"features?|overview|introduction|specification|characteristics|summary|highlights|general description"
    r"|ratings|conditions"
    r"|特性|概述|简介|规格|参数",
    re.IGNORECASE,
)
EXAMPLE = re.compile(r"\b(?:for example|e\.g\.|such an? |example of|suppose|assum(?:e|ing))|例如", re.IGNORECASE)
REVISION = re.compile(
    r"\b(?:revision|change|document) history\b|\b(?:revisions|changes|corrections) (?:from|in|since|and)\b|修订"
    r"|(?<!\bbe )(?<!\bis )(?<!\bare )"
    r"\b(?:added|changed|deleted|corrected|revised|updated|amended|modified|removed)\.?\s*$",
    re.IGNORECASE,
)
"""Where a document tells of its own former versions."""
DIAGRAM = re.compile(r"\b(?:block|system|architecture|functional) diagram\b|框图", re.IGNORECASE)
"""Where words of neighbouring boxes stand side by side and belong to no sentence."""
COMPARISON = re.compile(
    r"\b(?:older|earlier|previous(?:ly)?|predecessors?|successors?|next member|former(?:ly)?|unlike"
    r"|compared (?:to|with)|in comparison"
    r"|(?:will|is|are) planned"
    r"|future|competing|competitors?)\b|^A comparison|上一?代|相比",
    re.IGNORECASE,
)
"""What tells of another chip, or of another time."""
BOARD = re.compile(
    r"\b(?:evaluation|development|demo(?:nstration)?|starter|reference) (?:kit|board|design)s?\b|\bkits?\b|\bEV[KB]\b"
    r"|\bdaughter ?cards?\b|评估板|开发板|演示板",
    re.IGNORECASE,
)
"""What the chip is built into has memories and supplies of its own."""
MODULE = re.compile(r"\s*(?:SO-?)?[SD]IMM", re.IGNORECASE)
"""Right after a size of memory: it is that of a module which is plugged in beside the chip."""
REFERENCE = re.compile(
    r"\b(?:see|refer to|described in|according to)\b[^.;]*\b(?:specifications?|manual|guide|standard"
    r"|data ?sheet|user'?s)\b",
    re.IGNORECASE,
)
"""Another document's title."""
IN_A_MODE = re.compile(r"\W*in (?:[\w-]+ ){1,4}mode\b[^.;]{0,30},", re.IGNORECASE)
"""How a sentence begins that holds in one mode only: another mode has another value."""
EXAMPLE_CAPTION = re.compile(r"\bexample\b|举例|示例", re.IGNORECASE)


def standing(tagged: Tagged, found: Found) -> float:
    """How much a statement counts by where it stands: features and tables count in full, examples not at all."""
    if EXAMPLE.search(tagged.text, 0, found.end) or MODULE.match(tagged.text, found.end):
        return 0.4
    if EXAMPLE_CAPTION.search(tagged.parent):
        return 0.55 if found.field in LISTED else 0.4
    if not tagged.statement.is_row and IN_A_MODE.match(tagged.text):
        return 0.7
    if COMPARISON.search(tagged.text, 0, found.end) or BOARD.search(tagged.text, 0, found.end):
        return 0.4
    if REVISION.search(tagged.text) or any(REVISION.search(part) for part in tagged.statement.path):
        return 0.4
    if any(m.start() < found.end and m.end() > found.start for m in REFERENCE.finditer(tagged.text)):
        return 0.4
    if DIAGRAM.search(tagged.parent) or any(DIAGRAM.search(part) for part in tagged.statement.path[-2:]):
        return 0.85
    if tagged.statement.is_row or FEATURES.search(tagged.path_text):
        return 1.0
    return 0.97 if tagged.statement.page <= 20 else 0.94
