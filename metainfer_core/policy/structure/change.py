"""One change of a model's structure that needs training again, in the class that the requirements give it."""

from __future__ import annotations

from typing import Literal

from metainfer_core.actions.action import Reason
from metainfer_core.values import JsonMap, Value

Grade = Literal["safe", "needs review", "forbidden"]
THEN = "Make it with fine-tune or in the training code, train, and give the new model to adapt."


class StructureChange(Value):
    """One change that is proposed, or forbidden; it stands beside the actions and is no action."""

    change: Literal[
        "activation",
        "kernel",
        "channels",
        "more_channels",
        "depthwise",
        "normalization",
        "heads",
        "remove_residual",
        "add_residual",
        "input_shape",
        "family",
    ]
    grade: Grade
    nodes: tuple[str, ...]
    params: JsonMap = {}
    sentence: str
    why: tuple[Reason, ...]
    risk: str
    measure: str = ""
    """What must be measured anew once it was trained."""
    then: str = THEN
    """What to do with it."""
    predicted_time_us: tuple[float, float] | None = None
    """Change of time on the spec, low and high end of the interval; negative is faster. None: not known."""
    predicted_bytes: int | None = None
    """Change of bytes moved."""

    @property
    def id(self) -> str:
        """Stable name of this change in its policy."""
        return f"{self.change}@{self.nodes[0]}"
