"""Names of people that cannot be taken for one another: letters that only look alike, and signs that nobody sees.

Look-alike letters are those of the Unicode confusables table (UTS #39) among Latin, Cyrillic and Greek.
"""

from __future__ import annotations

import re
import unicodedata

ALPHABETS = ("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "COPTIC", "CHEROKEE", "GEORGIAN")
"""Scripts whose letters look like one another's; first words of Unicode character names."""
JOINERS = "\u200c\u200d"
"""Join or part letters in Persian and in scripts of India, and are part of how a name is spelled there."""
_ALIKE = {
    # Cyrillic, small and large
    **dict(zip("аеорсухіјѕһԁԛԝкмтвн", "aeopcyxijshdqwkmtbh", strict=True)),
    **dict(zip("АВЕЅІЈКМНОРСТУХԚԜ", "ABESIJKMHOPCTYXQW", strict=True)),
    # Greek
    **dict(zip("αονιρκυτχ", "aovipkutx", strict=True)),
    **dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ABEZHIKMNOPTYX", strict=True)),
}
_LOOKS_LIKE = str.maketrans(_ALIKE)


def spelled_alike(one: str, other: str) -> bool:
    """Whether two names look the same."""
    return look_of(one) == look_of(other)


def look_of(name: str) -> str:
    """One spelling for all names that look the same."""
    shown = "".join(char for char in unicodedata.normalize("NFKC", name) if char not in JOINERS)
    return " ".join(shown.translate(_LOOKS_LIKE).casefold().split())


def name_fault(name: str) -> str | None:
    """Why a name could be taken for another one, naming the characters by their code points; or None."""
    for char in name:
        if unicodedata.category(char) in ("Cc", "Cf") and char not in JOINERS:
            return f"the name {name!r} holds {_code(char)}, which nobody sees"
    for word in re.split(r"[\s'’.\-]+", unicodedata.normalize("NFKC", name)):
        letters: dict[str, str] = {}
        for char in word:
            script = unicodedata.name(char, "").split(" ")[0]
            if char.isalpha() and script in ALPHABETS:
                letters.setdefault(script, char)
        if len(letters) > 1:
            shown = " and ".join(f"{script.capitalize()} ({_code(char)})" for script, char in letters.items())
            return f"the word {word!r} of a name mixes letters that look alike: {shown}"
    return None


def _code(char: str) -> str:
    return f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
