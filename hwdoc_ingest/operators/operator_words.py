"""The words of operator tables: properties of nodes, data types, and what says that something is limited."""

from __future__ import annotations

import re
from collections.abc import Mapping

_DIRECTIONS = {"h": "height", "w": "width"}


def _both(stem: str, words: str) -> dict[str, str]:
    """Patterns of a property with a height and a width: `kernel_h`, `stride width`, `height of the kernel`."""
    found = {
        f"{stem}_{letter}": rf"(?:{words})(?:_?{letter}\b|[ _]?{word})|{word} of (?:the )?(?:{words})"
        for letter, word in _DIRECTIONS.items()
    }
    return found | {stem: rf"(?:{words})(?:[ _]?(?:sizes?|factors?|values?))?"}


PROPERTIES: Mapping[str, str] = {
    "dilated_kernel_h": r"dilated[_ ]kernel(?:_h|[ _]height)",
    "dilated_kernel_w": r"dilated[_ ]kernel(?:_w|[ _]width)",
    **_both("kernel", r"kernel filter|kernel(?:_size)?|filter|卷积核"),
    **_both("stride", r"strides?|步长"),
    **_both("dilation", r"dilations?|dilation factors?"),
    "pad_top": r"(?:top|upper) pad(?:ding)?|pads?_top|pad(?:ding)? top",
    "pad_left": r"left pad(?:ding)?|pads?_left|pad(?:ding)? left",
    "pad_bottom": r"bottom pad(?:ding)?|pads?_bottom|pad(?:ding)? bottom",
    "pad_right": r"right pad(?:ding)?|pads?_right|pad(?:ding)? right",
    "pad": r"pads?|paddings?",
    "in_channels": r"(?:number of )?(?:input|ifm)[ _]channels?|输入通道数?",
    "out_channels": r"(?:number of )?(?:output|ofm)[ _]channels?|输出通道数?",
    "in_height": r"(?:input|ifm|feature map)[ _]height|输入高度?",
    "in_width": r"(?:input|ifm|feature map)[ _]width|输入宽度?",
    "batch": r"(?:(?:ifm|input)(?: tensor)? )?batch(?:[ _]?size)?",
    "channel": r"channels?",
    "height": r"height",
    "width": r"width",
    "group": r"groups?",
    "axis": r"axis|轴",
    "rank": r"rank|number of dimensions",
    "inputs": r"number of inputs",
}
"""Property of a node to what documents call it, longer phrases first."""

DATA_TYPES: Mapping[str, str] = {
    **{name: name for name in ("int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool")},
    **{name: "float16" for name in ("float16", "fp16", "half")},
    **{name: "bfloat16" for name in ("bfloat16", "bf16")},
    **{name: "float32" for name in ("float32", "fp32", "float")},
    **{"s8": "int8", "u8": "uint8", "s16": "int16", "i8": "int8", "i16": "int16", "int": "int", "string": "string"},
}

ANYTHING = re.compile(
    r"(?:无|无限制|没有限制|不限|any(?: value)?|all|none|n/?a|-+|unlimited|unrestricted|yes|supported|支持"
    r"|no (?:limit|limits|restrictions?|constraints?|limitations?)|(?:默认)?支持任意维度广播操作)",
    re.IGNORECASE,
)
"""A cell that limits nothing."""
UNSUPPORTED = re.compile(
    r"(?:目前|当前)?(?:暂|尚)?不支持|(?:currently )?(?:not supported|unsupported)|no|not available", re.IGNORECASE
)
EXCEPTION = re.compile(
    r"当且仅当|除了?非|除外|否则|但是|不等于|\b(?:unless|except|otherwise|however|but)\b|\bor\s*\(", re.IGNORECASE
)
"""What says that another part of the same text takes something back; such a text is not read in parts."""
LIMITS = re.compile(
    r"\d|[<>≤≥∈%=]|支持|限制|限定|约束|最大|最小|不能|必须|对齐|倍数|\b(?:must|only|should|shall|cannot|not|limit\w*|support\w*"
    r"|max\w*|min\w*|multiple|at (?:most|least)|constant|equal|same|restrict\w*|constrain\w*|aligned)\b",
    re.IGNORECASE,
)
"""What a clause without any of these limits nothing and is taken for a description."""

_TYPE_WORD = re.compile(r"\b(?:u?int\d{0,2}|b?float\d{0,2}|fp\d\d|bf16|half|bool|string|[sui]\d{1,2})\b", re.IGNORECASE)


def data_types(text: str) -> tuple[str, ...]:
    """The data types that a text lists (`INT8/INT16, FP16`); empty where it holds anything else."""
    rest = _TYPE_WORD.sub(" ", text)
    if re.sub(r"[\s,/、;&.|()+-]|\b(?:and|or|bit)\b", "", rest):
        return ()
    names = [DATA_TYPES.get(word.lower()) for word in _TYPE_WORD.findall(text)]
    if not names or None in names:
        return ()
    return tuple(dict.fromkeys(name for name in names if name))


_GROUPS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?:{words})\s*\**\s*:?\s*\**", re.IGNORECASE)
    for name, words in {
        "inputs": r"输入列表|inputs?(?: list| tensors?)?",
        "outputs": r"输出列表|outputs?(?: list| tensors?)?",
        "attributes": r"属性列表|attributes?|parameters?",
        "types": r"数据类型约束|支持的数据类型|data types?(?: constraints?)?|type constraints?",
        "broadcast": r"广播约束|广播支持|broadcast(?:ing)?(?: support| constraints?)?",
        "granularity": r"\**量化支持\**|quanti[sz]ation(?: granularity)?",
        "others": r"其他支持|支持说明|constraints?|limitations?|notes?|restrictions?",
    }.items()
}


def group_named(text: str) -> str | None:
    """The kind of list that a line such as `Inputs` opens, or None."""
    return next((name for name, words in _GROUPS.items() if words.fullmatch(text.strip())), None)
