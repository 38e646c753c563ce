"""Predicted time of what another tool quantized: its choice of integers, with the product's kernels and cost model.

A QDQ graph says in floats what a runtime computes on integers, so its own operators cannot be priced as they stand.
Here its pairs are taken out, and every tensor that had one gives its range: then an operator becomes INT8 exactly where
the other tool gave scales to what it reads and writes, with batch norms and activations in its kernel as for ours.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import onnx_ir as ir
import onnx_ir.passes.common as passes

from metainfer_core.actions.integer_operators import IntegerForm, integer_form
from metainfer_core.actions.quantize_dequantize import raw
from metainfer_core.actions.rewiring import add_constant, data_of, followers, numbers_of
from metainfer_core.cost.estimate import Estimate
from metainfer_core.errors import MetaInferError
from metainfer_core.graph.files.load import import_model
from metainfer_core.graph.files.save import model_bytes
from metainfer_core.graph.static.preprocess import preprocess
from metainfer_core.numerics.lowering.model_reader import ModelReader
from metainfer_core.numerics.ranges import Calibration, TensorRange
from metainfer_core.policy.choose import predict
from metainfer_core.policy.draft import Draft
from metainfer_core.policy.search.integer_search import integer_actions, quantized
from metainfer_core.spec.hardware_spec import HardwareSpec

STRUCTURAL = ("fold_pad", "fold_batch_norm", "decompose", "fuse")
"""Kinds that are done before: what any runtime does, and what leaves the names of tensors with scales alone."""


def predicted(proto: onnx.ModelProto, shapes: Mapping[str, tuple[int, ...]] | None, spec: HardwareSpec) -> str:
    """Milliseconds, and how many nodes are computed in INT8; `unknown` with the reason.

    Args:
        proto: A float model, or one with QuantizeLinear and DequantizeLinear around what is computed on integers.
        shapes: Bound shapes of its inputs.
        spec: The hardware.
    """
    try:
        model = preprocess(import_model(proto.SerializeToString(), "peer").model, shapes).model
        ranges = _without_pairs(model)
        model = preprocess(import_model(model_bytes(model), "peer").model, shapes).model
        draft = Draft(model, spec, _calibration(ranges))
        for kind in STRUCTURAL:
            draft.take(draft.propose(kind))
        draft.calibration = _calibration(_left_in_floats(draft.model, ranges) | ranges)
        draft = quantized(draft, {}, {})
        found = predict(draft.finished(), spec)
    except MetaInferError as error:
        return f"unknown: {error.why or error.what}"[:60]
    return f"{words(found)}, {sum(len(action.nodes) for action in integer_actions(draft))} nodes in INT8"


def words(estimate: Estimate) -> str:
    """Typical milliseconds, with those at best and at worst."""
    total = estimate.total
    if total is None:
        return f"unknown without {', '.join(estimate.unknown)}"
    return f"{total.typical / 1000:.3f} ({total.low / 1000:.3f} to {total.high / 1000:.3f})"


def _calibration(ranges: dict[str, TensorRange]) -> Calibration:
    return Calibration(data="its own scales", data_digest="", is_random=False, samples=0, ranges=ranges)


def _left_in_floats(model: ir.Model, ranges: Mapping[str, TensorRange]) -> dict[str, TensorRange]:
    """Any range for what layers with integer inputs give out in floats: the layer is INT8, a conversion stands behind.

    Which range it is changes no time.
    """
    found: dict[str, TensorRange] = {}
    for node in model.graph:
        form = integer_form(node)
        if isinstance(form, IntegerForm) and form.role == "weighted" and str(data_of(node).name) in ranges:
            for member in (node, *followers(node)):
                found |= {str(value.name): TensorRange(low=-8, high=8) for value in member.outputs}
    return found


def _without_pairs(model: ir.Model) -> dict[str, TensorRange]:
    """Takes all conversions out of the model; the ranges that their scales stand for, by tensor."""
    ranges = {}
    reader = ModelReader(model.graph)
    for node in list(model.graph):
        if node.op_type != "DequantizeLinear":
            continue
        real, source = node.outputs[0], raw(node.outputs[0])
        weights = reader.array(real)
        if weights is not None:
            source = add_constant(model, f"{real.name}.weights", weights)
        elif source is not real:
            scale, zero_point = (numbers_of(value) for value in node.inputs[1:3])
            codes = np.iinfo(zero_point.dtype)
            low, high = ((code - zero_point.astype(np.int64)) * scale for code in (codes.min, codes.max))
            ranges[str(source.name)] = TensorRange(low=float(low.min()), high=float(high.max()))
        if source is not real:
            real.replace_all_uses_with(source, replace_graph_outputs=True)
    passes.RemoveUnusedNodesPass()(model)
    return ranges
