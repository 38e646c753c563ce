"""Where the taps of a convolution's kernel lie on its input: what kinds that write the kernel in another form share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.integer_operators import integer_form
from metainfer_core.actions.operator_rules import BrokenLaw
from metainfer_core.actions.rewiring import array_of, is_float
from metainfer_core.actions.units import NoUnit, broken_law, home
from metainfer_core.graph.shapes import static_shape
from metainfer_core.spec.hardware_spec import HardwareSpec


@dataclass(frozen=True)
class Taps:
    """Spatial axes in order; each tuple has one entry an axis."""

    size: tuple[int, ...]
    """Extents of the input."""
    out: tuple[int, ...]
    """Extents of the output."""
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    begin: tuple[int, ...]
    """Padding before."""
    end: tuple[int, ...]
    """Padding after."""

    @property
    def dense(self) -> tuple[int, ...]:
        """Extents of the kernel with the gaps of its dilation."""
        return tuple((taps - 1) * step + 1 for taps, step in zip(self.kernel, self.dilations, strict=True))

    def attributes(self, conv: ir.Node) -> dict[str, ir.Attr]:
        """The attributes of the convolution, with these taps."""
        return {
            **conv.attributes,
            "kernel_shape": ir.AttrInt64s("kernel_shape", self.kernel),
            "dilations": ir.AttrInt64s("dilations", self.dilations),
            "strides": ir.AttrInt64s("strides", self.strides),
            "pads": ir.AttrInt64s("pads", (*self.begin, *self.end)),
        }


def taps_of(conv: ir.Node) -> Taps | str:
    """The taps of a Conv with a constant float32 weight and fixed shapes, or why its kernel cannot be rewritten."""
    if conv.op_type != "Conv" or conv.domain:
        return f"{conv.name} is {conv.op_type}: only the kernel of a Conv is written in another form."
    weight, source = array_of(conv.inputs[1]), conv.inputs[0]
    if weight is None or not is_float(source) or not is_float(conv.inputs[1]):
        return f"The weight of {conv.name} is no float32 constant, so its kernel cannot be rewritten."
    size, out = static_shape(source) if source is not None else None, static_shape(conv.outputs[0])
    if size is None or out is None:
        return f"The shapes of {conv.name} are not fixed."
    if conv.attributes.get_string("auto_pad", "NOTSET") != "NOTSET":
        return f"{conv.name} derives its pads from its kernel (auto_pad), which would be another one."
    axes = weight.ndim - 2
    pads = tuple(conv.attributes.get_ints("pads", (0,) * (2 * axes)))
    if min(pads, default=0) < 0:
        return f"{conv.name} has a negative padding, which crops."
    return Taps(
        size=tuple(size[2:]),
        out=tuple(out[2:]),
        kernel=tuple(weight.shape[2:]),
        strides=tuple(conv.attributes.get_ints("strides", (1,) * axes)),
        dilations=tuple(conv.attributes.get_ints("dilations", (1,) * axes)),
        begin=pads[:axes],
        end=pads[axes:],
    )


def stand_in(conv: ir.Node, taps: Taps) -> ir.Node:
    """The convolution with other taps, apart from the model: to be held against limits. Its weight has no numbers."""
    source, weight, result = conv.inputs[0], conv.inputs[1], conv.outputs[0]
    assert source is not None
    assert weight is not None
    batch, channels, *_ = static_shape(source) or ()
    extents = (*(static_shape(weight) or ())[:2], *taps.kernel)
    inputs = [
        ir.Value(name=source.name, shape=ir.Shape((batch, channels, *taps.size)), type=source.type),
        ir.Value(name=weight.name, shape=ir.Shape(extents), type=weight.type),
    ]
    outputs = [ir.Value(name=result.name, shape=result.shape, type=result.type)]
    made = ir.node("Conv", inputs, outputs=outputs, name=str(conv.name))
    made.attributes.update(taps.attributes(conv))
    return made


def data_type_of(conv: ir.Node) -> str:
    """In which type a layer would be computed: integers before floats."""
    return "float32" if isinstance(integer_form(conv), str) else "int8"


@dataclass(frozen=True)
class Overstepped:
    """A convolution whose kernel breaks a law of the unit that it belongs to."""

    conv: ir.Node
    taps: Taps
    unit: str
    broken: BrokenLaw


def overstepping(model: ir.Model, spec: HardwareSpec, properties: Sequence[str]) -> Iterator[Overstepped]:
    """Each Conv with a kernel that can be rewritten whose first broken law speaks of one of these properties."""
    for conv in model.graph:
        taps = taps_of(conv)
        if isinstance(taps, str):
            continue
        data_type = data_type_of(conv)
        unit = home(spec, data_type)
        if isinstance(unit, NoUnit) or not spec.compute_units[unit].operators.runs("Conv"):
            continue
        broken = broken_law(spec, unit, conv, data_type)
        said = broken.sentence.removeprefix(str(conv.name)) if broken is not None else ""
        if broken is not None and any(word in said for word in properties):
            yield Overstepped(conv, taps, unit, broken)


def by(kernel: Sequence[int]) -> str:
    """Extents as people write them, such as `3x3`."""
    return "x".join(map(str, kernel))


def products(taps: Taps) -> int:
    """Multiplications for one output number and one input channel."""
    return int(np.prod(taps.kernel, dtype=np.int64))
