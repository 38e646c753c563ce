"""Replays a package's test vectors through its binary and compares bits, output by output and layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metainfer_core.codegen.package import Package, layers_path
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.run import Execution, execute, supported_variants
from metainfer_core.errors import ObligationFailed
from metainfer_core.values import Value, read_json, sha256
from metainfer_core.verify.reference import Progress, quiet


class LayerCheck(Value):
    """One tensor of one test vector: the program's bits against the simulator's."""

    vector: int
    variant: str
    step: int
    node_id: str
    tensor: str
    equal: bool


class Worst(Value):
    """The output that is farthest from what the simulator gave."""

    vector: int
    variant: str
    output: str
    max_abs_error: float | None
    """None where NaN or infinity stands on one side only."""
    different: int
    """Elements whose bits differ."""


class Validation(Value):
    """Whether the package computes what the simulator does, bit for bit."""

    target: str
    variants: tuple[str, ...]
    """Instruction sets that were run on this machine."""
    vectors: int
    equal: bool
    worst: Worst | None = None
    """None where nothing differs."""
    first_diverging: LayerCheck | None = None
    layers: tuple[LayerCheck, ...] = ()

    @property
    def text(self) -> str:
        """The verdict in a sentence."""
        where = f"{self.vectors} test vectors on {self.target} ({', '.join(self.variants)})"
        if self.equal:
            return f"Equal: {len(self.layers):,} layer results of {where} have the bits of the simulator."
        first = self.first_diverging
        place = f" First at step {first.step}, {first.node_id} (tensor {first.tensor})." if first else ""
        return f"Not equal: {where}.{place}"


def validate_package(package: Package, progress: Progress = quiet) -> Validation:
    """Runs every test vector on every instruction set that this machine has.

    Raises:
        UnsupportedError: nothing on this machine runs the target's binaries.
        ObligationFailed: the binary failed.
    """
    variants = supported_variants(package)
    runs = [(vector, variant) for vector in range(package.manifest.vectors) for variant in variants]
    if not runs:
        raise ObligationFailed(
            "The built program names no instruction set that it runs on here.", fix="Build it again."
        )
    layers: list[LayerCheck] = []
    worst: list[Worst] = []
    for done, (vector, variant) in enumerate(runs):
        progress("replaying test vectors", done, len(runs))
        raw_inputs, raw_outputs = package.vector(vector)
        inputs = {port.name: port.array(raw_inputs[port.name]) for port in package.manifest.inputs}
        execution = execute(package, inputs, dump=True, variant=variant)
        layers += _layers(package, execution, vector, variant)
        worst += _outputs(package, execution, raw_outputs, vector, variant)
    first = next((layer for layer in layers if not layer.equal), None)
    ranked = sorted(worst, key=lambda one: (one.max_abs_error is not None, -(one.max_abs_error or 0.0)))
    return Validation(
        target=package.manifest.target,
        variants=variants,
        vectors=package.manifest.vectors,
        equal=not worst and first is None,
        worst=ranked[0] if ranked else None,
        first_diverging=first,
        layers=tuple(layers),
    )


def _layers(package: Package, execution: Execution, vector: int, variant: str) -> list[LayerCheck]:
    expected: Mapping[str, str] = read_json(package.files[layers_path(vector)], layers_path(vector))
    found = []
    for index, step in enumerate(read_realised(package).steps):
        for name in step.outputs:
            if name in execution.tensors:
                equal = expected.get(name) == sha256(execution.tensors[name].tobytes())
                node = step.node_ids[0] if step.node_ids else step.kernel
                found.append(
                    LayerCheck(vector=vector, variant=variant, step=index, node_id=node, tensor=name, equal=equal)
                )
    return found


def _outputs(
    package: Package, execution: Execution, expected: Mapping[str, bytes], vector: int, variant: str
) -> list[Worst]:
    found = []
    for port in package.manifest.outputs:
        got, wanted = execution.outputs[port.name], port.array(expected[port.name])
        if got.tobytes() == wanted.tobytes():
            continue
        size = wanted.dtype.itemsize
        bits = [np.frombuffer(array.tobytes(), np.uint8).reshape(-1, size) for array in (got, wanted)]
        different = int((bits[0] != bits[1]).any(axis=1).sum())
        with np.errstate(invalid="ignore", over="ignore"):
            error = float(np.abs(got.astype(np.float64) - wanted.astype(np.float64)).max(initial=0.0))
        finite = error if np.isfinite(error) else None
        found.append(Worst(vector=vector, variant=variant, output=port.name, max_abs_error=finite, different=different))
    return found
