"""The operator table of a compute unit: which ONNX operators it runs, and under which typed conditions.

A condition names what it is about (`of`: one property of a node, or several whose product is meant) and what may stand
there. What a document says and no condition can hold is kept as words with `understood: false`: it is shown to people
and never computed with.
"""

from __future__ import annotations

from typing import Literal

import pydantic

from metainfer_core.values import Value


class Condition(Value):
    """What one property of a node, or the product of several, must be. All that is given must hold."""

    of: tuple[str, ...] = ()
    """Names of properties such as `kernel_h` (actions/node_properties.py lists them); several are multiplied."""
    operand: str | None = None
    """Whose shape or value it is: `input0`, `input1` ... or `output0` ..., in the order of the ONNX operator."""
    min: float | None = None
    """The least that is allowed, itself included."""
    max: float | None = None
    """The most that is allowed, itself included."""
    above: float | None = None
    """Not allowed itself; only what is greater."""
    multiple_of: int | None = None
    """Only multiples of this are allowed."""
    one_of: tuple[str, ...] = ()
    """The values that are allowed, as text: `3`, `0.5`, `nearest`, `[0, 2, 3, 1]`."""

    @property
    def bounds(self) -> tuple[object, ...]:
        """All that limits the property; empty values where nothing does."""
        return self.min, self.max, self.above, self.multiple_of, self.one_of or None


class OperatorRule(Condition):
    """One row of an operator table, for the nodes that `when` picks: a law, unless `strength` says otherwise."""

    data_types: tuple[str, ...] = ()
    """What the operand may be made of, when a unit computes it."""
    constant_data_types: tuple[str, ...] = ()
    """What it may be made of where it is a constant of the model."""
    constant: bool | None = None
    """`true`: the operand must be a constant of the model."""
    unset: bool | None = None
    """`true`: the attribute or optional operand must not be there."""
    unavailable: bool | None = None
    """`true`: the nodes that `when` picks are not run at all."""
    equal_scale: bool | None = None
    """`true`: all quantized operands must have one scale."""
    granularity: tuple[Literal["tensor", "channel"], ...] = ()
    """How finely the operand can be scaled."""
    when: tuple[Condition, ...] = ()
    """The nodes that it speaks of; all of them where there is none."""
    strength: Literal["must", "recommended"] | None = None
    """`must`, as where nothing is said: a law. `recommended`: a goal."""
    understood: bool = True
    """`false`: `words` hold it, no condition does."""
    words: str | None = None
    """What the document says, in its own words."""

    @pydantic.model_validator(mode="after")
    def _says_something(self) -> OperatorRule:
        kinds = (*self.bounds, self.data_types or self.constant_data_types or None)
        kinds += (self.constant, self.unset, self.unavailable, self.equal_scale, self.granularity or None)
        said = any(kind is not None for kind in kinds)
        if self.understood and not said:
            raise ValueError("a rule must limit something, or be marked `understood: false`")
        if not self.understood and (said or not self.words):
            raise ValueError("a rule that is not understood holds its words and no condition")
        if any(bound is not None for bound in self.bounds) and not self.of:
            raise ValueError("a bound needs `of`, the property that it limits")
        if self.unavailable and not self.when:
            raise ValueError("an operator that is not run at all stands in `unavailable` of the unit")
        return self
