"""Export: the trained network as one ONNX file of eight-bit weights, with its tokenizer and labels inside."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer

from hwdoc_ingest.bert.labels import KINDS, ROLE_LABELS
from hwdoc_ingest.train.network import Network
from metainfer_core.files import write_bytes

OPSET = 17


def export(network: Network, words: Tokenizer, fields: Sequence[str], facts: Mapping[str, object], path: Path) -> int:
    """Writes the network to `path` and returns its size in bytes.

    Args:
        network: Trained.
        words: Its tokenizer.
        fields: Names of the fields that it tells apart, in their order.
        facts: How it was trained and how well it does, kept in the file.
        path: Where to.
    """
    with tempfile.TemporaryDirectory() as folder:
        full, small = Path(folder) / "full.onnx", Path(folder) / "small.onnx"
        ids = torch.ones(2, 16, dtype=torch.int64)
        torch.onnx.export(
            network.eval().float(),
            (ids, ids),
            str(full),
            input_names=["ids", "mask"],
            output_names=["roles", "fields", "kinds"],
            dynamic_axes={name: {0: "batch", 1: "tokens"} for name in ("ids", "mask", "roles", "fields")}
            | {"kinds": {0: "batch"}},
            opset_version=OPSET,
            dynamo=False,
        )
        quantize_dynamic(str(full), str(small), weight_type=QuantType.QInt8, per_channel=True)
        model = onnx.load(str(small))
    said = {
        "tokenizer": words.to_str(),
        "roles": json.dumps(list(ROLE_LABELS)),
        "fields": json.dumps(list(fields)),
        "kinds": json.dumps(list(KINDS)),
        "training": json.dumps(facts, sort_keys=True),
    }
    onnx.helper.set_model_props(model, said)
    data = model.SerializeToString(deterministic=True)
    write_bytes(path, data, "weights")
    return len(data)
