"""How long it takes to learn which layers INT8 hurts: ours beside what other tools offer for it, in one run.

    python benchmarks/quality/sensitivity.py [MODEL.onnx] [--samples 64] [--spec rk3588] [--layers N]

Needs benchmarks/quality/requirements.txt beside the product. All get the same samples, and all cores. Ours measures
each layer alone and with all before it. ONNX Runtime's debugger compares tensors of the wholly quantized model only;
to learn what a layer costs alone, one quantizes it alone and runs the model, layer by layer (`--layers` measures that
many and says so). NNCF ranks layers within `quantize_with_accuracy_control`, by the outputs' signal-to-noise here.
"""

from __future__ import annotations

import argparse
import logging
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import nncf
import numpy as np
import onnx
import onnxruntime
import peers
from onnxruntime.quantization import QuantFormat, QuantType, qdq_loss_debug, quantize_static

from metainfer_core import pipeline
from metainfer_core.pipeline.sensitivity import measure_sensitivity
from metainfer_core.policy.objective import Objective
from metainfer_core.spec.library import load as load_spec

MODELS = Path(__file__).parents[3] / "shared" / "models"
LAYERS = ("Conv", "Gemm", "MatMul")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", type=Path, default=MODELS / "mobilenetv2_random.onnx")
    parser.add_argument("--spec", default="rk3588")
    parser.add_argument("--samples", type=int, default=64)
    parser.add_argument("--layers", type=int, help="Layers quantized alone with ONNX Runtime; all if not given.")
    arguments = parser.parse_args()
    feeds = _feeds(arguments.model, arguments.samples)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        ours = _timed(lambda: _ours(arguments.model, feeds, arguments.spec, work))
        rows = [
            ("ours: each layer alone, and with all before it", ours),
            ("ONNX Runtime: debugger, all layers at once", _timed(lambda: _debugger(arguments.model, feeds, work))),
            ("ONNX Runtime: each layer alone", _alone(arguments.model, feeds, work, arguments.layers)),
            ("NNCF: ranking by accuracy control", _timed(lambda: _ranking(arguments.model, feeds))),
        ]
    for words, (seconds, what) in rows:
        print(f"{words:48}{seconds:8.1f} s  {seconds / ours[0]:6.2f} times ours  {what}")


def _timed(call: Callable[[], str]) -> tuple[float, str]:
    started = time.monotonic()
    what = call()
    return time.monotonic() - started, what


def _feeds(model: Path, count: int) -> list[peers.Feed]:
    """Seeded samples for the one input of a model, its unknown sizes 1."""
    (given,) = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"]).get_inputs()
    shape = [size if isinstance(size, int) else 1 for size in given.shape]
    random = np.random.default_rng(0)
    return [{given.name: random.standard_normal(shape, dtype=np.float32)} for _ in range(count)]


def _ours(model: Path, feeds: Sequence[peers.Feed], spec: str, work: Path) -> str:
    data = work / "samples.npz"
    np.savez(data, **{name: np.stack([feed[name] for feed in feeds]) for name in feeds[0]})
    prepared = pipeline.prepare(model, {name: array.shape for name, array in feeds[0].items()})
    samples = pipeline.samples_for(prepared, str(data), len(feeds))
    found = measure_sensitivity(prepared, load_spec(spec), samples, samples, Objective(), work / "kept")
    return f"{len(found.layers)} layers, {len(feeds)} samples"


def _quantized(model: Path, feeds: Sequence[peers.Feed], target: Path, nodes: list[str] | None = None) -> None:
    quantize_static(
        str(model),
        str(target),
        peers.Reader(feeds),
        quant_format=QuantFormat.QDQ,
        per_channel=True,
        activation_type=QuantType.QInt8,
        weight_type=QuantType.QInt8,
        nodes_to_quantize=nodes,
        extra_options=peers.OPTIONS,
    )


def _debugger(model: Path, feeds: Sequence[peers.Feed], work: Path) -> str:
    quantized = work / "all.onnx"
    _quantized(model, feeds, quantized)
    sides = []
    for path in (model, quantized):
        shown = work / f"shown_{path.name}"
        qdq_loss_debug.modify_model_output_intermediate_tensors(str(path), str(shown))
        sides.append(qdq_loss_debug.collect_activations(str(shown), peers.Reader(feeds)))
    matched = qdq_loss_debug.create_activation_matching(sides[1], sides[0])
    return f"{len(qdq_loss_debug.compute_activation_error(matched))} tensors, {len(feeds)} samples"


def _alone(model: Path, feeds: Sequence[peers.Feed], work: Path, most: int | None) -> tuple[float, str]:
    """Seconds for all layers; where only some are measured, so many times more."""
    named = _with_names(model, work)
    layers = [node.name for node in onnx.load(named).graph.node if node.op_type in LAYERS]
    measured = layers[:most]
    started = time.monotonic()
    wanted = _outputs(named, feeds)
    for number, layer in enumerate(measured):
        quantized = work / f"alone_{number}.onnx"
        _quantized(named, feeds, quantized, [layer])
        _signal_to_noise(wanted, _outputs(quantized, feeds))
    seconds = (time.monotonic() - started) * len(layers) / len(measured)
    of_all = "" if len(measured) == len(layers) else f", from {len(measured)} measured ones"
    return seconds, f"{len(layers)} layers{of_all}, {len(feeds)} samples"


def _with_names(model: Path, work: Path) -> Path:
    proto = onnx.load(model)
    for number, node in enumerate(proto.graph.node):
        node.name = node.name or f"node_{number}"
    onnx.save(proto, work / "named.onnx")
    return work / "named.onnx"


def _outputs(model: Path, feeds: Sequence[peers.Feed]) -> np.ndarray:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, feed)[0] for feed in feeds])


def _signal_to_noise(wanted: np.ndarray, found: np.ndarray) -> float:
    """In dB."""
    noise = float(np.square(wanted - found, dtype=np.float64).sum())
    return 10 * float(np.log10(np.square(wanted, dtype=np.float64).sum() / max(noise, 1e-30)))


def _ranking(model: Path, feeds: Sequence[peers.Feed]) -> str:
    nncf.set_log_level(logging.ERROR)
    proto = onnx.load(model)
    wanted = _outputs(model, feeds)
    validated = 0

    def signal_to_noise(prepared: onnx.ModelProto, given: Iterable[peers.Feed]) -> tuple[float, None]:
        nonlocal validated
        validated += 1
        samples = list(given)
        session = onnxruntime.InferenceSession(prepared.SerializeToString(), providers=["CPUExecutionProvider"])
        found = np.stack([session.run(None, feed)[0] for feed in samples])
        return _signal_to_noise(wanted[: len(found)], found), None

    nncf.quantize_with_accuracy_control(
        proto,
        calibration_dataset=nncf.Dataset(list(feeds)),
        validation_dataset=nncf.Dataset(list(feeds)),
        validation_fn=signal_to_noise,
        max_drop=0.0,
        subset_size=len(feeds),
        advanced_accuracy_restorer_parameters=nncf.AdvancedAccuracyRestorerParameters(
            max_num_iterations=1, ranking_subset_size=len(feeds)
        ),
    )
    return f"{validated} validations, {len(feeds)} samples"


if __name__ == "__main__":
    main()
