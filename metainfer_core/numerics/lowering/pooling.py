"""MaxPool, AveragePool and their global forms."""

from __future__ import annotations

import math
from dataclasses import replace

import onnx_ir as ir

from metainfer_core.numerics.lowering.blocked import MOST_TAPS, blocked_pool, layout_at
from metainfer_core.numerics.lowering.builder import Builder, Integers
from metainfer_core.numerics.lowering.endings import IntegerEnding, absorb, integer_ending, refuse_unfused
from metainfer_core.numerics.lowering.geometry import Window, window
from metainfer_core.numerics.lowering.int16 import wide_average, wide_mean
from metainfer_core.numerics.lowering.integer_sums import integer_result
from metainfer_core.numerics.lowering.model_reader import required, unsupported
from metainfer_core.numerics.lowering.movement import move
from metainfer_core.numerics.program import FLOATS
from metainfer_core.numerics.requantization import exact, multiplier_and_shift, multipliers_and_shifts
from metainfer_core.numerics.signatures import SIGNATURES


def max_pool(b: Builder, node: ir.Node) -> None:
    """The greatest of each window; on int8 scale and zero point stay."""
    refuse_unfused(b, node)
    if any(output.uses() or output.is_graph_output() for output in node.outputs[1:]):
        raise unsupported(node, "The indices of its maxima are read, which no kernel gives.")
    value = required(node, 0)
    layout, described = layout_at(node), _window(b, node)
    params = _params(b, value, described)
    blocked = blocked_pool(b, node, layout, described) if layout is not None else {}

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        kernel = f"max_pool_{'int8' if bits == 8 else _element(b, value)}"
        on_blocks = kernel.replace("max_pool", "max_pool_blocked")
        is_blocked = layout is not None and on_blocks in SIGNATURES
        b.emit(on_blocks if is_blocked else kernel, nodes, (source,), (target,), blocked if is_blocked else params)

    element = b.element_type(value)
    if element not in FLOATS:
        raise unsupported(node, f"Its input is {element}; the kernel takes floats.")
    move(b, node, value, node.outputs[0], write)


def average_pool(b: Builder, node: ir.Node) -> None:
    """The mean of each window."""
    refuse_unfused(b, node)
    described = _window(b, node)
    if layout_at(node) is not None and _blocked_average(b, node, described):
        return
    if described.out_size == (1, 1) and described.kernel == described.size and described.begin == (0, 0):
        mean_of_planes(b, node, math.prod(b.shape(required(node, 0))[:2]), math.prod(described.size))
        return
    include = node.attributes.get_int("count_include_pad", 0)
    params = {**_params(b, required(node, 0), described), "count_include_pad": include}
    if _integer_average(b, node, params) or wide_average(b, node, params):
        return
    inputs = (b.tensor(required(node, 0)),)
    element = b.element_type(required(node, 0))
    b.emit(f"average_pool_{element}", (node,), inputs, (b.output(node.outputs[0]),), params)


def mean_of_planes(b: Builder, node: ir.Node, planes: int, size: int) -> None:
    """The mean of each of `planes` stretches of `size` elements."""
    if wide_mean(b, node, planes, size):
        return
    ending, integers = integer_ending(b, node), b.integers(required(node, 0))
    if ending is not None and integers is not None and ending.table is None:
        factor = exact(integers.scale) / exact(ending.scale) / size
        multiplier, shift = multiplier_and_shift(factor)
        params = {"rows": planes, "columns": size, "multiplier": multiplier, "shift": shift}
        inputs, outputs = (integers.tensor,), (integer_result(b, ending),)
        b.emit("mean_int8", ending.nodes, inputs, outputs, {**params, **_limits(integers, ending)})
        absorb(b, ending.nodes)
        return
    source = b.tensor(required(node, 0))
    reduced = {"outer": planes, "count": size, "inner": 1}
    element = b.element_type(required(node, 0))
    b.emit(f"reduce_mean_{element}", (node,), (source,), (b.output(node.outputs[0]),), reduced)


def _blocked_average(b: Builder, node: ir.Node, w: Window) -> bool:
    """The mean on int8 over blocks of channels; False where there is no layout, or input or result is not int8."""
    layout = layout_at(node)
    if layout is None or math.prod(w.kernel) > MOST_TAPS:
        return False
    include = node.attributes.get_int("count_include_pad", 0)
    params = {**blocked_pool(b, node, layout, w), "count_include_pad": include}
    return _integer_average(b, node, {**params, "scratch_bytes": 4 * params["block"]}, "average_pool_blocked_int8")


def _integer_average(b: Builder, node: ir.Node, params: dict[str, int], kernel: str = "average_pool_int8") -> bool:
    """The mean on int8, rescaled by the number of inputs in each window; False where input or result is not int8."""
    ending, source = integer_ending(b, node), b.integers(required(node, 0))
    if ending is None or source is None or ending.table is not None:
        return False
    most = params["kernel_height"] * params["kernel_width"]
    ratio = exact(source.scale) / exact(ending.scale)
    multiplier, shift = multipliers_and_shifts([ratio / n for n in range(1, most + 1)])
    inputs = (
        source.tensor,
        b.constant(f"{node.name}.multiplier", multiplier),
        b.constant(f"{node.name}.shift", shift),
    )
    b.emit(
        kernel,
        ending.nodes,
        inputs,
        (integer_result(b, ending),),
        {**params, **_limits(source, ending)},
    )
    absorb(b, ending.nodes)
    return True


def _limits(source: Integers, ending: IntegerEnding) -> dict[str, int]:
    return {
        "input_zero_point": source.zero_point,
        "output_zero_point": ending.zero_point,
        "low": ending.low,
        "high": ending.high,
    }


def global_pool(b: Builder, node: ir.Node) -> None:
    """The mean or the greatest of each plane."""
    refuse_unfused(b, node)
    value = required(node, 0)
    shape = b.shape(value)
    planes, size = math.prod(shape[:2]), math.prod(shape[2:])
    whole = Window((1, size), (1, 1), (1, size), (1, 1), (1, 1), (0, 0), (0, 0))
    if node.op_type == "GlobalAveragePool":
        height, width = (1, *shape[2:])[-2:]
        if len(shape) < 5 and _blocked_average(b, node, replace(whole, size=(height, width), kernel=(height, width))):
            return
        mean_of_planes(b, node, planes, size)
        return

    def write(nodes: tuple[ir.Node, ...], source: str, target: str, bits: int) -> None:
        if bits == 8 or b.wide(value) is not None:
            kernel = f"max_pool_{'int8' if bits == 8 else 'int16'}"
            b.emit(kernel, nodes, (source,), (target,), {"planes": planes, **whole.params()})
        else:
            params = {"outer": planes, "count": size, "inner": 1}
            b.emit(f"reduce_max_{b.element_type(value)}", nodes, (source,), (target,), params)

    move(b, node, value, node.outputs[0], write)


def _element(b: Builder, value: ir.Value) -> str:
    """The type that a pool of what is no 8-bit code works on."""
    return "int16" if b.wide(value) is not None else b.element_type(value)


def _window(b: Builder, node: ir.Node) -> Window:
    kernel = node.attributes.get_ints("kernel_shape", None)
    if kernel is None:
        raise unsupported(node, "It has no kernel_shape.", "Export the model again.")
    return window(node, b.shape(required(node, 0)), b.shape(node.outputs[0]), list(kernel))


def _params(b: Builder, value: ir.Value, w: Window) -> dict[str, int]:
    pads = {"pad_bottom": w.end[0], "pad_right": w.end[1]}
    return {"planes": math.prod(b.shape(value)[:2]), **w.params(), **pads}


OPERATORS = {
    "MaxPool": max_pool,
    "AveragePool": average_pool,
    "GlobalAveragePool": global_pool,
    "GlobalMaxPool": global_pool,
}
