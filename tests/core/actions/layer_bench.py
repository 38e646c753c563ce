"""A convolution in float and quantized, with what it reads: for the kinds that mend its rounding."""

from __future__ import annotations

import onnx_ir as ir
from action_bench import calibrated, model_of, proposed, rewritten, samples_of, spec_of

from metainfer_core.actions.kinds.quantize import Quantize
from metainfer_core.actions.layer_inputs import Layer
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.verify.layer_data import collect_layers

SPEC = spec_of()
CONV = """
    m (float[1,6,9,9] x, float[8,6,3,3] w_c, float[8] w_bias) => (float[1,8,7,7] y) {
        [conv] y = Conv (x, w_c, w_bias)
    }"""


def prepared(spec: HardwareSpec = SPEC, **params: object) -> tuple[ir.Model, ir.Model, dict[str, Layer]]:
    """The float model, the quantized one, and what its layer reads."""
    model = model_of(CONV)
    (action,), _ = proposed(Quantize(params), model, spec, calibrated(model))
    return model, rewritten(Quantize(), model, spec, [action]), dict(collect_layers(model, samples_of(model)))
