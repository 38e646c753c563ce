"""Data sheets of chips that do not exist, in house styles written apart from the rules, as PDF files of several makers.

A sheet is a text file in unseen/: `=` begins a heading, `-` an item, `~` a caption, `|=` the header and `|` a row of a
table; after `##` stands what a line says, as facts (a mapping of YAML; `field@instance` where a field has several).
The styles of `HELD_OUT` were set aside: their misses are counted, never looked at while rules are made.
"""

from __future__ import annotations

import html
import io
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from invented_sheets import fact

FOLDER = Path(__file__).parent / "unseen"
HELD_OUT = "h"
"""How the names of set-aside sheets begin."""
_BINARY = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_CHROMIUM = ("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer")


@dataclass(frozen=True)
class Block:
    """One line of a sheet."""

    kind: str
    """`heading`, `item`, `caption`, `header`, `row` or `text`."""
    text: str
    depth: int = 1
    cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sheet:
    """A sheet with what it says."""

    name: str
    render: str
    """Maker and layout: `html-two`, `html-serif`, `reportlab-zh` ..."""
    blocks: tuple[Block, ...]
    facts: tuple[dict[str, Any], ...]


def sheet(path: Path) -> Sheet:
    """The sheet of a file."""
    render, blocks, facts = "html", [], []
    for line in path.read_text("utf-8").splitlines():
        said, _, known = line.partition(" ## ")
        if line.startswith("% render:"):
            render = line.partition(":")[2].strip()
            continue
        facts += list(facts_of(known))
        if said.strip():
            blocks.append(_block(said.strip()))
    return Sheet(path.stem, render, tuple(blocks), tuple(facts))


def sheets(folder: Path = FOLDER) -> list[Sheet]:
    """All sheets of a folder."""
    return [sheet(path) for path in sorted(folder.glob("*.sheet"))]


def _block(line: str) -> Block:
    if line.startswith("|"):
        cells = tuple(cell.strip() for cell in line.lstrip("|=").split("|"))
        return Block("header" if line.startswith("|=") else "row", line, cells=cells)
    mark = re.match(r"^(=+|-+(?= )|~)\s*", line)
    if mark is None:
        return Block("text", line)
    kind = {"=": "heading", "-": "item", "~": "caption"}[mark[1][0]]
    return Block(kind, line[mark.end() :], len(mark[1]))


def facts_of(known: str) -> Iterator[dict[str, Any]]:
    """The facts that stand after a line."""
    for name, said in (yaml.safe_load(known) or {}).items() if known else ():
        field, _, instance = name.partition("@")
        whole = {"instance": instance} if instance else {}
        plain = fact(field)
        if isinstance(said, dict):
            yield {**plain, **whole, **{bound: _number(value) for bound, value in said.items()}}
        elif plain["unit"] == "addr":
            yield {**plain, **whole, "value": hex(said)}
        else:
            value = [_number(each) for each in said] if isinstance(said, list) else _number(said)
            yield {**plain, **whole, "value": value}


def _number(said: object) -> object:
    if isinstance(said, str) and re.fullmatch(r"\d+[KMG]", said):
        return int(said[:-1]) * _BINARY[said[-1]]
    if isinstance(said, str) and re.fullmatch(r"\d+(?:\.\d+)?e-?\d+", said):
        return float(said)
    return said


def pdf(of: Sheet) -> bytes:
    """The sheet as a PDF of its maker."""
    maker, *layout = of.render.split("-")
    return {"html": _by_chromium, "reportlab": _by_reportlab}[maker](of, frozenset(layout))


# Chromium -----------------------------------------------------------------------------------------------------------

_STYLE = """
body { font: 10pt 'Liberation Sans', 'Noto Sans CJK SC'; } h1 { font-size: 17pt } h2 { font-size: 12.5pt }
table { border-collapse: collapse; width: 100%; margin: 6pt 0 }
th { background: #24476b; color: white; text-align: left; -webkit-print-color-adjust: exact }
td, th { border: 0.5pt solid #999; padding: 2pt 4pt; font-size: 9pt }
.caption { font-weight: bold; font-size: 9pt } .two { column-count: 2; column-gap: 24pt }
ul { margin: 2pt 0; padding-left: 16pt } ul ul { list-style: '– ' }
"""
_OLD_STYLE = """
body { font-family: 'Liberation Serif' } p, li { text-align: justify; hyphens: auto }
th { background: none; color: black; border-bottom: 1pt solid black } td, th { border: none }
"""
"""Justified, hyphenated, ligatures, tables without rulings: as in manuals of the 1990s."""


def _by_chromium(of: Sheet, layout: frozenset[str]) -> bytes:
    style = _STYLE + (_OLD_STYLE if "serif" in layout else "")
    columns = "two" if "two" in layout else "one"
    parts = [f"<html lang=en><meta charset=utf-8><style>{style}</style><body><div class={columns}>"]
    depth, table = 0, False
    for block in of.blocks:
        wanted = block.depth if block.kind == "item" else 0
        parts.append("<ul>" * (wanted - depth) + "</ul>" * (depth - wanted))
        depth = wanted
        if table and block.kind not in ("header", "row"):
            parts.append("</table>")
            table = False
        said = html.escape(block.text)
        if block.kind in ("header", "row"):
            if not table or block.kind == "header":
                parts.append(("</table>" if table else "") + "<table>")
            table = True
            cell = "th" if block.kind == "header" else "td"
            parts.append("<tr>" + "".join(f"<{cell}>{html.escape(c)}</{cell}>" for c in block.cells) + "</tr>")
        else:
            tag = {"heading": f"h{min(block.depth, 2)}", "item": "li", "caption": "p class=caption", "text": "p"}
            parts.append(f"<{tag[block.kind]}>{said}</{tag[block.kind].split()[0]}>")
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "sheet.html"), Path(folder, "sheet.pdf")
        source.write_text("".join(parts), "utf-8")
        subprocess.run(
            [*_CHROMIUM, f"--user-data-dir={folder}/profile", f"--print-to-pdf={out}", str(source)],
            check=True, capture_output=True, timeout=120,
        )  # fmt: skip
        return out.read_bytes()


# reportlab ----------------------------------------------------------------------------------------------------------


def _by_reportlab(of: Sheet, layout: frozenset[str]) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.cidfonts import UnicodeCIDFont
    from reportlab.pdfbase.ttfonts import TTFont
    from reportlab.platypus import BaseDocTemplate, Frame, PageTemplate, Paragraph, Spacer, Table

    font = "STSong-Light" if "zh" in layout else "DejaVu"
    if "zh" in layout:
        pdfmetrics.registerFont(UnicodeCIDFont(font))
    else:
        pdfmetrics.registerFont(TTFont(font, "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"))
    body = ParagraphStyle("body", fontName=font, fontSize=9.5, leading=13, wordWrap="CJK" if "zh" in layout else None)
    width = 235 if "two" in layout else 500
    flow: list[Any] = []
    rows: list[list[Any]] = []
    said: list[tuple[str, ...]] = []
    for block in [*of.blocks, Block("text", "")]:
        if block.kind in ("header", "row"):
            small = ParagraphStyle("cell", parent=body, fontSize=8, leading=10)
            said.append(block.cells)
            rows.append([Paragraph(html.escape(cell), small) for cell in block.cells])
            continue
        if rows:
            flow.append(Table(rows, colWidths=_widths(said, width)))
            rows, said = [], []
        size = {"heading": 16 - 2 * block.depth}.get(block.kind, 9.5)
        bullet = {"bulletText": "•"} if block.kind == "item" else {}
        style = ParagraphStyle(
            "line", parent=body, fontSize=size, leading=1.4 * size, leftIndent=12 * block.depth if bullet else 0,
            bulletIndent=12 * (block.depth - 1), bulletFontName="Helvetica", spaceBefore=6 if size > 10 else 0,
        )  # fmt: skip
        flow += [Paragraph(html.escape(block.text), style, **bullet), Spacer(1, 2)]
    out = io.BytesIO()
    lefts = (40, 315) if "two" in layout else (45,)
    frames = [Frame(left, 40, width + 10, 760) for left in lefts]
    document = BaseDocTemplate(out, pagesize=A4, invariant=1)
    document.addPageTemplates(PageTemplate(frames=frames))
    document.build(flow)
    return out.getvalue()


def _widths(rows: list[tuple[str, ...]], width: float) -> list[float]:
    """Column widths by the longest cell of each column."""
    most = [max(4 + len(row[at].encode("gbk", "replace")) for row in rows) for at in range(len(rows[0]))]
    return [width * each / sum(most) for each in most]
