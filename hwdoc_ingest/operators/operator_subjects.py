"""What a text is about: the properties that it begins with, by the names of the document or of this field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from hwdoc_ingest.operators.operator_words import PROPERTIES
from metainfer_core.spec.operators import Condition

DIMENSIONS = ("batch", "channel", "height", "width", *(f"dim{index}" for index in range(8)))
LINK = (
    r"\s*(?:(?:must|should|shall|has to|needs to|have to|can only)(?: be)?|is|are|必须(?:是|为)?|应该?(?:是|为)?)?"
    r"\s*:?\s*"
)
_TIMES = r"\s*[*×∗]\s*"


@dataclass(frozen=True)
class Context:
    """What the headings and items above a text say about it.

    Args:
        about: Properties that a text without a subject is about.
        operand: The operand whose shape or value is meant.
        names: Names that stand for a property here, such as `h1` for `height`.
        numbers: Named constants.
        types: Type variables, such as T1.
        when: The nodes that all rules speak of.
        choices: Values of the attribute that were named before, and that a text may begin with.
        is_whole: Whether the properties have whole numbers only.
        bare: Whether a mere list says what is allowed.
        default: The attribute's default.
    """

    about: tuple[str, ...] = ()
    operand: str | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    types: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    when: tuple[Condition, ...] = ()
    choices: tuple[str, ...] = ()
    is_whole: bool = True
    bare: bool = False
    default: str | None = None


@dataclass(frozen=True)
class Rest:
    """What follows a subject."""

    whole: str
    """From the subject on."""
    after: str
    """Behind the subject and its linking words."""
    linked: bool
    """Whether linking words or a colon stand between them."""


def subject_of(text: str, context: Context) -> tuple[int, list[tuple[str, ...]], Rest] | None:
    """The properties that a text begins with: a factor, groups that are limited alike, and what follows."""
    head = re.match(r"(?:[\d.]+\s*<=?\s*)?", text)
    body = text[head.end() :] if head else text
    name = _name_pattern(tuple(sorted(context.names)))
    found = re.match(
        rf"(?:the )?(?:(?P<factor>\d+)\s*\*\s*)?(?P<product>product of (?:the )?)?"
        rf"(?P<names>{name}(?:(?:{_TIMES}| and |, )(?:the )?{name})*)"
        rf"(?P<link>{LINK})(?P<after>(?![A-Za-z_]\w*\s*\().*)",
        body,
        re.IGNORECASE,
    )
    if not found or not found["after"].strip():
        return None
    words = re.split(rf"{_TIMES}| and |, ", found["names"])
    names = [property_of(re.sub(r"^the ", "", word.strip()), context) for word in words]
    for index, (word, before) in enumerate(zip(words[1:], names, strict=False), start=1):
        if before and before.endswith(("_h", "_w")) and word.strip().lower() in ("height", "width"):
            names[index] = before[:-1] + word.strip().lower()[0]  # `kernel height and width`
    if None in names:
        return None
    known = [name for name in names if name]
    is_product = bool(found["product"]) or bool(re.search(_TIMES, found["names"]))
    groups: list[tuple[str, ...]] = [tuple(known)] if is_product else [(name,) for name in known]
    rest = Rest(body, found["after"].strip(), bool(found["link"].strip()))
    return int(found["factor"] or 1), groups, rest


@lru_cache(maxsize=256)
def _name_pattern(names: tuple[str, ...]) -> str:
    own = sorted(
        (re.escape(name).replace(r"\ ", "[ _]?").replace("_", "[ _]?") for name in names), key=len, reverse=True
    )
    every = [*own, *PROPERTIES.values()]
    return rf"(?<!\w)(?:{'|'.join(every)})(?![A-Za-z0-9_])"


def named_property(word: str) -> str | None:
    """The property that documents call so, or None."""
    return next((name for name, words in PROPERTIES.items() if re.fullmatch(words, word, re.IGNORECASE)), None)


def property_of(word: str, context: Context) -> str | None:
    """The property that a word means in its context: by the document's own names first."""
    plain = re.sub(r"[ _]", "", word.lower())
    for name, meant in context.names.items():
        if re.sub(r"[ _]", "", name.lower()) == plain:
            return meant
    return named_property(word)
