"""What the encoder tells apart: roles of words, kinds of statements, and fields of numbers."""

from __future__ import annotations

from typing import Literal, get_args

from hwdoc_ingest.statements.tagger import Role

NOTHING = "O"
"""A word that plays no role."""
NO_FIELD = "none"
"""A number that is about none of the canonical fields, or not a property of the chip described."""

ROLES: dict[str, tuple[Role, str]] = {
    "parameter": ("parameter", ""),
    "value": ("value", ""),
    "min": ("bound", "min"),
    "typ": ("bound", "typ"),
    "max": ("bound", "max"),
    "condition": ("condition", ""),
    "shared": ("sharing", "shared"),
    "per_core": ("sharing", "per_core"),
    "must": ("strength", "must"),
    "recommended": ("strength", "recommended"),
}
"""Each label of a word with the role and the label of its span."""
ROLE_LABELS = (NOTHING, *ROLES)

Kind = Literal["feature", "rating", "map", "register", "pin", "ordering", "history", "example", "other_chip", "usage"]
"""What a sentence or table row is for: a feature of the chip; an electrical or thermal rating; an address or interrupt
map; the meaning of a register's bits; a pin; an ordering code; the document's history; an example; another chip; or
how something is used."""
KINDS: tuple[Kind, ...] = get_args(Kind)
