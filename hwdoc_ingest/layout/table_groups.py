"""Words over several columns of a table at once: a speed grade, a part or a mode above its own Min, Typ and Max."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hwdoc_ingest.layout.table_column import Column
from hwdoc_ingest.page.text_lines import Line

CHINESE_HEADER = (
    r"(?:参数|符号|最小|典型|标称|最大|值|单位|测试|条件|描述|名称|名|起始|开始|结束|终止|首|末|基|地址|大小|容量|空间"
    r"|说明|类型|复位|偏移量?|项目|位|位宽|功能|数值|额定|范围|模块|外设|设备|存储器|区域|备注|工作|模式|状态|寄存器"
    r"|中断|编号|号|源|优先级|向量|引脚|管脚|信号|访问|权限|读写|型号|封装|电源|[/／])+"
)
"""Chinese headers are put together from these."""
HEADER_WORD = re.compile(
    r"^(?:param\w*|symbols?|min(?:imum)?\.?|typ(?:ical)?\.?|nom(?:inal)?\.?|max(?:imum)?\.?|units?|conditions?|values?"
    r"|ratings?|names?|offset|size|reset|description|address|access|bits?|fields?|type|default|characteristics?"
    r"|number|source|function|item|test|notes?|comments?|limits?|vector|priority|range|module|block|memory|base"
    r"|start|end|mode|modes|work|operating|peak|absolute|r/w|register|item|feature\w*|operation|pin|signal|speed|frequency|package|device|model|group|power"
    r"|supply|domain|region|peripherals?|instance|category|attributes?|specifications?|grade|rail|components?|details"
    rf"|R?[θΘΨψ]\s?J[-_]?[ACBT]|{CHINESE_HEADER})[:*\d]*$",
    re.IGNORECASE,
)
FOOTNOTE = re.compile(r"\s?(?:\[\d{1,2}\]|\(\d{1,2}\)|\*+)(?=\s|$)")
"""A mark that sends the reader to a note below the table."""


def _repeated(columns: Sequence[Column]) -> bool:
    """Whether a bound heads more than one column, so that something above must tell them apart."""
    bounds = [column.bound for column in columns if column.bound not in (None, "value")]
    return len(bounds) > len(set(bounds))


def stands_between(piece: Line, columns: Sequence[Column]) -> bool:
    """Whether words stand over the middle of several columns with bounds, not over one of them."""
    if not _repeated(columns):
        return False
    centre = (piece.box[0] + piece.box[2]) / 2
    near = [c for c in columns if abs(c.centre - centre) < 0.25 * (c.right - c.left) + 3]
    bounded = [c for c in columns if c.bound]
    inside = bounded[0].left < centre < bounded[-1].right
    return (
        inside and not [c for c in near if c.bound is None] and (not near or len(near) > 1 or _is_wide(piece, near[0]))
    )


def _is_wide(piece: Line, column: Column) -> bool:
    """Whether words are much wider than the header below their middle: they head its neighbours as well."""
    return piece.box[2] - piece.box[0] > 2.5 * (column.right - column.left)


def groups(rows: list[list[Line]], first: int, at: int, columns: Sequence[Column]) -> list[str]:
    """For each column the words that stand over it and its neighbours, such as a speed grade.

    Args:
        rows: The rows of the page.
        first: The first row of the header.
        at: Its main row; the words stand between the two, or in the row above.
        columns: Its columns.
    """
    found = [""] * len(columns)
    if not _repeated(columns):
        return found
    above = [piece for row in rows[first:at] for piece in row]
    if first and rows[first][0].base - rows[first - 1][0].base <= 2.2 * rows[first][0].size:
        above = [*rows[first - 1], *above]
    starts: list[int] = []
    for i, c in enumerate(columns):
        again = bool(starts) and c.bound in {other.bound for other in columns[starts[-1] : i]}
        if c.bound and (i == 0 or not columns[i - 1].bound or c.bound == "min" or again):
            starts.append(i)
    for start, end in pairwise([*starts, len(columns)]):
        members = [i for i in range(start, end) if columns[i].bound]
        left, right = columns[members[0]].left, columns[members[-1]].right
        over = [p for p in above if left - 5 < (p.box[0] + p.box[2]) / 2 < right + 5 and not HEADER_WORD.match(p.text)]
        for i in members:
            found[i] = FOOTNOTE.sub("", " ".join(piece.text for piece in over)).strip()
    return found
