"""Scale the channels between two convolutions so that the weights of both use their bits evenly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.action import Action, ActionKind, Alternative, Obligation, Reason, Refusal, RiskFacts
from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.rewiring import (
    add_constant,
    array_of,
    is_float,
    name_of,
    node,
    numbers_of,
    only_reader,
    set_input,
)
from metainfer_core.actions.units import NoUnit, describe, granularities, home, unknown_unit
from metainfer_core.numerics.ranges import Calibration
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import Value

LAW = (
    "Cross-layer equalisation (Nagel et al. 2019, Data-Free Quantization): what lies between two layers gives c times "
    "the result for c times the input, so a channel may be divided in the first and multiplied in the second."
)
HOMOGENEOUS = ("Relu", "LeakyRelu", "MaxPool", "AveragePool", "GlobalAveragePool")
"""Operators that give c times the result for c times the input, channel by channel, for each c above 0."""
LEAST_GAIN = 1.0
"""Bits that the channels must win in the mean for an action to be proposed."""
BITS = 8.0
"""Of a weight: more than these a channel cannot lose."""
MOST_EXPONENT = 20
"""Factors beyond 2 to this power mean channels that are as good as dead."""


class EqualiseParams(Value):
    """Parameters of an equalise action."""

    exponents: tuple[int, ...]
    """Of 2, a channel: the first layer is divided by these powers, the second multiplied. Powers of 2 round nothing."""
    target_hw: str | None = None
    """Compute unit that gives all channels of a weight one scale."""


@dataclass(frozen=True)
class Pair:
    """Two convolutions and the largest weight of each channel between them."""

    first: ir.Node
    second: ir.Node
    made: np.ndarray
    """[channels], of the first layer's weight."""
    read: np.ndarray
    """[channels], of the second layer's weight."""

    def exponents(self) -> tuple[int, ...]:
        """The powers of 2 nearest to those that make both weights equally large in each channel."""
        alive = (self.made > 0) & (self.read > 0)
        ratio = np.divide(self.made, self.read, out=np.ones_like(self.made), where=alive)
        return tuple(int(step) for step in np.clip(np.rint(np.log2(ratio) / 2), -MOST_EXPONENT, MOST_EXPONENT))

    def bits_lost(self, exponents: tuple[int, ...]) -> float:
        """Bits of its weights that a channel leaves unused in the layer where it leaves more, in the mean."""
        factors = np.exp2(np.array(exponents, np.float64))
        made, read = self.made / factors, self.read * factors
        reached = np.minimum(made / made.max(), read / read.max())
        return float(np.minimum(-np.log2(reached[reached > 0]), BITS).mean()) if reached.any() else 0.0


class Equalise(ActionKind):
    """Divides channels in one convolution and multiplies them in the next, where a unit scales weights by tensor.

    Under one scale, a channel with small weights uses few bits. What is moved between the layers is a power of 2, so
    that float32 computes the same numbers.
    """

    name = "equalise"
    obligation = Obligation(relative=1e-5, absolute=1e-5, why="Powers of 2 only move the exponents of float32.")
    risk = RiskFacts(changes_numbers=False, needs_calibration=False, device_dependent=True)
    Params = EqualiseParams

    def propose(
        self, model: ir.Model, spec: HardwareSpec, calibration: Calibration | None
    ) -> Iterator[Action | Refusal]:
        """For each pair on a unit that scales weights by tensor: an action where it uses more bits, or why not."""
        unit = home(spec, "int8")
        if isinstance(unit, NoUnit):
            return
        allowed, field = granularities(spec, unit)
        if "channel" in allowed:
            return  # each channel has a scale of its own
        changed: set[ir.Node] = set()
        for first in model.graph:
            second = _next(first)
            if second is None:
                continue
            names = (str(first.name), str(second.name))
            pair = _pair(first, second)
            if isinstance(pair, str):
                yield Refusal(kind=self.name, nodes=names, reason=pair)
                continue
            exponents = pair.exponents()
            before, after = pair.bits_lost((0,) * len(exponents)), pair.bits_lost(exponents)
            if before - after < LEAST_GAIN or first in changed:
                continue
            changed.update((first, second))
            yield Action(
                kind=self.name,
                nodes=names,
                params={"exponents": exponents, "target_hw": unit},
                why=(
                    Reason(
                        claim=f"Under one scale for each weight, the channels between {names[0]} and {names[1]} leave "
                        f"{before:.1f} of 8 bits unused in the mean; equalised {after:.1f}.",
                        law=LAW,
                    ),
                    Reason(
                        claim=f"{unit} scales weights by tensor.", spec_field=field, spec_value=describe(spec, field)
                    ),
                ),
                constraint=f"One scale for each weight serves all {len(exponents)} channels.",
                alternatives=(
                    Alternative(option="a scale for each channel", reason=f"{unit} scales weights by tensor."),
                ),
            )

    def refusal(self, model: ir.Model, spec: HardwareSpec, action: Action) -> Refusal | None:
        """The layers must follow each other with nothing but homogeneous operators between, one exponent a channel."""
        reason = _reason_against(model, spec, action)
        return Refusal(kind=self.name, nodes=action.nodes, reason=reason) if reason else None

    def rewrite(self, model: ir.Model, action: Action) -> None:
        """Writes the weights and the bias anew."""
        first, second = (node(model, name) for name in action.nodes)
        factors = np.exp2(np.array(EqualiseParams.from_plain(action.params).exponents, np.float32))
        made, read = numbers_of(first.inputs[1]), numbers_of(second.inputs[1])
        columns = (-1, 1, 1, 1) if _is_depthwise(second) else (1, -1, 1, 1)
        _write(model, first, 1, made / factors.reshape(-1, 1, 1, 1)[(...,) + (0,) * (4 - made.ndim)])
        _write(model, second, 1, read * factors.reshape(columns)[(...,) + (0,) * (4 - read.ndim)])
        if len(first.inputs) > 2 and first.inputs[2] is not None:
            _write(model, first, 2, numbers_of(first.inputs[2]) / factors)

    def sentence(self, action: Action) -> str:
        """What happens, in one sentence."""
        return f"Equalise the weights of {action.nodes[0]} and {action.nodes[1]} channel by channel."


def _write(model: ir.Model, owner: ir.Node, index: int, numbers: np.ndarray) -> None:
    set_input(owner, index, add_constant(model, f"{owner.name}.equalised", numbers.astype(np.float32)))


def _next(first: ir.Node) -> ir.Node | None:
    """The Conv that alone reads what a Conv gives, behind homogeneous operators; None where there is none."""
    if first.op_type != "Conv" or first.domain:
        return None
    reader = only_reader(first.outputs[0])
    while reader is not None and reader.op_type in HOMOGENEOUS and not reader.domain:
        reader = only_reader(reader.outputs[0])
    return reader if reader is not None and reader.op_type == "Conv" and not reader.domain else None


def _is_depthwise(conv: ir.Node) -> bool:
    weight = array_of(conv.inputs[1])
    return weight is not None and weight.shape[1] == 1 and conv.attributes.get_int("group", 1) == weight.shape[0] > 1


def _pair(first: ir.Node, second: ir.Node) -> Pair | str:
    for conv in (first, second):
        form = integer_form(conv)
        if isinstance(form, str):
            return f"{conv.name} cannot be equalised: {form}"
        if array_of(conv.inputs[1]) is None or not is_float(conv.inputs[1]):
            return f"The weight of {conv.name} is no float32 constant."
    if second.attributes.get_int("group", 1) != 1 and not _is_depthwise(second):
        return f"{second.name} has groups of several channels: they are not equalised."
    if len(first.inputs) > 2 and first.inputs[2] is not None and array_of(first.inputs[2]) is None:
        return f"The bias of {first.name}, {name_of(first.inputs[2])}, is no constant."
    made, read = np.abs(numbers_of(first.inputs[1])), np.abs(numbers_of(second.inputs[1]))
    axis = 0 if _is_depthwise(second) else 1
    largest = read.max(axis=tuple(other for other in range(read.ndim) if other != axis))
    pair = Pair(first, second, made.reshape(len(made), -1).max(axis=1).astype(np.float64), largest.astype(np.float64))
    if not (pair.made.max(initial=0) > 0 and pair.read.max(initial=0) > 0):
        return f"All weights of {first.name} or {second.name} are 0."
    return pair


def _reason_against(model: ir.Model, spec: HardwareSpec, action: Action) -> str | None:
    if len(action.nodes) != 2:
        return f"Two layers are equalised, not {len(action.nodes)}."
    params = EqualiseParams.from_plain(action.params)
    first, second = (node(model, name) for name in action.nodes)
    if _next(first) is not second:
        between = ", ".join(HOMOGENEOUS)
        return f"{second.name} must be a Conv that alone reads the Conv {first.name}, with only {between} between."
    pair = _pair(first, second)
    if isinstance(pair, str):
        return pair
    if len(params.exponents) != len(pair.made):
        return f"{first.name} makes {len(pair.made)} channels, and the action has {len(params.exponents)} exponents."
    if max(map(abs, params.exponents)) > MOST_EXPONENT:
        return f"An exponent beyond {MOST_EXPONENT} would leave the range of useful weights."
    return unknown_unit(spec, params.target_hw)
