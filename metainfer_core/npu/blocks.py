"""Parts of a tensor as DMA moves them: runs of bytes at a constant distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from metainfer_core.npu.device import DmaLimits
from metainfer_core.values import FrozenDict, Value


@dataclass(frozen=True)
class Block:
    """The part of a tensor that one tile reads or writes, and the shape that it has as a tensor of its own."""

    shape: tuple[int, ...]
    offset: int
    """Bytes from the start of the whole tensor."""
    row_bytes: int
    rows: int = 1
    stride: int = 0
    """Bytes from one run to the next in the whole tensor; the block itself has no gaps."""

    @property
    def size_bytes(self) -> int:
        """Of the block alone."""
        return self.rows * self.row_bytes

    def of(self, whole: bytes) -> bytes:
        """Its bytes out of those of the whole tensor."""
        starts = (self.offset + row * self.stride for row in range(self.rows))
        return b"".join(whole[start : start + self.row_bytes] for start in starts)

    def joined(self) -> Block:
        """The same block as one run, where its runs touch one another."""
        if self.rows > 1 and self.stride == self.row_bytes:
            return Block(self.shape, self.offset, self.size_bytes)
        return self


class Transfer(Value):
    """One transfer step: `rows` descriptors of `row_bytes` each. Offsets count from the start of the two tensors."""

    rows: int
    row_bytes: int
    source_offset: int
    source_stride: int
    target_offset: int
    target_stride: int

    def params(self) -> FrozenDict:
        """As the kernel takes them."""
        return FrozenDict(self.plain())


def moves(block: Block, limits: DmaLimits, outward: bool) -> Iterator[Transfer]:
    """The transfers that bring a block into its own tensor, or (outward) back into the whole; none over the limit."""
    whole = block.joined()
    longest = limits.longest_bytes or whole.row_bytes
    for start in range(0, whole.row_bytes, max(1, longest)):
        count = min(longest, whole.row_bytes - start)
        outer = (whole.offset + start, whole.stride)
        inner = (start, whole.row_bytes if whole.rows > 1 else 0)
        source, target = (inner, outer) if outward else (outer, inner)
        yield Transfer(
            rows=whole.rows,
            row_bytes=count,
            source_offset=source[0],
            source_stride=source[1],
            target_offset=target[0],
            target_stride=target[1],
        )


def reason_against(block: Block, size_bytes: int, limits: DmaLimits) -> str | None:
    """Why DMA cannot move this block of a tensor of `size_bytes`, or None."""
    whole = block.joined()
    edges = {"begins": whole.offset, "has runs that lie": whole.stride if whole.rows > 1 else 0}
    for words, edge in edges.items():
        if edge % limits.unit_bytes:
            return (
                f"It {words} {edge:,} bytes {'into its tensor' if words == 'begins' else 'apart'}, which is no multiple"
                f" of {limits.unit_bytes} ({_field(limits)})."
            )
    ends_inside = whole.rows > 1 or whole.offset + whole.row_bytes < size_bytes
    if ends_inside and whole.row_bytes % limits.unit_bytes:
        return f"It has runs of {whole.row_bytes:,} bytes, no multiple of {limits.unit_bytes} ({_field(limits)})."
    return None


def _field(limits: DmaLimits) -> str:
    if limits.alignment_bytes >= limits.granule_bytes:
        return "dma.alignment_bytes"
    return "dma.burst_length_min, dma.data_width_bits"
