"""Writes made-up documents to learn from: statements about an invented chip, in one style each, and what is none."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hwdoc_ingest.bert.labels import NO_FIELD, Kind
from hwdoc_ingest.train import tables
from hwdoc_ingest.train.example import Example, sentence
from hwdoc_ingest.train.noise import as_ocr_reads
from hwdoc_ingest.train.phrases import FieldPhrases, Phrases
from hwdoc_ingest.train.style import Style, filler, restyle, style

STATEMENTS = 24
"""Statements of one document."""


@dataclass(frozen=True)
class Writer:
    """Writes statements with the phrases of one half of the templates."""

    phrases: Phrases
    held_out: bool
    """Whether it uses the templates that training never sees, and only those."""

    def document(self, seed: int) -> list[Example]:
        """The statements of one made-up document."""
        rng = random.Random(f"{seed}/{self.held_out}")
        manner = style(rng)
        ways: Sequence[tuple[float, Callable[[random.Random, Style], Example]]] = (
            (0.47, self._feature), (0.12, self._rating), (0.06, self._key_value), (0.13, self._about_something_else),
            (0.12, self._twisted), (0.04, self._other_rating), (0.06, self._other_row),
        )  # fmt: skip
        written = []
        for _ in range(STATEMENTS):
            way = rng.choices([way for _, way in ways], [share for share, _ in ways])[0]
            example = way(rng, manner)
            written.append(as_ocr_reads(example, rng) if manner.scanned else example)
        return written

    def _usable(self, templates: Sequence[str]) -> list[str]:
        """Those of the templates that this writer may use; one in six is held out."""
        usable = [t for t in templates if _is_held_out(t) == self.held_out]
        return usable or list(templates)

    def _pick(self, rng: random.Random, manner: Style) -> FieldPhrases:
        fields = self.phrases.fields
        return rng.choice([each for each in fields if manner.language in each.names] or fields)

    def _markup(self, rng: random.Random, manner: Style, each: FieldPhrases, with_more: bool = True) -> str:
        """One phrase about a field in markup."""
        frames = list(self.phrases.frames[each.family].get(manner.language, ()))
        own = [f for f in each.frames if bool(re.search(r"[\u4e00-\u9fff]", f)) == (manner.language == "zh")]
        if "en" not in each.names or manner.language not in each.names:
            frames = list(self.phrases.frames[each.family]["en"])
        usable = self._usable(own) if own and rng.random() < 0.45 else self._usable(frames)
        frame = rng.choice([f for f in usable if with_more or "{also}" not in f] or usable)
        names = each.names.get(manner.language) or each.names["en"]
        value = restyle(rng.choice(each.values), manner, rng)
        filled = frame.replace("{p}", f"[p {rng.choice(names)}]").replace("{v}", f"[v {value}]")
        if "{also}" in filled:
            filled = filled.replace("{also}", self._named(rng, manner, self._pick(rng, manner)))
        return filler(filled, self.phrases, manner, rng)

    def _feature(self, rng: random.Random, manner: Style) -> Example:
        each = self._pick(rng, manner)
        path = self._under(rng, each, manner)
        markup = self._markup(rng, manner, each)
        words, language = self.phrases.words, manner.language
        for _ in range(rng.choices((0, 1, 2, 3), (0.7, 0.15, 0.1, 0.05))[0]):
            markup += rng.choice(words[f"join_{language}"]) + self._named(rng, manner, self._pick(rng, manner))
        if rng.random() < 0.2:
            markup = rng.choice(words[f"head_{language}"]) + markup
        if rng.random() < 0.25:
            markup += rng.choice(words[f"tail_{language}"])
        return sentence(markup, each.field, "feature", path)

    def _named(self, rng: random.Random, manner: Style, each: FieldPhrases) -> str:
        """A phrase about a field whose values carry that field's name, to stand in a sentence about another."""
        phrase = self._markup(rng, manner, each, with_more=False)
        return re.sub(r"\[v (?=[^\[\]]*\])", f"[v:{each.field} ", phrase)

    def _under(self, rng: random.Random, each: FieldPhrases, manner: Style) -> tuple[str, ...]:
        """Headings above a feature; sometimes the parameter's own name is the innermost."""
        path = rng.choice(self.phrases.paths["feature"])
        if rng.random() < 0.12:
            names = each.names.get(manner.language) or each.names["en"]
            return (*path[:1], rng.choice(names))
        return path

    def _rating(self, rng: random.Random, manner: Style) -> Example:
        rated = [each for each in self.phrases.fields if each.numbers]
        return tables.rating(rng.choice(rated), self.phrases.paths["rating"], manner, rng)

    def _key_value(self, rng: random.Random, manner: Style) -> Example:
        return tables.key_value(self._pick(rng, manner), manner, rng)

    def _about_something_else(self, rng: random.Random, manner: Style) -> Example:
        negatives = self.phrases.negatives
        kind: Kind = rng.choice(("feature", "feature", "feature", "usage", "register", "pin", "ordering", "history"))
        templates = [*negatives["about"][kind], *(negatives["plain"] if kind == "usage" else ())]
        paths = self.phrases.paths[kind]
        markup = filler(rng.choice(self._usable(templates)), self.phrases, manner, rng)
        return sentence(markup, NO_FIELD, kind, rng.choice(paths))

    def _twisted(self, rng: random.Random, manner: Style) -> Example:
        """A phrase that would be a feature, said of another chip, as an example, or of the past."""
        twists = self.phrases.negatives["twist"]
        kind: Kind = rng.choice(tuple(twists))
        phrase = self._markup(rng, manner, self._pick(rng, manner), with_more=False)
        frame = filler(rng.choice(self._usable(twists[kind])), self.phrases, manner, rng)
        paths = self.phrases.paths[kind if rng.random() < 0.6 else "feature"]
        example = sentence(frame.replace("{phrase}", phrase), NO_FIELD, kind, rng.choice(paths))
        marks = tuple(replace(m, field=NO_FIELD) if m.label == "value" else m for m in example.marks)
        return replace(example, marks=marks)

    def _other_rating(self, rng: random.Random, manner: Style) -> Example:
        names, symbols, unit, numbers = rng.choice(self.phrases.negatives["rows"])
        each = FieldPhrases(NO_FIELD, "rating", {"en": tuple(names)}, (), (), (tuple(numbers),), unit, tuple(symbols))
        return tables.rating(each, self.phrases.paths["rating"], manner, rng)

    def _other_row(self, rng: random.Random, manner: Style) -> Example:
        return rng.choice((tables.register, tables.pin, tables.order, tables.region))(manner, rng)


def _is_held_out(template: str) -> bool:
    return hashlib.sha256(template.encode()).digest()[0] % 6 == 0
