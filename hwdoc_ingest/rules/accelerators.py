"""NPU, GPU and DSP: throughput, data types, frameworks, models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import Found, QuantityRule, Tagged, clause, words
from hwdoc_ingest.statements.number_phrases import NUMBER_WORDS, Amount, find_amounts

_NPU = words(
    r"\b(?:micro)?NPUs?\b|neural|\bAI\b|神经网络|\bKPU\b|\bBPU\b|\bTPU\b|deep[- ]learning|machine[- ]learning|inference"
    r"|\b(?:NV)?DLAs?\b|accelerat|\bMMA\b|\btensors?\b"
)
_GPU = words(r"\bGPU\b|graphics|Mali|shader|3D|PowerVR|图形")
_TERA = 1e12

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "npu.tops",
        "operation rate",
        words(
            r"\bNPUs?\b|neural(?:[- ](?:network|processing))?|\bcomput(?:e|ing) (?:power|performance)\b"
            r"|processing performance"
            r"|performance|算力|\baccelerators?\b|\bAI\b"
            r"|\btensor (?:engine|processor|unit|core)s?\b|\bMMA\b|inference|\bmachine[- ]learning"
        ),
        context=_NPU,
        low=0.01,
        high=1000,
        scale=_TERA,
        gap_words=5,
        instance=lambda tagged, start, end: share(tagged.text, start, end),
        sureness=0.92,
        forbids=words(r"\bGPU\b|FLOPS"),
        not_beside=words(r"\0 ?(?:/ ?W\b|per watt\b)|\b(?:more than|over) \0"),
    ),
    QuantityRule(
        "npu.cores",
        "count",
        words(r"\bNPU cores?\b|\bneural (?:network )?cores?\b|\b(?:AI|tensor) cores?\b"),
        low=1,
        high=64,
        gap_words=0,
        after=False,
        forbids=words(r"work independently and|\bCUDA\b|\bGPU\b"),
        forbids_path=words(r"\bGPU\b|graphics"),
    ),
    QuantityRule(
        "npu.sram.size_bytes",
        "bytes",
        words(r"\binternal buffer\b|\bNPU (?:internal )?(?:SRAM|buffer|RAM)\b|\bbuffer\b"),
        context=_NPU,
        not_beside=words(r"\bbanks? (?:of|each with|with) \0|\0 (?:size|each)\b"),
        low=1024,
        high=1 << 28,
        gap_words=2,
        sureness=0.8,
    ),
    QuantityRule(
        "npu.macs_per_cycle",
        "count",
        words(
            r"\b(?:int\d+\s+)?(?:MACs?|multiply[- ]accumulates?)(?: operations?)? "
            r"(?:per|each|every|in (?:each|every|one)) "
            r"(?:clock )?(?:cycle|clock)\b|\b(?:INT\d+ |8-bit )?MACs? ?/ ?(?:cycle|clk|clock)\b"
        ),
        low=1,
        high=1e7,
        gap_words=2,
        after=False,
        lists=True,
    ),
    QuantityRule(
        "npu.macs",
        "count",
        words(
            r"\b(?:INT\d+ )?(?:MACs?|multiply[- ]accumulate)(?: (?:units?|engines?|elements?|arrays?))?"
            r"(?=\W*$|[ ,.;)]+(?:running|clocked|operat|at|with|and|in|for|that|which|configuration|units?\b|\())"
            r"(?! (?:and|in|at) \w+ (?:per|each))|\b(?:hardware )?multipliers\b"
        ),
        context=_NPU,
        low=8,
        high=1e6,
        gap_words=1,
        after=False,
        sureness=0.72,
        not_beside=words(r"[x×]\s*\0|\(or \0"),
        forbids=words(
            r"\bper\b|\beach\b|\b(?:every|one|single)[- ](?:clock|cycle)|/(?:clk|clock|cycle)|ethernet|\bGMAC|MII\b"
        ),
    ),
    QuantityRule(
        "gpu.cores",
        "count",
        words(r"\bshader cores?\b|\bGPU cores?\b"),
        context=_GPU,
        low=1,
        high=256,
        gap_words=0,
        after=False,
    ),
    QuantityRule(
        "gpu.l2_cache.size_bytes",
        "bytes",
        words(r"\bL2 Cache\b"),
        context=_GPU,
        low=1024,
        high=1 << 28,
        gap_words=3,
        sureness=0.7,
        forbids=words(r"\d\s*x\s*\d"),
    ),
    QuantityRule(
        "gpu.gflops",
        "operation rate",
        words(r"\bwhen\b|\bGPU\b|\bperformance\b"),
        context=_GPU,
        low=0.1,
        high=1e6,
        scale=1e9,
        gap_words=3,
        sureness=0.75,
    ),
    QuantityRule(
        "gpu.fill_rate_mpix_s",
        "count",
        words(r"(?<=\d)\s?M[Pp]ix(?:els?)?/s(?:ec)?\b"),
        whole=False,
        context=_GPU,
        low=1,
        high=1e6,
        gap_words=0,
        after=False,
        sureness=0.85,
    ),
    QuantityRule(
        "cpu.peak_flops",
        "operation rate",
        words(r"\bpeak(?: performance| FLOPS)?\b|(?<=FLOPS)\s*\(|\bfloating[- ]point\b|\bFPU\b"),
        context=words(r"FLOP"),
        instance=instances.label_of_row,
        low=1e5,
        high=1e14,
        gap_words=2,
        forbids=words(r"\bGPU\b|\bNPU\b|neural"),
        forbids_path=words(r"GPU|NPU|graphics|neural"),
        sureness=0.8,
    ),
)

_TYPE = re.compile(
    r"\bu?int(?:eger)?\s?-?\s?(4|8|16|32)\b|\b(?:fp|float(?:ing)?(?:[- ]point)?)\s?-?\s?(8|16|32)\b|"
    r"\b(bf|bfloat|bfp)\s?-?\s?16\b|\btf\s?-?\s?32\b",
    re.IGNORECASE,
)
_FRAMEWORKS = re.compile(r"\bframeworks?\b[^:：]{0,30}?(?:[:：]|such as|including|like)\s*(.{4,160})", re.IGNORECASE)
_GPU_MODEL = re.compile(
    r"\bMali-?\s?[GT]?\d{1,3}(?:[\s-]*M[PC]\d{1,2}|\s+\d-Core-\w+|\s\dEE)?(?:[\s-]\d ?EE)?(?:\s*\(?MP\d{1,2}\)?)?"
    r"|\bPowerVR(?:\s+(?:Rogue|Series\d\w*|\d\w{1,3}))*\s+\w+|\bIMG\s+\w+(?:-\w+)+(?: MC\d)?"
    r"|\bImmortalis-G\d+(?: MC\d{1,2})?|\bVideoCore\s+[IVX]+|\bAdreno\s+\d+|\bGC\d{3,4}\w*"
    r"|\bB[XS][ESTM]-\d+-\d+(?: MC\d)?",
    re.IGNORECASE,
)
_OWN_MEMORY = re.compile(
    r" (?:of )?(?:(?:tightly[- ]coupled|local|private|dedicated|internal|on-chip|shared) )*"
    r"(?:SRAM|RAM|buffer|scratchpad|(?<=(?:local|ivate|cated|ernal) )memory)\b",
    re.IGNORECASE,
)
"""What stands after the size of a memory in an item that begins with an accelerator."""
_TIMES = re.compile(r"\b(\d+)\s*[x×]\s*(\d+)\s*(KB|MB)\b|\b(\d+)\s*(KB|MB)\s*[x×]\s*(\d+)\b", re.IGNORECASE)


_RATE_AT = re.compile(r"\bG?TOPS\b[^.;,]{0,16}?(?:\bat|@|\bwhen clocked at)\s*$", re.IGNORECASE)
"""`2 TOPS at 500 MHz`: the clock that the rate is given for."""
_ARRAY = re.compile(
    r"\b(\d{1,4}) ?[x×] ?(\d{1,4}) (?:systolic )?(?:INT\d+ )?(?:array of )?(?:MACs?|multiply[- ]accumulate"
    r"|multipliers?|processing elements)\b(?! per)",
    re.IGNORECASE,
)
"""`an array of 64 x 64 MACs`."""
_OTHER_CLOCK = re.compile(r"\bCPUs?\b|Cortex|RISC-V|\bGPU\b|\bDSP\b", re.IGNORECASE)
_ONE_TYPE = re.compile(
    r"^\W*(?:supported )?(?:data|operand|input|weight) ?types? ?(?:support\w*)?\s*[:=|]\s*"
    r"(?P<type>u?int\s?-?\d{1,2}|b?fp?\s?-?\d{1,2})\W*$",
    re.IGNORECASE,
)
"""`Data type = INT8`: the only one."""
_WIDTHS = re.compile(
    r"\b(?:4|8|16|32)[- ]bit(?:(?:,| and| or|,? and| ?/) ?(?:4|8|16|32)[- ]bit)+ "
    r"(?P<kind>(?:signed |unsigned |fixed[- ]point )?integers?|floating[- ]point)\b",
    re.IGNORECASE,
)
"""`8-bit and 16-bit integer`."""
_TELLS_TYPES = re.compile(
    r"^\W*(?:numeric |number |supported |operand |data )*(?:precisions?|data ?types?|number formats?|quanti[sz]ation)"
    r"(?: support\w*)?\s*(?::|\||are\b|is\b)"
    r"|^\W*(?:supports?\s+)?(?:(?:u?int|b?fp?|tf)-?\d{1,2}[\s/,&]*(?:and\s+)?){2,}(?:mixed )?"
    r"(?:data ?types?|precisions?|quanti[sz]ation)\b",
    re.IGNORECASE,
)
"""How a line begins that lists what an accelerator counts with."""


def find(tagged: Tagged) -> Iterator[Found]:
    """Lists of data types and frameworks, the GPU's model, and sizes written as a product."""
    text = tagged.text
    near = text + " " + " ".join(tagged.statement.path[-3:])
    if not (_FRAMEWORKS.search(text) and _NPU.search(near)):
        yield from _known_frameworks(text)
    single = _ONE_TYPE.match(text) if _NPU.search(near) or _NPU.search(tagged.path_text) else None
    if single:
        of = _TYPE.search(single["type"])
        yield from (Found("npu.data_types", *single.span("type"), (_type_name(of),), sureness=0.72),) if of else ()
    if _NPU.search(near) or _TELLS_TYPES.match(text):
        yield from _types(text)
        yield from _frameworks(text)
    if tagged.is_of_accelerator and _NPU.search(text[:40]) and not _GPU.search(text):
        for amount in tagged.amounts:
            memory = _OWN_MEMORY.match(text, amount.end) if amount.dimension == "bytes" else None
            if memory and amount.form == "single" and amount.values[0] >= 1024:
                yield Found("npu.sram.size_bytes", amount.start, memory.end(), amount.values[0], sureness=0.75)
    for array in _ARRAY.finditer(text) if _NPU.search(near) else ():
        yield Found("npu.macs", *array.span(), float(array[1]) * float(array[2]), sureness=0.75)
    for amount in tagged.amounts if not _GPU.search(near) and not tagged.describes_register else ():
        yield from _tops(text, amount)
    yield from _own_memory(tagged)
    several = (
        _CORES_OF.search(text)
        or _UNITS.search(text)
        or (_OWN_CORES.match(text) if _NPU_HEADING.search(tagged.parent) else None)
    )
    if several and not re.search(r"\bCPU|Cortex", text):
        said = next(part for part in several.groups() if part).lower()
        yield Found("npu.cores", *several.span(), float(NUMBER_WORDS.get(said) or said), sureness=0.75)
    dsp = re.search(
        r"\b(?P<own>HiFi\s?\d\w*)|\bC(?:66|67|71|7)x\b|\bVision [PQ]\d\b|\bCEVA[- ][\w-]+", text, re.IGNORECASE
    )
    if dsp and (dsp["own"] or re.search(r"\bDSP\b", near)):
        yield Found("dsp.model", dsp.start(), dsp.end(), dsp.group(), sureness=0.85)
    if _GPU.search(near):
        model = _GPU_MODEL.search(text)
        if model:
            yield Found("gpu.model", model.start(), model.end(), model.group(), sureness=0.85)
            many = re.search(r"\b(\d)-Core|\bM[PC](\d{1,2})\b", model.group())
            many = many or re.match(r"() ?\((\d{1,2})[ -]cores?\)", text[model.end() :])
            if many:
                cores = float(many[1] or many[2])
                yield Found("gpu.cores", model.start(), model.end(), cores, sureness=0.7)
    if _GPU.search(tagged.parent) and re.search(r"GFLOPS?\b", text, re.IGNORECASE):
        for amount in tagged.amounts:
            if amount.dimension == "operation rate" and amount.form == "single" and 1e8 <= amount.values[0] <= 1e15:
                yield Found("gpu.gflops", amount.start, amount.end, amount.values[0] / 1e9, sureness=0.72)
    for amount in tagged.amounts if _NPU.search(near) else ():
        if amount.dimension == "MAC rate" and amount.form in ("single", "list"):
            value = amount.values[0] if amount.form == "single" else amount.values
            yield Found("npu.macs_per_cycle", amount.start, amount.end, value, sureness=0.8)
    if _NPU.search(near) and not _OTHER_CLOCK.search(text):
        for amount in tagged.amounts:
            if amount.dimension == "frequency" and amount.form == "single" and _RATE_AT.search(text[: amount.start]):
                yield Found("npu.clock_hz", amount.start, amount.end, amount.values[0], sureness=0.72)
    for match in _TIMES.finditer(text):
        count, size, unit = (match[1], match[2], match[3]) if match[1] else (match[6], match[4], match[5])
        total = float(count) * float(size) * {"KB": 1024, "MB": 1 << 20}[unit.upper()]
        if re.search(r"internal buffer", text, re.IGNORECASE) and _NPU.search(near):
            yield Found("npu.sram.size_bytes", match.start(), match.end(), total, sureness=0.85)
        elif re.search(r"L2 cache", text, re.IGNORECASE) and _GPU.search(near):
            yield Found("gpu.l2_cache.size_bytes", match.start(), match.end(), total, sureness=0.85)


_SAYS_TOPS = re.compile(r"\d\s?TOPS?\b", re.IGNORECASE)
_NO_TOPS = re.compile(r"\s*(?:/ ?W\b|per (?:watt|mm|core)|FLOPS)", re.IGNORECASE)
_MOST_TOPS = re.compile(r"\b(?:up to|max(?:imum)?\.?(?: of)?|as much as|peak(?: of)?)\s*$", re.IGNORECASE)
_LEAST_TOPS = re.compile(r"\b(?:more than|over|at least|above|another|additional|from|than)\s*$", re.IGNORECASE)


def _tops(text: str, amount: Amount) -> Iterator[Found]:
    """A rate in TOPS, which nothing but an accelerator has, in whatever company."""
    spelled = _SAYS_TOPS.search(text[amount.start : amount.end])
    if amount.dimension != "operation rate" or amount.form != "single" or not spelled:
        return
    value, before = amount.values[0] / _TERA, text[: amount.start]
    if _NO_TOPS.match(text, amount.end) or _LEAST_TOPS.search(before) or not 0.01 <= value <= 5000:
        return
    value = float(f"{value:.12g}")
    most = bool(_MOST_TOPS.search(before))
    value_or_none, highest = (None, value) if most else (value, None)
    of = share(text, amount.start, amount.end)
    yield Found("npu.tops", amount.start, amount.end, value_or_none, max=highest, instance=of, sureness=0.75)


def share(text: str, start: int, end: int) -> str | None:
    """Whether a rate is that of each of several units or of all of them, where the sentence says so."""
    each, whole = [*_EACH_UNIT.finditer(text)], _ALL_UNITS.search(clause(text, start, end))
    if each and not whole:
        return each[-1].group()
    return whole.group() if whole and not each else None


_EACH_UNIT = re.compile(
    r"\b(?:each|per|every) (?:NPU|TPU|BPU|DLA|AI core|engine|core|accelerator|unit)\b", re.IGNORECASE
)
_ALL_UNITS = re.compile(r"\b(?:combined|altogether|in total|in all|aggregate)\b", re.IGNORECASE)


_SPOKEN = "|".join(word for word in NUMBER_WORDS if word.isascii())
_CORES_OF = re.compile(
    rf"\b({_SPOKEN}|\d)[- ]core (?:\w+ )?(?:[NKBT]PU|neural|AI (?:accelerator|engine))\b", re.IGNORECASE
)
"""`triple-core NPU`."""
_UNITS = re.compile(
    rf"\b({_SPOKEN}|\d)(?: ?[x×])? (?!TOPS|GHz|MHz)(?:[A-Z][a-z]+ |identical |independent ){{0,3}}"
    r"(?:(?-i:[NKBT]PUs|(?:NV)?DLAs)\b"
    r"|neural (?:network |processing )?(?:units|engines|cores|accelerators|processors)\b"
    r"|(?:AI|ML|deep[- ]learning|machine[- ]learning) (?:accelerators|engines)\b)"
    rf"|\b({_SPOKEN}|\d) ?[x×] (?:[A-Z][a-z]+ ){{0,2}}(?-i:[NKBT]PU|(?:NV)?DLA)\b",
    re.IGNORECASE,
)
"""`2x Acme TPU`, `two neural processing units`."""
_OWN_CORES = re.compile(rf"\W*({_SPOKEN}|\d{{1,2}}) cores\b", re.IGNORECASE)
"""`Three cores`, below a heading that names the accelerator."""
_NPU_HEADING = re.compile(r"\b(?:[NKBT]PU|neural|AI (?:engine|accelerator|processor))\b", re.IGNORECASE)
_SIZED = re.compile(r"\b(?:SRAM|RAM|buffer|scratchpad)\s*(?::|of|is|size|\||\()*\s*$", re.IGNORECASE)


_IN_TOTAL = re.compile(
    r"\b(?:total(?:ly|ling)?|altogether|in all)(?: of)?:? (\d{1,5} ?[KM]i?B)\b"
    r"|\b(\d{1,5} ?[KM]i?B) (?:in total|altogether|in all)\b",
    re.IGNORECASE,
)
_BUFFER = re.compile(r"\b(?:buffers?|SRAM|scratchpads?|CBUF|local memory)\b", re.IGNORECASE)


def _own_memory(tagged: Tagged) -> Iterator[Found]:
    """`512 KB of dedicated SRAM` below a heading that names an accelerator; or what its banks have in total."""
    whole = _IN_TOTAL.search(tagged.text)
    if whole and _BUFFER.search(tagged.text[: whole.start()]) and _NPU.search(f"{tagged.text} {tagged.path_text}"):
        for amount in find_amounts(whole[1] or whole[2]):
            yield Found("npu.sram.size_bytes", *whole.span(), amount.values[0], sureness=0.75)
        return
    if not _NPU_HEADING.search(tagged.parent) or _OTHER_CLOCK.search(tagged.text) or tagged.is_of_accelerator:
        return
    for amount in tagged.amounts:
        if amount.dimension != "bytes" or amount.form != "single" or amount.values[0] < 1024:
            continue
        memory = _OWN_MEMORY.match(tagged.text, amount.end)
        if memory or _SIZED.search(tagged.text[: amount.start]):
            end = memory.end() if memory else amount.end
            yield Found("npu.sram.size_bytes", amount.start, end, amount.values[0], sureness=0.75)


def _types(text: str) -> Iterator[Found]:
    for widths in _WIDTHS.finditer(text):
        letter = "FP" if widths["kind"].lower().startswith("fl") else "INT"
        names = tuple(letter + width for width in re.findall(r"\d+(?=[- ]bit)", widths.group()))
        yield Found("npu.data_types", *widths.span(), names, sureness=0.72)
    if re.search(r"macs? (?!(?:hybrid |mixed )?operations?\b(?! per))|mac operations per", text, re.IGNORECASE):
        return
    for run in _runs(list(_TYPE.finditer(text))):
        names = tuple(dict.fromkeys(map(_type_name, run)))
        if len(names) > 1:
            yield Found("npu.data_types", run[0].start(), run[-1].end(), names, sureness=0.8)
            return


def _runs(found: list[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Names of types that stand together: what a rate is given for, far behind, is not in the list."""
    run: list[re.Match[str]] = []
    for match in found:
        if run and match.start() - run[-1].end() > FURTHEST_TYPE:
            yield run
            run = []
        run.append(match)
    if run:
        yield run


FURTHEST_TYPE = 26
"""Letters that may stand between two types of one list."""


def _type_name(match: re.Match[str]) -> str:
    name = match.group().lower()
    if match[3]:
        return "BFP16" if match[3].lower() == "bfp" else "BF16"
    if name.startswith("tf"):
        return "TF32"
    return f"FP{match[2]}" if match[2] else ("UINT" if name.startswith("u") else "INT") + match[1]


_KNOWN = (
    r"TensorFlow(?:[ -]?Lite)?|TF[ -]?Lite|PyTorch|Caffe2?|ONNX(?: ?NN)?|MXNet|Keras"
    r"|Paddle(?:Paddle)?(?: ?Lite)?|Darknet"
    r"|MindSpore(?: ?Lite)?|Android ?NN|Torch|CNTK|JAX|NCNN|TensorRT"
)
_IN_LIST = rf"(?:{_KNOWN})\b(?:\s?\(\s?\w+\s?\))?"
_KNOWN_LIST = re.compile(rf"\b{_IN_LIST}(?:\s*(?:[,/、]|and|or|,\s*and)\s*{_IN_LIST})+", re.IGNORECASE)
_LIST_GOES_ON = re.compile(r"\s*(?:(?:[,/、]|,?\s*(?:and|or))\s*(?:[A-Z]\w|$)|\()")
"""After a list: another name follows that is not known, or the line was torn off."""


def _known_frameworks(text: str) -> Iterator[Found]:
    """Frameworks that are listed by their names, without being called so."""
    match = _KNOWN_LIST.search(text)
    if match and not re.search(r"\bnot support|benchmark|example", text, re.IGNORECASE):
        names = tuple(re.findall(_IN_LIST, match.group(), re.IGNORECASE))
        if _LIST_GOES_ON.match(text, match.end()):
            return
        yield Found("npu.frameworks", match.start(), match.end(), names, sureness=0.78)


def _frameworks(text: str) -> Iterator[Found]:
    match = _FRAMEWORKS.search(text)
    if not match:
        return
    listed = re.split(r"\b(?:can|etc|are|is)\b|[.;。]", match[1])[0]
    pieces = [each for each in re.split(r"[,/、，]|\band\b", listed) if 1 < len(each.strip()) < 24]
    names = tuple(each.strip() for each in takewhile(_NAME.fullmatch, pieces))
    if len(names) > 1:
        end = match.start(1) + listed.find(names[-1]) + len(names[-1])
        yield Found("npu.frameworks", match.start(1), end, names, sureness=0.85)


_NAME = re.compile(r"\s*(?!supports?\b)[A-Za-z][\w.+-]*(?: [\w.+()-]+){0,2}\s*", re.IGNORECASE | re.ASCII)
"""The name of a framework: what goes on after the list is no name."""
