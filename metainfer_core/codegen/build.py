"""From a lowered program to a package: plan, sources, binary, test vectors, zip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version

import numpy as np

from metainfer_core.codegen.catalog import backend as backend_named
from metainfer_core.codegen.emit import identifier, sources
from metainfer_core.codegen.make import build, find_programs
from metainfer_core.codegen.package import UNITS, Manifest, Port, layers_path, vector_path, write_package
from metainfer_core.codegen.staging import staged_plan
from metainfer_core.npu.stage import NOTHING_ASKED, Asked
from metainfer_core.numerics.lower import Lowered
from metainfer_core.numerics.program import Program
from metainfer_core.numerics.simulator import Simulator
from metainfer_core.spec.hardware_spec import HardwareSpec
from metainfer_core.values import canonical_json, sha256
from metainfer_core.verify.reference import Progress, quiet


def build_package(
    lowered: Lowered,
    spec: HardwareSpec,
    target: str,
    parents: Mapping[str, str],
    policy: bytes,
    adapted_model: bytes,
    test_inputs: Sequence[Mapping[str, np.ndarray]],
    development: bool,
    progress: Progress = quiet,
    model: str = "model",
    asked: Asked = NOTHING_ASKED,
    demo: bool = False,
) -> bytes:
    """The package's bytes. The same arguments and compiler give the same bytes, in any folder and process.

    Args:
        lowered: The adapted model as kernel calls.
        spec: Its memories hold the arenas.
        target: Name of a backend.
        parents: Digests of model, spec, policy, and bundle where there is one.
        policy: Bytes of the policy, as it was approved.
        adapted_model: The same model as ONNX with QuantizeLinear and DequantizeLinear.
        test_inputs: For each test vector an array for each input.
        development: True without approvals; the manifest then says unreviewed.
        progress: Is told what is being done.
        model: The model's name; file and function names come from it.
        asked: What approved actions ask of transfers and tiles.
        demo: True where a studio in demo mode signed the approvals; the manifest then says so.

    Raises:
        DoesNotFitError: a memory of the spec is too small.
        UnsupportedError: the target's compiler is not installed, or an approved tile or early transfer cannot be done.
    """
    backend = backend_named(target)
    programs = find_programs(backend)
    progress("planning memory", 0, 1)
    staged, plan = staged_plan(lowered, spec, asked, backend.feeds_units)
    written = sources(plan, staged.constants, backend, model)
    binary = build(written, "host", identifier(model), backend, progress)
    files = {
        "policy.json": policy,
        "plan.json": plan.to_json(),
        "adapted.onnx": adapted_model,
        f"bin/{identifier(model)}": binary,
        **{f"source/{path}": data for path, data in written.items()},
        **_vectors(lowered, staged, test_inputs, progress),
    }
    if backend.figures is not None:
        files[UNITS] = canonical_json([unit.plain() for unit in backend.figures(plan, spec)])
    manifest = Manifest(
        model=model,
        target=backend.name,
        spec=plan.spec,
        development=development or demo,
        review="demo" if demo else "unreviewed" if development else "signed",
        parents=dict(parents),
        tool_version=version("meta-infer"),
        compiler=programs,
        inputs=_ports(lowered.program, lowered.program.inputs),
        outputs=_ports(lowered.program, lowered.program.outputs),
        binary=f"bin/{identifier(model)}",
        variants=tuple(variant.name for variant in backend.variants),
        vectors=len(test_inputs),
        files={path: sha256(data) for path, data in files.items()},
    )
    return write_package(manifest, files)


def _vectors(
    lowered: Lowered, staged: Lowered, test_inputs: Sequence[Mapping[str, np.ndarray]], progress: Progress
) -> dict[str, bytes]:
    """Raw inputs, the outputs that the simulator gives for them, and a digest of each tensor of the staged program."""
    simulator = Simulator(lowered)
    of_layers = simulator if staged is lowered else Simulator(staged)
    files = {}
    for number, feed in enumerate(test_inputs):
        progress("simulating test vectors", number, len(test_inputs))
        outputs = simulator.run(feed)
        for index, name in enumerate(lowered.program.inputs):
            files[vector_path(number, "input", index)] = np.ascontiguousarray(feed[name]).tobytes()
        for index, name in enumerate(lowered.program.outputs):
            files[vector_path(number, "output", index)] = np.ascontiguousarray(outputs[name]).tobytes()
        tensors = of_layers.run(feed, keep=True)
        digests = {name: sha256(np.ascontiguousarray(array).tobytes()) for name, array in tensors.items()}
        files[layers_path(number)] = canonical_json(digests)
    return files


def _ports(program: Program, names: Sequence[str]) -> tuple[Port, ...]:
    by_name = {tensor.name: tensor for tensor in program.tensors}
    return tuple(Port(name=name, element_type=by_name[name].element_type, shape=by_name[name].shape) for name in names)
