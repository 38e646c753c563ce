"""Which pages of a manual can matter: a look at the words alone, before tables and sentences are laid out.

Most pages of a long manual (waveforms, instruction encodings, code) name no quantity that a rule asks for. Laying out a
page costs ten times as much as this look. `benchmarks/reading_manuals.py` tells how many candidates it loses.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from hwdoc_ingest.page.pages import Word
from hwdoc_ingest.rules import PARAMETERS
from hwdoc_ingest.statements.number_phrases import find_amounts

_ADDRESS = (
    r"(?:0[xX][\dA-Fa-f]{4,8}(?:[_.]?[\dA-Fa-f]{4}){0,3}|H'[\dA-Fa-f]{4}\W?[\dA-Fa-f]{0,4}|\b[\dA-Fa-f]{4,8}[Hh]\b)"
)
MARKS = re.compile(
    rf"{_ADDRESS}\W{{0,5}}(?:to\W)?(?:\w\W)?{_ADDRESS}|\b[\dA-F]{{2,4}}H\b"  # a range of addresses, a vector
    r"|\b0[xX][\dA-Fa-f]{2,3}\b"  # offsets of registers, in a table that goes on from the page before
    r"|(?i:\breset\b(?!\W*(?:value|state|type))[^.]{0,80}?\b0x|\bwords? (?:cache )?lines?\b)"
    r"|(?i:\boffset\b|\b(?:reset|interrupt|exception) (?:vector|address)|\bprogram counter\b|偏移|复位|基地址)"
    r"|(?i:\bway\b|\bdirect[- ]mapp|\bwrite[- ]?(?:through|back)|\bcopy[- ]?back)"  # how a cache is built
    r"|DDR\d|(?i:\bint(?:eger)?[- ]?(?:4|8|16)\b|\bfp(?:8|16|32)\b|\bbf(?:loat)?16\b|\bframeworks?\b|\boperators?\b)"
    r"|(?i:(?:\b\d{1,3}|single|dual|triple|quad|hexa|octa|two|three|four|six|eight)\W{1,3}(?:[\w-]+\W){0,2}?(?:core|processor)s?\b)"
    r"|\bCortex|\bXtensa|\bXuanTie|\bRV(?:32|64)|(?i:\b\w+[- ]issue\b|\bsuperscalar\b)|\bMali|\bPowerVR|\bAdreno"
    r"|\bDSP\b"
    r"|(?i:[(\[](?:[KMG]i?(?:B|bits?|bytes?)|[MG]Hz|TOPS|mW)[)\]])"  # a unit that a header gives its column
    r"|(?<![\d.] )(?<!\S)(?:[KMG]i?B|[KMG]bits?|[MG]Hz|TOPS|MT/s)(?!\S)"  # a unit in a column of its own
    r"|(?i:\bbase address)|起始地址|首地址"
    r"|(?i:\blatency\b|\bcache lines?\b|\b(?:line|block) (?:size|length)\b)"
    r"|\bIRQ\b|(?i:\binterrupt (?:number|source|map|id)s?\b)|中断(?:号|源|编号|向量)"
    r"|\bTensorFlow\b|\bPyTorch\b|\bONNX\b|\bCaffe\b"
    r"|(?:BGA|PGA|QFN|QFP|DIP|CSP)(?![a-z])|(?i:\b(?:million|billion)\b|\bdie size\b)"
)
"""What rules find that is no number phrase: addresses, names, kinds and types."""


_LONE_ADDRESS = re.compile(r"\b0[xX][\dA-Fa-f]{4}[_. ]?[\dA-Fa-f]{4}\b")
_ADDRESSES = re.compile(r"(?i:\baddress\b|\bbase\b)|地址")
"""With three addresses: a table of blocks or vectors that goes on from the page before, one address a row."""
CHINESE = re.compile(r"[\u4e00-\u9fff]{2}")


def can_matter(words: Sequence[Word]) -> bool:
    """Whether a rule may find something among the words of a page."""
    text = " ".join(word.text for word in words)
    if MARKS.search(text) or (_ADDRESSES.search(text) and sum(1 for _ in islice(_LONE_ADDRESS.finditer(text), 3)) == 3):
        return True
    amounts = find_amounts(text)
    if CHINESE.search(text) and any(amount.unit for amount in amounts):
        return True  # the names of parameters are English; what stands there is translated later
    dimensions = {amount.dimension for amount in amounts}
    return any(_names(PARAMETERS[dimension], text) for dimension in dimensions & set(PARAMETERS))


def _names(parameters: re.Pattern[str], text: str) -> bool:
    """Whether a parameter's name stands there as a word: `8 ch`, but not the end of `branch`."""
    found = (match.start() for match in parameters.finditer(text))
    return any(at == 0 or not (text[at - 1].isascii() and text[at - 1 : at + 1].isalpha()) for at in found)
