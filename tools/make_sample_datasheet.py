"""Writes the sample: the data sheet of a chip that does not exist, to try the product on.

It has what makes real data sheets hard: ruled and unruled tables, Min/Typ/Max columns, footnotes that carry
conditions, a value that is still to be determined, recommended beside required, two columns, and a scanned page.

    python tools/make_sample_datasheet.py
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pypdfium2
from PIL import Image as Raster
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.platypus import (
    BaseDocTemplate,
    Frame,
    Image,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

OUTPUT = Path(__file__).parents[1] / "hwdoc_ingest" / "sample" / "tarnholt_v200_datasheet.pdf"
STYLES = getSampleStyleSheet()
BODY = ParagraphStyle("body", parent=STYLES["BodyText"], fontSize=9.5, leading=13)
NOTE = ParagraphStyle("note", parent=BODY, fontSize=7.5, leading=10)
CELL = ParagraphStyle("cell", parent=BODY, fontSize=8.5, leading=11)
RULED = [
    ("GRID", (0, 0), (-1, -1), 0.5, colors.black),
    ("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey),
    ("FONTSIZE", (0, 0), (-1, -1), 8.5),
    ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
]
UNRULED = [("FONTSIZE", (0, 0), (-1, -1), 8.5), ("LINEBELOW", (0, 0), (-1, 0), 0.8, colors.black)]


def heading(text: str, level: int = 1) -> Paragraph:
    return Paragraph(text, STYLES[f"Heading{level}"])


def body(text: str) -> Paragraph:
    return Paragraph(text, BODY)


def note(text: str) -> Paragraph:
    return Paragraph(text, NOTE)


def bullets(*lines: str) -> list[Paragraph]:
    return [Paragraph(f"• {line}", BODY) for line in lines]


def table(rows: list[list[str]], style: list, widths: list[float] | None = None) -> Table:
    cells = [[Paragraph(cell, CELL) if "<" in cell else cell for cell in row] for row in rows]
    return Table(cells, colWidths=[width * mm for width in widths] if widths else None, style=TableStyle(style))


def overview() -> list:
    return [
        heading("TS-V200 Vision Processor"),
        body("Data Sheet, revision 1.3. Tarnholt Semiconductor (an invented company; this chip does not exist)."),
        Spacer(1, 6),
        heading("1 Overview", 2),
        body(
            "The TS-V200 is a low-power processor for cameras. It combines a dual-core 64-bit RISC-V CPU with a neural "
            "processing unit (NPU) of 2 TOPS, 1 MB of on-chip system SRAM and an LPDDR4 interface. It is made in a "
            "22 nm process and comes in a 12 x 12 mm FBGA package."
        ),
        Spacer(1, 6),
        heading("2 Features", 2),
        heading("2.1 CPU", 3),
        *bullets(
            "Dual-core RISC-V RV64GC processor, up to 1.0 GHz",
            "32 KB L1 instruction cache, 4-way, and 32 KB L1 data cache, 8-way, for each core; 64-byte lines",
            "512 KB unified L2 cache, 16-way, shared by the two CPU cores",
            "128-bit vector unit: 16 INT8 or 4 FP32 multiply-accumulates per cycle and core",
        ),
        heading("2.2 NPU", 3),
        *bullets(
            "1024 INT8 MAC operations per cycle at up to 1 GHz, 2 TOPS",
            "Data types: INT8, INT16",
            "Weights can be quantized per channel",
            "512 KB internal SRAM buffer",
            "Frameworks: ONNX, TensorFlow Lite, PyTorch",
        ),
        heading("2.3 Memory", 3),
        *bullets(
            "1 MB system SRAM in four banks of 256 KB",
            "64 KB boot ROM",
            "4 Kbit OTP",
            "LPDDR4 interface, 32-bit data bus, up to 3200 MT/s, maximum capacity 2 GB",
        ),
    ]


def memory_and_dma() -> list:
    return [
        heading("3 Memory map", 2),
        table(
            [
                ["Start address", "End address", "Size", "Block"],
                ["0x0000_0000", "0x0000_FFFF", "64 KB", "Boot ROM"],
                ["0x1000_0000", "0x100F_FFFF", "1 MB", "System SRAM"],
                ["0x1800_0000", "0x1807_FFFF", "512 KB", "NPU SRAM"],
                ["0x2000_0000", "0x2000_0FFF", "4 KB", "UART0"],
                ["0x2001_0000", "0x2001_0FFF", "4 KB", "DMA controller"],
                ["0x2002_0000", "0x2002_FFFF", "64 KB", "NPU registers"],
                ["0x8000_0000", "0xFFFF_FFFF", "2 GB", "LPDDR4"],
            ],
            RULED,
            [35, 35, 25, 50],
        ),
        Spacer(1, 4),
        body("After reset the CPU starts at the reset vector 0x0000_0000 in the boot ROM."),
        Spacer(1, 8),
        heading("4 DMA controller", 2),
        body(
            "The DMA controller has 8 channels and 32 peripheral request lines. It moves data over a 64-bit bus with a "
            "40-bit address."
        ),
        Spacer(1, 4),
        table(
            [
                ["Property", "Value", "Remark"],
                ["Channels", "8", ""],
                ["Data width", "64 bits", ""],
                ["Burst length", "1 to 16 beats", "8 beats recommended"],
                ["Largest transfer", "64 KB", "per descriptor"],
                ["Alignment", "64 bytes", "source and destination must be aligned"],
                ["Set-up time", "TBD", ""],
            ],
            UNRULED,
            [45, 45, 70],
        ),
        Spacer(1, 8),
        heading("5 Latency", 2),
        table(
            [
                ["Access", "Min", "Typ", "Max", "Unit"],
                ["L1 data cache hit", "2", "3", "3", "cycles"],
                ["L2 cache hit <super>(1)</super>", "11", "12", "13", "cycles"],
                ["System SRAM read", "5", "6", "9", "cycles"],
                ["LPDDR4 read <super>(2)</super>", "60", "85", "140", "cycles"],
            ],
            RULED,
            [60, 20, 20, 20, 25],
        ),
        note("(1) Measured at 1.0 GHz with error correction off. Add 2 cycles with error correction on."),
        note("(2) Without refresh. In CPU clock cycles at 1.0 GHz."),
    ]


def electrical() -> list:
    return [
        heading("6 Electrical characteristics", 2),
        heading("6.1 Recommended operating conditions", 3),
        table(
            [
                ["Parameter", "Symbol", "Min", "Typ", "Max", "Unit"],
                ["Core supply voltage", "VDD_CORE", "0.72", "0.80", "0.88", "V"],
                ["I/O supply voltage", "VDD_IO", "1.71", "1.80", "1.89", "V"],
                ["CPU clock frequency", "fCPU", "100", "-", "1000", "MHz"],
                ["NPU clock frequency", "fNPU", "200", "800", "1000", "MHz"],
                ["Crystal frequency", "fXTAL", "-", "24", "-", "MHz"],
                ["Ambient temperature", "TA", "-40", "25", "85", "°C"],
            ],
            RULED,
            [52, 30, 20, 20, 20, 20],
        ),
        Spacer(1, 8),
        heading("6.2 Power", 3),
        table(
            [
                ["Mode", "Typ", "Max", "Unit"],
                ["Inference, CPU and NPU at 1.0 GHz", "1.2", "2.5", "W"],
                ["CPU only, 1.0 GHz", "0.55", "0.9", "W"],
                ["Standby", "8", "15", "mW"],
            ],
            UNRULED,
            [80, 20, 20, 20],
        ),
        Spacer(1, 8),
        heading("7 NPU operators", 2),
        body(
            "The NPU runs the operators below in INT8. All others run on the CPU. Softmax, LayerNormalization and LSTM "
            "are not available on the NPU. The number of output channels is processed in groups of 16."
        ),
        Spacer(1, 4),
        table(
            [
                ["Group", "Operators"],
                ["Convolution", "Conv, ConvTranspose"],
                ["Matrix", "Gemm, MatMul"],
                ["Element-wise", "Add, Mul, Sub, Relu, Clip, Sigmoid, HardSigmoid, LeakyRelu"],
                ["Pooling", "MaxPool, AveragePool, GlobalAveragePool"],
                ["Data movement", "Concat, Reshape, Flatten, Transpose, Slice"],
            ],
            RULED,
            [40, 120],
        ),
    ]


def scanned_content() -> list:
    return [
        heading("8 Thermal and interrupt data", 2),
        table(
            [
                ["Parameter", "Min", "Typ", "Max", "Unit"],
                ["Junction temperature", "-40", "", "125", "°C"],
                ["Storage temperature", "-55", "", "150", "°C"],
                ["Thermal resistance, junction to ambient", "", "24.5", "", "°C/W"],
            ],
            RULED,
            [75, 20, 20, 20, 25],
        ),
        Spacer(1, 10),
        table(
            [
                ["Interrupt source", "Number"],
                ["UART0", "33"],
                ["DMA controller", "40"],
                ["NPU", "52"],
            ],
            RULED,
            [75, 40],
        ),
    ]


def build(story: list, templates: list[PageTemplate] | None = None) -> bytes:
    buffer = io.BytesIO()
    document = BaseDocTemplate(
        buffer,
        pagesize=A4,
        title="TS-V200 Data Sheet",
        author="Tarnholt Semiconductor (invented)",
        invariant=1,
        leftMargin=22 * mm,
        rightMargin=22 * mm,
    )
    frame = Frame(document.leftMargin, document.bottomMargin, document.width, document.height, id="one")
    document.addPageTemplates(templates or [PageTemplate(id="one", frames=[frame], onPage=footer)])
    document.build(story)
    return buffer.getvalue()


def footer(canvas, document) -> None:
    canvas.setFont("Helvetica", 7.5)
    canvas.drawString(22 * mm, 12 * mm, "Tarnholt Semiconductor · TS-V200 · revision 1.3")
    canvas.drawRightString(A4[0] - 22 * mm, 12 * mm, f"Page {document.page}")


def scan(pdf: bytes) -> bytes:
    """The first page as a photocopier would give it: 200 dpi, grey, a little turned, with specks."""
    page = pypdfium2.PdfDocument(pdf)[0].render(scale=200 / 72).to_pil().convert("L")
    turned = np.asarray(page.rotate(0.4, fillcolor=255, resample=Raster.Resampling.BICUBIC), dtype=np.float64)
    noisy = turned + np.random.default_rng(7).normal(0, 9, turned.shape)
    out = io.BytesIO()
    Raster.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(out, "JPEG", quality=70, dpi=(200, 200))
    return out.getvalue()


def main() -> None:
    scanned = scan(build(scanned_content()))
    margins = Frame(0, 0, A4[0], A4[1], leftPadding=0, rightPadding=0, topPadding=0, bottomPadding=0)
    width, height = A4[0] - 44 * mm, A4[1] - 50 * mm
    frame = Frame(22 * mm, 25 * mm, width, height, id="one")
    templates = [PageTemplate(id="one", frames=[frame], onPage=footer), PageTemplate(id="scan", frames=[margins])]
    story = [
        *overview(),
        PageBreak(),
        *memory_and_dma(),
        PageBreak(),
        *electrical(),
        NextPageTemplate("scan"),
        PageBreak(),
        Image(io.BytesIO(scanned), width=A4[0] - 0.1, height=A4[1] - 0.1),
    ]
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_bytes(build(story, templates))
    print(f"{OUTPUT}: {OUTPUT.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
