"""How many cores a processor has: named ones, those of clusters, and where a row of a table is called so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, clause, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS

_NOT_CPU = words(r"GPU|NPU|DSP core|shader|neural|graphics|mali")

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "cpu.cores",
        "count",
        words(
            r"^(?:(?:number|no\.) of )?(?:(?:CPU|processor|application|main) )?(?:processors?|cores?|CPUs)(?: count)?"
            r"(?=$| \|)"
            r"|^CPU(?: core)? ?(?:count|number|数)"
        ),
        low=1,
        high=256,
        only_bounds=True,
        forbids=words(r"\b(?:GPU|NPU|DSP|shader|execution|CUDA|AI|tensor)\b"),
        sureness=0.82,
    ),
)

_COUNT = (
    r"(?:(\d{1,3})(?!\d)\s*(?:[x×]\s*)?|((?:single|dual|triple|quad|hexa|octa|one|two|three|four|five|six|seven|eight|nine"
    r"|ten|twelve)(?:\b|(?=core)))[ -]*)"
)
_KIND_OF_CORE = (
    r"(?:\d+[- ]bit|RISC-V|RV(?:32|64)[A-Z]\w*|RISC|application|in-order|out-of-order|[\w-]+-class|identical"
    r"|Arm®?|embedded|high-performance|host|compute|worker|management|control|lightweight|scalar|general-purpose)"
)
_ADJECTIVE = (
    r"(?!(?:of|and|or|with|the|for|in|per|at|to|from|by|on|as|is|are|has|have|bits?|ways?|times|other|ports?|channels?"
    r"|levels?|stages?|cores?|lanes?|timers?|versions?|clusters?)\b)[a-z][a-z-]+"
)
"""A word between a spoken number and what it counts: `two high-end custom Cortex-A75`."""
_CORES = re.compile(
    rf"\b{_COUNT}-?\s*(?:\(\d+\)\s*)?(?:low-power\s+)?(?:identical,?\s+|"
    rf"independent\s+)*(?:core(?!Mark)\s*(?:ARM\s*)?(?:processor\s*)?|cores?\b[^.;|]{{0,4}}|"
    rf"independent processors|(?:(?:symmetric|identical)\s+)?CPUs\b|CPU cores"
    rf"|(?:{_KIND_OF_CORE}\s+){{1,4}}(?:cores|CPUs|processors)\b"
    rf"|(?:[A-Z][\w-]{{2,14}} ){{1,2}}(?:CPU|processor) cores\b)(?P<name>(?:Cortex[- ]?[AMRX]\d+|RISC-V|"
    rf"[\w-]*\d+-bit [\w-]+)?)",
    re.IGNORECASE,
)
_NAMED_CORES = re.compile(
    rf"\b{_COUNT}-?\s*(?:core\s+)?(?:(?:big|little|symmetric|identical|low-power|high-performance|independent"
    rf"|\d+-bit|(?<=[a-z]\s)(?-i:{_ADJECTIVE})|(?<=[a-z]\s)ARMv?\d?)\s+)*(?:arm®?\s+)?"
    r"(?P<name>Cortex®?[- ]?[AMRX]-?\d+(?:AE|F|\+)?|Neoverse[- ]\w+"
    r"|(?:XuanTie\s+)?C9\d\d\w*)(?!\S*[-/]?\s*(?:based )?clusters?)"
    r"(?:\s+(?:cores?|processors?|CPUs?|MCUs?))?",
    re.IGNORECASE,
)
_OWN_NAMED = re.compile(
    rf"\b{_COUNT}-?\s*"
    r"(?:[\w-]+-bit |[\w-]+-threaded |in-order |out-of-order |identical |embedded |RISC-V |Arm® |Arm ){0,2}"
    r"(?-i:(?P<name>(?!L\d|M\d\b|DDR|GPU|NPU|DSP)[A-Za-z]{1,6}\d{1,5}[A-Za-z]{0,2}(?:-[A-Z\d]{1,4})?))"
    r"(?: (?-i:[A-Z])\w+){0,2}(?: (?:CPU|processor|application|computing|compute|processing))? cores\b",
    re.IGNORECASE,
)
"""`four 64-bit X464 cores`, `two dual-threaded q65 Acme Architecture processor cores`: the name has a digit."""
_CLUSTERS = re.compile(
    rf"\b{_COUNT}-?\s*(?P<each>dual|triple|quad|hexa|octa|[2-8])[- ]core (?:Arm®? )?"
    r"(?P<name>Cortex®?[- ]?[AMRX]\d+\w*|[A-Z][\w-]*)?\s?(?:CPU |processor )?clusters\b",
    re.IGNORECASE,
)
"""`3x dual-core CPU clusters`, `two quad-core Cortex-A57 clusters`: so many cores each."""
_CLUSTERS_OF = re.compile(
    rf"\b{_COUNT}-?\s*(?:CPU |processor )?clusters,? (?:of|with|each (?:with|of|containing|having)|containing|having) "
    rf"(?P<each>dual|quad|two|three|four|six|eight|[2-8]) (?:(?:\d+-bit|ARM®?|identical) )*"
    r"(?P<name>Cortex®?[- ]?[AMRX]\d+\w*|[A-Z][\w-]*)? ?(?:CPU |processor )?cores\b",
    re.IGNORECASE,
)
"""`two clusters of four Cortex-A53 cores each`: so many in all."""
_SUBSYSTEMS = re.compile(
    rf"\b{_COUNT}-?\s*(?:[\w-]+ ){{0,2}}(?:sub-?systems?|units|islands|modules)(?: \([A-Z]{{2,6}}s?\))?,? "
    r"(?:based on|each (?:with|of|based on)) (?:an? )?(?P<each>single|dual|triple|quad)[- ]core (?:Arm®? )?"
    r"(?P<name>Cortex®?[- ]?[AMRX]\d+\w*)",
    re.IGNORECASE,
)
"""`Up to three control units (MCU), based on dual-core Cortex-R5F`: so many in all."""
_LABEL = re.compile(r"[^:：|]{1,40}[:：|]")
"""What a line begins with that says what it is about."""
_OF_CLUSTER = re.compile(r"[\w-]*\s*(?:(?:CPU|processor|[A-Z][\w-]+) )?clusters?\b", re.IGNORECASE)
_FROM_TO = re.compile(
    r"\b(?P<low>\d{1,2})\s?(?:-|–|~|to)\s?(?P<high>\d{1,3})\s+(?:(?:identical|processor|CPU) )?cores?(?:\(s\))?",
    re.IGNORECASE,
)
"""`1 to 4 cores`, of which a cluster is built."""
_AT_MOST = re.compile(r"\b(?:up to|as many as|at most|maximum of)\s*$", re.IGNORECASE)
_CORES_AFTER = re.compile(
    r"\b(?P<name>Cortex®?[- ]?[AMRX]\d+(?:AE|F|\+)?|Neoverse[- ]\w+|(?:XuanTie\s+)?C9\d\d\w*),? ?"
    r"(?:MP(?P<mp>[2-8])\b|\(?[x×] ?(?P<times>[2-8])\b(?! ?\d)|"
    r"(?P<word>single|dual|triple|quad|hexa|octa)[- ]?core\b)",
    re.IGNORECASE,
)
"""`Cortex-A7 dual-core`, `Cortex-A7 MP2`, `Cortex-A55 x4`."""
_LEADS = re.compile(r" ?(?:CPUs?|processors?|SoC|complex|cluster)? ?[:(：（]")
"""After a number that counts all clusters behind it together: `Octa-core CPU: 2x Cortex-A78, 6x Cortex-A55`."""
_NUMBERS_SOMETHING = re.compile(
    r"(?:\b(?:tables?|figures?|fig|chapters?|sections?|parts?|appendix|steps?|notes?|rev(?:ision)?|version|part)"
    r"|[图表第章])[\s.:]*(?:\d+[-.])*$|\d[-.]$",
    re.IGNORECASE,
)
"""What stands before the number of a section or a figure, which counts no cores: `Figure 3 Cortex-A53 platform`."""
_TELLS_CPU = re.compile(
    r"processor|CPU|\bSoC\b|system[- ]on[- ](?:a[- ])?chip|microcontroller|cog|RISC"
    r"|\bRV(?:32|64)[A-Z]|\d-bit [^,;]*cores|\bclusters?\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(r"\bclusters?\b|multi-?core|\bSMP\b", re.IGNORECASE)
_PART_OF_CHIP = re.compile(r"\bpower domain|clusters?\. big", re.IGNORECASE)


def find(tagged: Tagged) -> Iterator[Found]:
    """Cores that are counted by name, by cluster, or as such; none is counted twice."""
    path = " ".join(tagged.statement.path[-2:])
    if _NOT_CPU.search(path):
        return
    taken: list[int] = []
    yield from _of_clusters(tagged, taken, path)
    yield from _named(tagged, taken)
    yield from _labelled(tagged, taken)
    named = [match.start() for match in _NAMED_CORES.finditer(tagged.text)]
    for match in _CORES.finditer(tagged.text):
        in_all = sum(at > match.start() for at in named) > 1 and _LEADS.match(tagged.text, match.end())
        of_another = not match["name"] and _is_of_another(tagged, match)
        if not (match.start() in taken or _OF_CLUSTER.match(tagged.text, match.end()) or in_all or of_another):
            yield from _unnamed(tagged, match)


_LABELLED = re.compile(
    rf"\W*(?:(?:main|application|host|system) )?(?:CPU|processor)s?(?: cores?)?\s*[:|]\s*{_COUNT}"
    r"(?!(?:core|issue|way)\b)"
    r"(?-i:(?P<name>[A-Z][\w-]*(?: \d\w*)?))(?! ?(?:GHz|MHz))",
    re.IGNORECASE,
)
"""`CPU core: dual Falcon 2`: what is counted below the name of the CPU is its cores, whatever they are called."""


def _labelled(tagged: Tagged, taken: list[int]) -> Iterator[Found]:
    match = _LABELLED.match(tagged.text)
    if match and match[2] and not taken and not _is_of_another(tagged, match):
        taken.append(match.start(2))
        number = float(NUMBER_WORDS[match[2].lower()])
        yield Found("cpu.cores", *match.span(), number, instance=match["name"], sureness=0.75)


def _is_of_another(tagged: Tagged, match: re.Match[str]) -> bool:
    """Whether the clause of a number of cores tells of an accelerator: `a dual-core GPU`, beside `four CPU cores`."""
    label = _LABEL.match(tagged.text)
    said = clause(tagged.text, *match.span())
    return bool(_NOT_CPU.search(said) or (label and _NOT_CPU.search(label.group())))


def _named(tagged: Tagged, taken: list[int]) -> Iterator[Found]:
    text = tagged.text
    for match in _NAMED_CORES.finditer(text):
        if match.start() in taken or (match[1] and _NUMBERS_SOMETHING.search(text[: match.start()])):
            continue
        taken.append(match.start())
        number = float(match[1] or NUMBER_WORDS[match[2].lower()])
        if 1 <= number <= 256:
            name = match["name"].replace("®", "")
            plain = Found("cpu.cores", match.start(), match.end(), number, instance=name, sureness=0.9)
            yield _at_most(plain, number) if _AT_MOST.search(text[: match.start()]) else plain
    for match in _OWN_NAMED.finditer(text):
        if (
            match.start() in taken
            or _is_of_another(tagged, match)
            or (match[1] and _NUMBERS_SOMETHING.search(text[: match.start()]))
        ):
            continue
        taken.append(match.start())
        number = float(match[1] or NUMBER_WORDS[match[2].lower()])
        if 2 <= number <= 256:
            own = Found("cpu.cores", *match.span(), number, instance=match["name"], sureness=0.8)
            yield _at_most(own, number) if _AT_MOST.search(text[: match.start()]) else own
    for match in _CORES_AFTER.finditer(text):
        if any(match.start("name") <= at or text[at : match.start("name")].isspace() for at in taken):
            continue
        taken.append(match.start("word"))
        said = match["mp"] or match["times"] or NUMBER_WORDS[match["word"].lower()]
        name = match["name"].replace("®", "")
        yield Found("cpu.cores", match.start(), match.end(), float(said), instance=name, sureness=0.88)


def _of_clusters(tagged: Tagged, taken: list[int], path: str) -> Iterator[Found]:
    """So many clusters of so many cores, and between how many cores a cluster may have."""
    text = tagged.text
    for match in (*_CLUSTERS.finditer(text), *_CLUSTERS_OF.finditer(text), *_SUBSYSTEMS.finditer(text)):
        taken += [match.start(), match.start("each")]
        clusters = float(match[1] or NUMBER_WORDS[match[2].lower()])
        each = float(NUMBER_WORDS.get(match["each"].lower()) or match["each"])
        name = (match["name"] or "").replace("®", "")
        is_name = name and name.upper() not in ("CPU", "PROCESSOR")
        if not name.startswith("Cortex") and _is_of_another(tagged, match):
            continue
        named = name if is_name else instances.core(tagged, match.start(), match.end())
        found = Found("cpu.cores", *match.span(), clusters * each, instance=named, sureness=0.82)
        yield _at_most(found, clusters * each) if _AT_MOST.search(text[: match.start()]) else found
    between = _FROM_TO.search(text)
    if between and _SEVERAL.search(f"{text} {path}"):
        taken += [between.start(), between.start("high")]
        low, high = float(between["low"]), float(between["high"])
        if 1 <= low < high <= 256:
            yield Found("cpu.cores", *between.span(), min=low, max=high, sureness=0.8)


def _unnamed(tagged: Tagged, match: re.Match[str]) -> Iterator[Found]:
    text = tagged.text
    number = float(match[1] or NUMBER_WORDS[match[2].lower()])
    named = match["name"] or _named_after(text, match.end())
    alone = (match[2] or "").lower() in ("single", "one") or match[1] == "1"
    begins = not re.search(r"\w", text[: match.start()]) and _TELLS_CPU.search(" ".join(tagged.statement.path[-2:]))
    told = named or begins or _TELLS_CPU.search(f"{text} {tagged.parent}")
    if not 1 <= number <= 1024 or (alone and not named) or not told:
        return
    named = re.sub(r"^\d+-bit (?:processor|micro\w*|CPU|core)$", "", named, flags=re.IGNORECASE)
    of_each = re.search(r"\beach\b", text[: match.start()], re.IGNORECASE)
    if named or not (of_each or _PART_OF_CHIP.search(text)):
        instance = named or instances.core(tagged, match.start(), match.end())
        found = Found("cpu.cores", *match.span(), number, instance=instance, sureness=0.9 if named else 0.72)
        yield _at_most(found, number) if _AT_MOST.search(text[: match.start()]) else found


def _at_most(found: Found, number: float) -> Found:
    return replace(found, value=None, max=number)


def _named_after(text: str, end: int) -> str:
    near = instances.CORE.search(text, end, end + 30)
    return near.group() if near else ""
