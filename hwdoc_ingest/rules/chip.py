"""The chip as a whole: process, package, transistors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, words

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "chip.process_nm",
        "length",
        words(
            r"\bprocess\b|\bCMOS\b|\bgeometr(?:y|ies)\b|\btechnology\b|\blithography\b|工艺|\bHKMG\b|\bFin-?FET\b"
            r"|\bFD-?SOI\b|\b(?:transistor|feature|gate|channel) (?:size|length|width)s?\b|\bdesign rules\b"
            r"|\b(?:manufactured|fabricated|built) (?:in|on|with)\b"
        ),
        low=1,
        high=10000,
        scale=1e-9,
        gap_words=3,
        sureness=0.85,
        forbids=words(r"wavelength|pitch|target|for \d+nm"),
    ),
)

_PACKAGE = re.compile(
    r"\b(\d{2,4})\s*-?\s*(?:pin|ball|lead)s?\s*,?\s*((?:(?:plastic|ceramic|thin|low-profile|"
    r"fine-pitch|quad|flat|pin|ball|grid|array|pack|package)\s*-?\s*)*(?:\(?(?:PGA|BGA|FCBGA|TFBGA|"
    r"[A-Z]{1,4}-?BGA|[A-Z]{1,3}LGA|LGA|LFBGA|QFN|QFP|PQFP|LQFP|TQFP|DIP|FCCSP|WLCSP|CSP|UFBGA|VFBGA|UFQFPN|VFQFPN|VQFN|SOIC|SOP|TSSOP|SSOP|PLCC"
    r"|LCC)\)?|pin grid array|ball grid array|quad flat pack))"
    r"|\b(e?(?:FC|TF|LF|VF|UF|F|MAP|P|C)?BGA|e?(?:VF?|UF|W?[DH]?|X)QFP?N|e?LQFP|e?TQFP|QFP|PQFP|WLCSP|TSSOP"
    r"|SOIC)\s*-?\s*(\d{2,4})(?:\s*-?\s*(?:pin|ball)s?)?\b",
    re.IGNORECASE,
)
_TRANSISTORS = re.compile(r"\b(\d+(?:\.\d+)?)\s*(million|M|billion)\b(?P<told>[\s|]+transistors?\b)?", re.IGNORECASE)
_TOLD_BEFORE = re.compile(r"\btransistors?\b[^.;]{0,24}$", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"[ -]+(?!\(|and\b|in\b|on\b|of\b)[a-z]", re.IGNORECASE)
"""After a count that stands below a heading on transistors: what else it counts."""
_OF_OTHER = re.compile(r"compatible|socket|connector", re.IGNORECASE)
_FITS = re.compile(r"(?<!pin)[ -]compatible|socket|connector", re.IGNORECASE)
"""After a package that is another's; `pin-compatible with` tells of the chip's own."""
_NODE = re.compile(
    r"\b(?:SoC|chip|processor|device|manufactured|fabricated|built|made)\b (?:in|on|with|using) (?:an? )?"
    r"(?:[A-Z]\w{1,15} )?(\d{1,3}) ?nm\b|^(?:SoC|chip|processor)\b[^.;]{0,24}[,|] ?(\d{1,3}) ?nm\b"
    r"|\b(?:SoC|chip|processor)\b[^.;]{0,20}\((\d{1,3}) ?nm\)|\b(\d{1,3}) ?nm (?:SoC|chip|silicon|node)\b",
    re.IGNORECASE,
)
"""A process that is told by its length alone: `a vision SoC in 22nm`."""
_DIE = re.compile(
    r"\b(?:die|chip) (?:size|area)\b(?:\D{0,24}|[^.;|]{0,4}[|:]?[\d .x×*m]{5,36}[(=, ]+)(?P<told>\d+(?:\.\d+)?)\s*"
    r"(?P<in>cm|mm)\s*\^?[2²]"
    r"|\b(?P<area>\d+(?:\.\d+)?)[ -]?(?P<square>cm|mm)\s*\^?[2²] (?:silicon )?(?:die|chip)\b",
    re.IGNORECASE,
)
"""`Die size: 3.1 cm2`, `Die size 7.5 mm x 8.8 mm (66 mm2)`, `on a 233 mm2 die`."""


def _package_name(text: str) -> str:
    """`588-pin PGA` of `588-pin pin grid array (PGA)`."""
    plain = " ".join(text.split()).rstrip("( ")
    short = re.search(r"\(([A-Z]{2,8})\)?$", plain)
    count = re.match(r"\d+\s*-?\s*(?:pin|ball|lead)s?", plain, re.IGNORECASE)
    if short and count:
        return f"{count.group()} {short[1]}"
    return plain if plain.count("(") == plain.count(")") else plain.replace("(", "").replace(")", "")


def find(tagged: Tagged) -> Iterator[Found]:
    """Package, transistor count and die area."""
    text = tagged.text
    package = _PACKAGE.search(text)
    if package and not (_OF_OTHER.search(text[: package.start()]) or _FITS.search(text, package.end())):
        yield Found("chip.package", package.start(), package.end(), _package_name(package.group()), sureness=0.7)
    node = _NODE.search(text)
    if node and not re.search(r"wavelength|laser|\bLED\b|infrared|light", text, re.IGNORECASE):
        size = float(next(part for part in node.groups() if part))
        yield Found("chip.process_nm", node.start(), node.end(), size, sureness=0.72)
    count = next((each for each in _TRANSISTORS.finditer(text) if _counts_transistors(tagged, each)), None)
    if count:
        scale = 1e9 if count[2].lower() == "billion" else 1e6
        yield Found("chip.transistors", count.start(), count.end(), round(float(count[1]) * scale), sureness=0.8)
    die = _DIE.search(text)
    if die:
        area, square = die["told"] or die["area"], (die["in"] or die["square"]).lower()
        yield Found("chip.die_cm2", *die.span(), float(area) / (100 if square == "mm" else 1), sureness=0.8)


def _counts_transistors(tagged: Tagged, count: re.Match[str]) -> bool:
    """Whether a number of millions is called so, by the words beside it or by the heading alone."""
    if count["told"] or _TOLD_BEFORE.search(tagged.text[: count.start()]):
        return True
    above = re.search(r"transistor", tagged.path_text, re.IGNORECASE)
    return bool(above) and not _OF_ANOTHER.match(tagged.text, count.end())
