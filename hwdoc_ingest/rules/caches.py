"""Caches: size, line, ways, write policy, by level and kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.qualities import QUALITIES
from hwdoc_ingest.rules.rule import CONTRAST, NEVER, Found, QuantityRule, Tagged, clause, is_long, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_SIZE = r"(?:\s*(?:size|capacity|容量|大小))?"
_KBYTES = r"\d{1,4}[ -]?K(?:i?B|-?bytes?)"
L1I = words(
    r"(?:L1|level[ -]?1|first[ -]level|一级)?\s*\(?\b(?<!mini-)(?<!mini )(?<!target )(?:instruction|"
    r"instr\.?|program)[ -]*(?:L1[ -]*)?cache(?!\s*(?:line|block|controller))"
    rf"{_SIZE}|\binstruction memory system\b|\binstruction(?= and [^.;,]{{0,30}}\bdata caches\b)"
    rf"|\binstruction(?= and {_KBYTES} (?:of )?(?:L1 )?data caches?\b)"
    rf"|\bI[- ]?cache{_SIZE}\b|\bI\$|\bL1[ -]?[IP]\b(?:[ -]?cache)?|\binstruction caches of\b"
    r"|指令\s*(?:高速)?(?:缓存|cache)"
    r"|\bcache for instructions?\b(?! and (?:for )?data)"
)
L1D = words(
    r"(?:L1|level[ -]?1|first[ -]level|一级)?\s*\b(?<!mini-)(?<!mini )(?:data|operand)[ -]*(?:L1[ -]*)?cache"
    r"(?!\s*(?:line|block|controller))"
    rf"{_SIZE}|\bdata memory system\b|\bdata(?= and [^.;,]{{0,30}}\binstruction caches\b)"
    rf"|\bD[- ]?cache{_SIZE}\b|\bD\$|\bL1[ -]?D\b(?:[ -]?cache)?|数据\s*(?:高速)?(?:缓存|cache)"
    r"|\bcache for data\b(?! and (?:for )?instructions?)"
)
L2 = words(
    r"\b(?:unified\s+)?(?:L2|level[ -]?2|second[ -]level)\b[\s-]*"
    r"(?:(?:unified|shared|mapped|backside|private|dedicated|inclusive)\s+"
    r"|S?RAM/)*caches?\b(?!\s*controller)|\bL2(?= (?:associativity|line size|size)\b)|\bL2\$"
    r"|\bL2 memory (?:sub-?)?system(?: size)?\b"
    r"|二级缓存|L2\s*缓存"
)
L3 = words(
    r"\b(?:unified\s+)?(?:system\s+)?(?:L3|level[ -]?3|third[ -]level)\b[\s-]*(?:unified\s+|"
    r"shared\s+)?caches?\b(?!\s*controller)|\bL3\$|三级缓存|L3\s*缓存"
)
ANY = re.compile("|".join(p.pattern for p in (L1I, L1D, L2, L3)), re.IGNORECASE)
_GPU = words(r"\bgpu\b|graphics|mali|shader")
_DSP = words(r"\bdsp\b|hifi\s?\d")
_NOT_SIZE = words(
    r"\bmapped into|address(?:es)? (?:range|space)|\bpages? size|\boffset of|\b(?:external"
    r"|off-chip|optional)\b[^.;]*\b(?:L2|L3|cache)"
    r"|^(?!.*(?:\bCPU|Cortex|\bcores?\b|processor)).*\bGPU"
)
_OF_LINE = words(
    r"\b(?:lines?|blocks?|ways?|banks?|sets?|pages?|sectors?)\s*(?:sizes?|lengths?)?\s*(?:of|is|:|=|are)?\s*\0"
    r"|\b(?:line|block|way|bank|page|sector) (?:size|length)s?\s*(?:of|for|in) [\w -]{1,40}\0"
    r"|\0[\s-]*(?:cache\s+)?(?:lines?|blocks?|ways?|banks?|sets?|sectors?|pages?)\b"
    r"|\0 ?(?:L1 )?(?:I|instruction)[- ]?(?:caches?)?\s?/\s?D"
)
"""A length of a line or bank, not of the cache; or one of two sizes of two caches: `32KB/16KB I-cache/D-cache`."""
_KB = 1024.0


_LISTED = words(
    r"\bcaches?\b[^,;:.]{0,16}:|^\W*(?:shared |unified )?L[23]\b.{4,12}$|^\W*\d+ ?[KM]i?B (?:shared )?L[23]\W*$"
)
"""A list of caches told apart by a word each (`Caches: 32 KB instruction, 32 KB data, 128 KB L2`), or a label."""
_BESIDE_CACHES = words(_LISTED.pattern + r"|\bcaches?\b.*\bL[23]\b(?! ?cache)|\bL1\b.*\bL[23]\s*:")
_IN_LIST = {
    name: words(rf"\b(?:L1 )?{name}\b(?! ?(?:cache|memory|S?RAM|TLB|set|bus|controller|path|width|rate|type|-))")
    for name in ("instruction", "data", "L2", "L3")
}


def _size(
    field: str,
    name: re.Pattern[str],
    low: float,
    high: float,
    forbids_path: re.Pattern[str] = NEVER,
    context: re.Pattern[str] | None = None,
    sureness: float = 0.9,
) -> QuantityRule:
    return QuantityRule(
        field,
        "bytes",
        name,
        context=context,
        low=low,
        high=high,
        gap_words=2,
        instance=None if field.startswith("dsp") else instances.core,
        lists=True,
        forbids=_NOT_SIZE,
        forbids_path=forbids_path,
        not_beside=_OF_LINE,
        sureness=sureness,
    )


RULES: tuple[QuantityRule, ...] = (
    _size("cpu.l1i_cache.size_bytes", L1I, 64, 2048 * _KB, forbids_path=_DSP),
    _size("cpu.l1d_cache.size_bytes", L1D, 64, 2048 * _KB, forbids_path=_DSP),
    _size("dsp.l1i_cache.size_bytes", L1I, 64, 2048 * _KB, context=_DSP, sureness=0.92),
    _size("dsp.l1d_cache.size_bytes", L1D, 64, 2048 * _KB, context=_DSP, sureness=0.92),
    _size("cpu.l2_cache.size_bytes", L2, 4 * _KB, 1 << 28, forbids_path=_GPU),
    _size("cpu.l3_cache.size_bytes", L3, 4 * _KB, 1 << 30, forbids_path=_GPU),
    _size("cpu.l1i_cache.size_bytes", _IN_LIST["instruction"], 64, 2048 * _KB, _DSP, _LISTED, 0.85),
    _size("cpu.l1d_cache.size_bytes", _IN_LIST["data"], 64, 2048 * _KB, _DSP, _LISTED, 0.85),
    _size("cpu.l2_cache.size_bytes", _IN_LIST["L2"], 4 * _KB, 1 << 28, _GPU, _BESIDE_CACHES, 0.85),
    _size("cpu.l3_cache.size_bytes", _IN_LIST["L3"], 4 * _KB, 1 << 30, _GPU, _BESIDE_CACHES, 0.85),
)

_SPOKEN = "|".join(w for w in NUMBER_WORDS if w.isascii())
_N = rf"(\d{{1,3}}|{_SPOKEN})"
_WAYS = re.compile(
    rf"\b{_N}(?:\s*-?\s*way)?(?:,?\s*(?:or|and|,|/)\s*{_N})?(?:\s*-?\s*way\b|(?<=\d)-?ways\b)(?!\s*(?:out|issue|super))|"
    rf"(\bdirect[ -]mapp(?:ed|ing)\b)|\b(?:organi[sz]ed|arranged|divided|split) (?:as|in|into) {_N} ways\b"
    rf"|\b(?:\d{{2,5}}|sixty-four) sets of {_N} (?:blocks|lines)\b|\bassociativity (?:is|of) {_N}\b",
    re.IGNORECASE,
)
_BOTH = words(
    r"\bboth (?:\w+ ){0,2}caches\b|\b(?:instruction|I)[ -]?(?:and|/|&) ?(?:data|D)[ -]?caches?\b|\bcaches?, each\b"
    r"|\b(?:data|D)[ -]?(?:and|/|&) ?(?:instruction|I)[ -]?caches?\b|\beach (?:L1 )?cache\b|\b(?:L1|primary) caches\b"
    r"|\bL1 (?:I/D|I&D|I and D)?[ -]?cache\b(?! ?controller)"
    r"|\bcaches? for (?:both )?(?:instructions? and data|data and instructions?)\b"
    r"|\bcaches? \(?(?:instructions? and data|data and instructions?)\b"
    r"|\b\(?(?:instruction|data) and (?:data|instruction)\)? caches\b"
    r"|^\W*[\w-]+[ -]way set[- ]associative caches\b"
)
"""Words for the instruction and the data cache together."""
_LINE = re.compile(
    r"(?:(?:block|line)\s*(?:size|length)?\s*(?:of|is|:|=)?\s*(\d{1,4})\s*-?\s*(?:bytes?|"
    r"B)\b(?:\s*or\s*(\d{1,4})\s*-?\s*(?:bytes?|B)\b)?)"
    r"|\((\d{1,4})[- ]bytes?\) (?:cache )?(?:line|block)s?\b"
    r"|\b(?:block|line) (?:size|length)s? (?:for|of|in) [\w ,-]{1,50}? (?:is|are) \w+[ -]words? \((\d{1,4})[- ]bytes?\)"
    r"|(\d{1,4})\s*-?\s*(?:bytes?|B)\s*(?:cache\s*)?(?:blocks?|lines?)\b|\blines of (\d{1,4})\s*-?\s*bytes?\b"
    r"|\b(?:block|line)s?\s*(?:size|length)?\s*(?:of|is|are|:|=)\s*\w+[ -]words? \((\d{1,4})\s*-?\s*bytes?\)"
    r"|\b(?:block|line)s (?:are|have) (\d{1,4}) bytes\b|\b(?:block|line) (?:size"
    r"|length)\s*(?:\(bytes\))?\s*(\d{1,4}) bytes"
    r"|\b(?:block|line)s? (?:consists? of|contains?|comprises?|holds?|is|are|has) (\d{1,4})[- ]bytes?\b"
    r"|\b(?:block|line)s of (\d{1,4}) bytes\b"
    r"|\b(?:block|line) (?:size|length) (?:of|is) \w+[ -](?:words|instructions) \((\d{1,4})[- ]bytes?\)"
    r"|\b(\d{1,4})[- ]bytes? \(\w+[ -]words?\) (?:cache )?(?:blocks?|lines?)\b"
    rf"|\b(\d{{1,4}}|{_SPOKEN})[- ]bytes? (?:per|in each|to a|a) (?:cache )?(?:line|block)\b",
    re.IGNORECASE,
)
_OF_SMALL = re.compile(r"[ -]*(?:[\w-]+ ){0,3}?mini[- ](?:data |instruction )?cache\b", re.IGNORECASE)
"""After a number of ways that belongs to a small cache beside the main one: `2-way set associative mini-data cache`."""
_SETS = re.compile(r"\b(\d{1,5}) sets\b", re.IGNORECASE)
_LINE_BITS = re.compile(
    r"\b(\d{2,4})[- ]bits? (?:wide )?(?:cache )?lines?\b|\b(?:cache )?lines? (?:are|is|of|have) (\d{2,4})[- ]bits?\b",
    re.IGNORECASE,
)
"""Lines that are told in bits: `128-bit cache lines`."""
_LINES = re.compile(r"\b(\d{2,5}) (?:cache )?(?:lines|blocks|entries) of \w+[ -](?:bytes?|words?)\b", re.IGNORECASE)
_LINE_WORDS = re.compile(
    rf"\b{_N}(?:\s*(?:,|or|and)\s*{_N})?[ -]?words? (?:cache )?lines?\b|\blines? (?:of|length:?"
    rf"|size:?) {_N}[ -]words?\b",
    re.IGNORECASE,
)
_POLICY = re.compile(
    r"\b(?P<one>copy[ -]?back|writes?[ -]?(?:through|back))(?:\s*(?:/|or|and)\s*(?P<two>copy[ -]?back"
    r"|write[ -]?(?:through|back)))?"
    r"(?:\s+selectable)?(?:\s+(?:\w+\s+)?cache|\s+mode|\s+policy)?"
    r"(?:\s*(?:,|with|and|/)?\s*(?P<allocate>(?:no[ -]|non-?)?(?:write|read)[ -]?allo-?\s?cat(?:e|ion)))?",
    re.IGNORECASE,
)


_TELLS_POLICY = words(r"\bcaches?\b|\bwrite (?:method|policy|mode|protocol)\b")
_CHOSEN = words(r"[^.;]{0,24}\b(?:may|can|could) be (?:chosen|selected|enabled|set|used|configured)")
"""After a policy that is the other choice, not the cache's own."""
_OWN_POLICY = words(r"(?:its|the) (?:write )?policy is\b")
_NO_POLICY = words(
    r"\binvalidat|\bflush|\bclean|\bpurge|\btransaction|\bsnoop|"
    r"\bbuffers?\b|\bmiss(?:es)?\b|\bhits?\b|\bno write[ -]?back\b|\bregister\b|\bbits?\b|\bwhen\b|\bif\b"
)
_CHOICE = words(r"selectable|\bchoice\b|\beither\b|configurable|programmable")
_SHARED_L1 = words(
    r"\b(?:instruction|data|L1|I|D)[ -]?caches?\b[^.;]{0,40}\b(?:are |is )?shared (?:by|between|among) (?:all "
    r"|both |the )*"
    r"(?:\w+[ -])?(?:CPU |processor )?(?:cores|CPUs|processors)\b"
)


_THE_CACHE = re.compile(
    r"\b(?:the|this) (?:on-chip )?cache (?:is|has|holds|contains|size is|capacity is)(?: an?)?"
    r"(?: (?:size|capacity) of)? (?!\d+ ?K\S* (?:line|block|way|bank|page))(\d{1,4})[ -]?K(?:i?B|[ -]?bytes?)\b",
    re.IGNORECASE,
)
"""The size of the cache that the heading or the sentence before names: `The cache is 16 Kbytes`."""
_DIRECT = 2
"""The group of `_WAYS` that says one way without a number."""


def find(tagged: Tagged) -> Iterator[Found]:
    """Ways, line length and write policy of the cache that the sentence or its heading names."""
    text = tagged.text
    for match in _WAYS.finditer(text):
        said = [part for at, part in enumerate(match.groups()) if part and at != _DIRECT]
        values = (1,) if match[1 + _DIRECT] else tuple(_count(part) for part in said)
        said_of = clause(text, *match.span()) if is_long(tagged) else text
        if re.search(r"tlb|branch|predict|btb", said_of, re.IGNORECASE) or not all(1 <= v <= 64 for v in values):
            continue
        if _OF_SMALL.match(text, match.end()):
            continue
        for level in _caches_at(tagged, match.start(), match.end()):
            yield _found(tagged, f"{level}.ways", match, values)
    for match in _SETS.finditer(text):
        of = _cache_at(tagged, *match.span())
        if of in ("cpu.l1i_cache", "cpu.l1d_cache"):
            yield _found(tagged, f"{of}.sets", match, (int(match[1]),))
    for match in _LINE_BITS.finditer(text):
        bits = int(match[1] or match[2])
        for level in _caches_at(tagged, match.start(), match.end()):
            if bits % 64 == 0 and 64 <= bits <= 2048 and not _LINES.search(text):
                yield _found(tagged, f"{level}.line_bytes", match, (bits // 8,))
    for match in _LINES.finditer(text):
        of = _cache_at(tagged, *match.span())
        field = {"cpu.l1i_cache": "cpu.l1i_cache.lines", "cpu.l1d_cache": "cpu.l1d_cache.entries"}.get(of or "")
        if field and not _OTHER_MEMORY.search(text):
            yield Found(field, match.start(), match.end(), float(match[1]), sureness=0.8)
    the = _THE_CACHE.search(text)
    own = _cache_at(tagged, the.start(), the.end()) if the and not _levels(text) else None
    if the and own:
        instance = instances.core(tagged, *the.span())
        yield Found(f"{own}.size_bytes", *the.span(), float(the[1]) * _KB, instance=instance, sureness=0.8)
    shared = _SHARED_L1.search(text)
    if shared and not re.search(r"\bL2|L3|level[ -]?[23]", shared.group(), re.IGNORECASE):
        yield Found("cpu.l1_cache.shared", shared.start(), shared.end(), True, sureness=0.85)
    for match in _LINE_WORDS.finditer(text):
        counts = tuple(float(NUMBER_WORDS.get(w.lower()) or w) for w in match.groups() if w)
        for level in _levels(text) if len(_levels(text)) > 1 else filter(None, [_cache_at(tagged, *match.span())]):
            value = counts[0] if len(counts) == 1 else counts
            if level == "cpu.l1d_cache" and all(2 <= count <= 64 for count in counts):
                yield Found(f"{level}.line_words", match.start(), match.end(), value, sureness=0.85)
    for match in _LINE.finditer(text):
        sizes = tuple(_count(part) for part in match.groups() if part)
        if not all(8 <= size <= 512 for size in sizes):
            continue
        for level in _caches_at(tagged, match.start(), match.end()):
            yield _found(tagged, f"{level}.line_bytes", match, sizes)
    tells = _TELLS_POLICY.search(text) or (_OWN_POLICY.match(text) and _levels(tagged.statement.earlier))
    for match in _POLICY.finditer(text) if tells else ():
        if _NO_POLICY.search(clause(text, match.start(), match.end()) if is_long(tagged) else text):
            continue
        if _CHOSEN.match(text, match.end()):
            continue
        policy_of = _cache_at(tagged, match.start(), match.end("two" if match["two"] else "one"))
        if policy_of == "cpu.l1d_cache":
            yield Found(
                f"{policy_of}.write_policy",
                match.start(),
                match.end(),
                _policy(match, text),
                instance=instances.core(tagged, match.start(), match.end()),
                sureness=0.75,
            )


def _policy(match: re.Match[str], text: str) -> str:
    """A write policy in one spelling: `write-through, no write allocate`, `copy-back/write-through selectable`."""
    names = [
        re.sub(r"[ -]?(through|back)", r"-\1", match[part].lower().replace("writes", "write"))
        for part in ("one", "two")
        if match[part]
    ]
    allocate = re.sub(r"\W+", " ", match["allocate"] or "").lower().replace("allo cate", "allocate").strip()
    return (
        "/".join(names)
        + (" selectable" if match["two"] and _CHOICE.search(text) else "")
        + (f", {allocate}" if allocate else "")
    )


def _count(text: str) -> int:
    return NUMBER_WORDS.get(text.lower()) or int(text)


def _found(tagged: Tagged, field: str, match: re.Match[str], values: tuple[int, ...]) -> Found:
    value = float(values[0]) if len(values) == 1 else tuple(float(v) for v in values)
    return Found(
        field,
        match.start(),
        match.end(),
        value,
        instance=instances.core(tagged, match.start(), match.end()),
        sureness=0.88,
    )


_BY_LEVEL = (("cpu.l1i_cache", L1I), ("cpu.l1d_cache", L1D), ("cpu.l2_cache", L2), ("cpu.l3_cache", L3))


def _levels(text: str) -> list[str]:
    return [level for level, name in _BY_LEVEL if name.search(text)]


def _caches_at(tagged: Tagged, start: int, end: int) -> list[str]:
    """The caches that a place speaks of: both of the first level where the words before say so, else the nearest."""
    text = tagged.text
    one = _cache_at(tagged, start, end)
    if _of_parenthesis(text, start):
        return [one] if one else []
    if re.search(r"\bboth\b", _clause_of(text, start, end), re.IGNORECASE) and len(_levels(text)) > 1:
        return _levels(text)
    if _named_together(text, start):
        return ["cpu.l1i_cache", "cpu.l1d_cache"]
    if (
        not _levels(text)
        and not _BOTH.search(text)
        and not _OTHER_MEMORY.search(text)
        and _speaks_of_both(tagged.statement.earlier)
    ):
        return ["cpu.l1i_cache", "cpu.l1d_cache"]
    kinds = {m.group(1).lower() for m in _LISTED_KIND.finditer(text, 0, start)}
    if len(kinds) == 2 and _LISTED.search(text) and re.search(r"\b(?:each|both)\b[^;.]*$", text[:start], re.IGNORECASE):
        return ["cpu.l1i_cache", "cpu.l1d_cache"]
    both = [match for match in _BOTH.finditer(text) if match.start() < start or match.start() - end < 40]
    if both and not re.search(r"\bL2|L3|level[ -]?[23]", text[both[-1].start() : end], re.IGNORECASE):
        named = [
            match.end()
            for _, name in _BY_LEVEL
            for match in name.finditer(text, both[-1].end(), max(start, both[-1].end()))
        ]
        if not named:
            return ["cpu.l1i_cache", "cpu.l1d_cache"]
    return [one] if one else []


def _clause_of(text: str, start: int, end: int) -> str:
    """What stands between the semicolons around a place."""
    return text[text.rfind(";", 0, start) + 1 : text.find(";", end) if ";" in text[end:] else len(text)]


_LISTED_KIND = words(r"\b(instruction|data)\b")
_OTHER_MEMORY = words(r"\bL[23]\b|second|third|secondary|TLB|\bmain memory\b|\b(?:GPU|DSP)\b|branch")
"""A sentence that names one of these does not go on about the cache of the sentence before."""


_JOINED = re.compile(
    r"\s*(?:,|/|and|&|,\s*and)\s*(?:an?\s+|the\s+)?(?:\d{1,4}[- ]?K\S{0,6}\s*)?(?:of\s+|L1\s+)*", re.IGNORECASE
)
"""What stands between the names of two caches that are told of together."""


def _named_together(text: str, start: int) -> bool:
    """Whether a place goes on about two caches: `32 KB instruction cache and 32 KB data cache, 4-way`."""
    named = sorted((m.start(), m.end(), level) for level, name in _BY_LEVEL for m in name.finditer(text, 0, start))
    if len(named) < 2 or {level for _, _, level in named[-2:]} != {"cpu.l1i_cache", "cpu.l1d_cache"}:
        return False
    (_, first, _), (second, end, _) = named[-2:]
    return bool(_JOINED.fullmatch(text[first:second])) and bool(
        re.match(r"\s*(?:,|;|with\b|both\b|each\b)", text[end:start])
    )


def _speaks_of_both(earlier: str) -> bool:
    """Whether the sentences before one speak last of the instruction and the data cache together."""
    both = [match.end() for match in _BOTH.finditer(earlier)]
    one = [match.end() for _, name in _BY_LEVEL for match in name.finditer(earlier)]
    return bool(both) and max(both) >= max(one, default=0)


_CACHES = words(r"\bcaches?\b")
_KIND_BEFORE = words(r"\d ?[KM]i?(?:B|bytes?) (?P<kind>instruction|data) \($")


def _of_parenthesis(text: str, start: int) -> str:
    """The kind of cache that a parenthesis is about: `32 KB instruction (4-way), 32 KB data (8-way)`."""
    opened = text.rfind("(", 0, start)
    if opened < 0 or ")" in text[opened:start]:
        return ""
    kind = _KIND_BEFORE.search(text[: opened + 1])
    return kind["kind"] if kind else ""


def _cache_at(tagged: Tagged, start: int, end: int) -> str | None:
    """The cache named nearest before a place, else after it, else in the innermost heading that names just one."""
    text = tagged.text
    own = _of_parenthesis(text, start)
    if own and _CACHES.search(text):
        return "cpu.l1i_cache" if own.lower().startswith("i") else "cpu.l1d_cache"
    described = [(m.start(), level) for level, name in _BY_LEVEL for m in name.finditer(text, end)]
    if described and not re.search(r"[\w;.]", QUALITIES.sub(" ", text[end : min(described)[0]])):
        return min(described)[1]
    named = [(m.end(), level) for level, name in _BY_LEVEL for m in name.finditer(text[:start])]
    if named:
        return max(named)[1]
    later = [(m.start(), level) for level, name in _BY_LEVEL for m in name.finditer(text, end)]
    if later and min(later)[0] - end < 40 and not CONTRAST.search(text, end, min(later)[0]):
        return min(later)[1]
    if _OTHER_MEMORY.search(text):
        return None
    spoken_of = [(m.end(), level) for level, name in _BY_LEVEL for m in name.finditer(tagged.statement.earlier)]
    if spoken_of:
        return max(spoken_of)[1]
    for part in reversed(tagged.statement.path):
        levels = _levels(part)
        if len(levels) == 1:
            return levels[0]
        if levels:
            return None
    return None
