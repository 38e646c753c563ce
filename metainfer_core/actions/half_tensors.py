"""16-bit floats in a graph: which tensors hold them, with one conversion a tensor at the border to float32."""

from __future__ import annotations

import onnx_ir as ir

from metainfer_core.actions.quantize_dequantize import raw
from metainfer_core.actions.rewiring import (
    CONVERSION,
    add_constant,
    array_of,
    is_float,
    name_of,
    readers,
    set_input,
)
from metainfer_core.numerics.half import ALWAYS_FLOAT32, HalfFormat, stored


def half_inputs(target: ir.Node) -> tuple[int, ...]:
    """Indices of the inputs that are 16-bit where the node computes so."""
    kept = ALWAYS_FLOAT32.get(target.op_type, ())
    return tuple(i for i, value in enumerate(target.inputs) if i not in kept and is_float(value))


def unwidened(value: ir.Value) -> ir.Value:
    """The 16-bit tensor that a value was widened from; the value itself where it is no such thing."""
    producer = value.producer()
    if producer is None or CONVERSION not in producer.metadata_props or producer.inputs[0] is None:
        return value
    return producer.inputs[0]


def model_name(value: ir.Value) -> str:
    """The name that the tensor has in the model, whatever stands between: a conversion, or a pair of INT8."""
    source = raw(unwidened(value))
    return name_of(value) if source is not value and name_of(source) == f"{name_of(value)}.raw" else name_of(source)


def in_half(model: ir.Model, target: ir.Node, half: HalfFormat, flush: bool) -> None:
    """Gives the node 16-bit inputs, constants and outputs; what others read of it is widened again."""
    for index in half_inputs(target):
        value = target.inputs[index]
        assert value is not None
        array = array_of(value)
        if array is not None:
            constant = add_constant(model, f"{target.name}.{name_of(value)}.{half.name}", stored(array, half, flush))
            set_input(target, index, constant)
        else:
            set_input(target, index, _narrow_form(model, value, half))
            _drop_unread(model, value)
    for value in target.outputs:
        if is_float(value):
            _widen_output(model, value, half, target)


def _element(half: HalfFormat) -> ir.TensorType:
    return ir.TensorType(ir.DataType.FLOAT16 if half.name == "float16" else ir.DataType.BFLOAT16)


def _narrow_form(model: ir.Model, value: ir.Value, half: HalfFormat) -> ir.Value:
    """The 16-bit form of a float32 tensor: what it was widened from, or a conversion that all readers share."""
    source, element = unwidened(value), _element(half)
    if source is not value and source.dtype == element.dtype:
        return source
    for reader in readers(value):
        if CONVERSION in reader.metadata_props and reader.outputs[0].dtype == element.dtype:
            return reader.outputs[0]
    name = f"{value.name}.{half.name}"
    result = ir.Value(name=name, shape=value.shape, type=element)
    cast = _conversion(value, result, f"{value.name}.narrow")
    producer = value.producer()
    if producer is not None:
        model.graph.insert_after(producer, cast)
    else:
        model.graph.insert_before(model.graph[0], cast)
    return result


def _widen_output(model: ir.Model, value: ir.Value, half: HalfFormat, target: ir.Node) -> None:
    wide = ir.Value(name=f"{value.name}.widened", shape=value.shape, type=value.type)
    value.type = _element(half)
    cast = _conversion(value, wide, f"{value.name}.widen")
    for use in tuple(value.uses()):
        if use.node is not cast:
            use.node.replace_input_with(use.idx, wide)
            _renamed(use.node, value, wide)
    model.graph.insert_after(target, cast)
    if value.is_graph_output():
        name = value.name
        model.graph.outputs[list(model.graph.outputs).index(value)] = wide
        value.name = f"{name}.raw"
        wide.name = name
    _drop_unread(model, wide)


def _renamed(quantize: ir.Node, value: ir.Value, wide: ir.Value) -> None:
    """Codes of a tensor are from now on those of its widened form, and are called so."""
    if quantize.op_type != "QuantizeLinear":
        return
    codes = quantize.outputs[0]
    for form in (codes, *(output for reader in readers(codes) for output in reader.outputs)):
        if str(form.name).startswith(f"{value.name}.") and not form.is_graph_output():
            form.name = f"{wide.name}{str(form.name).removeprefix(str(value.name))}"


def _conversion(source: ir.Value, result: ir.Value, name: str) -> ir.Node:
    assert result.dtype is not None
    to = int(result.dtype)
    return ir.node("Cast", [source], {"to": to}, outputs=[result], name=name, metadata_props={CONVERSION: "1"})


def _drop_unread(model: ir.Model, value: ir.Value) -> None:
    """Removes a conversion whose result nobody reads any more."""
    producer = value.producer()
    is_idle = not value.uses() and not value.is_graph_output()
    if producer is not None and CONVERSION in producer.metadata_props and is_idle:
        model.graph.remove(producer, safe=True)
