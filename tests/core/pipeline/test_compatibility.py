"""The compatibility matrix: a row for whatever is known of a chip, and what packages for exactly this chip prove."""

from __future__ import annotations

from action_bench import npu, spec_of
from onnx import helper

from metainfer_core.actions.rewiring import UNIT
from metainfer_core.codegen.package import Manifest, Package
from metainfer_core.pipeline.compatibility import Compatibility, built_for, compatibility, proof_of
from metainfer_core.policy.policy import Policy, PolicyAction
from metainfer_core.spec.hardware_spec import HardwareSpec, Operators
from metainfer_core.spec.known_issues import KnownIssue
from metainfer_core.spec.operators import OperatorRule

TABLE = Operators(
    supported=("Conv", "Relu", "Gemm"),
    unavailable=("GroupNormalization",),
    rules={"Conv": {"stride": OperatorRule(of=("stride",), max=2)}},
)
ISSUE = KnownIssue(
    verdict="hurts",
    operators=("Conv", "HardSwish"),
    action="fuse",
    unit="npu",
    evidence="12 ms in place of 9 ms on board A.",
    workaround="keep them apart",
)
SPEC = spec_of(units={"npu": npu(operators=TABLE)}, known_issues={"slow": ISSUE})


def package(spec: HardwareSpec) -> Package:
    """A package with a Conv on the NPU, which was quantized there, and an action that is switched off."""
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv")
    entry = node.metadata_props.add()
    entry.key, entry.value = UNIT, "npu"
    quantize = PolicyAction(node_id="conv", action="quantize", nodes=("conv",), params={"target_hw": "npu"})
    off = PolicyAction(node_id="conv", action="fuse", nodes=("conv",), params={"target_hw": "npu"}, override=False)
    manifest = Manifest(
        model="m", target="native_cpu", spec="invented", development=False, review="signed",
        parents={"spec": spec.values_digest}, tool_version="1", compiler={}, inputs=(), outputs=(), binary="bin/m",
        variants=(), vectors=1, files={},
    )  # fmt: skip
    model = helper.make_model(helper.make_graph([node], "g", [], []))
    files = {"adapted.onnx": model.SerializeToString(), "policy.json": Policy(actions=(quantize, off)).to_json()}
    return Package(manifest, files, "sha256:0")


def test_each_thing_known_has_its_row() -> None:
    built = built_for(SPEC, [("camera.bin", proof_of(package(SPEC), "camera.bin"))])
    assert built == {("Conv", "npu"): ["camera.bin"], ("quantize", "npu"): ["camera.bin"]}
    place, proven = "compute_units.npu.operators", "Built, and equal to what was approved, in camera.bin."
    assert compatibility(SPEC, built) == (
        Compatibility(subject="Conv", unit="npu", verdict="works", evidence=f"{proven} 1 limits in {place}."),
        Compatibility(subject="Gemm", unit="npu", verdict="stated", evidence=f"{place}.supported lists it."),
        Compatibility(
            subject="GroupNormalization", unit="npu", verdict="fails", evidence=f"{place}.unavailable lists it."
        ),
        Compatibility(subject="Relu", unit="npu", verdict="stated", evidence=f"{place}.supported lists it."),
        Compatibility(subject="quantize", unit="npu", verdict="works", evidence=proven),
        Compatibility(
            subject="fuse: Conv → HardSwish",
            unit="npu",
            verdict="hurts",
            evidence="12 ms in place of 9 ms on board A. (known_issues.slow)",
            instead="Keep them apart.",
        ),
    )


def test_a_package_for_other_values_proves_nothing() -> None:
    other = spec_of(units={"npu": npu(operators=Operators(supported=("Conv",)))})
    assert built_for(SPEC, [("camera.bin", proof_of(package(other), "camera.bin"))]) == {}
    assert compatibility(SPEC)[0].verdict == "limited"
