"""Four data sheets of chips that do not exist, each in another house style, with what they say as facts.

Everything in them is invented. Facts are written like those of a corpus: a field of hwdoc_ingest/fields.yaml, a value
in its base unit, and the instance where a document gives a field more than once.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from reportlab.lib.colors import black, grey
from reportlab.pdfgen.canvas import Canvas

WIDTH, HEIGHT = 595, 842
Facts = list[dict[str, Any]]


def fact(field: str, value: object = None, **more: object) -> dict[str, Any]:
    """One fact of a truth file."""
    from hwdoc_ingest.fields import FIELDS

    return {"field": field, "value": value, "unit": FIELDS[field].unit, **more}


class Paper:
    """A PDF that is written line by line, from the top."""

    def __init__(self, size: float = 10) -> None:
        self.out = io.BytesIO()
        self.canvas = Canvas(self.out, pagesize=(WIDTH, HEIGHT), invariant=1)
        self.size, self.page, self.y = size, 1, 60.0

    def text(self, x: float, words: str, bold: bool = False, size: float | None = None) -> None:
        self.canvas.setFont("Helvetica-Bold" if bold else "Helvetica", size or self.size)
        self.canvas.drawString(x, HEIGHT - self.y, words)

    def line(self, x: float, words: str, **style: Any) -> None:
        self.text(x, words, **style)
        self.y += 1.35 * (style.get("size") or self.size)

    def heading(self, words: str, x: float = 50) -> None:
        self.y += 12
        self.line(x, words, bold=True, size=14)
        self.y += 4

    def raised(self, x: float, words: str) -> None:
        self.canvas.setFont("Helvetica", 6)
        self.canvas.drawString(x, HEIGHT - self.y + 4, words)

    def break_page(self, running_head: str) -> None:
        self.canvas.setFont("Helvetica", 8)
        self.canvas.drawString(50, 24, f"{running_head}   {self.page}")
        self.canvas.showPage()
        self.page, self.y = self.page + 1, 60.0

    def ruled(self, edges: Sequence[float], rows: Sequence[Sequence[str]], pitch: float = 16) -> None:
        """A table with every line drawn; a row of empty cells at its start goes on in the cells above."""
        top = self.y - pitch + 4
        for row in rows:
            for x, words in zip(edges, row, strict=False):
                self.text(x + 4, words, size=9)
            self.y += pitch
        bottom = top + pitch * len(rows)
        self.canvas.setStrokeColor(black)
        for i in range(len(rows) + 1):
            height = HEIGHT - top - pitch * i
            self.canvas.line(edges[0], height, edges[-1], height)
        for x in edges:
            self.canvas.line(x, HEIGHT - top, x, HEIGHT - bottom)
        self.y += 10

    def columns(self, places: Sequence[float], rows: Sequence[Sequence[str]], rule: bool = False) -> None:
        """A table without lines, or with one below its header."""
        for i, row in enumerate(rows):
            for x, words in zip(places, row, strict=True):
                self.text(x, words, bold=i == 0, size=9)
            if rule and i == 0:
                self.canvas.setStrokeColor(grey)
                self.canvas.line(places[0], HEIGHT - self.y - 4, 550, HEIGHT - self.y - 4)
            self.y += 14
        self.y += 8

    def done(self) -> bytes:
        self.canvas.save()
        return self.out.getvalue()


def brief() -> tuple[bytes, Facts]:
    """A product brief of two columns with bullets, and prose beside them."""
    paper = Paper(9)
    paper.line(50, "Lindmoor LM620 vision processor", bold=True, size=20)
    paper.y += 6
    paper.line(50, "Product brief", size=12)
    start = paper.y + 20
    left = [
        ("Processor", ["Quad-core Arm Cortex-A55 at up to 1.8 GHz",
                       "32 KB instruction cache and 32 KB data cache per core",
                       "512 KB L3 cache, shared by all cores", "One Cortex-M33 for power management, 200 MHz"]),
        ("Neural processing", ["NPU with 3.2 TOPS, INT8 and INT16", "1 MB of internal buffer for the NPU",
                               "TensorFlow, ONNX and PyTorch models are converted", "NPU clock of up to 900 MHz"]),
        ("Memory", ["32-bit LPDDR4/LPDDR4X interface, 4266 MT/s", "Up to 8 GB address space for DRAM",
                    "256 KB of on-chip SRAM", "96 KB boot ROM", "8 Kbit eFuse"]),
    ]  # fmt: skip
    right = [
        "The LM620 is made for cameras that look at the world",
        "and decide by themselves. Earlier members of the family",
        "reached 1.2 TOPS; a board with two chips was needed for",
        "what one of them does today. Software moves over without",
        "a change, and most models run within a quarter of the time",
        "that a processor alone would take. Ask for the kit LM6-EVK,",
        "which has 4 GB of memory, a 5 V supply and two cameras.",
        "A module with 16 GB of eMMC is planned for next spring.",
    ]
    paper.y = start
    for title, items in left:
        paper.line(50, title, bold=True, size=11)
        for item in items:
            paper.line(56, f"\u2022 {item}")
        paper.y += 8
    below = paper.y
    paper.y = start
    for words in right:
        paper.line(325, words)
    paper.y = below + 16
    paper.line(50, "Characteristics", bold=True, size=12)
    for name, value in (
        ("Process", "12 nm FinFET"),
        ("Package", "441-ball FCBGA, 15 x 15 mm"),
        ("Operating temperature", "-20 to 85 °C (ambient)"),
        ("Storage temperature", "-55 to 150 °C"),
        ("Typical power consumption", "2.4 W"),
    ):
        paper.text(50, name)
        paper.line(230, value)
    return paper.done(), [
        fact("cpu.cores", 4, instance="Cortex-A55"),
        fact("cpu.clock_hz", 1.8e9, max=1.8e9, instance="Cortex-A55"),
        fact("cpu.l1i_cache.size_bytes", 32 << 10),
        fact("cpu.l1d_cache.size_bytes", 32 << 10),
        fact("cpu.l3_cache.size_bytes", 512 << 10),
        fact("cpu.cores", 1, instance="Cortex-M33"),
        fact("cpu.clock_hz", 2e8, instance="Cortex-M33"),
        fact("npu.tops", 3.2),
        fact("npu.data_types", ["INT8", "INT16"]),
        fact("npu.sram.size_bytes", 1 << 20),
        fact("npu.clock_hz", 9e8),
        fact("memory.dram.types", ["LPDDR4", "LPDDR4X"]),
        fact("memory.dram.bus_width_bits", 32),
        fact("memory.dram.data_rate_mtps", 4266),
        fact("memory.dram.max_size_bytes", 8 << 30),
        fact("memory.sram.size_bytes", 256 << 10),
        fact("memory.rom.size_bytes", 96 << 10),
        fact("memory.otp.size_bits", 8192),
        fact("chip.process_nm", 12),
        fact("thermal.ambient_c", [-20, 85], min=-20, max=85),
        fact("thermal.storage_c", [-55, 150], min=-55, max=150),
        fact("power.typ_w", 2.4),
    ]


def manual() -> tuple[bytes, Facts]:
    """A reference manual: numbered chapters, ruled tables, one of them over two pages."""
    paper = Paper()
    head = "OX4 reference manual"
    paper.line(50, "OX4 reference manual", bold=True, size=22)
    paper.line(50, "Revision history", bold=True, size=12)
    paper.line(50, "1.1: SRAM of 64 KB corrected to 128 KB; clock frequency of the CPU changed")
    paper.break_page(head)
    paper.heading("1 Memory map")
    paper.line(50, "Table 1-1. Memory map", bold=True)
    paper.y += 10
    edges = (50, 190, 300, 410, 540)
    paper.ruled(edges, [
        ("Block", "Start address", "End address", "Size"),
        ("Boot ROM", "0x0000_0000", "0x0000_FFFF", "64 KB"),
        ("System SRAM", "0x2000_0000", "0x2001_FFFF", "128 KB"),
        ("UART0", "0x4000_0000", "0x4000_0FFF", "4 KB"),
        ("SPI0", "0x4000_1000", "0x4000_1FFF", "4 KB"),
        ("Reserved", "0x4000_2000", "0x4000_FFFF", ""),
        ("DMAC", "0x4001_0000", "0x4001_0FFF", "4 KB"),
    ])  # fmt: skip
    paper.heading("2 Processor")
    for words in (
        "The processor is a 32-bit core with a five-stage pipeline. Its instruction cache holds 16 KB and is",
        "4-way set associative with a line size of 32 bytes. The data cache holds 8 KB. Half of the data cache",
        "(4 KB) can be locked. For example, a cache of 64 KB would need 12 address bits for its index.",
        "After reset the processor starts executing from address 0x0000_0080.",
    ):
        paper.line(50, words)
    paper.break_page(head)
    paper.heading("3 DMA controller (DMAC)")
    for words in (
        "The DMAC has 8 channels and 24 peripheral requests. Bursts of up to 16 beats are supported. Source and",
        "destination addresses must be aligned to 4 bytes. Transfer of a block takes 12 cycles on average.",
    ):
        paper.line(50, words)
    paper.line(50, "Table 3-1. DMAC registers", bold=True)
    paper.y += 560
    rows = [("Name", "Offset", "Width", "Access", "Reset value", "Description"),
            ("DMAC_CTRL", "0x000", "32", "R/W", "0x0000_0000", "Control"),
            ("DMAC_STAT", "0x004", "32", "RO", "0x0000_0001", "Status, 4 channels"),
            ("DMAC_SRC", "0x010", "32", "R/W", "0x0000_0000", "Source address")]  # fmt: skip
    edges = (50, 140, 200, 250, 310, 400, 540)
    paper.ruled(edges, rows)
    paper.break_page(head)
    paper.ruled(edges, [("DMAC_DST", "0x014", "32", "R/W", "0x0000_0000", "Destination address"),
                        ("DMAC_LEN", "0x018", "16", "R/W", "0x0000_0000", "Length, 16 KB at most")])  # fmt: skip
    return paper.done(), [
        fact("memory.region.base", 0x0, instance="Boot ROM"),
        fact("memory.region.base", 0x20000000, instance="System SRAM"),
        fact("memory.region.size_bytes", 64 << 10, instance="Boot ROM"),
        fact("memory.region.size_bytes", 128 << 10, instance="System SRAM"),
        fact("mmio.base", 0x40000000, instance="UART0"),
        fact("mmio.base", 0x40001000, instance="SPI0"),
        fact("mmio.base", 0x40010000, instance="DMAC"),
        fact("cpu.word_bits", 32),
        fact("cpu.pipeline_stages", 5),
        fact("cpu.l1i_cache.size_bytes", 16 << 10),
        fact("cpu.l1i_cache.ways", 4),
        fact("cpu.l1i_cache.line_bytes", 32),
        fact("cpu.l1d_cache.size_bytes", 8 << 10),
        fact("reset.vector", 0x80),
        fact("dma.channels", 8),
        fact("dma.requests", 24),
        fact("dma.max_burst_beats", 16),
        fact("dma.alignment_bytes", 4),
        fact("register.offset", 0x0, instance="DMAC_CTRL"),
        fact("register.offset", 0x4, instance="DMAC_STAT"),
        fact("register.offset", 0x10, instance="DMAC_SRC"),
        fact("register.offset", 0x14, instance="DMAC_DST"),
        fact("register.offset", 0x18, instance="DMAC_LEN"),
    ]


def electrical() -> tuple[bytes, Facts]:
    """Electrical characteristics without drawn lines: Min, Typ and Max by their place, blanks and footnotes."""
    paper = Paper()
    paper.line(50, "HN77 microcontroller", bold=True, size=18)
    paper.heading("4.1 Absolute maximum ratings")
    places = (50, 110, 300, 345, 390, 435)
    paper.columns(places, [
        ("Symbol", "Parameter", "Min", "Typ", "Max", "Unit"),
        ("VDD", "Supply voltage", "-0.3", "", "4.0", "V"),
        ("TSTG", "Storage temperature", "-65", "", "150", "°C"),
        ("TJ", "Junction temperature", "", "", "150", "°C"),
    ], rule=True)  # fmt: skip
    paper.heading("4.2 Recommended operating conditions")
    paper.columns(places, [
        ("Symbol", "Parameter", "Min", "Typ", "Max", "Unit"),
        ("VDD", "Supply voltage", "1.8", "3.3", "3.6", "V"),
        ("TA", "Ambient temperature", "-40", "25", "105", "°C"),
        ("fCPU", "CPU clock frequency", "", "", "72", "MHz"),
        ("fXTAL", "Crystal frequency", "4", "", "16", "MHz"),
    ], rule=True)  # fmt: skip
    paper.heading("4.3 Thermal characteristics")
    paper.columns((50, 110, 330, 420), [
        ("Symbol", "Parameter", "Value", "Unit"),
        ("RthJA", "Thermal resistance junction-to-ambient, LQFP64", "47.5", "°C/W"),
        ("RthJC", "Thermal resistance junction-to-case, LQFP64", "12.1", "°C/W"),
    ])  # fmt: skip
    paper.heading("4.4 Supply current")
    paper.line(50, "VDD = 3.3 V and TA = 25 °C unless said otherwise.")
    paper.y += 6
    paper.columns((50, 150, 330, 390, 450), [
        ("Parameter", "Conditions", "Typ", "Max", "Unit"),
        ("Supply current", "Run mode, 72 MHz", "28", "36", "mA"),
        ("Supply current", "Sleep mode, 72 MHz", "9", "13", "mA"),
        ("Supply current", "Stop mode", "14", "TBD", "μA"),
    ])  # fmt: skip
    paper.heading("4.5 Ordering")
    paper.line(50, "The reel is stored at a storage temperature of 20 to 26 °C and at most 60 % humidity.")
    return paper.done(), [
        fact("thermal.storage_c", [-65, 150], min=-65, max=150),
        fact("thermal.junction_c", None, max=150),
        fact("power.supply_v", 3.3, min=1.8, typ=3.3, max=3.6),
        fact("thermal.ambient_c", [-40, 105], min=-40, typ=25, max=105),
        fact("cpu.clock_hz", 72e6, max=72e6),
        fact("clock.xtal_hz", [4e6, 16e6], min=4e6, max=16e6),
        fact("thermal.resistance_ja_c_per_w", 47.5),
        fact("thermal.resistance_jc_c_per_w", 12.1),
        fact("power.current_a", 0.028, typ=0.028, max=0.036, instance="Run mode, 72 MHz"),
        fact("power.current_a", 0.009, typ=0.009, max=0.013, instance="Sleep mode, 72 MHz"),
        fact("power.current_a", 14e-6, typ=14e-6, instance="Stop mode"),
    ]


def soft_core() -> tuple[bytes, Facts]:
    """A guide to a configurable soft core: choices and defaults, words for numbers, a footnote mark on a number."""
    paper = Paper()
    paper.line(50, "Tamsin-32 soft processor guide", bold=True, size=20)
    paper.heading("1 Overview")
    for words in (
        "Tamsin-32 is a 32-bit RISC-V processor core that implements RV32IMC. It runs at 110 MHz on the devices of",
        "the smallest family. The pipeline has three stages.",
    ):
        paper.line(50, words)
    paper.heading("2 Configuration")
    paper.line(50, "Table 2-1. Options of the core", bold=True)
    paper.y += 8
    top = paper.y
    paper.columns((50, 160, 340, 470), [
        ("Parameter", "Description", "Values", "Default"),
        ("ICACHE_SIZE", "Instruction cache size", "4, 8, 16, 32 KB", "8 KB"),
        ("DCACHE_SIZE", "Data cache size", "4, 8, 16 KB", "4 KB"),
        ("LINE", "Data cache line length in words", "4, 8", "4"),
        ("ITCM_SIZE", "ITCM size", "8, 16, 32, 64 KB", "16 KB"),
        ("IRQS", "Number of interrupt inputs", "1 to 32", "16"),
    ])  # fmt: skip
    end, paper.y = paper.y, top + 14
    paper.raised(411, "1")
    paper.y = end
    paper.line(50, "1. Not on the smallest family.", size=8)
    paper.heading("3 Buses")
    for words in (
        "The core has two 64-bit bus masters. A read from the ITCM takes one clock cycle and a division takes",
        "34 clock cycles. Caches are write-through; there is no write allocate in the data cache.",
        "The reset vector is 0x0000_1000. A comparison: the older Tamsin-16 had a 2 KB instruction cache.",
    ):
        paper.line(50, words)
    return paper.done(), [
        fact("cpu.word_bits", 32),
        fact("cpu.isa", "RV32IMC"),
        fact("cpu.clock_hz", 110e6),
        fact("cpu.pipeline_stages", 3),
        fact("cpu.l1i_cache.size_bytes", [4096, 8192, 16384, 32768], typ=8192),
        fact("cpu.l1d_cache.size_bytes", [4096, 8192, 16384], typ=4096),
        fact("memory.tcm.size_bytes", [8192, 16384, 32768, 65536], typ=16384),
        fact("reset.vector", 0x1000),
    ]


SHEETS = {"brief": brief, "manual": manual, "electrical": electrical, "soft_core": soft_core}
