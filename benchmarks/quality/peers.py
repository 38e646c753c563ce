"""Uniform INT8 by other tools on equal calibration samples: ONNX Runtime's static quantizer and NNCF as they come."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import nncf
import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

Feed = dict[str, np.ndarray]
OPTIONS = {"QDQDisableWeightAdjustForInt32Bias": True}
"""For ONNX Runtime's quantizer, which stops with a ValueError on weights by channel without it."""


class Reader(CalibrationDataReader):
    def __init__(self, feeds: Sequence[Feed]) -> None:
        self._left = iter(feeds)

    def get_next(self) -> Feed | None:
        return next(self._left, None)


def by_onnxruntime(model: Path, feeds: Sequence[Feed], folder: Path) -> onnx.ModelProto:
    """Prepared as its documentation asks (shapes inferred, batch norms folded), QDQ, min-max, weights by channel.

    Where its own runtime cannot run what it made so, weights by tensor.
    """
    prepared, quantized = folder / f"{model.stem}.prepared.onnx", folder / f"{model.stem}.ort.onnx"
    quant_pre_process(str(model), str(prepared))
    for per_channel in (True, False):
        quantize_static(
            str(prepared),
            str(quantized),
            Reader(feeds),
            quant_format=QuantFormat.QDQ,
            per_channel=per_channel,
            activation_type=QuantType.QInt8,
            weight_type=QuantType.QInt8,
            extra_options=OPTIONS,
        )
        if _runs(quantized, feeds[0]):
            break
    return onnx.load(quantized)


def _runs(model: Path, feed: Feed) -> bool:
    try:
        onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, feed)
    except Exception:  # its exception classes share no base but Exception
        return False
    return True


def by_nncf(model: Path, feeds: Sequence[Feed], folder: Path) -> onnx.ModelProto:
    """Its post-training quantization with its own defaults, bias correction included."""
    nncf.set_log_level(logging.ERROR)
    found = nncf.quantize(onnx.load(model), nncf.Dataset(list(feeds)), subset_size=len(feeds))
    onnx.save(found, folder / f"{model.stem}.nncf.onnx")
    return found
