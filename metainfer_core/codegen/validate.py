"""Replays a package's test vectors through its binary and compares bits, output by output and layer by layer."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from metainfer_core.codegen.catalog import backend
from metainfer_core.codegen.compile_plan import CompilePlan
from metainfer_core.codegen.package import Package, layers_path
from metainfer_core.codegen.realised import read_realised
from metainfer_core.codegen.run import Execution, execute, supported_variants
from metainfer_core.codegen.simulated import Fault
from metainfer_core.errors import ObligationFailed
from metainfer_core.values import Value, read_json, sha256
from metainfer_core.verify.reference import Progress, quiet
from metainfer_core.verify.unit_figures import UnitFigures


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
    faults: tuple[Fault, ...] = ()
    """What stopped the functional simulator, by test vector; none where the target has no such simulator."""
    units: tuple[UnitFigures, ...] = ()
    """What each unit that DMA feeds does in one inference."""

    @property
    def text(self) -> str:
        """The verdict in a sentence."""
        where = f"{self.vectors} test vectors on {self.target} ({', '.join(self.variants)})"
        if self.faults:
            fault = self.faults[0]
            return f"Not equal: {where}. The simulator stops at step {fault.step}, {fault.place}: {fault.reason}"
        if self.equal:
            verdict = f"Equal: {len(self.layers):,} layer results of {where} have the bits of the simulator."
            return "\n".join([verdict, *(unit.text for unit in self.units)])
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
    faults = _simulate(package, worst)
    for done, (vector, variant) in enumerate(runs):
        progress("replaying test vectors", done, len(runs))
        raw_inputs, raw_outputs = package.vector(vector)
        inputs = {port.name: port.array(raw_inputs[port.name]) for port in package.manifest.inputs}
        execution = execute(package, inputs, dump=True, variant=variant)
        layers += _layers(package, execution, vector, variant)
        worst += _outputs(package, execution.outputs, raw_outputs, vector, variant)
    first = next((layer for layer in layers if not layer.equal), None)
    ranked = sorted(worst, key=lambda one: (one.max_abs_error is not None, -(one.max_abs_error or 0.0)))
    return Validation(
        target=package.manifest.target,
        variants=variants,
        vectors=package.manifest.vectors,
        equal=not worst and not faults and first is None,
        worst=ranked[0] if ranked else None,
        first_diverging=first,
        layers=tuple(layers),
        faults=faults,
        units=package.units,
    )


def _simulate(package: Package, worst: list[Worst]) -> tuple[Fault, ...]:
    """Runs the plan of each test vector on the target's functional simulator, where it has one."""
    run = backend(package.manifest.target).simulate
    if run is None:
        return ()
    plan = CompilePlan.from_json(package.files["plan.json"], "plan.json")
    faults = []
    for vector in range(package.manifest.vectors):
        raw_inputs, raw_outputs = package.vector(vector)
        inputs = {port.name: port.array(raw_inputs[port.name]) for port in package.manifest.inputs}
        found = run(plan, package.files["source/weights.bin"], inputs)
        if found.fault is not None:
            faults.append(found.fault)
        else:
            worst += _outputs(package, found.outputs, raw_outputs, vector, "functional simulator")
    return tuple(faults)


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
    package: Package, outputs: Mapping[str, np.ndarray], expected: Mapping[str, bytes], vector: int, variant: str
) -> list[Worst]:
    found = []
    for port in package.manifest.outputs:
        got, wanted = outputs[port.name], port.array(expected[port.name])
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
