"""Orders of the axes of a tensor with channels: NCHW, NHWC, and blocks of channels (NCHWc)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BLOCKED = re.compile(r"nchw([1-9][0-9]{0,3})c|nc([1-9][0-9]{0,3})hw\2")
NAMES = "nchw, nhwc, or nchw16c (with any block of channels in place of 16)"


@dataclass(frozen=True)
class Layout:
    """[batch][channel / block][spatial ...][block]: with one block of all channels it is NHWC."""

    name: str
    """As in policies and in the names of tensors: `nhwc`, `nchw16c`."""
    block: int | None
    """Channels that lie together; None: all."""

    def block_of(self, channels: int) -> int:
        """Channels that lie together in a tensor of so many."""
        return self.block or channels

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """How a tensor [batch, channels, spatial ...] lies in memory."""
        batch, channels, *space = shape
        if self.block is None:
            return (batch, *space, channels)
        return (batch, channels // self.block, *space, self.block)

    def against(self, shape: Sequence[int]) -> str | None:
        """Why a tensor of this shape cannot lie so, as the rest of a sentence; None where it can."""
        if len(shape) < 3:
            return f"has shape {list(shape)}, with no axis behind its channels"
        if self.block is not None and shape[1] % self.block:
            return f"has {shape[1]} channels, which is no multiple of {self.block}"
        return None


NHWC = Layout("nhwc", None)


def layout_of(name: str) -> Layout | None:
    """The layout that a policy or a spec names (`NHWC`, `NCHW16c`, `NC4HW4`); None for NCHW and for what is unknown."""
    word = name.lower()
    if word == NHWC.name:
        return NHWC
    found = _BLOCKED.fullmatch(word)
    if found is None:
        return None
    block = int(found[1] or found[2])
    return Layout(f"nchw{block}c", block)


def is_nchw(name: str) -> bool:
    """Whether a spec or a policy means NCHW, which is what models come in."""
    return name.lower() == "nchw"
