"""An arena over time as SVG: steps to the right, bytes upward, the lower bound drawn in."""

from __future__ import annotations

from dataclasses import dataclass

from metainfer_core.verify.report import MemoryBlock, MemoryMap

WIDTH, HEIGHT = 900.0, 260.0


@dataclass(frozen=True)
class Rectangle:
    """One tensor in the picture, in pixels; y grows downward."""

    x: float
    y: float
    width: float
    height: float
    hue: int
    title: str


@dataclass(frozen=True)
class Picture:
    """All that the template draws."""

    width: float
    height: float
    rectangles: tuple[Rectangle, ...]
    bound_y: float
    peak_y: float


def memory_picture(arena: MemoryMap) -> Picture:
    """The blocks of an arena as rectangles, on a scale that holds the peak."""
    top = max(arena.peak_bytes, arena.lower_bound_bytes, 1) * 1.05
    steps = max(arena.steps, 1)

    def y(offset: int) -> float:
        return round(HEIGHT * (1 - offset / top), 2)

    def rectangle(index: int, block: MemoryBlock) -> Rectangle:
        x, end = WIDTH * block.start / steps, WIDTH * block.end / steps
        title = (
            f"{block.tensor}: {block.size_bytes:,} bytes at {block.offset_bytes:,}, steps {block.start}-{block.end - 1}"
        )
        height = y(block.offset_bytes) - y(block.offset_bytes + block.size_bytes)
        hue = index * 47 % 360
        return Rectangle(
            round(x, 2), y(block.offset_bytes + block.size_bytes), round(end - x, 2), round(height, 2), hue, title
        )

    rectangles = tuple(rectangle(index, block) for index, block in enumerate(arena.blocks))
    return Picture(WIDTH, HEIGHT, rectangles, y(arena.lower_bound_bytes), y(arena.peak_bytes))
