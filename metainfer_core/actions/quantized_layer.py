"""A layer as a quantize action left it: codes and scales of its weight and bias, and the scale of its input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.layer_inputs import LAYERS, as_matrix
from metainfer_core.actions.quantize_dequantize import bits_of, computes_on_integers, parameters_of
from metainfer_core.actions.rewiring import UNIT, add_constant, array_of, nodes_by_id, numbers_of
from metainfer_core.actions.scales import Affine, accumulator_bits, pair_bits
from metainfer_core.numerics.program import code_limits
from metainfer_core.spec.hardware_spec import HardwareSpec


@dataclass(frozen=True)
class QuantizedLayer:
    """What its integer kernel computes with."""

    node: ir.Node
    codes: np.ndarray
    """Of the weight, int8 (also where it has fewer bits), in the weight's shape."""
    scales: np.ndarray
    """Of the weight, one for each output channel."""
    input: Affine
    input_bits: int
    """Of a code of the input."""
    bias: np.ndarray | None
    """Codes of the bias, int32; None where it has none."""

    @property
    def axis(self) -> int:
        """Of the weight's output channels."""
        is_first = self.node.op_type == "Conv" or (
            self.node.op_type == "Gemm" and bool(self.node.attributes.get_int("transB", 0))
        )
        return 0 if is_first else 1

    def matrix(self, codes: np.ndarray) -> np.ndarray:
        """Codes in the weight's shape as the real weights [groups, outputs of a group, products]."""
        found = as_matrix(self.node, codes)
        return np.asarray(found * self.scales.astype(np.float64).reshape(found.shape[0], found.shape[1], 1))

    def seen_by_kernel(self, rows: np.ndarray) -> np.ndarray:
        """Input values rounded to the codes of the input, as real numbers."""
        scale = self.input_scale
        codes = np.clip(np.rint(rows / scale) + self.input.zero_point, *code_limits(self.input_bits))
        return np.asarray((codes - self.input.zero_point) * scale)

    @property
    def input_scale(self) -> np.ndarray:
        """Of the input, so that it broadcasts against rows [rows, groups, products]."""
        scale = np.asarray(self.input.scale, np.float64)
        return scale.reshape(1, -1, 1) if scale.ndim else scale

    def overflow(self, spec: HardwareSpec, codes: np.ndarray, bias: np.ndarray | None) -> str | None:
        """Why the sums of these codes do not fit into the unit's accumulator, or None."""
        unit_name = self.node.metadata_props.get(UNIT)
        unit = spec.compute_units.get(unit_name or "")
        bits = min((unit.accumulator_bits if unit is not None else None) or 32, 32)
        needed = accumulator_bits(codes, self.axis, bias, self.input_bits)
        if needed > bits:
            return f"A sum of {self.node.name} could then need {needed} bits; the accumulator has {bits}."
        pairs = unit.pair_sum_bits if unit is not None else None
        if pairs is not None and pair_bits(codes, self.axis, self.input_bits) > pairs:
            return f"Two products of {self.node.name} could then sum to more than the {pairs} bits of {unit_name}."
        return None


def quantized_layer(model: ir.Model, node_id: str) -> QuantizedLayer | str:
    """The layer, or the sentence why it is not one that was quantized."""
    found = nodes_by_id(model).get(node_id)
    if found is None or found.op_type not in LAYERS:
        return f"{node_id} is no layer with weights ({', '.join(LAYERS)})."
    if not computes_on_integers(found):
        return f"{node_id} is not quantized, so there is no rounding to mend."
    feeding = found.inputs[0].producer() if found.inputs[0] is not None else None
    weight = _dequantized(found.inputs[1])
    if feeding is None or weight is None:
        return f"{node_id} does not read a quantized input and a quantized weight."
    if bits_of(feeding) == 16:
        return f"{node_id} reads 16-bit activations: only what 8-bit ones lose is mended."
    codes, scales = weight
    if codes.dtype.name not in ("int4", "int8"):
        return f"The weight of {node_id} is kept as {codes.dtype}, not as int8."
    bias = _dequantized(found.inputs[2]) if len(found.inputs) > 2 else None
    outputs = as_matrix(found, codes)
    count = outputs.shape[0] * outputs.shape[1]
    if scales.size not in (1, count):
        return f"The weight of {node_id} has {scales.size} scales for {count} outputs."
    return QuantizedLayer(
        node=found,
        codes=codes.astype(np.int8),
        scales=np.broadcast_to(scales.reshape(-1), (count,)),
        input=parameters_of(feeding),
        input_bits=bits_of(feeding),
        bias=bias[0].reshape(-1) if bias is not None else None,
    )


def replace_codes(model: ir.Model, node: ir.Node, index: int, label: str, codes: np.ndarray) -> None:
    """Gives the layer's weight (input 1) or bias (input 2) other codes; its scales stay."""
    value = node.inputs[index]
    producer = value.producer() if value is not None else None
    assert producer is not None
    old = producer.inputs[0]
    assert old is not None
    stored = codes.reshape(numbers_of(old).shape).astype(numbers_of(old).dtype)
    producer.replace_input_with(0, add_constant(model, f"{node.name}.{label}", stored))


def _dequantized(value: ir.Value | None) -> tuple[np.ndarray, np.ndarray] | None:
    """Codes and scales of a constant that a DequantizeLinear reads."""
    producer = value.producer() if value is not None else None
    if producer is None or producer.op_type != "DequantizeLinear":
        return None
    codes, scales = array_of(producer.inputs[0]), array_of(producer.inputs[1])
    return (codes, scales) if codes is not None and scales is not None else None
