"""The tokenizer: the base model's words as far as they can occur in a manual, and the signs that it lacks."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
SIGNS = "°µμωθτφλσ±≤≥×–—…•®™∼～℃，：。、（）；→√∆"
UNKNOWN = "[UNK]"


def vocabulary(base: Sequence[str], texts: Sequence[str]) -> dict[str, int | None]:
    """The words to keep, each with its number in the base model's vocabulary; None for the new ones, which come last.

    Chinese characters are all new: the base model has some, but learnt next to nothing about them.

    Args:
        base: The base model's words in the order of their numbers.
        texts: All text of the phrases; its Chinese characters are kept, one word each.
    """
    known = {word: number for number, word in enumerate(base) if not _is_chinese(word)}
    signs = [*SIGNS, *(f"##{sign}" for sign in SIGNS)]
    characters = sorted({c for text in (*texts, *base) for c in text if _is_chinese(c)})
    words = [*SPECIAL, *(word for word in known if word.isascii() and not word.startswith("[unused"))]
    added = sorted((word for word in (*signs, *characters)), key=lambda word: word not in known)
    return {word: known.get(word) for word in dict.fromkeys([*words, *added])}


def tokenizer(words: Sequence[str]) -> Tokenizer:
    """A tokenizer of these words: small letters, Chinese characters one by one, accents off."""
    model = WordPiece(vocab={word: number for number, word in enumerate(words)}, unk_token=UNKNOWN)
    made = Tokenizer(model)
    made.normalizer = BertNormalizer(lowercase=True, handle_chinese_chars=True, strip_accents=True)
    made.pre_tokenizer = BertPreTokenizer()
    return made


def _is_chinese(word: str) -> bool:
    return len(word) == 1 and unicodedata.name(word, "").startswith("CJK UNIFIED")
