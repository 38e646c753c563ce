"""What a compute unit and its DMA do in one inference: counted on the plan, timed by the spec's figures."""

from __future__ import annotations

from typing import Literal

from metainfer_core.npu.cycles import Cycles
from metainfer_core.values import Value


class UnitFigures(Value):
    """Of one unit that DMA feeds. Cycles are those of the unit's clock."""

    label: Literal["simulated by the spec's figures"] = "simulated by the spec's figures"
    unit: str
    memory: str
    """Its local memory."""
    steps: int
    """Computing steps: kernel calls, tiles one by one."""
    macs: int
    transfers: int
    """Descriptors."""
    bytes_in: int
    """Into the local memory, in whole bursts."""
    bytes_out: int
    compute: Cycles | None = None
    """None as long as a figure of one step is unknown."""
    transfer: Cycles | None = None
    total: Cycles | None = None
    """With what runs side by side counted once."""
    bank_conflicts: int | None = None
    """Early transfers that meet a computing step in one bank of the local memory; None: its banks are unknown."""
    unknown: tuple[str, ...] = ()
    """Fields that the spec lacks; `... (not counted)` where the cycles do without."""

    @property
    def text(self) -> str:
        """All of it in a line."""
        counts = (
            f"{self.unit} in {self.memory}: {self.steps:,} steps, {self.macs:,} multiply-accumulates, "
            f"{self.transfers:,} transfers, {self.bytes_in:,} bytes in, {self.bytes_out:,} out"
        )
        if self.bank_conflicts:
            counts += f", {self.bank_conflicts:,} bank conflicts"
        lacking = f"; the spec lacks {', '.join(self.unknown)}" if self.unknown else ""
        if self.total is None:
            return f"{counts}; cycles unknown{lacking}."
        return f"{counts}; {_range(self.total)} cycles, {self.label}{lacking}."


def _range(cycles: Cycles) -> str:
    low, high = f"{cycles.low:,.0f}", f"{cycles.high:,.0f}"
    return low if low == high else f"{low} to {high}"
