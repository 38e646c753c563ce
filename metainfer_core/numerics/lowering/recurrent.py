"""LSTM and GRU."""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from metainfer_core.numerics.lowering.builder import Builder
from metainfer_core.numerics.lowering.endings import refuse_unfused
from metainfer_core.numerics.lowering.model_reader import optional, required, unsupported
from metainfer_core.numerics.lowering.packing import MAX_BLOCK, pack_gemm

_USUAL = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh")}


def lstm(b: Builder, node: ir.Node) -> None:
    """Long short-term memory, in float32."""
    weights, recurrent, bias, params = _described(b, node, 4)
    if optional(node, 7) is not None:
        raise unsupported(node, "It has peepholes, which no kernel has.")
    directions, hidden, batch = params["directions"], params["hidden_size"], params["batch"]
    half = bias.shape[1] // 2
    params["scratch_bytes"] = 4 * (2 * batch * 4 * hidden + 2 * directions * batch * hidden + 4 * hidden)
    inputs = (
        b.tensor(required(node, 0)),
        b.constant(f"{node.name}.input_weights", _packed(weights)),
        b.constant(f"{node.name}.recurrent_weights", _packed(recurrent)),
        b.constant(f"{node.name}.bias", bias[:, :half] + bias[:, half:]),
        b.tensor(optional(node, 5)),
        b.tensor(optional(node, 6)),
    )
    b.emit("lstm_float32", (node,), inputs, _outputs(b, node, 3), params)


def gru(b: Builder, node: ir.Node) -> None:
    """Gated recurrent unit, in float32."""
    weights, recurrent, bias, params = _described(b, node, 3)
    directions, hidden, batch = params["directions"], params["hidden_size"], params["batch"]
    half = bias.shape[1] // 2
    from_input, from_state = bias[:, :half], bias[:, half:]
    added = from_input.copy()
    added[:, : 2 * hidden] += from_state[:, : 2 * hidden]
    params["linear_before_reset"] = node.attributes.get_int("linear_before_reset", 0)
    params["scratch_bytes"] = 4 * (batch * 3 * hidden + 4 * batch * hidden + directions * batch * hidden + 2 * hidden)
    inputs = (
        b.tensor(required(node, 0)),
        b.constant(f"{node.name}.input_weights", _packed(weights)),
        b.constant(f"{node.name}.gate_weights", _packed(recurrent[:, : 2 * hidden])),
        b.constant(f"{node.name}.candidate_weights", _packed(recurrent[:, 2 * hidden :])),
        b.constant(f"{node.name}.bias", added),
        b.constant(f"{node.name}.candidate_bias", from_state[:, 2 * hidden :]),
        b.tensor(optional(node, 5)),
    )
    b.emit("gru_float32", (node,), inputs, _outputs(b, node, 2), params)


def _described(b: Builder, node: ir.Node, gates: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[str, int]]:
    """Weights, recurrent weights, bias and the params that both operators share; raises where no kernel does it."""
    refuse_unfused(b, node)
    weights, recurrent, given = b.array(required(node, 1)), b.array(required(node, 2)), b.array(optional(node, 3))
    if weights is None or recurrent is None or (given is None and optional(node, 3) is not None):
        raise unsupported(node, "Its weights are computed at run time.", "Use constant weights.")
    if b.element_type(required(node, 0)) != "float32" or weights.dtype != np.float32:
        raise unsupported(node, "It is not float32.")
    if optional(node, 4) is not None and not _is_full_length(b, node):
        raise unsupported(node, "Its sequences differ in length.", "Bind the length.")
    direction = node.attributes.get_string("direction", "forward")
    activations = node.attributes.get_strings("activations", [])
    usual = _USUAL[node.op_type] * len(weights)
    attributes = node.attributes
    if activations and [name.lower() for name in activations] != [name.lower() for name in usual]:
        raise unsupported(node, f"Its activations are {', '.join(activations)}; the kernel has {', '.join(usual)}.")
    if "clip" in attributes or attributes.get_int("layout", 0) != 0 or attributes.get_int("input_forget", 0) != 0:
        raise unsupported(node, "It clips its gates, couples them, or puts the batch first.")
    length, batch, width = b.shape(required(node, 0))
    hidden = recurrent.shape[2]
    bias = np.zeros((len(weights), 2 * gates * hidden), np.float32) if given is None else given.astype(np.float32)
    params = {
        "length": length,
        "batch": batch,
        "input_size": width,
        "hidden_size": hidden,
        "directions": len(weights),
        "first_is_reverse": int(direction == "reverse"),
        "block": MAX_BLOCK,
    }
    return weights, recurrent, bias, params


def _is_full_length(b: Builder, node: ir.Node) -> bool:
    lengths = b.array(optional(node, 4))
    return lengths is not None and bool(np.all(lengths == b.shape(required(node, 0))[0]))


def _packed(weights: np.ndarray) -> np.ndarray:
    """[direction, columns, depth] as the kernels read it."""
    return np.stack([pack_gemm(matrix.T, MAX_BLOCK) for matrix in weights])


def _outputs(b: Builder, node: ir.Node, count: int) -> list[str]:
    return [b.output(node.outputs[index]) if index < len(node.outputs) else "" for index in range(count)]


OPERATORS = {"LSTM": lstm, "GRU": gru}
