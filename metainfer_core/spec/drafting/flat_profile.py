"""The flat hardware profile (`accelerator:` ...), imported as a HardwareSpec; what it leaves open is recorded."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any, Literal

from metainfer_core.errors import InputError
from metainfer_core.files import read_bytes
from metainfer_core.spec.drafting.binding import slug
from metainfer_core.spec.drafting.spec_values import DATA_TYPES
from metainfer_core.spec.files.strict_yaml import BYTES_LIMIT, Document, read_yaml
from metainfer_core.spec.files.yaml_file import parse_spec
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.spec.quantities import UNITS, QuantityError, parse_quantity

BandwidthUnit = Literal["MB/s", "Mbit/s"]
KEYS = (
    "name", "compute_units", "supported_ops", "data_layouts", "precision", "aligned_channel", "unified_memory",
    "bandwidth_mbps", "max_workers",
)  # fmt: skip

OPERATORS: dict[str, tuple[str, ...]] = {
    "conv": ("Conv",), "conv1d": ("Conv",), "conv2d": ("Conv",), "conv3d": ("Conv",), "convolution": ("Conv",),
    "depthwiseconv": ("Conv",), "depthwiseconv2d": ("Conv",), "dwconv": ("Conv",), "groupconv": ("Conv",),
    "pointwiseconv": ("Conv",), "deconv": ("ConvTranspose",), "deconv2d": ("ConvTranspose",),
    "convtranspose": ("ConvTranspose",), "conv2dtranspose": ("ConvTranspose",), "transposeconv": ("ConvTranspose",),
    "fc": ("Gemm",), "fullyconnected": ("Gemm",), "dense": ("Gemm",), "linear": ("Gemm",), "gemm": ("Gemm",),
    "matmul": ("MatMul",), "batchmatmul": ("MatMul",), "bmm": ("MatMul",),
    "bn": ("BatchNormalization",), "batchnorm": ("BatchNormalization",), "batchnorm2d": ("BatchNormalization",),
    "layernorm": ("LayerNormalization",), "groupnorm": ("GroupNormalization",),
    "instancenorm": ("InstanceNormalization",), "rmsnorm": ("RMSNormalization",),
    "relu": ("Relu",), "relu6": ("Clip",), "clip": ("Clip",), "clamp": ("Clip",), "leakyrelu": ("LeakyRelu",),
    "prelu": ("PRelu",), "elu": ("Elu",), "gelu": ("Gelu",), "silu": ("Swish",), "sigmoid": ("Sigmoid",),
    "hardsigmoid": ("HardSigmoid",), "hardswish": ("HardSwish",), "tanh": ("Tanh",), "softmax": ("Softmax",),
    "logsoftmax": ("LogSoftmax",), "exp": ("Exp",), "sqrt": ("Sqrt",), "mish": ("Mish",), "softplus": ("Softplus",),
    "add": ("Add",), "eltwiseadd": ("Add",), "sub": ("Sub",), "mul": ("Mul",), "div": ("Div",), "pow": ("Pow",),
    "max": ("Max",), "min": ("Min",), "eltwise": ("Add", "Sub", "Mul", "Max"), "elementwise": ("Add", "Sub", "Mul"),
    "concat": ("Concat",), "split": ("Split",), "slice": ("Slice",), "pad": ("Pad",), "gather": ("Gather",),
    "reshape": ("Reshape",), "flatten": ("Flatten",), "transpose": ("Transpose",), "permute": ("Transpose",),
    "squeeze": ("Squeeze",), "unsqueeze": ("Unsqueeze",), "identity": ("Identity",), "cast": ("Cast",),
    "maxpool": ("MaxPool",), "maxpool2d": ("MaxPool",), "avgpool": ("AveragePool",), "avgpool2d": ("AveragePool",),
    "averagepool": ("AveragePool",), "globalavgpool": ("GlobalAveragePool",), "pool": ("MaxPool", "AveragePool"),
    "globalaveragepool": ("GlobalAveragePool",), "globalmaxpool": ("GlobalMaxPool",),
    "pooling": ("MaxPool", "AveragePool"), "resize": ("Resize",), "upsample": ("Resize",),
    "reducemean": ("ReduceMean",), "mean": ("ReduceMean",), "reducesum": ("ReduceSum",), "reducemax": ("ReduceMax",),
    "lstm": ("LSTM",), "gru": ("GRU",), "rnn": ("RNN",), "argmax": ("ArgMax",), "quantize": ("QuantizeLinear",),
    "dequantize": ("DequantizeLinear",), "depthtospace": ("DepthToSpace",), "pixelshuffle": ("DepthToSpace",),
    "spacetodepth": ("SpaceToDepth",),
}  # fmt: skip
"""A profile's operator name, in lower case without `_`, `-` and blanks, to the ONNX operators that it means."""
_ONNX_NAMES = {name.lower(): (name,) for names in OPERATORS.values() for name in names}


def is_flat_profile(data: object) -> bool:
    """Whether parsed YAML is a flat profile rather than a spec."""
    return isinstance(data, dict) and "accelerator" in data


def load_spec_or_profile(path: Path) -> HardwareSpec:
    """The spec in a file, be it a spec file or a flat profile."""
    data = read_bytes(path, "hardware spec", BYTES_LIMIT)
    document = read_yaml(data, str(path))
    return import_profile(document) if is_flat_profile(document.data) else parse_spec(data, str(path))


def import_profile(document: Document, bandwidth_unit: BandwidthUnit | None = None) -> HardwareSpec:
    """The spec that a profile describes; every gap that had to be filled stands in its `assumed`.

    Args:
        document: The parsed profile.
        bandwidth_unit: What `bandwidth_mbps` counts, where the user says so; else bytes are assumed.

    Raises:
        InputError: A key or value that is not understood, with its line.
    """
    data = document.data
    profile = data.get("accelerator") if isinstance(data, dict) else None
    if not isinstance(profile, dict):
        raise InputError(f"{document.source}: this is not a flat profile.", fix="Begin with `accelerator:`.")
    for key in profile:
        if key not in KEYS:
            near = difflib.get_close_matches(key, KEYS, 1, 0.6)
            fix = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(KEYS)}."
            _refuse(document, key, f"the key `{key}` is not known", fix)
    name = profile.get("name")
    if not isinstance(name, str) or not slug(name):
        _refuse(document, "name", "the accelerator has no name", "Add name: <text>.")
    return _Import(document, profile, bandwidth_unit).spec(slug(str(name)))


def _refuse(document: Document, key: str, what: str, fix: str) -> None:
    raise InputError(f"{document.where(('accelerator', key))}: {what}.", fix=fix)


class _Import:
    """One profile on its way to a spec."""

    def __init__(self, document: Document, profile: dict[str, Any], bandwidth_unit: BandwidthUnit | None) -> None:
        self.document, self.profile, self.bandwidth_unit = document, profile, bandwidth_unit
        self.assumed: dict[str, str] = {}
        self.other: dict[str, Any] = {}

    def spec(self, name: str) -> HardwareSpec:
        unit = self._unit()
        memory = self._memory()
        self.assumed["compute_units.accelerator.operators.fallback"] = (
            "The profile does not say what runs the other operators; a host CPU is taken."
        )
        self.assumed["compute_units.host_cpu.kind"] = "The profile names no host; some CPU must drive the accelerator."
        plain = {
            "name": name,
            "version": "1.0.0",
            "compute_units": {"accelerator": unit, "host_cpu": {"kind": "cpu"}},
            "memories": {"dram": memory},
            "other": self.other,
            "assumed": self.assumed,
            "change_log": ["v1.0.0: imported from a flat profile"],
        }
        return HardwareSpec.from_plain(plain, self.document.source)

    def _unit(self) -> dict[str, Any]:
        unit: dict[str, Any] = {"kind": "npu", "operators": {"fallback": "host_cpu"}}
        self._cores(unit)
        kinds = [self._data_type(word) for word in self._texts("precision")]
        if kinds:
            unit["data_types"] = list(dict.fromkeys(kinds))
        layouts = self._texts("data_layouts")
        if layouts:
            unit["data_layouts"] = layouts
        if self.profile.get("supported_ops") is not None:
            operators = [operator for word in self._texts("supported_ops") for operator in self._operators(word)]
            unit["operators"]["supported"] = list(dict.fromkeys(operators))
        multiple = self.profile.get("aligned_channel")
        if multiple is not None:
            unit["channel_multiple"] = self._count("aligned_channel", multiple)
        return unit

    def _cores(self, unit: dict[str, Any]) -> None:
        units, workers = self.profile.get("compute_units"), self.profile.get("max_workers")
        path = "compute_units.accelerator.cores"
        if isinstance(units, list):
            self.other["compute_units"] = [str(item) for item in units]
        elif units is not None:
            unit["cores"] = self._count("compute_units", units)
            self.assumed[path] = "The profile's `compute_units` is a bare number; it is taken for the number of cores."
        if workers is not None:
            self.other["max_workers"] = self._count("max_workers", workers)
            if "cores" not in unit:
                unit["cores"] = self.other["max_workers"]
                self.assumed[path] = "The profile gives no number of cores; `max_workers` is taken for it."

    def _memory(self) -> dict[str, Any]:
        memory: dict[str, Any] = {"kind": "dram"}
        self.assumed["memories.dram.kind"] = "The profile does not name its memory; main memory is taken."
        self._bandwidth(memory)
        unified = self.profile.get("unified_memory")
        if isinstance(unified, bool):
            self.other["unified_memory"] = unified
            if not unified:
                memory["accessible_by"] = ["accelerator"]
                self.assumed["memories.dram.accessible_by"] = (
                    "The profile says that memory is not unified: it is taken for the accelerator's own."
                )
        elif unified is not None:
            memory["size_bytes"] = self._size(unified)
        return memory

    def _bandwidth(self, memory: dict[str, Any]) -> None:
        given = self.profile.get("bandwidth_mbps")
        if given is None:
            return
        path = "memories.dram.bandwidth_gbps"
        if isinstance(given, str):
            try:
                memory["bandwidth_gbps"] = parse_quantity(given, UNITS["GB/s"]).plain()
            except QuantityError as error:
                _refuse(self.document, "bandwidth_mbps", error.message.rstrip("."), error.fix)
            return
        if isinstance(given, bool) or not isinstance(given, int | float) or given <= 0:
            _refuse(self.document, "bandwidth_mbps", "the bandwidth is not a number above 0", "Write a number.")
        factor = 1000 if self.bandwidth_unit != "Mbit/s" else 8000
        memory["bandwidth_gbps"] = {"typ": float(given) / factor}
        if self.bandwidth_unit is None:
            self.assumed[path] = (
                "`mbps` may mean megabytes or megabits a second; megabytes are taken. If bits are meant, it is 8 times "
                "less."
            )

    def _size(self, given: Any) -> dict[str, Any]:
        if isinstance(given, str):
            try:
                return parse_quantity(given, UNITS["B"]).plain()
            except QuantityError as error:
                _refuse(self.document, "unified_memory", error.message.rstrip("."), error.fix)
        self.assumed["memories.dram.size_bytes"] = "`unified_memory` is a bare number; MiB are taken."
        return {"typ": float(self._count("unified_memory", given)) * UNITS["MiB"].factor.numerator}

    def _count(self, key: str, given: Any) -> int:
        if isinstance(given, bool) or not isinstance(given, int) or not 0 < given < 2**31:
            _refuse(self.document, key, f"{key} is {given!r}, not a whole number above 0", "Write a whole number.")
        return int(given)

    def _texts(self, key: str) -> list[str]:
        given = self.profile.get(key)
        items = [] if given is None else given if isinstance(given, list) else re.split(r"[,/\s]+", str(given))
        for item in items:
            if not isinstance(item, str) or not item:
                _refuse(self.document, key, f"{key} holds {item!r}, not a text", f"Write {key}: [text, ...].")
        return items

    def _data_type(self, word: str) -> str:
        found = DATA_TYPES.get(word.lower().replace("_", ""))
        if found is None:
            known = ", ".join(sorted(DATA_TYPES))
            _refuse(self.document, "precision", f"the precision {word!r} is not known", f"Known: {known}.")
        return str(found)

    def _operators(self, word: str) -> tuple[str, ...]:
        key = re.sub(r"[\s_-]+", "", word).lower()
        found = OPERATORS.get(key) or _ONNX_NAMES.get(key)
        if found is None:
            near = difflib.get_close_matches(key, OPERATORS, 1, 0.7)
            fix = f"Did you mean `{near[0]}`?" if near else "Use the name of the ONNX operator."
            _refuse(self.document, "supported_ops", f"the operator {word!r} is not known", fix)
        return found or ()
