"""Windows that slide over one or two spatial axes: kernel, strides, dilations and pads of Conv and the pools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import onnx_ir as ir

from metainfer_core.numerics.lowering.model_reader import unsupported


@dataclass(frozen=True)
class Window:
    """Two spatial axes; a one-dimensional operator has height 1."""

    size: tuple[int, int]
    out_size: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    begin: tuple[int, int]
    """Padding before."""
    end: tuple[int, int]
    """Padding after."""

    def along_width(self) -> Window:
        """The same window with its axes swapped, where only the height extends: pixels lie in the lanes by width."""
        if self.size[1] != 1 or self.kernel[1] != 1 or self.out_size[1] != 1:
            return self
        pairs = (self.size, self.out_size, self.kernel, self.strides, self.dilations, self.begin, self.end)
        return Window(*((width, height) for height, width in pairs))

    def params(self) -> dict[str, int]:
        """As the kernels' params name them."""
        return {
            "height": self.size[0],
            "width": self.size[1],
            "out_height": self.out_size[0],
            "out_width": self.out_size[1],
            "kernel_height": self.kernel[0],
            "kernel_width": self.kernel[1],
            "stride_height": self.strides[0],
            "stride_width": self.strides[1],
            "dilation_height": self.dilations[0],
            "dilation_width": self.dilations[1],
            "pad_top": self.begin[0],
            "pad_left": self.begin[1],
        }


def window(node: ir.Node, shape: Sequence[int], out_shape: Sequence[int], kernel: Sequence[int]) -> Window:
    """The window of a node that reads `shape` and gives `out_shape`, both [batch, channels, spatial axes]."""
    rank = len(shape) - 2
    if rank not in (1, 2):
        raise unsupported(node, f"It has {rank} spatial axes; kernels have one or two.")
    strides = node.attributes.get_ints("strides", [1] * rank)
    dilations = node.attributes.get_ints("dilations", [1] * rank)
    pads = node.attributes.get_ints("pads", [0] * (2 * rank))
    mode = node.attributes.get_string("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        pads = _same_pads(mode, shape[2:], out_shape[2:], kernel, strides, dilations)
    elif mode == "VALID":
        pads = [0] * (2 * rank)
    if min(pads) < 0:
        raise unsupported(node, f"Its padding is {list(pads)}: a negative one crops.", "Slice before the node instead.")
    if min(*strides, *dilations, *kernel) < 1:
        raise unsupported(
            node, f"Kernel {list(kernel)}, strides {list(strides)}, dilations {list(dilations)}: below 1."
        )
    return Window(
        _two(shape[2:], 1),
        _two(out_shape[2:], 1),
        _two(kernel, 1),
        _two(strides, 1),
        _two(dilations, 1),
        _two(pads[:rank], 0),
        _two(pads[rank:], 0),
    )


def _same_pads(
    mode: str,
    size: Sequence[int],
    out_size: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    begin, end = [], []
    for n, out, k, s, d in zip(size, out_size, kernel, strides, dilations, strict=True):
        total = max(0, (out - 1) * s + (k - 1) * d + 1 - n)
        first = total // 2 if mode == "SAME_UPPER" else total - total // 2
        begin.append(first)
        end.append(total - first)
    return begin + end


def _two(values: Sequence[int], missing: int) -> tuple[int, int]:
    numbers = tuple(int(value) for value in values)
    return (missing, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])
