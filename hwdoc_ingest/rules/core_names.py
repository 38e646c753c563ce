"""What a document calls its cores by short names of its own: `a RISC-V CPU (M0)`, `D0 core`, `LP (RV32EMC, 160 MHz)`.

Such a name means a core wherever it stands then, also where a sentence does not say so: `D0: 32 KB instruction cache`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from hwdoc_ingest.statements.statement import Statement

_NAME = r"(?P<name>(?:[A-Z]{1,3}\d{1,2}|LP|HP|ULP)\b)"
_NO_CORE = re.compile(
    r"(?:L|V|DDR|USB|PCI|I2|SD|SPI|RV|FP|IO|EP|GEN|AXI|AHB|APB|H|MP|CAN|P|T|Q|INT|BF|TF|DMA|PLL|ADC|DAC|TX|RX|CH|TIM)\d+"
)
"""What looks like one and is a level, a bus, a format or a block."""
_CALLED = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<![\w-]){_NAME} (?:core|CPU|processor|MCU)\b",
        rf"\b(?:CPU|processor|core|MCU|Cortex-\w+|RISC-V)\s?\({_NAME}\)",
        rf"(?<![\w-]){_NAME}\s?\((?:RV\d\d[A-Z]|RISC-V|Cortex|XuanTie|[CE]9\d\d\b)",
        rf"(?<![\w-]){_NAME} (?:is|has|uses|features) (?:an? )?[^.;,]{{0,40}}\b(?:CPU|processor|RISC-V|Cortex)\b",
    )
)


_LISTED = re.compile(
    r"\b(?:cores|CPUs|processors)\b[^.;]{0,12}\b(?:abbreviated as|named|called|labell?ed)\s+"
    r"(?P<names>[A-Z]{1,4}\d{0,2}(?:(?:, | and |, and |/)[A-Z]{1,4}\d{0,2})+)\b"
)
"""`Three cores named XRV, YRV0 and YRV1`."""


def core_names(statements: Iterable[Statement]) -> tuple[str, ...]:
    """The short names of cores, in the order in which they come up; none where a document has one core of its own."""
    names: dict[str, None] = {}
    for statement in statements:
        for pattern in _CALLED:
            names |= {m["name"]: None for m in pattern.finditer(statement.text) if not _NO_CORE.fullmatch(m["name"])}
        for listed in _LISTED.finditer(statement.text):
            names |= dict.fromkeys(re.findall(r"[A-Z]{1,4}\d{0,2}", listed["names"]))
    return tuple(names)
