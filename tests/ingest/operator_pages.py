"""Operator tables as PDF files, set as two vendors might: drawn with merged cells, and without any line."""

from __future__ import annotations

import io

from reportlab.lib.colors import black
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

HEIGHT = A4[1]

DRAWN = (
    # operator (None: the cell above goes on), parameter, allowed, data types
    ("Conv2D", "Kernel height", "1 to 11", "INT8, INT16"),
    (None, "Kernel width", "1 to 11", ""),
    (None, "Stride", "1, 2, 4", ""),
    (None, "Input channels", "multiple of 16", ""),
    ("MaxPool2D", "Kernel size", "2x2, 3x3", "INT8"),
    (None, "Padding", "at most 1", ""),
    ("Fully Connected", "Input channels", "≤ 4096", "INT8"),
    ("Softmax", "Axis", "only 1 when the batch is even", "FP16"),
)
PLAIN = (
    # operator, RX100, RX200, constraints (lines)
    ("Conv", "Yes", "Yes", ("Kernel height and width must be in the", "range 1 to 64; weights must be constant")),
    ("DepthwiseConv2D", "Yes", "Yes", ("Product of kernel height and kernel width", "must not exceed 64")),
    ("Concat", "Yes", "Yes", ("All inputs must have the same scale",)),
    ("LSTM", "No", "Yes", ("Batch must be 1 unless the layer is", "unrolled")),
    ("GELU", "No", "Yes", ("-",)),
    ("Reshape", "Yes", "Yes", ("No restrictions",)),
)


def drawn_table() -> bytes:
    """A table with lines around its cells; the operator's cell is merged over its rows, and it ends on page 2."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=True)
    lefts, right, height = (60.0, 170.0, 290.0, 430.0), 540.0, 20.0
    header = ("Operator", "Parameter", "Allowed values", "Data types")
    canvas.setFont("Helvetica", 10)
    canvas.drawString(60, HEIGHT - 60, "Neural engine of the QX7: operators")
    top = 90.0
    for page, rows in enumerate((DRAWN[:5], DRAWN[5:])):
        if page:
            canvas.showPage()
            canvas.setFont("Helvetica", 10)
            top = 60.0
        y = top
        for index, row in enumerate((header, *rows)):
            for left, text in zip(lefts, row, strict=True):
                if text:
                    canvas.drawString(left + 4, HEIGHT - y - 14, text)
            goes_on = index > 0 and row[0] is None
            canvas.line(lefts[1] if goes_on else lefts[0], HEIGHT - y, right, HEIGHT - y)
            y += height
        canvas.line(lefts[0], HEIGHT - y, right, HEIGHT - y)
        for x in (*lefts, right):
            canvas.line(x, HEIGHT - top, x, HEIGHT - y)
    canvas.setStrokeColor(black)
    canvas.save()
    return out.getvalue()


def plain_table() -> bytes:
    """A table without lines: columns by where words begin, cells of several lines, a column for each of two chips."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=True)
    lefts = (60.0, 190.0, 260.0, 330.0)
    canvas.setFont("Helvetica-Bold", 10)
    for left, text in zip(lefts, ("Layer", "RX100", "RX200", "Constraints"), strict=True):
        canvas.drawString(left, HEIGHT - 100, text)
    canvas.setFont("Helvetica", 10)
    y = 120.0
    for operator, one, two, lines in PLAIN:
        for left, text in zip(lefts, (operator, one, two, lines[0]), strict=True):
            canvas.drawString(left, HEIGHT - y, text)
        for line in lines[1:]:
            y += 12
            canvas.drawString(lefts[3], HEIGHT - y, line)
        y += 18
    canvas.drawString(60, HEIGHT - y - 60, "The times below were measured on the evaluation board at room temperature.")
    canvas.save()
    return out.getvalue()


OUTLINE = (
    # (size in points, indent, text); a list item begins with a bullet
    (14, 0, "1 ZK10"),
    (12, 0, "1.1 Convolution"),
    (10, 0, "Inputs"),
    (10, 12, "• input : T1"),
    (10, 24, "- shape : [batch, channel, height, width]"),
    (10, 36, "* width must be even except for the first layer"),
    (10, 12, "• weight : T1"),
    (10, 24, "- shape : [output_channel, input_channel, kernel_h, kernel_w]"),
    (10, 36, "* kernel_h in [1, 31]"),
    (10, 24, "- quantization"),
    (10, 36, "* per-tensor"),
    (10, 36, "* per-channel"),
    (10, 0, "Attributes"),
    (10, 12, "• strides: int(stride_h, stride_w)"),
    (10, 24, "- only 1, 2"),
    (10, 0, "Data types"),
    (10, 12, "• T1: int8(Tensor), float16(Tensor)"),
    (12, 0, "1.2 Depthwise Convolution"),
    (10, 0, "Inputs"),
    (10, 12, "• weight"),
    (10, 24, "- kernel_h in [1, 8]"),
    (12, 0, "1.3 ConvolutionRelu"),
    (10, 0, "As Convolution."),
    (12, 0, "1.4 Add"),
    (10, 0, "Inputs"),
    (10, 12, "• A : T1"),
    (10, 12, "• B : T1, T2"),
    (10, 0, "Data types"),
    (10, 12, "• T1: int8(Tensor), float16(Tensor)"),
    (10, 12, "• T2: float(const Tensor)"),
    (12, 0, "1.5 Softmax"),
    (10, 0, "Inputs"),
    (10, 12, "• input"),
    (10, 24, "- shape : [batch, channel, height, width]"),
    (10, 24, "- axis=1, height * width < 16384; height in [1, 512], multiple of 4 when height > 1"),
    (12, 0, "1.6 Relu"),
    (12, 0, "1.7 GRU"),
    (10, 12, "• not supported"),
    (14, 0, "2 ZK20"),
    (12, 0, "2.1 Convolution"),
    (10, 0, "Attributes"),
    (10, 12, "• group: int"),
    (10, 24, "- group <= 64"),
    (12, 0, "2.2 Add"),
    (14, 0, "3 CPU operators"),
    (12, 0, "3.1 Sin"),
    (12, 0, "3.2 Softmax"),
    (10, 12, "- axis <= 3"),
)
"""What stands on the pages of an operator list that is set as an outline, line by line."""


def outline() -> bytes:
    """An operator list with a chapter for each family of chips, and one for the processor."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=True)
    y = 80.0
    for size, indent, text in OUTLINE:
        if y > 760:
            canvas.showPage()
            y = 80.0
        canvas.setFont("Helvetica", size)
        canvas.drawString(60 + indent, HEIGHT - y, text)
        y += 2.2 * size if size > 10 else 15
    canvas.save()
    return out.getvalue()
