"""What the layers of a float model read on calibration data, for learning how to round them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import onnx_ir as ir

from metainfer_core.actions.layer_inputs import LAYERS, Layer, as_matrix, rows_in, rows_of
from metainfer_core.actions.rewiring import array_of, is_float, name_of, numbers_of
from metainfer_core.verify.reference import HELD_OUT, run_every_tensor
from metainfer_core.verify.samples import Samples

MOST_SAMPLES = 64
"""More change little: a layer gives many rows a sample."""


def collect_layers(
    model: ir.Model, samples: Samples, told: Callable[[int, int], None] = lambda done, total: None
) -> Mapping[str, Layer]:
    """Node id to inputs and weights of each float layer with a constant weight; nothing of samples too few to hold out.

    One sample of four is held out, as for calibration. `told` is called after each with how many are done, of how many.
    """
    feeds = samples.feeds[:MOST_SAMPLES]
    layers = [node for node in model.graph if _is_layer(node)]
    if len(feeds) < HELD_OUT:
        return {}
    rows: dict[str, tuple[list[np.ndarray], list[np.ndarray]]] = {str(node.name): ([], []) for node in layers}
    for index, (feed, outputs) in enumerate(zip(feeds, run_every_tensor(model, feeds), strict=True)):
        for node in layers:
            source = name_of(node.inputs[0])
            array = outputs[source] if source in outputs else feed[source]
            taken = rows_of(node, array, rows_in(node, len(feeds)))
            rows[str(node.name)][index % HELD_OUT == HELD_OUT - 1].append(taken.astype(np.float32))
        told(index + 1, len(feeds))
    return {
        str(node.name): Layer(
            seen=np.concatenate(rows[str(node.name)][0]),
            held_out=np.concatenate(rows[str(node.name)][1]),
            weight=as_matrix(node, numbers_of(node.inputs[1])),
        )
        for node in layers
    }


def _is_layer(node: ir.Node) -> bool:
    if node.op_type not in LAYERS or len(node.inputs) < 2 or not is_float(node.inputs[0]):
        return False
    weight = array_of(node.inputs[1])
    if weight is None or array_of(node.inputs[0]) is not None:
        return False
    if node.op_type == "Conv":
        return node.attributes.get_string("auto_pad", "NOTSET") == "NOTSET"
    return weight.ndim == 2 and not node.attributes.get_int("transA", 0)
