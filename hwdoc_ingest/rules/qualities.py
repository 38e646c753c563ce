"""Words between a number and its name that only tell how the named thing is built: `16 KB, 4-way, write-back cache`."""

from __future__ import annotations

import re

_QUALITY = (
    r"(?:\w+[- ]way(?:[- ]set)?(?:[- ]associative)?|set[- ]associative|fully[- ]associative|direct[- ]mapped"
    r"|write[- ](?:back|through)|copy[- ]back|read[- ]allocate|no[- ]write[- ]allocate|(?:dual|single|two)-ported"
    r"|pipelined|non-?blocking|lockup-free|(?:virtual|physical)(?:ly)?(?:[- ](?:indexed|addressed|tagged))?"
    r"|unified|split|separate|private|dedicated|shared|coherent|inclusive|exclusive|local|common|primary|secondary"
    r"|associative|on-?\s?chip|on-?die|internal|embedded|integrated|built-?in|in-?package|low[- ](?:leakage|power)"
    r"|ultra[- ]?low[- ](?:leakage|power)"
    r"|high[- ]speed|ultra|zero[- ]wait(?:[- ]state)?|(?:parity|ECC|SECDED)(?:[- ]protected)?|protected|contiguous"
    r"|in-system|in-application|self-programmable"
    r"|\w+[- ](?:layer|level)(?:[- ]metal)?|(?:single|double|triple)[- ](?:poly|metal)"
    r"|additional|total|static|fast|main|user|fixed"
    r"|(?:individually |freely )?programmable|configurable|maskable|independent|general[- ]purpose|multiplexed"
    r"|synchronous|bidirectional|linear|flat|flexible|fully|typical|maximum|max|up to|\d+-bit|\w+-entry"
    r"|error[- ]correcting|retention|battery[- ]backed|of|the|a|an)"
)
QUALITIES = re.compile(rf"(?<![\w-]){_QUALITY}(?![\w-])(?:\s*,)?", re.IGNORECASE)
"""What a number and its name may have between them without belonging to another name: how the named thing is built."""
