"""Activations that a kernel can apply to its own result: codes and parameters, as kernels/activation.hpp lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.signatures import headers

FLOAT_MAX = float(np.finfo(np.float32).max)
CODES: Mapping[str, int] = {
    name.lower(): int(code)
    for name, code in re.findall(r"constexpr int32_t ACTIVATION_(\w+) = (\d+);", headers()["activation.hpp"])
}
"""Kernel name of each activation to the value of the `activation` parameter."""

OPERATORS: Mapping[str, str] = {
    "Relu": "relu",
    "Clip": "clip",
    "LeakyRelu": "leaky_relu",
    "HardSigmoid": "hard_sigmoid",
    "HardSwish": "hard_swish",
    "Sigmoid": "sigmoid",
    "Tanh": "tanh",
    "Elu": "elu",
    "Gelu": "gelu",
    "Softplus": "softplus",
    "Mish": "mish",
}
CLAMPS = frozenset({"Relu", "Clip"})
_ALPHA = {"LeakyRelu": 0.01, "HardSigmoid": 0.2, "Elu": 1.0}


def activation_kernel(node: ir.Node) -> str:
    """The kernel name of an activation node, without its element type."""
    if node.op_type == "Gelu" and node.attributes.get_string("approximate", "none") == "tanh":
        return "gelu_tanh"
    return OPERATORS[node.op_type]


def activation_params(node: ir.Node, low: float | None = None, high: float | None = None) -> dict[str, float]:
    """`alpha` and `beta` of an activation node; `low` and `high` are the limits of a Clip."""
    if node.op_type == "Clip":
        return {
            "alpha": -FLOAT_MAX if low is None else max(low, -FLOAT_MAX),
            "beta": FLOAT_MAX if high is None else min(high, FLOAT_MAX),
        }
    if node.op_type not in _ALPHA:
        return {}
    params = {"alpha": float(node.attributes.get_float("alpha", _ALPHA[node.op_type]))}
    if node.op_type == "HardSigmoid":
        params["beta"] = float(node.attributes.get_float("beta", 0.5))
    return params
