"""Clocks: cores, NPU, GPU, crystals and oscillators."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from hwdoc_ingest.rules import instances
from hwdoc_ingest.rules.rule import CPU_NAME, Found, QuantityRule, Tagged, clause, words

_OTHER = words(
    r"SPI|I2C|I2S|UART|USB|PCIe|HDMI|MIPI|eMMC|SD(?:IO|MMC)|pixel|JTAG|ADC|audio|video|(?<!A)DDR|bus clock|"
    r"baud|sample|PWM|RF\b|Wi-?Fi|bluetooth|capacitance|timer"
)
_INTERFACE = words(
    r"R?G?MII(?![A-Za-z])|SMHC|\bHS[- ]?(?:200|400|DDR)\b|\bSDR\d+|\bMMC\b|MDIO"
    r"|\bMDC\b|\bSCLK|\bSCK|\bTCK|\bLRCK|SPI|I2C|I2S|TWI|UART|USB|PCIe|MIPI|LCD|HDMI|eMMC|SD(?:IO"
    r"|MMC|C)\b"
    r"|JTAG|PCM|CSI|ethernet|reference clock"
)
_CPU = r"(?:CPU|SoC|core|cores|processor|microprocessor|MCU|system|处理器|主频)"
_FREQUENCY = r"(?:clock|frequency|frequencies|clock ?(?:rate|speed|frequency)|主频|频率)"

_NOT_CORE = words(
    _OTHER.pattern
    + r"|SRAM: |divid|oscillator|crystal|capacitance|\bMIPS\b(?![ -](?:cores?|CPU|processor|based|ISA|architecture)\b)"
    + r"|GPU|\bIGP\b|\bMali\b|Adreno|PowerVR|NPU|shader|graphics|accelerator|latency|window"
    r"|image sensor|camera|\bDVP\b"
    r"|\binterface\b|\bA[XHP]B\d?\b|\binterconnect\b"
    r"|\bbus (?:matrix|fabric|clock|at|of|frequency|speed)\b"
    r"|\bbus(?:es)?(?: [\w-]+){0,3}? (?:runs?|running|operat\w+|works?|clocked)\b"
    r"|\bsystem bus\b"
    r"|\bmaster\b|\bslave\b|receiver|transmitter|\binput clock|external clock|\bPLL outputs?|\bVCO\b"
    r"|\bfor an? [\w ]{0,30}\b(?:clock"
    r"|frequency)\b"
)
_NOT_CORE_PATH = words(
    _OTHER.pattern
    + r"|GPU|graphics|NPU|neural|video|codec|display|engine|DMA|memory interface|camera|crystal|oscillator"
)
"""Blocks whose clock is not the core's."""

SLOW = 1e6
"""Hertz below which an RC oscillator is the slow one."""

RULES: tuple[QuantityRule, ...] = (
    QuantityRule(
        "npu.clock_hz",
        "frequency",
        words(
            r"\b(?:NPU|KPU|BPU|TPU|neural (?:core|engine|processor|processing unit))s?\b(?:\s+\w+)?"
            r"\s*(?:clock|frequency)?"
        ),
        low=1e6,
        high=5e9,
        gap_words=4,
        context=words(r"frequency|clock|\b(?:running|operating) (?:at|up to)\b"),
        instance=None,
        sureness=0.93,
    ),
    QuantityRule(
        "gpu.clock_hz",
        "frequency",
        words(
            r"\b(?:GPU|IGP)\b\s*(?:clock|frequency)?|\bgraphics (?:processing unit|processor|engine|core)\b"
            r"|\bMali[- ]\w+(?: M[PC]\d{1,2})?"
        ),
        low=1e6,
        high=5e9,
        gap_words=4,
        context=words(
            r"frequency|clock|(?:@|\bat) ?[\d.]+ ?[MG]Hz|\brun(?:s|ning)? at\b|\bpeaks? at\b|\bup to [\d.]+ ?[MG]Hz"
        ),
        instance=instances.label_of_row,
        sureness=0.92,
        forbids=words(r"pix/s|fill rate|GF?LOPs"),
    ),
    QuantityRule(
        "isp.clock_hz",
        "frequency",
        words(r"\bISP\b"),
        low=1e6,
        high=5e9,
        gap_words=3,
        context=words(r"frequency|clock"),
        sureness=0.7,
    ),
    QuantityRule(
        "cpu.clock_hz",
        "frequency",
        words(
            rf"(?:max(?:imum)?\s+)?{_CPU}\s+{_FREQUENCY}|operating frequency|{_FREQUENCY}\s+(?:of|"
            rf"for)\s+(?:the\s+)?[\w ]*?{_CPU}|basic clock (?:speed|frequency)|target frequency|(?:clusters?"
            rf"|cogs?)(?=\s*\()|"
            rf"system clock|{_CPU}\s*\(?(?:max)?|Cortex[®™]?[- ]\w+(?:\s+CPU)?|\bC9\d\d\w*|\bcores?\b"
            r"|micro-?controller|主频"
        ),
        low=1e5,
        high=6e9,
        gap_words=4,
        instance=instances.clocked_core,
        lists=True,
        not_beside=words(r"\0 ?PLL|\0 (?:ISM|band|radio|multi-?protocol|wireless|Wi-?Fi|transceiver|RF)\b"),
        sureness=0.85,
        forbids=_NOT_CORE,
        forbids_path=_NOT_CORE_PATH,
    ),
    QuantityRule(
        "cpu.clock_hz",
        "frequency",
        words(
            r"\b(?:clock ?(?:speed|frequency|rate)s?|(?<!bus )(?<!AHB )(?<!memory )frequency"
            r"|(?:internal|core|clock) frequencies)\b"
        ),
        low=1e5,
        high=6e9,
        gap_words=3,
        instance=instances.clocked_core,
        lists=True,
        sureness=0.8,
        context=words(
            rf"\b{_CPU}s?\b|Cortex|RISC-V|load/store|-bit architecture"
            r"|\b(?:feature|device|family) (?:comparison|summary|features|overview)\b"
        ),
        forbids=_NOT_CORE,
        forbids_path=_NOT_CORE_PATH,
    ),
    QuantityRule(
        "cpu.clock_hz",
        "frequency",
        words(
            r"\b(?:works?|working|runs?|running|operates?|clocked) (?:at\b|with\b|(?=up to\b))"
            r"(?: an?)?(?: (?:frequenc|speed|clock)\w*)*"
        ),
        context=words(rf"\b{_CPU}s?\b|Cortex|RISC-V"),
        low=1e6,
        high=6e9,
        gap_words=0,
        before=False,
        instance=instances.clocked_core,
        sureness=0.72,
        forbids=_NOT_CORE,
        forbids_path=_NOT_CORE_PATH,
    ),
    QuantityRule(
        "clock.xtal_hz",
        "frequency",
        words(r"\bcrystals?\b(?: oscillator)?|\boscillator\b|\bDCXO\b|\bXTAL\w*\b|\bOSC input clock\b|晶振|晶体"),
        low=3e5,
        high=2e8,
        gap_words=4,
        lists=True,
        instance=instances.label_of_row,
        forbids=words(
            r"\bRC|(?:internal|on-?chip|free[- ]running)(?! crystal)(?! \w+ (?:frequency|clock|PLL))"
            r"(?:(?!\band\b|crystal)[^.;,]){0,36}\bosc"
            r"(?!\w*\b[^.;,]{0,30}\bexternal crystals?\b)"
            r"|\b(?:[HML]OCO|FRC|LPRC|[FS]IRC)\b|ring osc|RTC|tuning fork|±|ppm"
            r"|capacit|\bbelow\b|\babove\b|[<>]"
        ),
        sureness=0.88,
    ),
    QuantityRule(
        "clock.ref_hz",
        "frequency",
        words(r"\breference clock\b|\bcrystal for RTC\b"),
        low=1e4,
        high=1e9,
        gap_words=3,
        forbids=words(r"\binternal reference"),
        sureness=0.75,
    ),
    QuantityRule(
        "clock.pll_count",
        "count",
        words(r"\bPLLs\b|\bPLL(?=\W*$|[,.;)]| up to)|\bphase[- ]locked loops\b"),
        low=1,
        high=64,
        gap_words=2,
        after=False,
        not_beside=words(r"\0 ?[x×](?! ?PLLs)"),
    ),
    QuantityRule(
        "clock.period_s",
        "time",
        words(r"\b(?:CLK|clock) cycle period\b|\bclock period\b"),
        low=1e-11,
        high=1e-3,
        gap_words=2,
        instance=instances.label_of_row,
        forbids=_INTERFACE,
        forbids_path=_INTERFACE,
    ),
)

_RC = re.compile(r"\bRC\b(?: (?:oscillators?|clocks?))?", re.IGNORECASE)
_OWN_OSCILLATOR = re.compile(
    r"\bRC\b(?![\w/-]* (?:filter|network|delay|circuit|snubber|combination|component))"
    r"|\b(?-i:(?:HSI|LSI|MSI|FRO|FRC|FIRC|SIRC|IRC|[HML]OCO|LPRC)\d{0,3}[MK]?)\b"
    r"|\b(?:internal|on-?chip|built-?in|embedded|factory[- ](?:trimmed|calibrated))(?: [\w.-]+){0,6}?"
    r" (?:oscillators?\b|(?:fast|slow|reference) clock\b)",
    re.IGNORECASE,
)
"""What swings without a crystal: `internal 16 MHz RC`, `HSI`, `on-chip oscillator`."""
_FAST = words(r"\bfast\b|\bhigh[- ]speed\b|(?-i:\b(?:HSI|HOCO|FIRC|FRO)(?![A-Z]))")
_NOT_OWN = words(
    r"crystal|XTAL|resonator|external|quartz|PLL(?!\s+(?:input|source|reference))|\bdrift"
    r"|accura\w+ of|deviation|\btrim(?:ming)? (?:step|range)|divided"
    r"|\bTCXO|\bhigh-speed external|\bHSE\b|\bjitter\b"
)
_ACCELERATOR_LABEL = re.compile(
    r"^\W*(?:(?P<gpu>(?:\w+ )?(?:GPU|graphics (?:processor|engine|core)))|(?:\w+ )?(?:[NKBT]PU"
    r"|(?:neural|AI|tensor) (?:engine|accelerator|processor|core)))\s*(?:[:：]|\|)",
    re.IGNORECASE,
)
_NAMED_RC = re.compile(r"\bRC_?(\d{1,3})_?([MK])(?:Hz)?\b")
"""An RC oscillator that is called after its clock: `RC32M`."""


_AND_EXTERNAL = re.compile(r"\band (?:an? )?external\b", re.IGNORECASE)
"""What comes after it is another oscillator: `internal 16 MHz RC and external 4 to 32 MHz crystal oscillator`."""
_CRYSTAL = re.compile(r"\s*(?:quartz )?(?:crystals?|resonators?)\b", re.IGNORECASE)
_AND_SLOW = re.compile(
    r"\)?,?\s*(?:and|&|/|,|plus|or)\s*(?:an? )?[\d.]+ ?kHz (?:(?:quartz|external) )?(?:crystals?|XTALs?)\b",
    re.IGNORECASE,
)
"""After the fast crystal comes the slow one, and the name of both: `3 to 32 MHz and 32 kHz crystal oscillator`."""
_TO_NUMBER = re.compile(
    r"(?: oscillators?| clocks?| frequency|\)| \([A-Z][A-Za-z]{1,8}\)|\s?\()*\s*"
    r"(?:[:=,(]|\bis an?\b|\bis\b|\bof\b|\bat\b|\bwith an?\b|\bwith\b"
    r"|\bruns at\b|\b(?:about|around|approximately|typically|nominal(?:ly)?)\b|\bhas a (?:nominal )?frequency of\b"
    r"|,? which\b|\bcan be used as\b|\b(?:provides|generates|delivers|supplies|operates at|running at)\b"
    r"|\ban?\b|\s|-)*",
    re.IGNORECASE,
)
_TO_NAME = re.compile(r"\s*(?:[-+\w/%±.]+\s+){0,4}?", re.IGNORECASE)
_ITS_FREQUENCY = re.compile(
    r"\b(?:the|its) (?:nominal |clock |typical |output |oscillator )*frequency (?:of the clock )?(?:is|equals|=)"
    r"(?: (?:about|around|approximately|typically|nominally|set to|fixed at))*\s*$",
    re.IGNORECASE,
)
"""In a section on an oscillator: `The clock frequency is around`."""


def find(tagged: Tagged) -> Iterator[Found]:
    """RC oscillators: two that are told of together, and those called after their clock."""
    text = tagged.text
    for amount in tagged.amounts:
        if amount.dimension == "frequency" and amount.form == "list" and len(amount.values) == 2:
            near = _RC.search(text, max(0, amount.start - 24), amount.start) or _RC.match(text, amount.end + 1)
            if near and min(amount.values) < SLOW <= max(amount.values):
                for value in amount.values:
                    yield Found(_rc(value), amount.start, amount.end, value, sureness=0.72)
    yield from _own_oscillators(tagged)
    label = instances.CORE_LABEL.match(text)
    clocks = [amount for amount in tagged.amounts if amount.dimension == "frequency" and amount.form == "single"]
    if label and len(clocks) == 1 and clocks[0].start > label.end() and not _NOT_CORE.search(text):
        at = clocks[0]
        most = re.search(r"\b(?:up to|max(?:imum)?\.?)\s*$", text[: at.start], re.IGNORECASE)
        instance = instances.clocked_core(tagged, at.start, at.end)
        found = Found("cpu.clock_hz", at.start, at.end, at.values[0], instance=instance, sureness=0.75)
        yield _at_most(found, at.values[0]) if most else found
    yield from _of_named_cores(tagged)
    yield from _below_core(tagged)
    for match in _CORE_AT.finditer(text) if not tagged.describes_register else ():
        instance = " ".join(match["name"].split())
        hertz = float(match["clock"]) * (1e9 if match["unit"].lower() == "g" else 1e6)
        yield Found("cpu.clock_hz", *match.span(), hertz, instance=instance, sureness=0.78)
    other = _ACCELERATOR_LABEL.match(text)
    if other and len(clocks) == 1 and clocks[0].start > other.end():
        field = "gpu.clock_hz" if other["gpu"] else "npu.clock_hz"
        yield Found(field, clocks[0].start, clocks[0].end, clocks[0].values[0], sureness=0.72)
    for amount in tagged.amounts:
        before = text[: amount.start]
        outside = _AND_EXTERNAL.search(before) and _CRYSTAL.match(text, amount.end) and _OWN_OSCILLATOR.search(before)
        slow = _AND_SLOW.match(text, amount.end)
        if amount.dimension == "frequency" and amount.values[0] >= SLOW and (slow or outside):
            plain = Found("clock.xtal_hz", amount.start, amount.end, amount.values[0], sureness=0.78)
            ranged = replace(plain, value=None, min=amount.values[0], max=amount.values[-1])
            yield plain if amount.form == "single" else ranged
    for match in _NAMED_RC.finditer(text):
        value = float(match[1]) * (1e6 if match[2] == "M" else 1e3)
        yield Found(_rc(value), match.start(), match.end(), value, sureness=0.7)


_BARE_CLOCK = re.compile(
    r"\W*(?P<most>up to |max(?:imum|\.)?(?: frequency)?:? |at up to |running at up to )?(?:running )?(?:at )?"
    r"(?P<clock>\d+(?:\.\d+)?) ?(?P<unit>[MG])Hz(?: \(.*\))?\W*$",
    re.IGNORECASE,
)
"""All that an item of a list says, below an item that names a core."""


def _below_core(tagged: Tagged) -> Iterator[Found]:
    """`Up to 200 MHz`, below `32-bit Arm Cortex-M0+ in the low-power domain`."""
    said = None if tagged.statement.is_row else _BARE_CLOCK.match(tagged.text)
    named = {match.group() for match in instances.CORE.finditer(tagged.parent)}
    if said and len(named) == 1 and CPU_NAME.search(tagged.parent) and not _NOT_CORE_PATH.search(tagged.parent):
        hertz = float(said["clock"]) * (1e9 if said["unit"] in "Gg" else 1e6)
        found = Found("cpu.clock_hz", 0, said.end(), hertz, instance=named.pop(), sureness=0.8)
        yield _at_most(found, hertz) if said["most"] else found


_CORE_AT = re.compile(
    r"\b(?P<name>(?:(?:XuanTie|T-Head|SiFive|Andes) )?(?:[CE]9\d\d|[XUN]\d\d|LX\d|8051)"
    r"(?: RISC-V)?(?: core| MCU)?)"
    r" ?(?:\([^()]{1,24}\) ?)?@ ?(?P<clock>\d+(?:\.\d+)?) ?(?P<unit>[MG])Hz",
    re.IGNORECASE,
)
"""`E906 RISC-V@200MHz`: a core that no Arm name tells, in a list of several."""


_RUNS_AT = re.compile(r"(?P<most>\b(?:up to|max(?:imum)?\.?)\s*)?(?:\b(?:at|frequency|clock)\s*|@\s*)*$", re.IGNORECASE)


def _of_named_cores(tagged: Tagged) -> Iterator[Found]:
    """The clock of each core that stands in a list under its short name: `M0 (RV32IMC, up to 320 MHz), D0 (...)`."""
    if tagged.statement.is_row or len(tagged.statement.cores) < 2:
        return
    names = "|".join(map(re.escape, tagged.statement.cores))
    for amount in tagged.amounts:
        if amount.dimension != "frequency" or amount.form != "single" or amount.values[0] < 1e6:
            continue
        before = tagged.text[: amount.start]
        named = re.search(rf"(?<![\w-])({names})\s?[(:：@][^();:；]{{0,60}}$", before)
        if named and not _NOT_CORE.search(named.group()):
            most = _RUNS_AT.search(before)
            span = named.start(), amount.end
            found = Found("cpu.clock_hz", *span, amount.values[0], instance=named[1], sureness=0.78)
            yield _at_most(found, amount.values[0]) if most and most["most"] else found


def _at_most(found: Found, hertz: float) -> Found:
    """The same with its clock as the highest one."""
    return replace(found, value=None, max=hertz)


def _own_oscillators(tagged: Tagged) -> Iterator[Found]:
    """The clock of each oscillator inside the chip; the fast one is called so, or can be tuned."""
    for amount in tagged.amounts:
        if amount.dimension != "frequency" or amount.form == "list":
            continue
        hertz = amount.values[-1] if amount.form == "range" else amount.values[len(amount.values) // 2]
        said = clause(tagged.text, amount.start, amount.end)
        around = _named_before(tagged.text, amount.start) or _named_behind(tagged.text, amount.end)
        if not around and _ITS_FREQUENCY.search(tagged.text[: amount.start]):
            said = f"{tagged.parent} {said}"
            around = bool(_OWN_OSCILLATOR.search(tagged.parent))
        other = _AND_EXTERNAL.search(tagged.text, amount.end)
        if other:
            said = clause(tagged.text[: other.start()], amount.start, amount.end)
        elif amount.form == "range":  # `On-chip crystal oscillator, 10 to 20 MHz` is no range of its own
            said = tagged.text
        if not tagged.statement.is_row and around and 1e3 <= hertz <= 2e8 and not _NOT_OWN.search(said):
            fast = hertz >= SLOW and (_FAST.search(said) or amount.form == "range")
            field = "clock.rc_fast_hz" if fast else "clock.rc_hz"
            plain = Found(field, amount.start, amount.end, hertz, sureness=0.72)
            ranged = replace(plain, value=None, min=amount.values[0], max=hertz)
            yield ranged if amount.form == "range" else plain


def _named_before(text: str, start: int) -> bool:
    """Whether an oscillator's name leads to a number: `HSI: 8 MHz`, `internal RC oscillator of 40 kHz`."""
    names = [*_OWN_OSCILLATOR.finditer(text, 0, start)]
    return bool(names) and bool(_TO_NUMBER.fullmatch(text[names[-1].end() : start]))


def _named_behind(text: str, end: int) -> bool:
    """Whether a number leads to an oscillator's name: `16 MHz factory-trimmed RC`, or stands inside of it."""
    inside = any(match.start() < end <= match.end() for match in _OWN_OSCILLATOR.finditer(text))
    after = _OWN_OSCILLATOR.search(text, end)
    return inside or bool(after and _TO_NAME.fullmatch(text[end : after.start()]))


def _rc(hertz: float) -> str:
    return "clock.rc_fast_hz" if hertz >= SLOW else "clock.rc_hz"
